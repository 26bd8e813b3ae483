"""The API of Text Embeddings Inference. Its requests do not name a model; the first suitable one answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta, Struct

from sbert.serve.account import Account
from sbert.serve.api.openai import TokenId
from sbert.serve.http.refusal import TEI, Refusal
from sbert.serve.http.route import Route
from sbert.serve.served import EmbedOptions, Served
from sbert.serve.service import Service
from sbert.types import Output

Direction = Literal["right", "Right", "left", "Left"]
_EMBEDS = ("bi", "poly")


class EmbedRequest(Struct):
    """Texts to embed."""

    inputs: str | list[str]
    normalize: bool = True
    truncate: bool | None = None
    """Whether to shorten texts that are too long; true by default."""
    truncation_direction: Direction = "right"
    prompt_name: str | None = None
    dimensions: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None


class EmbedAllRequest(Struct):
    """Texts whose tokens are embedded."""

    inputs: str | list[str]
    truncate: bool | None = None
    truncation_direction: Direction = "right"


class TeiRerankRequest(Struct):
    """A query and the texts to sort."""

    query: str
    texts: list[str]
    raw_scores: bool = False
    return_text: bool = False
    truncate: bool | None = None
    truncation_direction: Direction = "right"


class Sentences(Struct):
    """A text, and the texts to compare it with."""

    source_sentence: str
    sentences: list[str]


class SimilarityParameters(Struct):
    """Options for embedding the texts before they are compared."""

    truncate: bool | None = None
    truncation_direction: Direction = "right"
    prompt_name: str | None = None


class SimilarityRequest(Struct):
    """Texts to compare."""

    inputs: Sentences
    parameters: SimilarityParameters | None = None


class PredictRequest(Struct):
    """A pair of texts, or a list of pairs."""

    inputs: str | list[str | list[str]]
    raw_scores: bool = False
    truncate: bool | None = None
    truncation_direction: Direction = "right"


class TokenizeRequest(Struct):
    """Texts to divide into tokens."""

    inputs: str | list[str]
    add_special_tokens: bool = True
    prompt_name: str | None = None


class DecodeRequest(Struct):
    """Token ids of a text, or of several texts."""

    ids: list[TokenId | list[TokenId]]
    skip_special_tokens: bool = True


class Rank(TypedDict, total=False):
    """A text, identified by its position in the request."""

    index: int
    score: float
    text: str


class Token(TypedDict):
    """A token: its id, and the characters that it represents."""

    id: int
    text: str
    special: bool
    start: int | None
    stop: int | None


async def embed(service: Service, asked: EmbedRequest, account: Account) -> Any:
    """Embed texts, by default with vectors of length one."""
    texts = _texts(service, asked.inputs)
    _check_direction(asked.truncation_direction)
    options = EmbedOptions(asked.prompt_name, asked.normalize, asked.dimensions, asked.truncate is not False)
    return list(await service.model(kinds=_EMBEDS).embed(texts, options, account))


async def embed_all(service: Service, asked: EmbedAllRequest, account: Account) -> Any:
    """Return the last hidden state of every token of texts."""
    texts = _texts(service, asked.inputs)
    _check_direction(asked.truncation_direction)
    return await service.model(kinds=_EMBEDS).hidden(texts, asked.truncate is not False, account)


async def rerank(service: Service, asked: TeiRerankRequest, account: Account) -> Any:
    """Sort texts by how well they answer a query."""
    service.check_items(len(asked.texts), "texts")
    _check_direction(asked.truncation_direction)
    served = service.ranker()
    output: Output = "logit" if asked.raw_scores and served.kind == "cross" else served.relevance
    hits = await served.rank(asked.query, asked.texts, output, None, account)
    _check_whole(asked.truncate, account)
    extra = [{"text": hit.text} if asked.return_text else {} for hit in hits]
    return [{"index": hit.id, "score": hit.score, **more} for hit, more in zip(hits, extra, strict=True)]


async def similarity(service: Service, asked: SimilarityRequest, account: Account) -> Any:
    """Compare a text with others."""
    service.check_items(len(asked.inputs.sentences), "sentences")
    wanted = asked.parameters or SimilarityParameters()
    _check_direction(wanted.truncation_direction)
    options = EmbedOptions(wanted.prompt_name, truncate=wanted.truncate is not False)
    served = service.model(kinds=_EMBEDS)
    scores = await served.similarities(asked.inputs.source_sentence, asked.inputs.sentences, options, account)
    return scores.tolist()


async def predict(service: Service, asked: PredictRequest, account: Account) -> Any:
    """Classify or score pairs of texts with a cross-encoder; the best label comes first."""
    rows, single = _pairs(asked.inputs)
    service.check_items(len(rows), "inputs")
    _check_direction(asked.truncation_direction)
    served = service.model(kinds=("cross",))
    scores = await served.predict(rows, "logit" if asked.raw_scores else "probability", account)
    _check_whole(asked.truncate, account)
    labels = served.labels
    predictions = [
        sorted(
            ({"score": score, "label": label} for score, label in zip(row, labels, strict=True)),
            key=lambda one: -float(str(one["score"])),
        )
        for row in scores.tolist()
    ]
    return predictions[0] if single else predictions


async def tokenize(service: Service, asked: TokenizeRequest, account: Account) -> Any:
    """Return the tokens of texts before truncation. `start` and `stop` are offsets in characters."""
    texts = _texts(service, asked.inputs)
    served = _first(service)
    return await served.tokens(texts, asked.add_special_tokens, asked.prompt_name)


async def decode(service: Service, asked: DecodeRequest, account: Account) -> Any:
    """Turn token ids into texts."""
    plain = [one for one in asked.ids if isinstance(one, int)]
    rows = [one for one in asked.ids if not isinstance(one, int)]
    if plain and rows:
        raise Refusal("invalid", "the ids mix numbers and lists of numbers; send one list for each text")
    rows = [plain] if plain else rows
    service.check_items(len(rows), "ids")
    return await _first(service).texts(rows, asked.skip_special_tokens)


async def info(service: Service, asked: None, account: Account) -> dict[str, Any]:
    """Describe the server and its first model."""
    served, settings = _first(service), service.settings
    return {
        "model_id": service.loaded.sources.get(served.name, served.name),
        "model_sha": service.loaded.fingerprints[served.name],
        "model_dtype": "float32",
        "served_model_name": served.name,
        "model_type": _type(served),
        "max_concurrent_requests": settings.max_open_bytes // settings.max_body_bytes,
        "max_input_length": served.model.max_seq_length,
        "max_batch_tokens": settings.batch_tokens,
        "max_batch_requests": None,
        "max_client_batch_size": settings.max_items,
        "auto_truncate": True,
        "tokenization_workers": service.engine.workers,
        "version": service.version,
    }


def _first(service: Service) -> Served:
    return next(iter(service.models.values()))


def _type(served: Served) -> dict[str, Any]:
    if served.kind != "cross":
        return {"embedding": {"pooling": served.bi_encoder().pooling[0]}}
    names = {str(number): label for number, label in enumerate(served.labels)}
    return {
        "reranker" if len(names) == 1 else "classifier": {
            "id2label": names,
            "label2id": {v: int(k) for k, v in names.items()},
        }
    }


def _texts(service: Service, given: str | list[str]) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    service.check_items(len(texts))
    return texts


def _pairs(given: Any) -> tuple[list[tuple[str, str]], bool]:
    """Return the pairs, and whether the input was a single pair."""
    single = isinstance(given, str) or (bool(given) and isinstance(given[0], str))
    rows = [given] if single else given
    for row in rows:
        if isinstance(row, str) or len(row) != 2 or not all(isinstance(text, str) for text in row):
            raise Refusal("invalid", "an input is not a pair, but a cross-encoder reads two texts; send [text, text]")
    return [(first, second) for first, second in rows], single


def _check_direction(direction: Direction) -> None:
    if direction.lower() != "right":
        raise Refusal("invalid", "truncation_direction is left, but texts are truncated at their end; omit it")


def _check_whole(truncate: bool | None, account: Account) -> None:
    if truncate is False and account.truncated_tokens:
        raise Refusal(
            "invalid", f"the texts have {account.truncated_tokens:,} tokens too many; shorten them or allow truncation"
        )


ROUTES = (
    Route("POST", "/embed", embed, EmbedRequest, list[list[float]], TEI),
    Route("POST", "/embed_all", embed_all, EmbedAllRequest, list[list[list[float]]], TEI),
    Route("POST", "/rerank", rerank, TeiRerankRequest, list[Rank], TEI),
    Route("POST", "/similarity", similarity, SimilarityRequest, list[float], TEI),
    Route("POST", "/predict", predict, PredictRequest, list[Any], TEI),
    Route("POST", "/tokenize", tokenize, TokenizeRequest, list[list[Token]], TEI),
    Route("POST", "/decode", decode, DecodeRequest, list[str], TEI),
    Route("GET", "/info", info, None, dict[str, Any], TEI, counts=False),
)
