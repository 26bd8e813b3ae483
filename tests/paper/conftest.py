"""A data folder with a little of everything, and settings that fill a table from it in seconds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from sbert.paper.budgets import Settings
from sbert.train import trainer

SUBJECTS = ["A man", "The cat", "A dog", "고양이가", "한 여자가", "Two children", "The train", "비가"]
VERBS = ["plays a guitar", "sleeps", "runs in the grass", "잔다", "노래한다", "eat bread", "leaves at noon", "온다"]


def sentences(seed: int, count: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"{SUBJECTS[a]} {VERBS[b]}" for a, b in rng.integers(8, size=(count, 2))]


def write(path, header, rows):
    lines = ["\t".join(header), *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Every set that the tables know, small, in English and Korean."""
    folder = tmp_path_factory.mktemp("자료")
    pairs = ("split", "subset", "score", "sentence1", "sentence2")
    for number, name in enumerate(("sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sick_r")):
        rows = [
            (split, f"part{row % 2}", row % 6, *sentences(100 * number + row, 2))
            for split in ("train", "dev", "test")
            for row in range(24)
        ]
        write(folder / f"{name}.tsv", pairs, rows)
    topics = [
        ("all", topic, row % 4, *sentences(row, 2)) for topic in ("총기", "cloning", "사형") for row in range(12)
    ]
    write(folder / "ukp_aspect.tsv", pairs, topics)
    classes = ("contradiction", "entailment", "neutral")
    for number, name in enumerate(("snli", "multinli")):
        rows = [("train", classes[row % 3], *sentences(1000 * number + row, 2)) for row in range(24)]
        write(folder / f"{name}.tsv", ("split", "label", "premise", "hypothesis"), rows)
    triplets = [(split, *sentences(row, 3)) for split in ("valid", "test") for row in range(16)]
    write(folder / "wikisection_triplets_selfbuilt.tsv", ("split", "anchor", "positive", "negative"), triplets)
    for name in ("mr", "cr", "subj", "mpqa"):
        write(folder / f"{name}.tsv", ("split", "label", "text"), labelled(("all",)))
    write(folder / "sst2_phrases.tsv", ("split", "label", "text"), labelled(("train", "dev", "test")))
    write(folder / "trec.tsv", ("split", "label", "text"), labelled(("train", "test")))
    both = [(*row, text) for row, text in zip(labelled(("train", "test")), sentences(7, 48), strict=True)]
    write(folder / "mrpc.tsv", ("split", "label", "text", "text2"), both)
    words = sorted({word for text in (*SUBJECTS, *VERBS) for word in text.lower().split()})
    vectors = np.random.default_rng(0).normal(size=(len(words), 8)).round(3)
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in zip(words, vectors.tolist(), strict=True)]
    (folder / "glove.6B.100d.txt").write_text("".join(lines), encoding="utf-8")
    return folder


def labelled(splits):
    return [(split, row % 2, sentences(row, 1)[0]) for split in splits for row in range(24)]


@pytest.fixture
def settings(data, tiny_folder, tmp_path, monkeypatch):
    """``settings(budget="full")``: of a run on the little data with a tiny backbone."""
    monkeypatch.setattr(trainer, "draw", lambda folder, metrics, facts: None)
    return partial(Settings, data=data, out=tmp_path / "표", backbone=str(tiny_folder("bert")))
