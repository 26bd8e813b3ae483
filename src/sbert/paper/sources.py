"""What the tables are trained on, found in a folder under the names of the publishers. Knows files and columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from sbert.data import Columns, read
from sbert.errors import BadInput
from sbert.evaluate.suites.sources import DataFolder, Source
from sbert.evaluate.suites.sts import ScoredPairs

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


def fingerprint(paths: Iterable[Path]) -> str:
    """Of names and contents, so that other files are other data and a copy is not."""
    return digest(sorted((path.name, _content(path)) for path in paths))


def fingerprint_of(source: Path) -> str:
    """Of a file, or of all files of a folder."""
    return fingerprint([source] if source.is_file() else filter(Path.is_file, source.rglob("*")))


def _content(path: Path) -> str:
    status = path.stat()
    return _hashed(path, status.st_mtime_ns, status.st_size)


@cache
def _hashed(path: Path, _changed: int, _size: int) -> str:
    """Read once in a process, unless it changes."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def digest(facts: object) -> str:
    """A short name of plain facts."""
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:10]


def nli(snli: Path, multinli: Path, limit: int | None) -> Columns:
    """Pairs of both sets, as many of each as there are or as make up the limit, one set after the other."""
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
