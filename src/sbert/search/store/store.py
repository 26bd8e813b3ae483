"""Defines the interface of a store, which keeps documents and finds them by vector, by words or by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol, get_args

from sbert.errors import BadModel, SbertError, shown
from sbert.hub.limits import WIDEST
from sbert.search.filters import Condition
from sbert.search.index import Kind, Neighbours
from sbert.search.packing import PRECISIONS, Packing, StoredPrecision
from sbert.search.store.document import Document
from sbert.types import FloatArray, IntArray, Similarity


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """The facts about a store, which are written when it is created and never change."""

    model: str
    """The name by which the model can be loaded again."""
    fingerprint: str
    """Identifies the weights and settings that computed the vectors."""
    dimension: int
    similarity: Similarity
    precision: StoredPrecision
    morphemes: bool
    """Whether Korean morphemes are among the terms of the full-text index."""


def is_postgres(location: object) -> bool:
    """Return whether a location is the address of a PostgreSQL database."""
    return str(location).startswith(("postgresql://", "postgres://"))


def damaged(where: object, why: str) -> BadModel:
    """Return the error about a store with contents that sbert does not write."""
    return BadModel(
        f"{str(where)!r} is damaged or not a store ({shown(why)}); restore it from a backup, or index again"
    )


@contextmanager
def decoding(where: object) -> Iterator[None]:
    """Convert errors about values read from a store to the error about a damaged store."""
    try:
        yield
    except SbertError:
        raise
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise damaged(where, str(error)) from None


def facts_from(values: Mapping[str, Any], where: object) -> tuple[StoreFacts, Packing]:
    """Check the facts that are stored about a store, and return them with the packing of its vectors."""
    with decoding(where):
        known = {field.name: values[field.name] for field in fields(StoreFacts)}
        facts = StoreFacts(**{**known, "morphemes": bool(known["morphemes"])})
        names = facts.model, facts.fingerprint, facts.similarity, facts.precision
        if not all(isinstance(name, str) for name in names) or type(facts.dimension) is not int:
            raise ValueError("the facts about it have other types")
        known_names = facts.similarity in get_args(Similarity) and facts.precision in PRECISIONS
        if not known_names or not 1 <= facts.dimension <= WIDEST:
            raise ValueError("the facts about it have other values")
        return facts, Packing(facts.dimension, facts.precision)


class Known(NamedTuple):
    """The facts about a stored document that decide whether it must be written again."""

    hash: bytes
    metadata: str


class Match(NamedTuple):
    """A document found by its words: its key, and its BM25 score; higher is better."""

    key: int
    score: float


class Store(Protocol):
    """Persistent documents. Every change is complete and durable when its method returns, or has no effect.

    Every version of a document has a key, a number that is never reused. A new text gets a new key, so that the
    vector of a key never changes.
    """

    @property
    def facts(self) -> StoreFacts:
        """The facts about the store."""
        ...

    @property
    def address(self) -> str:
        """The location of the store for display, without user and password."""
        ...

    def put(self, documents: Sequence[Document]) -> None:
        """Add documents, or replace those with the same ids. A document without a vector keeps the one it has."""
        ...

    def delete(self, ids: Sequence[int | str]) -> int:
        """Delete documents, and return how many there were."""
        ...

    def known(self, ids: Sequence[int | str]) -> dict[int | str, Known]:
        """Return the hashes and metadata of those ids that exist."""
        ...

    def vectors_of(self, hashes: Sequence[bytes]) -> dict[bytes, FloatArray]:
        """Return the vectors of those texts that are already stored, under any id."""
        ...

    def get(self, ids: Sequence[int | str]) -> list[Document]:
        """Return the documents with these ids, in their order, with vectors. Unknown ids are skipped."""
        ...

    def read(self, keys: IntArray, vectors: bool = False) -> dict[int, Document]:
        """Return documents by their keys, with vectors on request. Keys that do not exist any more are skipped."""
        ...

    def count(self, condition: Condition | None = None) -> int:
        """Return the number of documents that meet a condition."""
        ...

    def __iter__(self) -> Iterator[Document]:
        """Yield all documents with their vectors, in the order in which they were written, in constant memory."""
        ...

    def ids(self) -> Iterator[int | str]:
        """Yield all ids, in the order in which the documents were written."""
        ...

    def nearest(self, vectors: FloatArray, k: int, condition: Condition | None = None) -> Neighbours:
        """Find the ``k`` documents that are nearest to each query and meet a condition."""
        ...

    def matching(self, terms: Sequence[str], k: int, condition: Condition | None = None) -> list[Match]:
        """Find the ``k`` documents with the best BM25 scores that contain one of the terms and meet a condition."""
        ...

    def save_index(self) -> None:
        """Update the stored index of the vectors if this saves work in later searches."""
        ...

    def index_facts(self) -> dict[str, object]:
        """Return the facts about the index of the vectors, such as its measured recall."""
        ...

    def check(self) -> list[str]:
        """Check the consistency of the store, and return a sentence about each problem."""
        ...

    def compact(self, kind: Kind | None = None) -> None:
        """Rebuild the index, of another kind if ``kind`` is given, and free the space of deleted documents."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...
