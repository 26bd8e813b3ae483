"""Defines what a store does: it keeps documents with their vectors, and finds them by vector, by words or by id."""

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
    """What holds for a store as a whole; it is written when the store is created and never changes."""

    model: str
    """The name by which the model can be loaded again."""
    fingerprint: str
    """Identifies the weights and settings that the vectors come from."""
    dimension: int
    similarity: Similarity
    precision: StoredPrecision
    morphemes: bool
    """Whether Korean morphemes are among the terms of the full-text index."""


def is_postgres(location: object) -> bool:
    """Return whether a location is the address of a PostgreSQL database."""
    return str(location).startswith(("postgresql://", "postgres://"))


def damaged(where: object, why: str) -> BadModel:
    """Return the error about a store that does not hold what sbert writes."""
    return BadModel(f"{str(where)!r} is damaged or no store ({shown(why)}); restore it from a backup, or index again")


@contextmanager
def decoding(where: object) -> Iterator[None]:
    """Turn the failure to use what was read from a store into the sentence about a damaged one."""
    try:
        yield
    except SbertError:
        raise
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise damaged(where, str(error)) from None


def facts_from(values: Mapping[str, Any], where: object) -> tuple[StoreFacts, Packing]:
    """Check what is stored about a store as a whole, and return it with the packing of its vectors."""
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
    """What decides whether a document must be written again."""

    hash: bytes
    metadata: str


class Match(NamedTuple):
    """A document found by its words: its key, and its BM25 score; higher is better."""

    key: int
    score: float


class Store(Protocol):
    """Documents that last. Every change is complete and on the disk when its method returns, or did not happen.

    Every version of a document has a key, a number that is never used again. A new text gets a new key, so that the
    vector of a key never changes.
    """

    @property
    def facts(self) -> StoreFacts:
        """What holds for the store as a whole."""
        ...

    @property
    def address(self) -> str:
        """The place of the store for people, without user and password."""
        ...

    def put(self, documents: Sequence[Document]) -> None:
        """Add documents, or replace those with the same ids. A document without a vector keeps the one it has."""
        ...

    def delete(self, ids: Sequence[int | str]) -> int:
        """Delete documents, and return how many there were."""
        ...

    def known(self, ids: Sequence[int | str]) -> dict[int | str, Known]:
        """Return what is stored of those of the ids that exist."""
        ...

    def vectors_of(self, hashes: Sequence[bytes]) -> dict[bytes, FloatArray]:
        """Return the vectors of those texts that are stored already, under any id."""
        ...

    def get(self, ids: Sequence[int | str]) -> list[Document]:
        """Return the documents with these ids, in their order, with vectors. Unknown ids are skipped."""
        ...

    def read(self, keys: IntArray, vectors: bool = False) -> dict[int, Document]:
        """Return documents by their keys, on request with vectors. Keys that no longer exist are left out."""
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
        """Find the ``k`` documents with the best BM25 scores that hold one of the terms and meet a condition."""
        ...

    def save_index(self) -> None:
        """Bring the index of the vectors up to date if that spares later searches work."""
        ...

    def index_facts(self) -> dict[str, object]:
        """Return what is known about the index of the vectors, such as its measured recall."""
        ...

    def check(self) -> list[str]:
        """Compare what is stored with itself, and return a sentence about everything that is wrong."""
        ...

    def compact(self, kind: Kind | None = None) -> None:
        """Build the index again, of a certain kind if one is given, and give back the space of deleted documents."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...
