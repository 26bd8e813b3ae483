"""Measures a model on this machine: whether a vector depends on its company, and how fast it gets made."""

from __future__ import annotations

import time
from collections.abc import Iterator
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


def identical(encoder: BiEncoder, texts: list[str], company: list[str]) -> tuple[int, list[str]]:
    """How many texts have the same vector, compared with ``==``, in all of several runs, and what the runs were."""
    expected = encoder.encode(texts, on_truncate="ignore")
    same = np.ones(len(texts), bool)
    ways = []
    for way, vectors in _runs(encoder, texts, company):
        same &= (vectors == expected).all(axis=1)
        ways.append(way)
    return int(same.sum()), ways


def _runs(encoder: BiEncoder, texts: list[str], company: list[str]) -> Iterator[tuple[str, Array]]:
    yield "alone", np.stack([encoder.encode(text, on_truncate="ignore") for text in texts])
    yield "backwards", encoder.encode(texts[::-1], on_truncate="ignore")[::-1]
    yield "in company", encoder.encode(company + texts, on_truncate="ignore")[len(company) :]
    for budget in (64, 512, 8192):
        yield f"{budget} tokens a batch", encoder.encode(texts, batch_tokens=budget, on_truncate="ignore")
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        yield "1 thread", encoder.encode(texts, on_truncate="ignore")
    finally:
        torch.set_num_threads(threads)


def speed(encoder: BiEncoder, texts: list[str]) -> Speed:
    """Tokens a second, measured in turn with the machine's own peak, so that both see the same load."""
    tokens = encoder.tokenize(texts)
    count = int(tokens.lengths.sum())
    flops = _flops(encoder, tokens)
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
        flops_per_token=flops / count,
        peak=2 * _SIZE**3 / min(multiplying),
    )


def _seconds_to_multiply(matrix: torch.Tensor) -> float:
    begin = time.perf_counter()
    float(torch.mm(matrix, matrix)[0, 0])  # an accelerator works behind our back until a number is asked for
    return time.perf_counter() - begin


def _flops(encoder: BiEncoder, tokens: Tokens) -> int:
    """Counted at every linear layer as it runs (some share their weights, some see one token only), plus attention."""
    counts: list[int] = []

    def count(layer: nn.Linear, inputs: object, output: Tensor) -> None:
        counts.append(2 * layer.in_features * output.numel())

    layers = [module for module in encoder.transformer.modules() if isinstance(module, nn.Linear)]
    hooks = [layer.register_forward_hook(count) for layer in layers]
    try:
        with torch.inference_mode():
            for _, batch in batches(tokens, batch_tokens=8192):
                encoder(batch)
    finally:
        for hook in hooks:
            hook.remove()
    depth: int = encoder.transformer.model.config.num_hidden_layers
    attention = 4 * encoder.transformer.hidden_size * depth * int((tokens.lengths**2).sum())
    return sum(counts) + attention
