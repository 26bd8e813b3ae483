"""What a model folder holds, once read. Knows nothing of files."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor, nn

from sbert.hub.reference import Reference
from sbert.nn.classify import Classifier
from sbert.nn.transformer import Transformer
from sbert.nn.words import BiLSTM, WordEmbeddings
from sbert.text import Tokenizer, WordTokenizer
from sbert.types import Codes, FloatArray, Pooling, Scale, Similarity, Towers


@dataclass(frozen=True, eq=False)
class Parts:
    """Everything a bi-encoder is made of."""

    tokenizer: Tokenizer
    transformer: Transformer
    pooling: tuple[Pooling, ...] = ("mean",)
    """Several are concatenated in this order."""
    include_prompt: bool = True
    """Whether pooling counts the prompt's tokens."""
    heads: tuple[nn.Module, ...] = ()
    """Modules of :mod:`sbert.nn.heads`, in order."""
    prompts: dict[str, str] = field(default_factory=dict)
    default_prompt_name: str | None = None
    similarity: Similarity = "cosine"
    ranges: FloatArray | None = None
    """(2, D) smallest and largest value of each dimension, for int8."""
    reference: Reference | None = None
    truncate_dim: int | None = None
    """Keep only the first so many dimensions (Matryoshka models)."""


@dataclass(frozen=True, eq=False)
class CrossParts:
    """Everything a cross-encoder is made of."""

    tokenizer: Tokenizer
    transformer: Transformer
    head: Classifier
    labels: tuple[str, ...]
    """The names of the head's outputs."""
    scale: Scale
    """What makes scores of logits."""


@dataclass(frozen=True, eq=False)
class PolyParts:
    """What a poly-encoder has besides the bi-encoder of its documents."""

    num_codes: int
    codes: Tensor | None
    """(M, H) learned; None where the first tokens are the codes."""
    queries: Transformer | None
    """The queries' own transformer; None where they share that of the documents."""

    @property
    def kind(self) -> Codes:
        """Where the codes come from."""
        return "first" if self.codes is None else "learned"

    @property
    def towers(self) -> Towers:
        """Whether queries and documents are read by one transformer."""
        return "shared" if self.queries is None else "separate"


@dataclass(frozen=True, eq=False)
class WordParts:
    """Everything a word-level encoder is made of."""

    tokenizer: WordTokenizer
    embeddings: WordEmbeddings
    lstm: BiLSTM | None = None
    pooling: tuple[Pooling, ...] = ("mean",)
