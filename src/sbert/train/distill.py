"""A teacher's scores of rows that nobody has labelled, to train a faster model on: augmented SBERT, margins.

Whatever is scored is kept in a folder, window after window, so that the same work goes on after any stop. Knows texts
and scores; which columns they make is the caller's.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from sbert.disk.progress import Progress
from sbert.errors import BadInput, CannotResume
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.load import load
from sbert.search.exact import semantic_search
from sbert.train import journal
from sbert.types import Array, FloatArray, Output

WINDOW = 512
"""Rows that are scored, and kept, at a time."""
Texts = Sequence[str]


def teacher(name: str) -> CrossEncoder:
    """The cross-encoder of that name; one that nobody has trained, or of several labels, is refused."""
    model = load(name)
    if not isinstance(model, CrossEncoder):
        raise BadInput(f"{name} is no cross-encoder, but a teacher is a trained cross-encoder; name one")
    if len(model.labels) > 1:
        raise BadInput(f"{name} has the labels {', '.join(model.labels)}, but a teacher gives one score; name another")
    return model


def near_pairs(encoder: BiEncoder, texts: Sequence[str], k: int) -> Array:
    """(P, 2) places of every text and its ``k`` nearest, each pair once: those worth a teacher's time."""
    vectors = encoder.encode(texts, show_progress_bar=True)
    found = semantic_search(vectors, vectors, k + 1, encoder.similarity_fn_name)
    pairs: dict[tuple[int, int], None] = {}
    for row, hits in enumerate(found):
        near = [int(hit.id) for hit in hits if hit.id != row][:k]
        pairs.update(dict.fromkeys((min(row, other), max(row, other)) for other in near))
    return np.array(list(pairs), np.int64).reshape(-1, 2)


class Workplace:
    """A folder that keeps what is done of one piece of work."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def opened(self, facts: dict[str, Any]) -> Iterator[None]:
        """Hold the folder for this process. ``facts`` say which work it is: what is there must be of the same."""
        record = self.folder / "work.json"
        with journal.occupied(self.folder):
            if record.is_file():
                try:
                    kept = json.loads(record.read_text(encoding="utf-8"))
                except ValueError as error:
                    raise CannotResume(f"{record} is damaged ({error}); remove {self.folder}") from None
                if changed := [name for name in facts if kept.get(name) != facts[name]]:
                    raise CannotResume(
                        f"{self.folder} keeps the work of another command, of which {', '.join(changed)} differ; "
                        "remove the folder, or name another output"
                    )
            else:
                draft = record.with_suffix(".draft")
                draft.write_text(json.dumps(facts, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
                draft.replace(record)
            yield

    def once(self, name: str, make: Callable[[], Array]) -> Array:
        """The array of that name; made and kept unless it is there already."""
        path = self.folder / f"{name}.npy"
        if path.is_file():
            kept: Array = np.load(path)
            return kept
        made, draft = make(), path.with_suffix(".draft")
        with draft.open("wb") as file:
            np.save(file, made)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        return made

    @property
    def windows(self) -> int:
        """How many are done."""
        return len(list(self.folder.glob("scores-*.npy")))

    def remove(self) -> None:
        """The work is done and elsewhere."""
        shutil.rmtree(self.folder, ignore_errors=True)


def label(
    model: CrossEncoder, windows: Sequence[Sequence[Texts]], place: Workplace, output: Output
) -> Iterator[tuple[Sequence[Texts], FloatArray]]:
    """Each window of rows with what the teacher says of it: (N, k) scores of a row's first text with its k others."""
    sizes, done = [len(window) for window in windows], place.windows
    with Progress(sum(sizes), "rows", show=True, done=sum(sizes[:done])) as progress:
        for number, window in enumerate(windows):
            yield window, place.once(f"scores-{number:06d}", partial(_scores, model, window, output))
            if number >= done:
                progress.add(len(window))


def _scores(model: CrossEncoder, window: Sequence[Texts], output: Output) -> FloatArray:
    columns = model.items(list(zip(*window, strict=True)))
    return np.stack([model.score_pairs(pairs, output) for pairs in columns], axis=1)


def fingerprint(model: CrossEncoder, rows: Iterable[Texts]) -> dict[str, Any]:
    """What decides the scores and how they are kept: checksums of the teacher and of all texts, rows of a window."""
    texts = hashlib.sha256()
    for row in rows:
        texts.update(json.dumps(list(row)).encode())
    teacher = f"{weights_of(model)} {model.scale} {model.max_seq_length}"
    return {"teacher": teacher, "texts": texts.hexdigest()[:16], "window": WINDOW}


def weights_of(model: nn.Module) -> str:
    """A checksum of all weights."""
    digest = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
