"""Labels texts with a cross-encoder, the teacher, so that a faster model can be trained on them.

Finished scores are kept in a folder, so that an interrupted command can be continued. Works on texts and scores; the
caller decides which columns they make.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from torch import nn

from sbert.disk.progress import Progress
from sbert.disk.workplace import Workplace
from sbert.errors import BadInput
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.load import load
from sbert.search.exact import semantic_search
from sbert.types import Array, FloatArray, Output

WINDOW = 512
"""Number of rows that are scored and kept at a time."""
Texts = Sequence[str]


def teacher(name: str, device: str | None = None) -> CrossEncoder:
    """Load a trained cross-encoder with a single score; raise BadInput for any other model."""
    model = load(name, device=device)
    if not isinstance(model, CrossEncoder):
        raise BadInput(f"{name} is not a cross-encoder, but a teacher must be a trained cross-encoder; name one")
    if len(model.labels) > 1:
        raise BadInput(
            f"{name} has the labels {', '.join(model.labels)}, but a teacher must have a single score; name another"
        )
    return model


def near_pairs(encoder: BiEncoder, texts: Sequence[str], k: int) -> Array:
    """Find the ``k`` nearest neighbours of every text. Returns the row numbers of each pair once, as (P, 2)."""
    vectors = encoder.encode(texts, show_progress_bar=True)
    found = semantic_search(vectors, vectors, k + 1, encoder.similarity_fn_name)
    pairs: dict[tuple[int, int], None] = {}
    for row, hits in enumerate(found):
        neighbours = [int(hit.id) for hit in hits if hit.id != row][:k]
        pairs.update(dict.fromkeys((min(row, other), max(row, other)) for other in neighbours))
    return np.array(list(pairs), np.int64).reshape(-1, 2)


def label(
    model: CrossEncoder, windows: Sequence[Sequence[Texts]], place: Workplace, output: Output
) -> Iterator[tuple[Sequence[Texts], FloatArray]]:
    """Yield each window of rows with its scores, (N, k): the first text of a row paired with each of the k others."""
    sizes, done = [len(window) for window in windows], place.count("scores-*")
    with Progress(sum(sizes), "rows", show=True, done=sum(sizes[:done])) as progress:
        for number, window in enumerate(windows):
            yield window, place.once(f"scores-{number:06d}", partial(_scores, model, window, output))
            if number >= done:
                progress.add(len(window))


def _scores(model: CrossEncoder, window: Sequence[Texts], output: Output) -> FloatArray:
    columns = model.items(list(zip(*window, strict=True)))
    return np.stack([model.score_pairs(pairs, output) for pairs in columns], axis=1)


def fingerprint(model: CrossEncoder, rows: Iterable[Texts]) -> dict[str, Any]:
    """Checksums of the teacher and of all texts, and the window size: everything that identifies the scores."""
    texts = hashlib.sha256()
    for row in rows:
        texts.update(json.dumps(list(row)).encode())
    teacher = f"{weights_digest(model)} {model.scale} {model.max_seq_length}"
    return {"teacher": teacher, "texts": texts.hexdigest()[:16], "window": WINDOW}


def weights_digest(model: nn.Module) -> str:
    """Checksum of all weights."""
    weights = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        weights.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
    return weights.hexdigest()[:16]
