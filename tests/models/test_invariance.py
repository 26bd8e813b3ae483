"""Same text, same vector, bit for bit: over company, order, batch size, token budget, threads and callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert import Backbone, BiEncoder, Dense, Normalize

WORDS = [
    "고양이",
    "개",
    "서울",
    "날씨",
    "기차",
    "cat",
    "dog",
    "rain",
    "music",
    "vector",
    "unbelievably",
    "😀",
    "e=mc²",
    "the",
    "of",
    "a",
]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join), min_size=1, max_size=25)


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def alone(bundled: BiEncoder) -> Callable[[str], np.ndarray]:
    """The vector of a text that nobody else is with."""
    return cache(lambda text: bundled.encode(text))


@settings(max_examples=40)
@given(
    batch=texts,
    budget=st.sampled_from([1, 40, 300, 2048]),
    size=st.none() | st.integers(1, 7),
    threads=st.integers(1, 2),
)
def test_bundled_model(
    bundled: BiEncoder,
    alone: Callable[[str], np.ndarray],
    batch: list[str],
    budget: int,
    size: int | None,
    threads: int,
) -> None:
    torch.set_num_threads(threads)
    together = bundled.encode(batch, batch_tokens=budget, batch_size=size)
    for text, vector in zip(batch, together, strict=True):
        assert np.array_equal(vector, alone(text))


@pytest.mark.parametrize("architecture", ["roberta", "electra", "modernbert", "mpnet"])
def test_every_route_and_dense_heads(
    tiny_folder: Callable[[str], Path], sentences: list[str], architecture: str
) -> None:
    heads = [Dense(64, 48), Normalize()]
    model = BiEncoder(Backbone.from_pretrained(tiny_folder(architecture)), pooling=("cls", "mean"), heads=heads)
    expected = np.stack([model.encode(text, on_truncate="ignore") for text in sentences])
    order = np.random.default_rng(0).permutation(len(sentences))
    for threads, budget in [(1, 2048), (2, 2048), (2, 64), (1, 7)]:
        torch.set_num_threads(threads)
        got = model.encode([sentences[i] for i in order], batch_tokens=budget, on_truncate="ignore")
        assert np.array_equal(got, expected[order])


def test_eight_callers_at_once(bundled: BiEncoder, sentences: list[str]) -> None:
    expected = bundled.encode(sentences, on_truncate="ignore")
    before = torch.get_num_threads()

    def call(seed: int) -> bool:
        order = np.random.default_rng(seed).permutation(len(sentences))
        got = bundled.encode([sentences[i] for i in order], batch_tokens=300, on_truncate="ignore")
        return np.array_equal(got, expected[order])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(16)))
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("texts", [100, 3])
def test_the_callers_thread_limit_is_left_alone(bundled: BiEncoder, texts: int) -> None:
    torch.set_num_threads(2)
    bundled.encode([f"고양이 {i}" for i in range(texts)], batch_tokens=64)
    assert torch.get_num_threads() == 2
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == 2


@pytest.mark.slow
def test_a_whole_corpus(bundled: BiEncoder) -> None:
    """Every sentence of the demo alone, backwards, and in several budgets, on one thread and on two."""
    lines = resources.files("sbert.cli.demo").joinpath("sentences.tsv").read_text(encoding="utf-8").splitlines()
    corpus = [line.split("\t")[1] for line in lines[1:]]
    expected = bundled.encode(corpus)
    for threads in (1, 2):
        torch.set_num_threads(threads)
        assert np.array_equal(np.stack([bundled.encode(text) for text in corpus]), expected)
        for budget in (16, 100, 1000, 4096, 16384):
            assert np.array_equal(bundled.encode(corpus[::-1], batch_tokens=budget)[::-1], expected)
