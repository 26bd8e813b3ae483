"""The re-ranking of Jina's API."""

from __future__ import annotations

from typing import Any, TypedDict

from msgspec import Struct

from sbert.serve.account import Account
from sbert.serve.api.cohere import Count
from sbert.serve.http.refusal import JINA
from sbert.serve.http.route import Route
from sbert.serve.service import Service


class TextDocument(Struct):
    """A document as an object."""

    text: str


class JinaRerankRequest(Struct):
    """A query and the documents to sort."""

    model: str
    query: str
    documents: list[str | TextDocument]
    top_n: Count | None = None
    return_documents: bool = True


class JinaUsage(TypedDict):
    """The number of tokens that were read."""

    total_tokens: int
    prompt_tokens: int


class JinaRerankResponse(TypedDict):
    """The documents, best first."""

    model: str
    usage: JinaUsage
    results: list[dict[str, Any]]


async def rerank(service: Service, asked: JinaRerankRequest, account: Account) -> dict[str, Any]:
    """Sort documents by how well they answer a query, and return their texts."""
    served = service.ranker(asked.model)
    service.check_items(len(asked.documents), "documents")
    texts = [one if isinstance(one, str) else one.text for one in asked.documents]
    hits = await served.rank(asked.query, texts, served.relevance, asked.top_n, account)
    results: list[dict[str, Any]] = [{"index": hit.id, "relevance_score": hit.score} for hit in hits]
    if asked.return_documents:
        results = [result | {"document": {"text": texts[int(result["index"])]}} for result in results]
    usage = {"total_tokens": account.tokens, "prompt_tokens": account.tokens}
    return {"model": served.name, "usage": usage, "results": results}


ROUTES = (Route("POST", "/v1/rerank", rerank, JinaRerankRequest, JinaRerankResponse, JINA),)
