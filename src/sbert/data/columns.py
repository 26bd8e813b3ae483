"""Holds rows to train on as columns of texts and one column of labels. Knows lists and arrays only: no files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, get_args

import numpy as np

from sbert.data.labels import infer, labels
from sbert.errors import BadInput, check_option
from sbert.types import Array, IntArray, LabelKind

_USUAL_LABELS = ("label", "labels", "score", "scores")
_CHUNK = 65536
"""Texts that are hashed at once."""


class Dataset(Protocol):
    """What is needed of a Hugging Face ``datasets.Dataset``."""

    @property
    def column_names(self) -> list[str]:
        """In their order."""

    def __getitem__(self, name: str, /) -> Iterable[Any]:
        """One column."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """N rows: one or more texts each, in the order in which the loss sees them, and perhaps a label.

    >>> columns = Columns.of({"sentence1": ["비가 온다", "A cat"], "sentence2": ["비가 내린다", "A dog"]}, [0.9, 0.3])
    >>> len(columns), columns.label_kind, list(columns.texts)
    (2, 'score', ['sentence1', 'sentence2'])
    """

    texts: dict[str, list[str]]
    """By name, all of the same length."""
    labels: Array | None = None
    """(N,) int64 classes or 0 and 1, (N,) float32 scores, (N, k) float32 scores or vectors of a teacher."""
    label_kind: LabelKind = "none"
    label_names: tuple[str, ...] = ()
    """The classes by their id; empty for every other kind."""
    skipped: int = 0
    """How many rows were left out because they have no gold label."""
    name: str = "the data"
    """For messages."""

    def __post_init__(self) -> None:
        check_option("label_kind", self.label_kind, get_args(LabelKind))
        lengths = {column: len(texts) for column, texts in self.texts.items()}
        if not lengths:
            raise BadInput(f"{self.name} has no column of texts, but at least one is needed")
        if self.labels is not None:
            lengths["(labels)"] = len(self.labels)
        if len(set(lengths.values())) > 1:
            raise BadInput(
                f"{self.name} has columns of different lengths, {lengths}, but every row needs every column"
            )
        self._check_labels()

    def _check_labels(self) -> None:
        if (self.labels is None) != (self.label_kind == "none"):
            held = "no labels" if self.labels is None else "labels"
            raise BadInput(f"{self.name} has {held}, but label_kind is {self.label_kind!r}; make both agree")
        if self.labels is None:
            return
        dimensions = 2 if self.label_kind in ("vector", "scores") else 1
        if self.labels.ndim != dimensions:
            shape = "(rows, numbers)" if dimensions == 2 else "(rows,)"
            raise BadInput(
                f"{self.name} has labels of shape {self.labels.shape}, but {self.label_kind!r} needs {shape}"
            )
        known = range(len(self.label_names))
        if self.label_kind == "class" and not all(number in known for number in np.unique(self.labels).tolist()):
            raise BadInput(f"{self.name} has class ids beyond its label_names; name every class, from id 0 on")

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Sequence[str]] | Dataset,
        labels: Iterable[Any] | None = None,
        *,
        label_kind: LabelKind | None = None,
        label_names: Sequence[str] = (),
        name: str = "the data",
    ) -> Columns:
        """Columns from lists, or from a ``datasets.Dataset``.

        Args:
            columns: the texts; without ``labels``, a column called label, labels, score or scores holds those.
            labels: names or ids of classes, 0 and 1, scores (taken as they are), or (N, k) numbers of a teacher.
            label_kind: what they are; without it floats are scores, 0 and 1 beside two texts binary, else classes.
            label_names: the classes by their id; without it names are sorted, and numbers name themselves.
            name: what to call it in messages.
        """
        names = list(columns) if isinstance(columns, Mapping) else list(columns.column_names)
        found = {column: list(columns[column]) for column in names}
        usual = next((column for column in _USUAL_LABELS if column in found), None)
        raw = found.pop(usual) if labels is None and usual is not None else labels
        for column, texts in found.items():
            _check_texts(texts, f"{name}, column {column!r}")
        bare = cls(found, name=name)
        return bare if raw is None or label_kind == "none" else _labelled(bare, raw, label_kind, label_names)

    def __len__(self) -> int:
        return len(next(iter(self.texts.values())))

    def head(self, limit: int) -> Columns:
        """The first ``limit`` rows, or all where there are fewer."""
        return self.take(np.arange(min(limit, len(self))))

    def take(self, rows: IntArray) -> Columns:
        """These rows, in this order."""
        numbers = rows.tolist()
        texts = {name: [column[row] for row in numbers] for name, column in self.texts.items()}
        return replace(self, texts=texts, labels=None if self.labels is None else self.labels[rows])

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all texts and labels, computed at every call: the same on every machine."""
        digest = hashlib.sha256()
        for name, texts in self.texts.items():
            _add(digest, [name])
            for start in range(0, len(texts), _CHUNK):
                _add(digest, texts[start : start + _CHUNK])
        _add(digest, [self.label_kind, *self.label_names])
        if self.labels is not None:
            digest.update(np.ascontiguousarray(self.labels, self.labels.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()


def _add(digest: hashlib._Hash, texts: list[str]) -> None:
    """Lengths first, so that no two lists of texts are the same bytes."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    digest.update(np.array([len(parts), *map(len, parts)], "<i8").tobytes())
    digest.update(b"".join(parts))


def _check_texts(texts: list[Any], where: str) -> None:
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise BadInput(f"{where}, row {row}: {kind}, but must be text; leave the column out or convert it")


def _labelled(columns: Columns, given: Iterable[Any], kind: LabelKind | None, names: Sequence[str]) -> Columns:
    def where(row: int) -> str:
        return f"{columns.name}, row {row}"

    raw = [value.tolist() if hasattr(value, "tolist") else value for value in given]  # numpy's and torch's numbers too
    if not raw:
        raise BadInput(f"{columns.name} has no labels, but one a row is needed")
    kind = infer(raw, len(columns.texts), where) if kind is None else kind
    ids = kind == "class" and all(isinstance(value, int) for value in raw)
    if ids and min(raw) < 0:
        raise BadInput(f"{where(raw.index(min(raw)))}: the class is {min(raw)}, but ids start at 0; leave the row out")
    named = tuple(names) if kind == "class" else ()
    label_map = {str(number) if ids else name: number for number, name in enumerate(named)} or None
    made = labels(raw, where, kind, label_map)
    return replace(columns, labels=made.values, label_kind=kind, label_names=named or made.names)
