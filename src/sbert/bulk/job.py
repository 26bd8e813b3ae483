"""Defines a job: the settings of its output, the settings of a run, and its shards. Plain records only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from sbert.data.files import Place
from sbert.errors import BadInput, check_count, check_option
from sbert.types import OnTruncate, Precision

EMBEDDING = "embedding"
"""The column of a shard that holds the vectors."""
ID = "id"
"""The column of a shard that holds the ids."""
OnBadRow = Literal["skip", "fail"]
"""How to handle rows without a text: write them to ``rejected.jsonl``, or raise an error before any work."""
Engine = Literal["local", "ray"]
"""Where shards are embedded: on this machine, or on a Ray cluster."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that determine the contents of the shards, besides the model and the input."""

    column: str | None = None
    """Field that holds the texts. Defaults to "text", "sentence" or the only field."""
    id: str | None = None
    """Field with the id of each text. Defaults to the number of the row among all rows of the input, from 0."""
    keep: tuple[str, ...] = ()
    """Further fields to write."""
    format: str | None = None
    """Format of the input. Defaults to the suffix of each file."""
    rows_per_shard: int | None = None
    """Maximum number of rows in a shard. Defaults to 1,024 for small inputs and up to 65,536 for large ones."""
    precision: Precision = "float32"
    normalize_embeddings: bool = False
    truncate_dim: int | None = None
    prompt_name: str | None = None
    prompt: str | None = None
    on_truncate: OnTruncate = "warn"
    """"warn" counts the texts that are too long, and reports them at the end."""
    max_seq_length: int | None = None
    on_bad_row: OnBadRow = "skip"

    def __post_init__(self) -> None:
        check_option("precision", self.precision, get_args(Precision))
        check_option("on_truncate", self.on_truncate, get_args(OnTruncate))
        check_option("on_bad_row", self.on_bad_row, get_args(OnBadRow))
        if self.rows_per_shard is not None:
            check_count("rows_per_shard", self.rows_per_shard)
        if self.format == "json":
            raise BadInput("the format is 'json', which cannot be read in a stream; write one object a line as .jsonl")


@dataclass(frozen=True, slots=True)
class Running:
    """The settings of a run, which do not affect the output."""

    workers: int = 1
    """Number of processes or Ray actors that share the cores. Without Ray, 1 is the calling process."""
    engine: Engine = "local"
    address: str | None = None
    """Address of the Ray cluster, such as "auto". Defaults to a new one on this machine."""
    device: str | None = None
    batch_tokens: int = 2048
    timeout: float = 600.0
    """Maximum time in seconds for 4,096 texts, after which a worker is killed and replaced."""
    dedupe: bool = False
    """Whether texts that occur in several shards are embedded once; their vectors are kept on the disk for the job."""

    def __post_init__(self) -> None:
        check_count("workers", self.workers)
        check_count("batch_tokens", self.batch_tokens)
        check_option("engine", self.engine, get_args(Engine))
        if not self.timeout > 0:
            raise BadInput(f"timeout is {self.timeout}, but must be a positive number of seconds")
        if self.dedupe and self.engine == "ray":
            raise BadInput("dedupe needs workers on one machine, but the engine is ray; leave one of them out")


@dataclass(frozen=True, slots=True)
class Input:
    """A file to embed."""

    path: str
    """A local path, or an address such as s3://bucket/name."""
    format: str
    bytes: int
    digest: str
    """SHA-256 of its bytes."""


class Stretch(NamedTuple):
    """Consecutive rows of one file."""

    file: int
    """Index of the file among the inputs."""
    start: Place | None
    """Where the first row begins; None for the beginning of the file."""
    first: int
    """Number of the first row among all rows of the input, including those without a text."""
    rows: int
    """Number of rows with a text; rows without one are not counted."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The rows that are written into one file."""

    number: int
    rows: int
    characters: int
    stretches: tuple[Stretch, ...]

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"part-{self.number:05}.parquet"


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields that a job takes from each row."""

    text: str
    id: str | None
    keep: tuple[str, ...]

    def __post_init__(self) -> None:
        names = [ID, self.text, *self.keep, EMBEDDING]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise BadInput(f"a shard would have two columns {twice!r}; rename the field of the input, or leave it out")


@dataclass(frozen=True, slots=True)
class Plan:
    """The result of a first pass over the input."""

    columns: Columns
    types: str
    """The types of all columns except the vectors, as an Arrow schema in base64."""
    shards: tuple[Shard, ...]
    rejected: int
    """Number of rows without a text."""

    @property
    def rows(self) -> int:
        """Number of rows with a text."""
        return sum(shard.rows for shard in self.shards)

    @property
    def characters(self) -> int:
        """Number of characters of all texts."""
        return sum(shard.characters for shard in self.shards)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Identifies a model."""

    name: str | None
    """The name by which workers load it; None for the default model."""
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Job:
    """The description of a job for its workers."""

    out: str
    model: ModelFacts
    settings: Settings
    inputs: tuple[Input, ...]
    columns: Columns
    types: str
    running: Running


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished shard."""

    shard: int
    file: str
    rows: int
    texts: int
    """Number of distinct texts."""
    tokens: int
    """Number of tokens of the distinct texts, including truncated tokens."""
    truncated: int
    """Number of distinct texts that were truncated."""
    lost: int
    """Number of tokens that were dropped."""
    longest: int
    exact: bool
    """Whether all tokens were counted; if not, the numbers of tokens are lower bounds."""
    bytes: int
    digest: str
    """SHA-256 of the file."""
