"""A training run as one TOML file: which model, which data, which loss, and how. Knows names; the work is others'."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbert.errors import BadInput, BadOption
from sbert.train import settings
from sbert.train.config import TrainConfig
from sbert.types import LabelKind, Pooling

if TYPE_CHECKING:
    from sbert.data import Columns
    from sbert.losses import Loss
    from sbert.models.bi import BiEncoder
    from sbert.train.records import Callback, Evaluator
    from sbert.train.trainer import Trainer

logger = logging.getLogger(__name__)

Alternatives = str | tuple[str, ...]
"""A file; or several, of which the first that exists is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """What to train."""

    name: str | None = None
    """A folder, a run's folder, an installed model package or a hub name; the embedded model unless given."""
    pooling: Pooling | tuple[Pooling, ...] | None = None
    """How a bare encoder makes one vector of a text's tokens, mean unless given; whole models have their own."""
    max_seq_length: int | None = None
    """Cut texts at so many tokens; the model's own number unless given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """What to learn from. All that is said about columns and labels holds for ``dev`` too."""

    train: tuple[Alternatives, ...]
    """Files, each a data set of its own; where a list stands in place of a file, the first of it that exists."""
    folder: str | None = None
    """Where relative paths are looked up; the current folder unless given."""
    split: str | None = "train"
    """Which rows of files that have a column ``split``; "none" for all."""
    limit: int | None = None
    """At most so many rows of each training file, the first ones."""
    columns: tuple[str, ...] | None = None
    """The columns of texts in the order of the loss, where they have unusual names."""
    label: str | None = None
    """The column of labels, where it has an unusual name."""
    label_map: dict[str, str | int] | None = None
    """From the labels in the file to names or ids of classes."""
    label_kind: LabelKind | None = None
    """What the labels are, where the values could mislead."""
    score_range: tuple[float, float] = (0.0, 5.0)
    """Scores from here to there become scores from 0 to 1."""
    dev: Alternatives | None = None
    """A file to measure the model on: pairs with scores, or triplets."""
    dev_split: str | None = "dev"
    """Which rows of it."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not self.train or not all(self.train):
            raise BadInput("data.train names no file, but at least one is needed")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossPart:
    """What to strive for."""

    name: str
    """One of ``sbert.losses.OBJECTIVES``."""
    dims: tuple[int, ...] | None = None
    """Sizes to learn at once (Matryoshka); the full one first."""
    options: dict[str, Any] = field(default_factory=dict)
    """Every other key of the table: the loss's own options, such as margin or scale."""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> LossPart:
        """The part that a table of a run file describes."""
        own = {key: value for key, value in table.items() if key in ("name", "dims")}
        options = {key: value for key, value in table.items() if key not in own}
        return settings.build(cls, {**own, "options": options}, "loss")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """A whole run.

    >>> tables = {"data": {"train": ["문장쌍.tsv"]}, "loss": {"name": "info-nce", "scale": 30}}
    >>> run = RunFile.of({**tables, "train": {"output_dir": "runs/pairs"}})
    >>> run.loss.options, run.train.epochs
    ({'scale': 30}, 1)
    """

    model: ModelPart
    data: DataPart
    loss: LossPart
    train: TrainConfig

    @classmethod
    def read(cls, path: str | Path, overrides: Sequence[str] = ()) -> RunFile:
        """The run in a TOML file, after ``overrides`` such as "train.epochs=2"."""
        return cls.of(reduce(settings.override, overrides, settings.read(path)))

    @classmethod
    def of(cls, tables: Mapping[str, Any]) -> RunFile:
        """The run that tables describe, as read from a file."""
        known = [part.name for part in fields(cls)]
        for name, table in tables.items():
            if name not in known:
                raise BadOption("a table of the run file", name, known)
            if not isinstance(table, Mapping):
                raise BadInput(f"{name} is {table!r}, but must be a table with keys of its own, such as [{name}]")
        return cls(
            model=settings.build(ModelPart, tables.get("model", {}), "model"),
            data=settings.build(DataPart, tables.get("data", {}), "data"),
            loss=LossPart.of(tables.get("loss", {})),
            train=settings.build(TrainConfig, tables.get("train", {}), "train"),
        )


