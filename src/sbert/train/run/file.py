"""A training run as one TOML file: which model, which data, which loss, and how. Knows names; the work is others'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sbert.errors import BadInput, BadOption, check_option
from sbert.train.config import TrainConfig
from sbert.train.run import settings
from sbert.types import Codes, LabelKind, ModelKind, Pooling, Towers

if TYPE_CHECKING:
    from sbert.data import Columns
    from sbert.train.callbacks import Callback
    from sbert.train.trainer import Trainer

Alternatives = str | tuple[str, ...]
"""A file; or several, of which the first that exists is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """What to train."""

    name: str | None = None
    """A folder, a run's folder, an installed model package or a hub name; the embedded model unless given."""
    kind: ModelKind | None = None
    """"bi", "cross" or "poly"; what the folder holds unless given, and "bi" of a bare encoder."""
    pooling: Pooling | tuple[Pooling, ...] | None = None
    """How a bare encoder makes one vector of a text's tokens, mean unless given; whole models have their own."""
    max_seq_length: int | None = None
    """Cut texts, or pairs of them, at so many tokens; the model's own number unless given."""
    num_codes: int | None = None
    """Of a new poly-encoder, 64 unless given."""
    codes: Codes | None = None
    """Of a new poly-encoder: "learned" ones, unless given, or the "first" tokens."""
    towers: Towers | None = None
    """Of a new poly-encoder: one transformer for queries and documents, "shared", unless given, or two, "separate"."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.kind is not None:
            check_option("model.kind", self.kind, get_args(ModelKind))
        if self.kind in ("bi", "cross") and (self.num_codes or self.codes or self.towers):
            raise BadInput(f"model.num_codes, codes and towers are for poly-encoders, but the kind is {self.kind!r}")


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
    """A file to measure the model on: pairs with scores, triplets, or a cross-encoder on pairs with classes."""
    dev_split: str | None = "dev"
    """Which rows of it."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not self.train or not all(self.train):
            raise BadInput("data.train names no file, but at least one is needed")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossPart:
    """What to strive for."""

    name: str | None = None
    """One of ``sbert.losses.OBJECTIVES``; of a cross-encoder "mse" for scores and "cross-entropy" for classes unless
    given."""
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
    from sbert.train import checkpoint
    from sbert.train.run import build as parts
    from sbert.train.trainer import Trainer

    datasets = _training_data(run.data)
    kind = parts.kind(run.model)
    objective = parts.objective(run.loss, datasets, kind)
    labels = parts.classes(objective, datasets)
    dev = None if run.data.dev is None else _read(_find(run.data.dev, run.data.folder), run.data, run.data.dev_split)
    evaluator = None if dev is None else parts.evaluator(dev, kind, labels)
    model = parts.model(run.model, kind, labels, run.train.seed)
    loss = parts.loss(run.loss, objective.name, model, kind, labels, run.train.seed)
    trainer = Trainer(model, run.train, train=datasets, loss=loss, evaluator=evaluator, callbacks=callbacks)
    if not checkpoint.steps(trainer.checkpoints):  # a run that goes on has its weights there
        parts.tell_new_head(run.model, model)
    return trainer


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
