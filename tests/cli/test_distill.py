"""``sbert distill``: what a cross-encoder labels, that it is kept, and teachers that cannot teach."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from commandline import failure, process, refused, sbert

from sbert import BiEncoder, CrossEncoder, load
from sbert.data import read
from sbert.train import distill as label

# The process interrupts itself, as a user would, while the teacher reads its third window.
INTERRUPTED = """
import os, signal, sys
from sbert.cli.main import main
from sbert.models.cross import CrossEncoder
from sbert.train import distill as label
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with SIGINT ignored
label.WINDOW = 4
plain, calls = CrossEncoder.predict, []
def predict(self, pairs, **options):
    calls.append(len(pairs))
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return plain(self, pairs, **options)
CrossEncoder.predict = predict
main()
"""


@pytest.fixture
def corpus(folder, sentences) -> list[str]:
    texts = [text for text in sentences if 2 < len(text) < 60 and "\n" not in text][:20]
    Path("글.txt").write_text("\n".join([*texts, texts[0], ""]) + "\n", "utf-8")
    return texts


def test_pairs_are_labelled_for_the_cosine_loss(folder, cross, pairs):
    result = sbert("distill", cross, "쌍.jsonl", "-o", "은.tsv")
    assert "4 rows in" in result.stderr
    columns = read("은.tsv")
    assert list(zip(*columns.texts.values(), strict=True)) == pairs
    np.testing.assert_allclose(columns.labels, load(cross).predict_proba(pairs), atol=1e-6)
    assert sorted(os.listdir()) == ["쌍.jsonl", "은.tsv"]


def test_single_texts_are_paired_with_their_nearest(corpus, cross, bi):
    summary = json.loads(
        sbert("distill", cross, "글.txt", "-o", "은.tsv", "--retriever", bi, "--neighbours", 2, "--json").stdout
    )
    columns = read("은.tsv")
    pairs = list(zip(*columns.texts.values(), strict=True))
    vectors = BiEncoder.from_pretrained(bi).encode(corpus, normalize_embeddings=True)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -2)
    near = {frozenset((row, int(other))) for row, line in enumerate(cosines) for other in np.argsort(-line)[:2]}
    assert {frozenset(map(corpus.index, pair)) for pair in pairs} == near
    assert len(pairs) == len(near) == summary["rows"]
    np.testing.assert_allclose(columns.labels, load(cross).predict_proba(pairs), atol=1e-6)


def test_triples_are_labelled_for_margins(folder, cross):
    Path("셋.tsv").write_text("anchor\tpositive\tnegative\n비\t눈\t해\nA\tB\t고양이\n", "utf-8")
    assert "whose scores are a list, but .tsv has no lists; write .jsonl or .parquet" in failure(
        "distill", cross, "셋.tsv", "-o", "은.tsv"
    )
    for name in ("은.jsonl", "은.parquet"):
        sbert("distill", cross, "셋.tsv", "-o", name)
        columns = read(name)
        assert (list(columns.texts), columns.label_kind) == (["query", "positive", "negative"], "scores")
        expected = load(cross).predict([("비", "눈"), ("비", "해"), ("A", "B"), ("A", "고양이")]).reshape(2, 2)
        np.testing.assert_allclose(columns.labels, expected, atol=1e-7)


def test_a_student_learns_from_what_was_labelled(corpus, cross, bi, monkeypatch):
    monkeypatch.delenv("SBERT_DATA", raising=False)
    sbert("distill", cross, "글.txt", "-o", "은.csv", "--retriever", bi)
    run = ["--data", "은.csv", "--loss", "cosine", "-m", bi, "-o", "runs/학생", "--json"]
    assert json.loads(sbert("train", *run).stdout)["steps"] > 1
    assert isinstance(load("runs/학생"), BiEncoder)
    Path("셋.tsv").write_text("query\tpositive\tnegative\n비\t눈\t해\nA\tB\t고양이\n", "utf-8")
    sbert("distill", cross, "셋.tsv", "-o", "은.jsonl")
    for kind in (["-m", bi], ["-m", bi, "--kind", "cross"]):
        out = f"runs/{len(kind)}"
        sbert("train", "--data", "은.jsonl", "--loss", "margin-mse", "-o", out, *kind)
        assert isinstance(load(out), CrossEncoder if "cross" in kind else BiEncoder)


def test_teachers_that_cannot_teach(folder, bi, classes):
    line = failure("distill", bi, "쌍.jsonl", "-o", "은.tsv")
    assert "a teacher must be a trained cross-encoder; name one" in line
    assert "has the labels 모순, 함의, 중립, but a teacher must have a single score" in failure(
        "distill", classes, "쌍.jsonl", "-o", "은.tsv"
    )
    assert not Path("은.tsv.parts").exists()


def test_a_file_where_the_work_would_be_kept(folder, cross):
    Path("은.tsv.parts").touch()
    line = failure("distill", cross, "쌍.jsonl", "-o", "은.tsv")
    assert "은.tsv.parts is a file, but a folder is needed there; remove it, or name another output" in line


def test_one_text_makes_no_pair(folder, cross):
    Path("하나.txt").write_text("비\n비\n\n", "utf-8")
    assert "하나.txt has 1 different text, but a pair needs two" in failure(
        "distill", cross, "하나.txt", "-o", "은.tsv"
    )
    assert not Path("은.tsv").exists()


@pytest.mark.skipif(os.name != "posix", reason="no such signals")
def test_what_is_labelled_is_kept(corpus, cross, bi, monkeypatch):
    command = ["distill", cross, "글.txt", "-o", "은.tsv", "--retriever", bi, "--neighbours", "1"]
    done = process(*command, start=["-c", INTERRUPTED])
    assert done.returncode == 130, done.stderr
    assert done.stderr == ("interrupted; finished labels are kept in 은.tsv.parts, and the same command resumes\n")
    assert not Path("은.tsv").exists()
    kept = sorted(path.name for path in Path("은.tsv.parts").glob("*.npy"))
    assert kept == ["pairs.npy", "scores-000000.npy", "scores-000001.npy"]
    monkeypatch.setattr(label, "WINDOW", 4)
    assert "holds the work of another command, which differs in neighbours" in failure(*command[:-1], "2")
    read_anew = []
    plain = CrossEncoder.predict
    monkeypatch.setattr(
        CrossEncoder, "predict", lambda self, pairs, **more: read_anew.extend(pairs) or plain(self, pairs, **more)
    )
    sbert(*command)
    assert not Path("은.tsv.parts").exists()
    sbert(*command[:4], "다시.tsv", *command[5:])
    lines = Path("은.tsv").read_text("utf-8").splitlines()
    assert lines == Path("다시.tsv").read_text("utf-8").splitlines()
    assert len(read_anew) == 2 * (len(lines) - 1) - 8  # the second time all, the first time all but two windows


def test_a_wrong_retriever_leaves_nothing_behind(corpus, cross):
    assert "there is no folder ./없음" in failure("distill", cross, "글.txt", "-o", "은.tsv", "--retriever", "./없음")
    line = failure("distill", cross, "글.txt", "-o", "은.tsv", "--retriever", cross)
    assert "holds a CrossEncoder, but a bi-encoder (SentenceTransformer) is expected" in line
    assert line.endswith(", or name another model\n")
    assert not Path("은.tsv.parts").exists()


def test_a_damaged_teacher_or_retriever_labels_nothing(folder, cross, bi, damaged):
    Path("글.txt").write_text("비가 온다.\n눈이 온다.\n", "utf-8")
    Path("옛.tsv").write_text("옛것", "utf-8")
    refused("distill", damaged(cross), "쌍.jsonl", "-o", "옛.tsv")
    refused("distill", cross, "글.txt", "-o", "옛.tsv", "--retriever", damaged(bi))
    assert Path("옛.tsv").read_text("utf-8") == "옛것"
    assert not Path("옛.tsv.parts").exists()
