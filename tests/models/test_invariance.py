"""Same text, same vector, bit for bit: over company, order, batch size, token budget, threads and callers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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

import sbert
from sbert import Backbone, BiEncoder, CrossEncoder, Dense, Normalize, PolyEncoder, WordEncoder
from sbert.models import inference
from sbert.nn.words import BiLSTM, WordEmbeddings
from sbert.text import WordTokenizer

SOURCE = str(Path(sbert.__file__).parents[1])
ARCHITECTURES = [
    "bert",
    "roberta",
    "xlm-roberta",
    "electra",
    "distilbert",
    "mpnet",
    "modernbert",
    "deberta-v2",
    "albert",
]

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


@pytest.mark.parametrize("architecture", ["roberta", "electra", "albert", "modernbert", "mpnet"])
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


def word_encoder(size: int) -> WordEncoder:
    """A BiLSTM with random weights over the words of these tests."""
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(len(WORDS) + 1, size, generator=generator)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return WordEncoder(WordTokenizer(WORDS), WordEmbeddings(table), BiLSTM(size, 64), pooling="max")


@pytest.fixture
def results(
    tiny_folder: Callable[[str], Path], bundled: BiEncoder, sentences: list[str]
) -> Callable[[str], Callable[[], list[np.ndarray]]]:
    """``results(name)()``: what a model gives for the sentences together, for some alone, and for two long texts."""
    long = ["cat 고양이 " * 200, "the music of rain " * 100]

    def texts_of(encode: Callable[..., np.ndarray]) -> list[np.ndarray]:
        alone = [encode([text], on_truncate="ignore") for text in (*sentences[:2], long[0])]
        return [encode([*sentences, *long], on_truncate="ignore"), encode(long, on_truncate="ignore"), *alone]

    def prepare(name: str) -> Callable[[], list[np.ndarray]]:
        if name == "words":
            words = word_encoder(48)
            return lambda: texts_of(words.encode)
        if name == "cross":
            cross = CrossEncoder.from_pretrained(tiny_folder("bert"), labels=["score"])
            pairs = list(zip(sentences, reversed(sentences), strict=True))
            return lambda: [cross.predict(rows, on_truncate="ignore") for rows in (pairs, pairs[:1], pairs[-1:])]
        if name == "poly":
            poly = PolyEncoder(BiEncoder(Backbone.from_pretrained(tiny_folder("bert"))), num_codes=6)
            vectors = poly.encode_document(sentences, on_truncate="ignore")
            codes = poly.encode_query(sentences, on_truncate="ignore")
            return lambda: [
                *texts_of(poly.encode_query),
                poly.score(codes, vectors),
                poly.score(codes[:1], vectors[:1]),
            ]
        if name == "bundled":
            return lambda: [*texts_of(bundled.encode), bundled.encode(sentences[:9], normalize_embeddings=True)]
        model = BiEncoder(Backbone.from_pretrained(tiny_folder(name)), heads=[Dense(32, 48), Normalize()])
        return lambda: texts_of(model.encode)

    return prepare


@pytest.mark.parametrize("name", ["bundled", *ARCHITECTURES, "cross", "poly", "words"])
def test_the_number_of_threads_changes_no_bit(
    results: Callable[[str], Callable[[], list[np.ndarray]]], name: str
) -> None:
    compute = results(name)
    torch.set_num_threads(1)
    expected = compute()
    for threads in (2, 7, 96):
        torch.set_num_threads(threads)
        for got, wanted in zip(compute(), expected, strict=True):
            assert np.array_equal(got, wanted), threads
        assert torch.get_num_threads() == threads


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bundled", *ARCHITECTURES, "cross", "poly", "words"])
def test_no_number_of_threads_changes_a_bit(
    results: Callable[[str], Callable[[], list[np.ndarray]]], name: str
) -> None:
    compute = results(name)
    torch.set_num_threads(1)
    expected = compute()
    for threads in range(2, 97):
        torch.set_num_threads(threads)
        assert all(map(np.array_equal, compute(), expected)), threads


@pytest.mark.parametrize("in_thread", [False, True])
def test_threads_set_by_the_environment_and_inside_user_threads(
    tiny_folder: Callable[[str], Path], in_thread: bool
) -> None:
    folder, texts = str(tiny_folder("modernbert")), ["고양이 " * 90, "비가 온다.", "rain"]
    code = f"""
