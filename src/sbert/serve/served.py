"""The models of a server. Their rows are computed by the engine, and the results equal those of the library."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from sbert.errors import BadInput
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder, activate
from sbert.models.load import TransformerModel
from sbert.models.poly import PolyEncoder
from sbert.models.postprocess import best, finish
from sbert.models.prompts import choose_prompt
from sbert.nn.transformer import Transformer
from sbert.serve.account import Account
from sbert.serve.engine import Computed, Engine, Lane
from sbert.serve.tokens import decoded, given_ids, spelled
from sbert.text import Tokens
from sbert.types import Array, FloatArray, Hit, Output

Result = TypeVar("Result")
_SHORT = 2000
"""Maximum number of characters or ids that are tokenized on the event loop, in a fraction of a millisecond."""


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """The options of ``BiEncoder.encode`` that requests may set."""

    prompt_name: str | None = None
    normalize: bool = False
    dimensions: int | None = None
    truncate: bool = True
    """Whether to shorten texts that are too long instead of refusing them."""


class Served:
    """A model and its name.

    Args:
        name: The name of the model in requests.
        model: A model of any kind.
        engine: Computes rows of tokens.
        executor: Threads for short tasks outside the engine, such as tokenization.
    """

    def __init__(self, name: str, model: TransformerModel, engine: Engine, executor: ThreadPoolExecutor) -> None:
        self.name, self.model, self.engine, self._executor = name, model, engine, executor
        self.embedder = _embedder(model)
        self._texts = None if self.embedder is None else Lane(f"{name} texts", self.embedder, self.embedder.forward)
        self._states = Lane(f"{name} states", model, _transformer(model), by_token=True)
        self._whole = Lane(f"{name} {'pairs' if isinstance(model, CrossEncoder) else 'queries'}", model, model.forward)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a cross-encoder."""
        return self._cross().labels

    @property
    def relevance(self) -> Output:
        """The scale of the scores in a ranking: probabilities, or similarities for models without probabilities."""
        return "probability" if isinstance(self.model, CrossEncoder) else "score"

    @property
    def kind(self) -> str:
        """The kind of the model: bi, cross or poly."""
        return {"BiEncoder": "bi", "CrossEncoder": "cross", "PolyEncoder": "poly"}[type(self.model).__name__]

    async def embed(
        self, inputs: Sequence[str] | Sequence[list[int]], options: EmbedOptions, account: Account
    ) -> Array:
        """Return the vectors of ``encode`` for texts, or for rows of token ids from /tokenize: (N, D)."""
        model, lane = self._embeds()
        name = options.prompt_name or model.default_prompt_name
        prompt = choose_prompt(model.prompts, name, None)
        computed = await self._compute(lane, lambda: self._read(inputs, prompt, options.truncate), inputs, account)
        if len(inputs) == 1:
            return self._finish(computed, options)
        return await self._run(lambda: self._finish(computed, options))

    async def hidden(self, texts: Sequence[str], truncate: bool, account: Account) -> list[FloatArray]:
        """Return the results of ``encode_tokens``: one array (tokens, H) for each text."""
        self._embeds()
        computed = await self._compute(self._states, lambda: self._read(texts, "", truncate), texts, account)
        return computed.results

    async def predict(self, pairs: Sequence[tuple[str, str]], output: Output, account: Account) -> FloatArray:
        """Return the results of a cross-encoder's ``predict``: (N, L)."""
        return activate(await self._logits(pairs, account), self._cross().pair_scale(output))

    async def rank(
        self, query: str, documents: Sequence[str], output: Output, top_k: int | None, account: Account
    ) -> list[Hit]:
        """Return the results of ``rank`` for a model of any kind; ``output`` selects the scale of a cross-encoder."""
        keys, scores = await self._keys_and_scores(query, documents, output, account)
        return best(keys, scores, documents, top_k)

    async def similarities(
        self, source: str, others: Sequence[str], options: EmbedOptions, account: Account
    ) -> FloatArray:
        """Return the similarities of a text to others, as the model defines them: (N,)."""
        vectors = await self.embed([source, *others], options, account)
        return await self._run(lambda: self.bi_encoder().similarity(vectors[:1], vectors[1:])[0])

    async def tokens(self, texts: Sequence[str], special: bool, prompt_name: str | None) -> list[list[dict[str, Any]]]:
        """Return the tokens of texts before truncation."""
        prompt = "" if prompt_name is None else choose_prompt(self.bi_encoder().prompts, prompt_name, None)
        return await self._run(lambda: spelled(self.model.tokenizer, [prompt + text for text in texts], special))

    async def texts(self, rows: Sequence[list[int]], skip_special: bool) -> list[str]:
        """Turn rows of token ids into texts."""
        return await self._run(lambda: decoded(self.model.tokenizer, rows, skip_special))

    def encode_now(self, texts: Sequence[str], prompt: str, truncate: bool = True) -> FloatArray:
        """Embed texts and wait for the vectors. Must not be called on the thread of the event loop."""
        _, lane = self._embeds()
        computed = self.engine.submit(lane, self._read(texts, prompt, truncate)).result()
        return self._finish(computed, EmbedOptions())

    def rank_now(self, query: str, documents: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Return the sort keys and scores of documents. Must not be called on the thread of the event loop."""
        if isinstance(self.model, CrossEncoder):
            tokens = self.model.tokenize([(query, text) for text in documents])
            logits = np.stack(self.engine.submit(self._whole, tokens).result().results)
            return logits[:, 0], activate(logits, self.model.scale)[:, 0]
        model = self.bi_encoder()
        vectors = self.encode_now(documents, model.prompt_for("document"))
        if isinstance(self.model, PolyEncoder):
            tokens = model.tokenize([query], model.prompt_for("query"))
            codes = self.engine.submit(self._whole, tokens).result().results[0]
            scores = self.model.score(codes, vectors)
        else:
            scores = model.similarity(self.encode_now([query], model.prompt_for("query")), vectors)[0]
        return scores, scores

    def bi_encoder(self) -> BiEncoder:
        """Return the bi-encoder, or the one that embeds the documents of a poly-encoder."""
        return self._embeds()[0]

    def compute_reference(self, urgent: bool = True) -> FloatArray:
        """Compute the results of :func:`reference` with the engine, before queued rows and without the cache."""
        if isinstance(self.model, CrossEncoder):
            tokens = self.model.tokenize(_pairs(REFERENCE))
            return np.stack(self.engine.submit(self._whole, tokens, urgent=urgent).result(CHECK_SECONDS).results)
        model, lane = self._embeds()
        computed = self.engine.submit(lane, model.tokenize(REFERENCE, model.prompt_for()), urgent=urgent)
        return self._finish(computed.result(CHECK_SECONDS), EmbedOptions())

    async def _logits(self, pairs: Sequence[tuple[str, str]], account: Account) -> FloatArray:
        model = self._cross()
        computed = await self._compute(self._whole, lambda: model.tokenize(pairs), [a + b for a, b in pairs], account)
        return _stacked(computed.results, len(model.labels))

    async def _keys_and_scores(
        self, query: str, documents: Sequence[str], output: Output, account: Account
    ) -> tuple[FloatArray, FloatArray]:
        if isinstance(self.model, CrossEncoder):
            if len(self.model.labels) > 1:
                raise BadInput(f"{self.name} has {len(self.model.labels)} labels, but ranking needs a model with one")
            logits = await self._logits([(query, text) for text in documents], account)
            return logits[:, 0], activate(logits, self.model.pair_scale(output))[:, 0]
        model, lane = self._embeds()
        first = self._whole if isinstance(self.model, PolyEncoder) else lane
        asked = self._compute(first, lambda: model.tokenize([query], model.prompt_for("query")), [query], account)
        given = self._compute(
            lane, lambda: model.tokenize(documents, model.prompt_for("document")), documents, account
        )
        codes, vectors = await _both(asked, given)
        scores = await self._run(lambda: self._score(codes, vectors))
        return scores, scores

    def _score(self, query: Computed, documents: Computed) -> FloatArray:
        vectors = self._finish(documents, EmbedOptions())
        if isinstance(self.model, PolyEncoder):
            return self.model.score(query.results[0], vectors)
        scores: FloatArray = self.bi_encoder().similarity(self._finish(query, EmbedOptions()), vectors)[0]
        return scores

    async def _compute(
        self, lane: Lane, read: Callable[[], Tokens], inputs: Sequence[str] | Sequence[list[int]], account: Account
    ) -> Computed:
        """Tokenize texts and wait for the results; if the request is cancelled, its queued rows are removed."""
        characters = sum(len(text) for text in inputs if isinstance(text, str))

        def enter() -> Future[Computed]:
            began = time.perf_counter()
            tokens = read()
            account.add_tokens(tokens, characters, time.perf_counter() - began)
            return self.engine.submit(lane, tokens)

        future = enter() if sum(map(len, inputs)) <= _SHORT else await self._entered(enter)
        computed = await asyncio.wrap_future(future)
        account.add_timings(computed)
        return computed

    async def _entered(self, enter: Callable[[], Future[Computed]]) -> Future[Computed]:
        entering: Future[Future[Computed]] = self._executor.submit(enter)
        try:
            return await asyncio.wrap_future(entering)
        except asyncio.CancelledError:
            entering.add_done_callback(_cancel_result)
            raise

    async def _run(self, function: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._executor, function)

    def _read(self, inputs: Sequence[str] | Sequence[list[int]], prompt: str, truncate: bool) -> Tokens:
        model = self.bi_encoder()
        tokens = (
            given_ids(model.tokenizer, inputs, model.max_seq_length)
            if _are_ids(inputs)
            else model.tokenize([str(text) for text in inputs], prompt)
        )
        if tokens.truncation.truncated and not truncate:
            raise BadInput(f"{tokens.truncation}; shorten the texts, or allow truncation")
        return tokens

    def _finish(self, computed: Computed, options: EmbedOptions) -> Array:
        model = self.bi_encoder()
        size = options.dimensions or model.truncate_dim
        vectors = _stacked(computed.results, model.full_dimension)
        return finish(vectors, size, options.normalize, "float32", None)

    def _embeds(self) -> tuple[BiEncoder, Lane]:
        if self.embedder is None or self._texts is None:
            raise BadInput(
                f"{self.name} is a cross-encoder, which computes no vectors; name a bi-encoder or poly-encoder"
            )
        return self.embedder, self._texts

    def _cross(self) -> CrossEncoder:
        if not isinstance(self.model, CrossEncoder):
            raise BadInput(f"{self.name} is not a cross-encoder, but this route scores pairs; name a cross-encoder")
        return self.model


REFERENCE = ("The quick brown fox jumps over the lazy dog.", "오늘 서울의 날씨는 맑고 바람이 조금 분다.", "")
"""The texts that check a running model."""
CHECK_SECONDS = 30.0
"""Time after which a check without a result counts as failed."""


def reference(model: TransformerModel) -> FloatArray:
    """Return the results of the library for the reference texts."""
    if isinstance(model, CrossEncoder):
        return model.predict(_pairs(REFERENCE), output="logit").reshape(len(REFERENCE), -1)
    return (model.documents if isinstance(model, PolyEncoder) else model).encode(REFERENCE)


def _pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(texts, reversed(texts), strict=True))


def _embedder(model: TransformerModel) -> BiEncoder | None:
    return model.documents if isinstance(model, PolyEncoder) else model if isinstance(model, BiEncoder) else None


def _transformer(model: TransformerModel) -> Transformer:
    return model.documents.transformer if isinstance(model, PolyEncoder) else model.transformer


def _stacked(results: Sequence[FloatArray], size: int) -> FloatArray:
    return np.stack(results) if results else np.empty((0, size), np.float32)


def _are_ids(inputs: Sequence[str] | Sequence[list[int]]) -> bool:
    return bool(inputs) and not isinstance(inputs[0], str)


def _cancel_result(entering: Future[Future[Computed]]) -> None:
    if not entering.cancelled() and entering.exception() is None:
        entering.result().cancel()


async def _both(first: Awaitable[Computed], second: Awaitable[Computed]) -> tuple[Computed, Computed]:
    """Wait for two computations; if one fails, the other is cancelled."""
    tasks = [asyncio.ensure_future(one) for one in (first, second)]
    try:
        one, other = await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        raise
    return one, other
