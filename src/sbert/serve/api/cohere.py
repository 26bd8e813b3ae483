"""The re-ranking of Cohere's API."""

from __future__ import annotations

import uuid
from typing import Annotated, Any, TypedDict

from msgspec import Meta, Struct

from sbert.serve.account import Account
from sbert.serve.http.refusal import COHERE
from sbert.serve.http.route import Route
from sbert.serve.service import Service

Count = Annotated[int, Meta(ge=1, le=1_000_000)]


class CohereRerankRequest(Struct):
    """A query and the documents to sort."""

    model: str
    query: str
    documents: list[str]
    top_n: Count | None = None
    max_tokens_per_doc: Count | None = None
    """Accepted for compatibility: a pair is truncated at the maximum length of the model."""


class Result(TypedDict):
    """A document, identified by its position in the request."""

    index: int
    relevance_score: float


class CohereRerankResponse(TypedDict):
    """The documents, best first."""

    id: str
    results: list[Result]
    meta: dict[str, Any]


async def rerank(service: Service, asked: CohereRerankRequest, account: Account) -> dict[str, Any]:
    """Sort documents by how well they answer a query.

    The scores of a cross-encoder are probabilities. The scores of other models are similarities, on a different scale.
    """
    served = service.ranker(asked.model)
    service.check_items(len(asked.documents), "documents")
    hits = await served.rank(asked.query, asked.documents, served.relevance, asked.top_n, account)
    warnings = []
    if account.truncated_tokens:
        warnings.append(f"{account.truncated_tokens} tokens were dropped because texts were too long")
    return {
        "id": str(uuid.uuid4()),
        "results": [{"index": hit.id, "relevance_score": hit.score} for hit in hits],
        "meta": {
            "api_version": {"version": "2"},
            "billed_units": {"search_units": 1},
            "tokens": {"input_tokens": account.tokens, "output_tokens": 0},
            "warnings": warnings,
        },
    }


ROUTES = (Route("POST", "/v2/rerank", rerank, CohereRerankRequest, CohereRerankResponse, COHERE),)
