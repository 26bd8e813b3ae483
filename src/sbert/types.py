"""The plain records that rooms hand to each other. Knows numpy only: no torch, no files.

Letters in shape comments: B texts in a batch, T tokens of a batch, H hidden size, D embedding size, N items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, NamedTuple, Protocol, TypedDict, runtime_checkable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]
Array = npt.NDArray[Any]

Pooling = Literal["mean", "max", "cls", "mean_sqrt_len", "weightedmean", "lasttoken"]
Similarity = Literal["cosine", "dot", "euclidean", "manhattan"]
Precision = Literal["float32", "float16", "int8", "uint8", "binary", "ubinary"]
OnTruncateWhole = Literal["warn", "raise", "ignore"]
"""Where what is too long cannot be read in windows: pairs, and queries of several vectors."""
OnTruncate = Literal[OnTruncateWhole, "chunk"]
Scale = Literal["sigmoid", "identity", "softmax"]
Output = Literal["score", "logit", "probability"]
Kind = Literal["bi", "cross", "poly"]
LabelKind = Literal["none", "class", "score", "binary", "vector", "scores"]
Codes = Literal["learned", "first"]
Towers = Literal["shared", "separate"]
Role = Literal["query", "document"]


class Group(NamedTuple):
    """So many texts of ``length`` tokens each, lying next to each other in a batch."""

    texts: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Token ids of several texts laid end to end, equal lengths adjacent, nothing padded."""

    input_ids: IntArray
    """(T,) int64."""
    lengths: tuple[int, ...]
    """Tokens of each of the B texts; their sum is T."""
    prompt_length: int = 0
    """Leading tokens of every text that pooling leaves out."""
    token_types: IntArray | None = None
    """(T,) int64, which of a pair's two texts a token belongs to; None where there is one text only."""
    roles: tuple[Role, ...] | None = None
    """What each of the B texts is, for a model that reads queries otherwise than documents."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """Runs of equal length: attention and pooling work on one run at a time."""
        return tuple(Group(len(list(run)), length) for length, run in groupby(self.lengths))


class Hit(NamedTuple):
    """One search result: which item, and how similar (higher is nearer)."""

    id: int | str
    score: float
    text: str | None = None


class Pair(NamedTuple):
    """Two items of one collection and their similarity, ``first < second``."""

    first: int
    second: int
    score: float


class EncodeOptions(TypedDict, total=False):
    """The options of ``BiEncoder.encode``, where another method hands them on."""

    prompt_name: str | None
    prompt: str | None
    batch_tokens: int
    batch_size: int | None
    normalize_embeddings: bool
    truncate_dim: int | None
    precision: Precision
    show_progress_bar: bool
    on_truncate: OnTruncate


@runtime_checkable
class Encoder(Protocol):
    """Whatever turns texts into vectors: all that evaluation and search ask of a model."""

    def encode(self, sentences: Sequence[str], *, on_truncate: OnTruncate = "warn") -> Array:
        """(N, D), one vector per text."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """Whatever reads two texts together and says something of the pair."""

    def predict(self, pairs: Sequence[tuple[str, str]], *, on_truncate: OnTruncate = "warn") -> FloatArray:
        """(N,) one score per pair, or (N, L), one per label."""
        ...


class Evaluator(Protocol):
    """Says how good a model is. Higher is better."""

    @property
    def primary_metric(self) -> str:
        """Which of the figures decides which model is best."""
        ...

    def __call__(self, model: Any, /) -> Mapping[str, float]:
        """All figures by name."""
        ...
