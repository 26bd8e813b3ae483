"""The same numbers as sentence-transformers, and folders exchanged both ways without a warning."""

from __future__ import annotations

import csv
import gzip
import logging
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules as theirs

from sbert import Backbone, BiEncoder, Dense, LayerNorm, Normalize, hub
from sbert.nn.pooling import POOLINGS

ARCHITECTURES = ["bert", "roberta", "xlm-roberta", "electra", "albert", "distilbert", "mpnet", "modernbert"]
THEIR_NAME = {"mean_sqrt_len": "mean_sqrt_len_tokens"}


@pytest.mark.parametrize("pooling", [*POOLINGS, ("cls", "mean")])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_architecture_and_pooling(
    tiny_folder: Callable[[str], Path], sentences: list[str], architecture: str, pooling: str
) -> None:
    modes = (pooling,) if isinstance(pooling, str) else pooling
    ours = BiEncoder(Backbone.from_pretrained(tiny_folder(architecture)), pooling=modes, heads=[Normalize()])
    body = theirs.Transformer(str(tiny_folder(architecture)))
    pool = theirs.Pooling(body.get_embedding_dimension(), tuple(THEIR_NAME.get(mode, mode) for mode in modes))
    model = SentenceTransformer(modules=[body, pool, theirs.Normalize()], device="cpu")
    difference = np.abs(ours.encode(sentences, on_truncate="ignore") - model.encode(sentences)).max()
    assert difference <= 1e-6


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_our_folder_loads_there_silently_with_equal_vectors(
    tiny_folder: Callable[[str], Path],
    sentences: list[str],
    architecture: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    ours = BiEncoder(
        Backbone.from_pretrained(tiny_folder(architecture)),
        pooling=("max", "mean"),
        heads=[Dense(64, 16, activation="gelu"), LayerNorm(16), Normalize()],
        prompts={"query": "질문: "},
    )
    ours.save_pretrained(tmp_path / "model")
    capfd.readouterr()
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        model = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    assert [record.message for record in caplog.records] == []
    said = [line for line in capfd.readouterr().err.splitlines() if line.strip() and "Loading weights" not in line]
    assert said == []
    assert np.abs(model.encode(sentences) - ours.encode(sentences, on_truncate="ignore")).max() <= 1e-6
    asked = model.encode_query(["고양이"])
    assert np.abs(asked - ours.encode_query(["고양이"])).max() <= 1e-6


@pytest.mark.parametrize("architecture", ["bert", "roberta", "modernbert"])
def test_their_folder_loads_here(
    tiny_folder: Callable[[str], Path], sentences: list[str], architecture: str, tmp_path: Path
) -> None:
    body = theirs.Transformer(str(tiny_folder(architecture)), max_seq_length=50)
    model = SentenceTransformer(
        modules=[
            body,
            theirs.Pooling(body.get_embedding_dimension(), "weightedmean"),
            theirs.Dense(32, 24),
            theirs.Normalize(),
        ],
        prompts={"query": "질문: ", "document": ""},
        similarity_fn_name="dot",
        device="cpu",
    )
    model.save_pretrained(str(tmp_path / "model"))
    ours = BiEncoder.from_pretrained(tmp_path / "model")
    assert (ours.max_seq_length, ours.similarity_fn_name, ours.embedding_dimension) == (50, "dot", 24)
    assert np.abs(model.encode(sentences) - ours.encode(sentences, on_truncate="ignore")).max() <= 1e-6
    assert np.abs(model.encode_query(sentences) - ours.encode_query(sentences, on_truncate="ignore")).max() <= 1e-6


def test_two_thousand_real_sentences(shared_data: Path, bundled: BiEncoder) -> None:
    """English and Korean, the bundled model."""
    texts = [*column(shared_data / "stsb.tsv.gz", 1400), *column(shared_data / "korsts.tsv.gz", 600)]
    model = SentenceTransformer(str(hub.resolve(None)), device="cpu")
    assert np.abs(model.encode(texts) - bundled.encode(texts)).max() <= 1e-6


def column(path: Path, rows: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row["sentence1"] for row, _ in zip(table, range(rows), strict=False)]