import sys, threading
from sbert import BiEncoder
def encode():
    model = BiEncoder.from_pretrained({folder!r})
    sys.stdout.buffer.write(model.encode({texts!r}, on_truncate="ignore").tobytes())
if {in_thread}:
    import torch
    torch.set_num_threads(9)
    thread = threading.Thread(target=encode)
    thread.start()
    thread.join()
else:
    encode()
"""
    environment = {**os.environ, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "24"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout
    torch.set_num_threads(1)
    assert printed == BiEncoder.from_pretrained(folder).encode(texts, on_truncate="ignore").tobytes()


@pytest.mark.slow
def test_a_whole_corpus(bundled: BiEncoder) -> None:
    """Every sentence of the demo alone, backwards, and in several budgets, on one thread and on two."""
    lines = resources.files("sbert.cli.demo").joinpath("english.tsv").read_text(encoding="utf-8").splitlines()
    corpus = [line.split("\t")[1] for line in lines[1:]]
    expected = bundled.encode(corpus)
    for threads in (1, 2):
        torch.set_num_threads(threads)
        assert np.array_equal(np.stack([bundled.encode(text) for text in corpus]), expected)
        for budget in (16, 100, 1000, 4096, 16384):
            assert np.array_equal(bundled.encode(corpus[::-1], batch_tokens=budget)[::-1], expected)


@pytest.mark.parametrize("bias", [True, False])
def test_a_head_of_one_dimension_gives_the_same_value_in_company(tiny_folder, sentences, bias):
    backbone = Backbone.from_pretrained(tiny_folder("bert"))
    model = BiEncoder(backbone, "cls", [Dense(backbone.transformer.facts.hidden_size, 1, bias=bias)])
    together = model.encode(sentences, batch_tokens=100_000, on_truncate="ignore")
    alone = np.stack([model.encode(text, on_truncate="ignore") for text in sentences])
    assert (together == alone).all()


@pytest.mark.parametrize(
    ("architecture", "settings"),
    [
        ("bert", {"hidden_act": "silu", "intermediate_size": 13}),
        ("albert", {"hidden_act": "gelu_new", "intermediate_size": 13}),
        ("distilbert", {"activation": "silu", "hidden_dim": 13}),
    ],
)
def test_widths_that_do_not_fill_the_vectors_of_the_processor(
    tiny_folder: Callable[[str], Path],
    sentences: list[str],
    architecture: str,
    settings: dict[str, object],
    tmp_path: Path,
) -> None:
    from transformers import AutoConfig, AutoModel

    folder = shutil.copytree(tiny_folder(architecture), tmp_path / "m")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        AutoModel.from_config(AutoConfig.from_pretrained(folder, **settings)).save_pretrained(folder)
    model = BiEncoder(Backbone.from_pretrained(folder))
    torch.set_num_threads(1)
    together = model.encode(sentences, on_truncate="ignore")
    alone = np.stack([model.encode(text, on_truncate="ignore") for text in sentences])
    assert np.array_equal(alone, together)


@pytest.mark.parametrize(("activation", "shared"), [("tanh", True), ("silu", False), ("sigmoid", False)])
def test_threads_share_no_activation_that_rounds_by_their_number(
    bundled: BiEncoder, activation: str, shared: bool
) -> None:
    head = Dense(bundled.embedding_dimension, 384, activation=activation)
    model = BiEncoder(Backbone(bundled.tokenizer, bundled.transformer), heads=[head])
    assert (inference._threads_per_product(model) > 1) == shared
