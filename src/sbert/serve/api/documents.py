"""Our own routes: searching a store, and adding, showing and deleting its documents."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta, Struct, field

from sbert.errors import BadInput
from sbert.search.found import Found
from sbert.serve.account import Account
from sbert.serve.http.refusal import OPENAI, Refusal
from sbert.serve.http.route import Raw, Route
from sbert.serve.service import Service

Id = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | Annotated[str, Meta(min_length=1, max_length=1000)]
HitCount = Annotated[int, Meta(ge=1, le=1000)]
Mode = Literal["vector", "lexical", "hybrid"]
_LONGEST_ID = 1000


class SearchRequest(Struct):
    """A query, and the options of the search."""

    query: Annotated[str, Meta(min_length=1)]
    k: HitCount = 10
    mode: Mode = "vector"
    """Whether texts are found by meaning, by their words, or by both."""
    filter: str | dict[str, Any] | None = None
    """A condition on the metadata, such as lang = "ko" and year >= 2020, or the same as an object."""
    rerank: bool = False
    """Whether the re-ranker of the server sorts the best candidates."""
    candidates: Annotated[int, Meta(ge=1, le=1000)] = 100


class SimilarRequest(Struct):
    """The id of a document, and the options of the search for similar ones."""

    id: str
    k: HitCount = 10
    filter: str | None = None


class DocumentId(Struct):
    """The id of a document."""

    id: str


class NewDocument(Struct):
    """A document to add."""

    text: Annotated[str, Meta(min_length=1)]
    id: Id | None = None
    """Identifies the document; a document with the same id is replaced. Defaults to a hash of the text."""
    metadata: dict[str, Any] = field(default_factory=dict)


class AddRequest(Struct):
    """Documents to add or to replace."""

    documents: list[NewDocument]


class DeleteRequest(Struct):
    """Documents to delete."""

    ids: list[Id]


class FoundHit(TypedDict):
    """A document that was found."""

    id: int | str
    score: float
    text: str
    metadata: dict[str, Any]
    vector_rank: int | None
    lexical_rank: int | None


class SearchResponse(TypedDict):
    """The documents that were found, best first."""

    hits: list[FoundHit]
    exact: bool
    compared: int
    candidates: int
    seconds: dict[str, float]


class StoredDocument(TypedDict):
    """A document."""

    id: int | str
    text: str
    metadata: dict[str, Any]


class AddResponse(TypedDict):
    """Number of documents for each outcome."""

    new: int
    changed: int
    unchanged: int
    embedded: int
    repeated: int


class DeleteResponse(TypedDict):
    """The number of documents that were deleted."""

    deleted: int


async def search(service: Service, asked: SearchRequest, account: Account) -> dict[str, Any]:
    """Find the documents that are nearest to a query in meaning, in words, or in both."""
    retrieval = service.with_store()
    searcher = retrieval.searcher(asked.rerank)
    if not asked.query.strip():
        raise Refusal("empty", "the query is empty, but must be a text", param="query")
    options = {"filter": asked.filter, "mode": asked.mode}
    found: Found = await retrieval.run(lambda: searcher.search(asked.query, asked.k, asked.candidates, **options))  # type: ignore[call-overload]
    return found.to_json()


async def similar(service: Service, asked: SimilarRequest, account: Account) -> dict[str, Any]:
    """Find the documents that are most similar to one in the store.

    The id is read as a string if there is a document with that string as its id, otherwise as a number.
    """
    retrieval = service.with_store()
    name = await _known(service, asked.id)
    searcher = retrieval.searcher(rerank=False)
    found = await retrieval.run(lambda: searcher.similar(name, asked.k, filter=asked.filter))
    return found.to_json()


async def get(service: Service, asked: DocumentId, account: Account) -> dict[str, Any]:
    """Return a document by its id.

    The id is read as a string if there is a document with that string as its id, otherwise as a number.
    """
    name = await _known(service, asked.id)
    document = (await service.with_store().run(lambda: service.with_store().store.get([name])))[0]
    return {"id": document.id, "text": document.text, "metadata": document.metadata}


async def add(service: Service, asked: AddRequest, account: Account) -> dict[str, Any]:
    """Add documents, or replace those with the same ids; only new texts are embedded."""
    retrieval = service.with_store()
    service.check_items(len(asked.documents), "documents")
    without = [document.id is None for document in asked.documents]
    if any(without) and not all(without):
        raise BadInput("some documents have ids and others have none; give all of them ids, or omit all ids")
    ids = None if all(without) else [document.id for document in asked.documents]
    texts = [document.text for document in asked.documents]
    metadata = [document.metadata for document in asked.documents]
    searcher = retrieval.searcher(rerank=False)
    return asdict(await retrieval.run(lambda: searcher.add(texts, ids, metadata=metadata)))  # type: ignore[arg-type]


async def delete(service: Service, asked: DeleteRequest, account: Account) -> dict[str, int]:
    """Delete documents by their ids; ids that do not exist are skipped."""
    retrieval = service.with_store()
    service.check_items(len(asked.ids), "ids")
    return {"deleted": await retrieval.run(lambda: retrieval.store.delete(asked.ids))}


async def delete_one(service: Service, asked: DocumentId, account: Account) -> dict[str, int]:
    """Delete a document by its id.

    The id is read as a string if there is a document with that string as its id, otherwise as a number.
    """
    retrieval = service.with_store()
    name = await _known(service, asked.id)
    return {"deleted": await retrieval.run(lambda: retrieval.store.delete([name]))}


async def draw(service: Service, asked: None, account: Account) -> Raw:
    """Return a page with a map of the store. The status is 202 while the map is being drawn."""
    retrieval = service.with_store()
    page = service.map.page(await retrieval.run(retrieval.store.count))
    if page is None:
        return Raw(b'{"state":"drawing"}', "application/json", 202, (("retry-after", "1"),))
    return Raw(page, "text/html; charset=utf-8", 200, (("content-security-policy", "sandbox allow-scripts"),))


async def _known(service: Service, given: str) -> int | str:
    """Return the id of a document as it is stored."""
    retrieval = service.with_store()
    number = given.removeprefix("-").isdecimal() and len(given) < 20
    names: list[int | str] = [given, int(given)] if number else [given]
    found = await retrieval.run(lambda: retrieval.store.get(names[:1]) or retrieval.store.get(names[1:]))
    if not found:
        raise Refusal("not_found", f"there is no document with the id {given[:_LONGEST_ID]!r}", param="id")
    return found[0].id


ROUTES = (
    Route("POST", "/search", search, SearchRequest, SearchResponse, OPENAI),
    Route("GET", "/similar/{id:path}", similar, SimilarRequest, SearchResponse, OPENAI),
    Route("POST", "/documents", add, AddRequest, AddResponse, OPENAI, "write"),
    Route("DELETE", "/documents", delete, DeleteRequest, DeleteResponse, OPENAI, "write"),
    Route("GET", "/documents/{id:path}", get, DocumentId, StoredDocument, OPENAI, counts=False),
    Route("DELETE", "/documents/{id:path}", delete_one, DocumentId, DeleteResponse, OPENAI, "write"),
    Route("GET", "/map", draw, None, None, OPENAI, counts=False),
)
