"""Measures a model on this machine: its speed, and whether results depend on the other items of a batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from timeit import repeat
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.load import Model
from sbert.models.poly import PolyEncoder
from sbert.nn.products import matrix_product
from sbert.text import Tokens, batches
from sbert.types import Array

Items = list[Any]
"""Texts, or pairs of texts, as the model reads them."""

_ROUNDS = 5
_MAX_SECONDS = 5.0
_SIZE = 2048


class Speed(NamedTuple):
    """Results of a speed measurement, the best of several rounds."""

    tokens_per_second: float
    flops_per_token: float
    peak: float
    """Floating point operations per second of a matrix multiplication."""

    @property
    def share(self) -> float:
        """Share of the peak that the model reaches."""
        return self.tokens_per_second * self.flops_per_token / self.peak


class Stability(NamedTuple):
    """How much vectors or scores depend on the batches they were computed in."""

    identical: int
    """Number of items whose numbers were the same, compared with ``==``, in all runs."""
    difference: float
    """Largest difference between two of these numbers."""
    runs: list[str]


def stability(model: Model, items: Items, company: Items) -> Stability:
    """Process items in several ways that should make no difference, and compare the results.

    Args:
        model: Model of any kind.
        items: Texts, or pairs for a model that reads pairs.
        company: Other items to process together with them.
    """
    run = partial(_run, model)
    expected = run(items)
    same = np.ones(len(items), bool)
    difference = 0.0
    runs = []
    for name, rows, numbers in _runs(run, items, company):
        same[rows] &= (numbers == expected[rows]).all(axis=1)
        difference = max(difference, float(np.abs(numbers - expected[rows]).max()))
        runs.append(name)
    return Stability(int(same.sum()), difference, runs)


def _run(model: Model, items: Items, batch_tokens: int = 2048) -> Array:
    """(N, D) vectors or (N, L) scores."""
    if isinstance(model, PolyEncoder):
        queries, documents = zip(*items, strict=True)
        codes = model.encode_query(queries, batch_tokens=batch_tokens, on_truncate="ignore")
        vectors = model.encode_document(documents, batch_tokens=batch_tokens, on_truncate="ignore")
        return np.stack([model.score(*pair) for pair in zip(codes, vectors[:, None], strict=True)])
    if isinstance(model, CrossEncoder):
        scores = model.predict(items, batch_tokens=batch_tokens, output="logit", on_truncate="ignore")
        return scores.reshape(len(items), -1)
    return model.encode(items, batch_tokens=batch_tokens, on_truncate="ignore")


def _runs(run: Callable[..., Array], items: Items, company: Items) -> Iterator[tuple[str, slice, Array]]:
    """Yield the name of each run, the rows it processed, and their numbers."""
    every = slice(None)
    yield "backwards", every, run(items[::-1])[::-1]
    yield "in company", every, run(company + items)[len(company) :]
    for budget in (64, 512, 8192):
        yield f"{budget} tokens a batch", every, run(items, batch_tokens=budget)
    # On a busy machine, many threads spend most of their time waiting for each other in work as small as one text.
    some = slice(None, None, 5)
    yield f"{len(items[some])} of them alone", some, np.concatenate([run([item]) for item in items[some]])
    with _one_thread():
        yield "on 1 thread", every, run(items)
        yield "alone on 1 thread", every, np.concatenate([run([item]) for item in items])


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def speed(model: BiEncoder | CrossEncoder, items: Items) -> Speed:
    """Measure tokens per second in alternation with the peak of the machine, so that both see the same load."""
    tokens = model.tokenize(items)
    count = int(tokens.lengths.sum())
    matrix = torch.rand(_SIZE, _SIZE, device=model.device)
    running: list[float] = []
    multiplying: list[float] = []
    start = time.perf_counter()
    while len(running) < _ROUNDS and time.perf_counter() - start < _MAX_SECONDS:
        # An accelerator works asynchronously until a number is read.
        multiplying += repeat(lambda: float(matrix_product(matrix, matrix)[0, 0]), number=1, repeat=2)
        running += repeat(lambda: _run(model, items), number=1, repeat=1)
    return Speed(
        tokens_per_second=count / min(running),
        flops_per_token=flops(model, tokens) / count,
        peak=2 * _SIZE**3 / min(multiplying),
    )


def flops(model: BiEncoder | CrossEncoder, tokens: Tokens) -> int:
    """Count the floating point operations of a model on tokens: of every matrix product, and of attention."""
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), _one_thread(), counter:  # in inference mode, a model may compute padding rows as well
        for _, batch in batches(tokens, batch_tokens=2048):
            model(batch)
    depth: int = model.transformer.facts.depth
    attention = 4 * model.transformer.facts.hidden_size * depth * int((tokens.lengths**2).sum())
    return int(counter.get_total_flops()) + attention
