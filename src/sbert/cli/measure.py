"""Measures a model on this machine: whether a vector depends on its company, and how fast it gets made."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from sbert.text import Tokens, batches

if TYPE_CHECKING:
    from sbert.models.bi import BiEncoder
    from sbert.types import Array

_ROUNDS = 5
_MOST_SECONDS = 5.0
_SIZE = 2048


class Speed(NamedTuple):
    """What was measured, best of several rounds."""

    tokens_per_second: float
    flops_per_token: float
    peak: float
    """Floating point operations a second of a plain matrix multiply."""

    @property
    def share(self) -> float:
        """How much of the peak the model gets."""
        return self.tokens_per_second * self.flops_per_token / self.peak


class Stability(NamedTuple):
    """How much vectors depend on how they were made."""

    identical: int
    """Texts whose vector was the same, compared with ``==``, in all runs."""
    difference: float
    """The largest in any number of any vector."""
    runs: list[str]


def stability(encoder: BiEncoder, texts: list[str], company: list[str]) -> Stability:
    """Embed ``texts`` in several ways that should make no difference, and compare."""
    expected = encoder.encode(texts, on_truncate="ignore")
    same = np.ones(len(texts), bool)
    difference = 0.0
    runs = []
    for run, rows, vectors in _runs(encoder, texts, company):
        same[rows] &= (vectors == expected[rows]).all(axis=1)
        difference = max(difference, float(np.abs(vectors - expected[rows]).max()))
        runs.append(run)
    return Stability(int(same.sum()), difference, runs)


def _runs(encoder: BiEncoder, texts: list[str], company: list[str]) -> Iterator[tuple[str, slice, Array]]:
    """What was done, with which rows, and their vectors."""
    every = slice(None)
    yield "backwards", every, encoder.encode(texts[::-1], on_truncate="ignore")[::-1]
    yield "in company", every, encoder.encode(company + texts, on_truncate="ignore")[len(company) :]
    for budget in (64, 512, 8192):
        yield f"{budget} tokens a batch", every, encoder.encode(texts, batch_tokens=budget, on_truncate="ignore")
    # A busy machine makes many threads wait for each other all the time in work as small as one text.
    some = slice(None, None, 5)
    yield f"{len(texts[some])} of them alone", some, _one_by_one(encoder, texts[some])
    with _one_thread():
        yield "on 1 thread", every, encoder.encode(texts, on_truncate="ignore")
        yield "alone on 1 thread", every, _one_by_one(encoder, texts)


def _one_by_one(encoder: BiEncoder, texts: list[str]) -> Array:
    return np.stack([encoder.encode(text, on_truncate="ignore") for text in texts])


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def speed(encoder: BiEncoder, texts: list[str]) -> Speed:
    """Tokens a second, measured in turn with the machine's own peak, so that both see the same load."""
    tokens = encoder.tokenize(texts)
    count = int(tokens.lengths.sum())
    work = flops(encoder, tokens)
    matrix = torch.rand(_SIZE, _SIZE, device=encoder.device)
    encoding: list[float] = []
    multiplying: list[float] = []
    start = time.perf_counter()
    while len(encoding) < _ROUNDS and time.perf_counter() - start < _MOST_SECONDS:
        multiplying.append(min(_seconds_to_multiply(matrix) for _ in range(2)))
        begin = time.perf_counter()
        encoder.encode(texts, on_truncate="ignore")
        encoding.append(time.perf_counter() - begin)
    return Speed(
        tokens_per_second=count / min(encoding),
        flops_per_token=work / count,
        peak=2 * _SIZE**3 / min(multiplying),
    )


def _seconds_to_multiply(matrix: torch.Tensor) -> float:
    begin = time.perf_counter()
    float(torch.mm(matrix, matrix)[0, 0])  # an accelerator works behind our back until a number is asked for
    return time.perf_counter() - begin


def flops(encoder: BiEncoder, tokens: Tokens) -> int:
    """Counted at every linear layer as it runs (some share their weights, some see one token only), plus attention."""
    counts: list[int] = []

    def count(layer: nn.Linear, inputs: object, output: Tensor) -> None:
        counts.append(2 * layer.in_features * output.numel())

    layers = [module for module in encoder.transformer.modules() if isinstance(module, nn.Linear)]
    hooks = [layer.register_forward_hook(count) for layer in layers]
    try:
        with torch.inference_mode(), _one_thread():
            for _, batch in batches(tokens, batch_tokens=2048):
                encoder(batch)
    finally:
        for hook in hooks:
            hook.remove()
    depth: int = encoder.transformer.facts.depth
    attention = 4 * encoder.transformer.facts.hidden_size * depth * int((tokens.lengths**2).sum())
    return sum(counts) + attention
