"""The description of a training run in one TOML file: model, data, loss and settings. Builds nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, get_args, get_type_hints

from sbert.data.readers import Default
from sbert.errors import BadInput, BadOption, check_option, shown
from sbert.train.config import TrainConfig
from sbert.train.run import settings
from sbert.types import Codes, LabelKind, ModelKind, Pooling, Towers, UnicodeForm

Alternatives = str | tuple[str, ...]
"""A file, or several of which the first that exists is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """The model to train."""

    name: str | None = None
    """A folder, the folder of a run, an installed model package or a Hugging Face name; defaults to
    all-MiniLM-L6-v2."""
    kind: ModelKind | None = None
    """"bi", "cross" or "poly"; defaults to the kind of the model in the folder, and to "bi" for a plain encoder."""
    pooling: Pooling | tuple[Pooling, ...] | None = None
    """How a plain encoder pools the tokens of a text into one vector; defaults to mean."""
    max_seq_length: int | None = None
    """Maximum number of tokens of a text or a pair; defaults to that of the model."""
    unicode_form: UnicodeForm | None = None
    """Normalization form of Unicode, "NFC" or "NFKC", to which the trained model brings texts first."""
    num_codes: int | None = None
    """Number of codes of a new poly-encoder; defaults to 64."""
    codes: Codes | None = None
    """"learned" codes or the "first" tokens, for a new poly-encoder; defaults to "learned"."""
    towers: Towers | None = None
    """Whether a new poly-encoder has one transformer for queries and documents, "shared", or two, "separate";
    defaults to "shared"."""
    device: str | None = None
    """Device to train on, such as "cpu" or "cuda:1"; defaults to a GPU if there is one."""

    def __post_init__(self) -> None:
        if self.kind is not None:
            check_option("model.kind", self.kind, get_args(ModelKind))
        if self.kind in ("bi", "cross") and (self.num_codes or self.codes or self.towers):
            raise BadInput(f"model.num_codes, codes and towers are for poly-encoders, but the kind is {self.kind!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """The data. The settings of columns and labels also apply to ``dev``."""

    train: tuple[Alternatives, ...]
    """Files to train on, each a data set of its own; if an entry is a list, the first file in it that exists."""
    folder: str | None = None
    """Folder of relative paths; defaults to the current folder."""
    split: str | Default | None = Default.TRAIN
    """The rows to train on, by their value in the column ``split``; "none" for all rows. Defaults to "train" in files
    with that column, and to all rows in others."""
    limit: int | None = None
    """Maximum number of rows of each training file; the first ones are used."""
    columns: tuple[str, ...] | None = None
    """The text columns in the order of the loss, if their names are not the usual ones."""
    label: str | None = None
    """The label column, if its name is not a usual one."""
    label_map: dict[str, str | int] | None = None
    """Names or ids of the classes by the labels in the file."""
    label_kind: LabelKind | None = None
    """The kind of the labels, if their values are ambiguous."""
    score_range: tuple[float, float] = (0.0, 5.0)
    """The lowest and the highest score, which become 0 and 1."""
    dev: Alternatives | None = None
    """File to evaluate on: pairs with scores or triplets, for a cross-encoder also pairs with classes."""
    dev_split: str | Default | None = Default.DEV
    """The rows of ``dev`` to evaluate on; defaults to "dev" if the file has a column ``split``."""

    def __post_init__(self) -> None:
        if not self.train or not all(self.train):
            raise BadInput("data.train names no file, but at least one is needed")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossPart:
    """The loss."""

    name: str | None = None
    """One of ``sbert.losses.OBJECTIVES``. A cross-encoder defaults to "mse" for scores and "cross-entropy" for
    classes."""
    dims: tuple[int, ...] | None = None
    """Embedding sizes to train at the same time (Matryoshka), the full size first."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the loss, such as margin or scale: every other key of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """The description of a run.

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
        """Read a TOML file and apply ``overrides`` such as "train.epochs=2"."""
        return cls.of(reduce(settings.override, overrides, settings.read(path)))

    @classmethod
    def of(cls, tables: Mapping[str, Any]) -> RunFile:
        """Create the description from the tables of a run file."""
        kinds = get_type_hints(cls)
        for name, table in tables.items():
            if name not in kinds:
                raise BadOption("a table of the run file", name, kinds)
            if not isinstance(table, Mapping):
                raise BadInput(f"{name} is {shown(table)}, but must be a table with keys of its own, such as [{name}]")
        options = dict(tables.get("loss", {}))
        loss = {key: options.pop(key) for key in ("name", "dims") if key in options}
        tables = {**tables, "loss": {**loss, "options": options}}
        return cls(**{name: settings.build(kind, tables.get(name, {}), name) for name, kind in kinds.items()})