def assemble(run: RunFile, callbacks: Sequence[Callback] = ()) -> Trainer:
    """The trainer that ``run`` describes: files read, model loaded, nothing written yet."""
    from sbert.losses import check_shape
    from sbert.train.trainer import Trainer

    datasets = _training_data(run.data)
    for columns in datasets:
        try:
            check_shape(run.loss.name, len(columns.texts), columns.label_kind)
        except BadOption:
            raise
        except BadInput as error:
            raise BadInput(f"{columns.name}: {error}") from None
    evaluator = _evaluator(run.data)
    model = _model(run.model)
    loss = _loss(run.loss, model, datasets, run.train.seed)
    return Trainer(model, run.train, train=datasets, loss=loss, evaluator=evaluator, callbacks=callbacks)


def _training_data(part: DataPart) -> list[Columns]:
    # Two entries may lead to one file, where it stands in for both.
    paths = dict.fromkeys(_find(file, part.folder) for file in part.train)
    return [_read(path, part, part.split, part.limit) for path in paths]


def _find(file: Alternatives, folder: str | None) -> Path:
    names = (file,) if isinstance(file, str) else file
    root = Path(folder or ".").expanduser()
    for name in names:
        path = root / Path(name).expanduser()
        if path.is_file():
            return path
    wanted = f"no file {names[0]!r}" if len(names) == 1 else f"none of {', '.join(map(repr, names))}"
    place = "the current folder" if folder is None else f"the folder {folder!r}"
    raise BadInput(f"there is {wanted} in {place}; put it there, or name its folder with data.folder")


def _read(path: Path, part: DataPart, split: str | None, limit: int | None = None) -> Columns:
    from sbert.data import read

    return read(
        path,
        split=split,
        columns=part.columns,
        label=part.label,
        label_map=part.label_map,
        label_kind=part.label_kind,
        score_range=part.score_range,
        limit=limit,
    )


def _model(part: ModelPart) -> BiEncoder:
    from sbert.models.backbone import Backbone
    from sbert.models.bi import BiEncoder

    model = BiEncoder.from_pretrained(part.name, max_seq_length=part.max_seq_length)
    pooling = (part.pooling,) if isinstance(part.pooling, str) else part.pooling
    if pooling is None or pooling == model.pooling:
        return model
    if len(model.heads):
        raise BadInput(
            f"model.pooling is {', '.join(pooling)}, but {part.name or 'the embedded model'} has layers after its own "
            f"pooling ({', '.join(model.pooling)}), which were made for that; leave model.pooling out"
        )
    return BiEncoder(Backbone(model.tokenizer, model.transformer), pooling).to(model.device)


def _loss(part: LossPart, model: BiEncoder, datasets: Sequence[Columns], seed: int) -> Loss:
    import torch

    from sbert import losses
    from sbert.nn.heads import output_size

    names = datasets[0].label_names
    for other in datasets[1:]:
        if losses.OBJECTIVES[part.name].label == "class" and other.label_names != names:
            raise BadInput(
                f"{datasets[0].name} has the classes {', '.join(names)}, but {other.name} has "
                f"{', '.join(other.label_names)}; make them agree with data.label_map"
            )
    # What comes out of the network, whatever part of it the model's users see.
    dim = output_size(model.heads, len(model.pooling) * model.transformer.facts.hidden_size)
    with torch.random.fork_rng(devices=[]):  # new weights follow from the seed, like everything else
        torch.manual_seed(seed)
        return losses.make(part.name, part.options, dim=dim, labels=names, dims=part.dims)


def _evaluator(part: DataPart) -> Evaluator | None:
    """What fits the dev file: pairs with scores are compared with cosines, triplets must be in the right order."""
    if part.dev is None:
        return None
    from sbert import evaluate

    columns = _read(_find(part.dev, part.folder), part, part.dev_split)
    texts = list(columns.texts.values())
    if columns.labels is not None and columns.label_kind in ("score", "binary") and len(texts) == 2:
        return evaluate.Similarity(texts[0], texts[1], columns.labels)
    if columns.label_kind == "none" and len(texts) >= 3:
        return evaluate.Triplets(texts[0], texts[1], texts[2])
    logger.warning(
        "%s holds neither pairs with scores nor triplets, so nothing is measured and the last weights are the "
        "result; name another file with data.dev",
        columns.name,
    )
    return None
