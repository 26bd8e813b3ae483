"""The types that several packages of sbert share. Depends on numpy only.

Letters in shapes: B texts in a batch, T tokens in a batch, H hidden size, D embedding size, N items.
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
"""How the hidden states of a text's tokens become one vector."""
Similarity = Literal["cosine", "dot", "euclidean", "manhattan"]
"""How two vectors are compared; distances are negative, so that higher always means more similar."""
Precision = Literal["float32", "float16", "int8", "uint8", "binary", "ubinary"]
"""The number format of finished vectors."""
OnTruncateWhole = Literal["warn", "raise", "ignore"]
"""What to do about inputs that are too long and cannot be split into windows: pairs, and a poly-encoder's queries."""
OnTruncate = Literal[OnTruncateWhole, "chunk"]
"""What to do about texts that are too long."""
Scale = Literal["sigmoid", "identity", "softmax", "tanh"]
"""The activation that turns the logits of a cross-encoder into scores."""
Output = Literal["score", "logit", "probability"]
"""What to return for a pair of texts: a score on the model's own scale, the raw logit, or a probability."""
ModelKind = Literal["bi", "cross", "poly"]
"""The kinds of transformer models that can be trained."""
LabelKind = Literal["none", "class", "score", "binary", "vector", "scores"]
"""What the labels of a data set are: nothing, class ids, scores from 0 to 1, 0 or 1, or a teacher's output."""
Sampling = Literal["shuffled", "no-duplicates", "by-label"]
"""How rows are grouped into batches: at random, without a text twice in a batch, or several rows of each label."""
Codes = Literal["learned", "first"]
"""Where the M vectors of a poly-encoder's query come from: learned attention queries, or its first M tokens."""
Towers = Literal["shared", "separate"]
"""Whether a poly-encoder reads queries and documents with one transformer or with two."""
UnicodeForm = Literal["NFC", "NFKC"]
"""The normalization form of Unicode to which a tokenizer brings texts first: composed characters, as Hangul is usually
stored, or also one form for characters that only look different, such as full-width letters."""
Role = Literal["query", "document"]
"""Which side of a search a text is on, for models that embed the two sides differently."""


class Group(NamedTuple):
    """A number of adjacent texts in a batch that all have the same length in tokens."""

    texts: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Token ids of several texts, concatenated without padding; texts of equal length are adjacent."""

    input_ids: IntArray
    """(T,) int64."""
    lengths: tuple[int, ...]
    """Number of tokens of each of the B texts; the sum is T."""
    prompt_length: int = 0
    """Number of leading tokens of every text that belong to the prompt."""
    token_types: IntArray | None = None
    """(T,) int64, the text of a pair that each token belongs to; None for single texts."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The runs of texts with equal length; attention and pooling process one run at a time."""
        return tuple(Group(len(list(run)), length) for length, run in groupby(self.lengths))


class Hit(NamedTuple):
    """A search result: an item and its score; higher is more similar."""

    id: int | str
    score: float
    text: str | None = None


class Pair(NamedTuple):
    """Two items of a collection, ``first < second``, and their similarity."""

    first: int
    second: int
    score: float


class EncodeOptions(TypedDict, total=False):
    """The options of ``BiEncoder.encode`` that other methods pass on."""

    prompt_name: str | None
    prompt: str | None
    batch_tokens: int
    batch_size: int | None
    normalize_embeddings: bool
    truncate_dim: int | None
    precision: Precision
    show_progress_bar: bool
    on_truncate: OnTruncate
    workers: int


@runtime_checkable
class Encoder(Protocol):
    """A model that embeds texts, as far as evaluation and search are concerned."""

    def encode(self, sentences: Sequence[str], *, on_truncate: OnTruncate = "warn") -> Array:
        """Embed texts: (N, D)."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """A model that scores or classifies pairs of texts."""

    def predict(self, pairs: Sequence[tuple[str, str]], *, on_truncate: OnTruncate = "warn") -> FloatArray:
        """Score pairs: (N,), or (N, L) for a model with L > 1 labels."""
        ...


class Evaluator(Protocol):
    """Measures a model. Higher is better."""

    @property
    def primary_metric(self) -> str:
        """Name of the metric that decides which model is best."""
        ...

    def __call__(self, model: Any, /) -> Mapping[str, float]:
        """Return all metrics by name."""
        ...
