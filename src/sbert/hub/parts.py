"""The parts of models, as they are read from folders. Does not read or write files."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor, nn

from sbert.hub.reference import Reference
from sbert.nn.classify import Classifier
from sbert.nn.transformer import Transformer
from sbert.nn.words import BiLSTM, WordEmbeddings
from sbert.text import PieceTokenizer, Tokenizer, WordTokenizer
from sbert.types import Codes, FloatArray, Pooling, Scale, Similarity, Towers


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a bi-encoder."""

    tokenizer: Tokenizer
    transformer: Transformer
    pooling: tuple[Pooling, ...] = ("mean",)
    """If there are several, their vectors are concatenated in this order."""
    include_prompt: bool = True
    """Whether pooling includes the tokens of the prompt."""
    heads: tuple[nn.Module, ...] = ()
    """Modules of :mod:`sbert.nn.heads`, in order."""
    prompts: dict[str, str] = field(default_factory=dict)
    default_prompt_name: str | None = None
    similarity: Similarity = "cosine"
    ranges: FloatArray | None = None
    """(2, D) the smallest and the largest value of each dimension, for int8."""
    reference: Reference | None = None
    truncate_dim: int | None = None
    """Number of leading dimensions to keep (Matryoshka models)."""


@dataclass(frozen=True, eq=False)
class CrossParts:
    """The parts of a cross-encoder."""

    tokenizer: Tokenizer
    transformer: Transformer
    head: Classifier
    labels: tuple[str, ...]
    """The names of the head's outputs."""
    scale: Scale
    """The function that turns logits into scores."""


@dataclass(frozen=True, eq=False)
class PolyParts:
    """The parts of a poly-encoder besides the bi-encoder of its documents."""

    num_codes: int
    codes: Tensor | None
    """(M, H) learned codes; None if the first tokens are the codes."""
    queries: Transformer | None
    """The transformer of the queries; None if they share that of the documents."""

    @property
    def kind(self) -> Codes:
        """The origin of the codes."""
        return "first" if self.codes is None else "learned"

    @property
    def towers(self) -> Towers:
        """Whether queries and documents share one transformer."""
        return "shared" if self.queries is None else "separate"


@dataclass(frozen=True, eq=False)
class WordParts:
    """The parts of a word-level encoder."""

    tokenizer: WordTokenizer | PieceTokenizer
    embeddings: WordEmbeddings
    lstm: BiLSTM | None = None
    pooling: tuple[Pooling, ...] = ("mean",)
    heads: tuple[nn.Module, ...] = ()
    """Modules of :mod:`sbert.nn.heads`, in order."""
