"""What the tables are trained on, found in a folder under the names of the publishers. Knows files and columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sbert.data import Columns, read
from sbert.errors import BadInput
from sbert.evaluate.sources import DataFolder, Source
from sbert.evaluate.sts import ScoredPairs
from sbert.evaluate.tasks import Task

SNLI = ("snli_1.0_train.jsonl", "snli")
MULTINLI = ("multinli_1.0_train.jsonl", "multinli")
STSB_TRAIN, STSB_DEV = ("sts-train.csv", "stsb"), ("sts-dev.csv", "stsb")
SECTIONS = ("wikipedia-sections-triplets/train.csv", "wikisection_triplets_selfbuilt")
GLOVE = ("glove.840B.300d.txt", "glove.6B.300d.txt", "glove.6B.100d.txt", "glove100/vectors_f16.npy")


def find(folder: DataFolder, names: Sequence[str]) -> Path:
    """The first of these files that is there."""
    for name in names:
        if found := folder.find(Source((name,), "", lambda paths: None)):
            return found[0]
    raise BadInput(f"none of these is in {folder.path}: {', '.join(names)}")


def of_task(folder: DataFolder, task: Task[Any]) -> list[Path]:
    """The files that a task reads."""
    for source in task.sources:
        if paths := folder.find(source):
            return paths
    raise BadInput(f"{task.name}: nothing of this is in {folder.path}: {'; or '.join(map(str, task.sources))}")


def fingerprint(paths: Iterable[Path]) -> str:
    """Of names and sizes, so that other files are other data and a copy is not."""
    return digest(sorted((path.name, path.stat().st_size) for path in paths))


def digest(facts: object) -> str:
    """A short name of plain facts."""
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:10]


def nli(snli: Path, multinli: Path, limit: int | None) -> Columns:
    """Pairs of both sets, as many of each as there are or as make up the limit, shuffled."""
    half = None if limit is None else limit // 2
    parts = [read(path, limit=half) for path in (snli, multinli)]
    texts = {
        name: [text for part in parts for text in list(part.texts.values())[number]]
        for number, name in enumerate(("premise", "hypothesis"))
    }
    names = parts[0].label_names
    if any(part.label_names != names for part in parts):
        raise BadInput(f"{snli.name} has the classes {names}, {multinli.name} others; make them agree")
    labels = np.concatenate([part.labels for part in parts if part.labels is not None])
    return Columns(texts, labels, "class", names, name="NLI")


def graded(pairs: ScoredPairs) -> Columns:
    """Scored pairs to train on, their scores from 0 to 1."""
    low, high = float(pairs.gold.min()), float(pairs.gold.max())
    scores = ((pairs.gold - low) / (high - low)).astype(np.float32)
    return Columns({"sentence1": pairs.first, "sentence2": pairs.second}, scores, "score", name="arguments")


def triplets(path: Path, limit: int | None) -> Columns:
    """The packaged set has no training rows of its own: its development rows take their place."""
    publishers = path.name == "train.csv"
    names = ["Sentence1", "Sentence2", "Sentence3"] if publishers else None
    rows = read(path, shape="triplets", split=None if publishers else "valid", columns=names, limit=limit)
    return replace(rows, name="sections")
