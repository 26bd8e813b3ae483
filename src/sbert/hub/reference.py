"""A few texts and their vectors, stored with a model so that a loaded model can be checked. Works on JSON only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sbert.errors import BadModel
from sbert.hub.files import read_object, reading
from sbert.hub.schema import TEXTS, checked
from sbert.types import FloatArray

REFERENCE_TEXTS: tuple[str, ...] = (
    "The quick brown fox jumps over the lazy dog.",
    "오늘 서울의 날씨는 맑고 바람이 조금 분다.",
    "BERT 모델로 sentence embedding을 만들면 cosine similarity 0.87이 나온다!",
    "",
    "A long text shows where a model stops reading: " + "one sentence after another, 문장 뒤에 또 문장, " * 40,
)


@dataclass(frozen=True, eq=False)
class Reference:
    """Texts, and the vectors that the model gave when it was saved."""

    texts: tuple[str, ...]
    vectors: FloatArray
    """(n, D) float32."""


def largest_difference(reference: Reference, vectors: FloatArray) -> float:
    """Return the largest difference in any coordinate; infinity where the shapes differ or a value is NaN.

    >>> largest_difference(Reference(("a",), np.zeros((1, 2))), np.array([[0.0, 0.5]]))
    0.5
    """
    if np.shape(vectors) != reference.vectors.shape:
        return float("inf")
    largest = float(np.max(np.abs(reference.vectors - vectors), initial=0.0))
    return float("inf") if np.isnan(largest) else largest


def read_reference(path: Path) -> Reference | None:
    """Return the reference stored in ``path``, or None where there is no such file."""
    if not path.is_file():
        return None
    stored = read_object(path)
    said = tuple(checked(stored, {"texts": TEXTS}, path)["texts"])
    with reading(path):
        vectors = np.asarray(stored["vectors"], np.float32)
    if vectors.ndim != 2 or len(vectors) != len(said):
        raise BadModel(
            f"{path} holds {len(said)} texts and vectors of shape {vectors.shape}, but needs one vector per text; "
            "delete it, or save the model again"
        )
    return Reference(said, vectors)


def write_reference(reference: Reference, path: Path) -> None:
    """Write ``reference``. float32 values are read back bit for bit."""
    vectors: Sequence[Sequence[float]] = np.asarray(reference.vectors, np.float32).tolist()
    text = json.dumps({"texts": reference.texts, "vectors": vectors}, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
