"""The API of OpenAI: embeddings and the list of models."""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
from msgspec import Meta, Struct

from sbert.serve.account import Account
from sbert.serve.http.refusal import OPENAI, Refusal
from sbert.serve.http.route import Route
from sbert.serve.served import EmbedOptions
from sbert.serve.service import Service

TokenId = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class EmbeddingsRequest(Struct):
    """A text, several texts, the token ids of a text, or those of several texts."""

    input: str | list[str | TokenId | list[TokenId]]
    model: str
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    user: str | None = None
    prompt_name: str | None = None
    """Not in the API of OpenAI: the name of a prompt of the model, such as "query"."""


class Embedding(TypedDict):
    """The vector of one text: numbers, or little-endian float32 in base64."""

    object: str
    index: int
    embedding: list[float] | str


class Usage(TypedDict):
    """The number of tokens that were read and of those that were dropped."""

    prompt_tokens: int
    total_tokens: int
    truncated_tokens: int


class EmbeddingsResponse(TypedDict):
    """The vectors, in the order of the input."""

    object: str
    data: list[Embedding]
    model: str
    usage: Usage


class ModelCard(TypedDict):
    """A model."""

    id: str
    object: str
    created: int
    owned_by: str


class ModelList(TypedDict):
    """All models."""

    object: str
    data: list[ModelCard]


class ModelName(Struct):
    """The name of a model."""

    model: str


async def embeddings(service: Service, asked: EmbeddingsRequest, account: Account) -> dict[str, Any]:
    """Embed texts.

    The vectors equal those of `encode`. If `dimensions` is set, they are shortened to their leading dimensions and
    then scaled to unit length. Texts that are too long are truncated; `usage.truncated_tokens` is the number of
    dropped tokens. Token ids are those of /tokenize.
    """
    served = service.model(asked.model)
    inputs = _rows(asked.input)
    service.check_items(len(inputs), "input")
    for row, one in enumerate(inputs):
        if not one:
            raise Refusal("empty", f"row {row} of the input is empty, but needs at least one character", param="input")
    options = EmbedOptions(asked.prompt_name, asked.dimensions is not None, asked.dimensions)
    vectors = await served.embed(inputs, options, account)
    encode = _base64 if asked.encoding_format == "base64" else _same
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": encode(vector)}
            for index, vector in enumerate(vectors)
        ],
        "model": served.name,
        "usage": {
            "prompt_tokens": account.tokens,
            "total_tokens": account.tokens,
            "truncated_tokens": account.truncated_tokens,
        },
    }


async def models(service: Service, asked: None, account: Account) -> dict[str, Any]:
    """List the models."""
    return {"object": "list", "data": [_card(service, name) for name in service.models]}


async def model(service: Service, asked: ModelName, account: Account) -> dict[str, Any]:
    """Describe a model."""
    return _card(service, service.model(asked.model).name)


def _card(service: Service, name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": int(service.started), "owned_by": "sbert"}


def _rows(given: str | list[Any]) -> list[Any]:
    """Return one row for each text, after checking that all of them are texts or all are token ids."""
    if isinstance(given, str):
        return [given]
    if len({type(one) for one in given}) > 1:
        raise Refusal("invalid", "the input mixes texts and token ids; send them in two requests", param="input")
    return [given] if given and isinstance(given[0], int) else given


def _base64(vector: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _same(vector: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return vector


ROUTES = (
    Route("POST", "/v1/embeddings", embeddings, EmbeddingsRequest, EmbeddingsResponse, OPENAI),
    Route("GET", "/v1/models", models, None, ModelList, OPENAI, counts=False),
    Route("GET", "/v1/models/{model:path}", model, ModelName, ModelCard, OPENAI, counts=False),
)
