"""The result of a search, and the models that take part in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from sbert.text import display
from sbert.types import Array, FloatArray, Hit, Similarity


class SearchHit(NamedTuple):
    """A document that was found."""

    id: int | str
    score: float
    """The score of the last stage: the re-ranker, the fusion of ranks, the similarity of vectors, or BM25."""
    text: str
    metadata: Mapping[str, Any]
    vector_rank: int | None = None
    """Place in the list by vectors, from 1; None if it is not in that list."""
    lexical_rank: int | None = None
    """Place in the list by words, from 1; None if it is not in that list."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """Duration of each stage of a search, in seconds."""

    encode: float
    """Embedding the query."""
    retrieve: float
    """Finding the short list."""
    rerank: float
    """Sorting the short list; 0 without a re-ranker."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search."""

    hits: list[SearchHit]
    """Best first, with the scores of the re-ranker if there is one."""
    candidates: int
    """Number of documents that the re-ranker read; 0 without one."""
    seconds: Seconds
    exact: bool = True
    """Whether the short list by vectors is certain to hold the nearest; an approximate index gives no certainty."""
    compared: int = 0
    """Number of vectors that the query was compared with; an estimate if the result is not exact."""

    def _repr_html_(self) -> str:
        """Show the hits as a table in a notebook."""
        fields = list(dict.fromkeys(name for hit in self.hits for name in hit.metadata))
        rows = [
            [rank, display.number(hit.score, 4), hit.id, hit.text, *(hit.metadata.get(name, "") for name in fields)]
            for rank, hit in enumerate(self.hits, 1)
        ]
        return display.html_table(["rank", "score", "id", "text", *fields], rows)

    def to_json(self) -> dict[str, Any]:
        """Return the result as values that JSON can hold."""
        return {
            "hits": [hit._asdict() for hit in self.hits],
            "exact": self.exact,
            "compared": self.compared,
            "candidates": self.candidates,
            "seconds": asdict(self.seconds),
        }


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the documents of a call."""

    new: int = 0
    """Number of documents with ids that were unknown."""
    changed: int = 0
    """Number of documents whose text or metadata were replaced."""
    unchanged: int = 0
    embedded: int = 0
    """Number of texts that were not stored before under any id."""
    repeated: int = 0
    """Number of documents that were replaced by a later one of the same call with the same id."""

    def __add__(self, other: Added) -> Added:
        return Added(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


@runtime_checkable
class Retriever(Protocol):
    """A model that finds the short list, such as a bi-encoder."""

    similarity_fn_name: Similarity

    def encode_query(self, sentences: str, /) -> Array:
        """Embed a query: (D,)."""
        ...

    def encode_document(self, sentences: Sequence[str], /) -> Array:
        """Embed documents: (N, D)."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """A model that sorts the short list, such as a cross-encoder or a poly-encoder."""

    def rank(self, query: str, documents: Sequence[str], top_k: int | None = None) -> list[Hit]:
        """Sort documents by their score with a query, best first; the id of a hit is the position of its document."""
        ...


@runtime_checkable
class ByVectors(Protocol):
    """A re-ranker that needs only the vector of a document, such as a poly-encoder; the vectors are kept."""

    def encode_query(self, sentences: str, /) -> FloatArray:
        """Embed a query as several vectors: (M, H)."""
        ...

    def encode_document(self, sentences: Sequence[str], /) -> FloatArray:
        """Embed documents: (N, H)."""
        ...

    def score(self, codes: FloatArray, vectors: FloatArray, /) -> FloatArray:
        """Score documents with a query: (M, H), (K, H) -> (K,)."""
        ...
