"""Holds rows to train on as columns of texts and one column of labels. Works on lists and arrays, not on files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, get_args

import numpy as np

from sbert.data.labels import infer, labels
from sbert.errors import BadInput, check_option, counted, shown
from sbert.types import Array, IntArray, LabelKind

_USUAL_LABELS = ("label", "labels", "score", "scores")
_CHUNK = 65536
"""Number of texts that are hashed at once."""


class _Dataset(Protocol):
    """The part of a Hugging Face ``datasets.Dataset`` that is used here."""

    @property
    def column_names(self) -> list[str]: ...

    def __getitem__(self, name: str, /) -> Iterable[Any]: ...


class _DataFrame(Protocol):
    """The part of a data frame, such as that of pandas or polars, that is used here."""

    @property
    def columns(self) -> Iterable[Any]: ...

    def __getitem__(self, name: str, /) -> Iterable[Any]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """N rows: one or more texts each, in the order in which the loss sees them, and optionally a label.

    >>> columns = Columns.of({"sentence1": ["비가 온다", "A cat"], "sentence2": ["비가 내린다", "A dog"]}, [0.9, 0.3])
    >>> len(columns), columns.label_kind, list(columns.texts)
    (2, 'score', ['sentence1', 'sentence2'])
    """

    texts: dict[str, list[str]]
    """The texts of each column, all of the same length."""
    labels: Array | None = None
    """(N,) int64 classes or 0 and 1, (N,) float32 scores, or (N, k) float32 scores or vectors of a teacher."""
    label_kind: LabelKind = "none"
    label_names: tuple[str, ...] = ()
    """The name of each class, by its id; empty for every other kind of label."""
    skipped: int = 0
    """The number of rows that were left out because they have no gold label."""
    name: str = "the data"
    """What messages call the data."""

    def __post_init__(self) -> None:
        check_option("label_kind", self.label_kind, get_args(LabelKind))
        if not self.texts:
            raise BadInput(f"{self.name} has no column of texts, but at least one is needed")
        (first, rows), *others = ((shown(column), len(texts)) for column, texts in self.texts.items())
        if self.labels is not None:
            others.append(("of labels", len(self.labels)))
        for column, count in others:
            if count != rows:
                unequal = f"{counted(rows, 'row')} in the column {first}, but {count:,} in the column {column}"
                raise BadInput(f"{self.name} has {unequal}; give every row every column")
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
        columns: Mapping[str, Sequence[str]] | _Dataset | _DataFrame,
        labels: Iterable[Any] | None = None,
        *,
        label_kind: LabelKind | None = None,
        label_names: Sequence[str] = (),
        name: str = "the data",
    ) -> Columns:
        """Build columns from lists, a ``datasets.Dataset`` or a data frame.

        Args:
            columns: The texts. Without ``labels``, a column called label, labels, score or scores holds the labels.
            labels: Names or ids of classes, 0 and 1, scores (which are not rescaled), or (N, k) numbers of a teacher.
            label_kind: What the labels are. By default, floats are scores, 0 and 1 beside two texts are binary, and
                all others, and all labels with ``label_names``, are classes.
            label_names: The name of each class, by its id. Defaults to the names of a ``ClassLabel`` column;
                otherwise class names are sorted, and numbers are their own names.
            name: What messages call the data.
        """
        found = {column: _values(columns[column]) for column in _column_names(columns)}
        usual = next((column for column in _USUAL_LABELS if column in found), None)
        if labels is None and usual is not None:
            labels = found.pop(usual)
            features = getattr(columns, "features", None)  # a ClassLabel column of a Dataset has names
            known = getattr(features[usual], "names", None) if isinstance(features, Mapping) else None
            label_names = label_names or known or ()
        if label_names and label_kind is None:
            label_kind = "class"
        for column, texts in found.items():
            for row, text in enumerate(texts):
                if not isinstance(text, str):
                    where = f"{name}, column {shown(column)}, row {row}"
                    kind = type(text).__name__
                    raise BadInput(f"{where}: {kind}, but must be text; leave the column out or convert it")
        unlabelled = cls(found, name=name)
        if labels is None or label_kind == "none":
            return unlabelled
        return _labelled(unlabelled, _values(labels), label_kind, label_names)

    def __len__(self) -> int:
        return len(next(iter(self.texts.values())))

    def head(self, limit: int) -> Columns:
        """Return the first ``limit`` rows, or all if there are fewer."""
        return self.take(np.arange(min(limit, len(self))))

    def take(self, rows: IntArray) -> Columns:
        """Return the rows with these numbers, in this order."""
        numbers = rows.tolist()
        texts = {name: [column[row] for row in numbers] for name, column in self.texts.items()}
        return replace(self, texts=texts, labels=None if self.labels is None else self.labels[rows])

    def overlap(self, *others: Columns) -> int:
        """Return how many rows have the same texts as a row of ``others``.

        >>> dev, train = Columns.of({"a": ["비", "눈", "비"]}), Columns.of({"b": ["해", "비"]})
        >>> dev.overlap(train)
        2
        """
        own = set(zip(*self.texts.values(), strict=True))
        shared = {row for other in others for row in zip(*other.texts.values(), strict=True) if row in own}
        return sum(row in shared for row in zip(*self.texts.values(), strict=True))

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of all texts and labels, computed at every call and the same on every machine."""
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
    """Add texts after their lengths, so that different lists never give the same bytes."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    digest.update(np.array([len(parts), *map(len, parts)], "<i8").tobytes())
    digest.update(b"".join(parts))


def _column_names(columns: object) -> list[Any]:
    if isinstance(columns, Mapping) and not any(hasattr(value, "column_names") for value in columns.values()):
        return list(columns)
    names = getattr(columns, "column_names", getattr(columns, "columns", None))
    if names is None or isinstance(names, Mapping) or isinstance(columns, Columns):
        raise BadInput(
            f"got a {type(columns).__name__}, but columns of texts are needed: a dictionary of lists, a "
            "datasets.Dataset (choose one of a DatasetDict) or a data frame"
        )
    return list(names)


def _values(column: Iterable[Any]) -> list[Any]:
    """Return a column as plain Python values, whichever library holds it."""
    for method in ("to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return [value.tolist() if hasattr(value, "tolist") else value for value in column]


def _labelled(columns: Columns, given: list[Any], kind: LabelKind | None, names: Sequence[str]) -> Columns:
    def where(row: int) -> str:
        return f"{columns.name}, row {row}"

    if not given:
        raise BadInput(f"{columns.name} has no labels, but every row needs one")
    kind = kind or infer(given, len(columns.texts), where)
    ids = kind == "class" and all(isinstance(value, int) for value in given)
    if ids and min(given) < 0:
        row = given.index(min(given))
        raise BadInput(f"{where(row)}: the class is {given[row]}, but ids start at 0; leave the row out")
    named = tuple(names) if kind == "class" else ()
    label_map = {str(number) if ids else name: number for number, name in enumerate(named)} or None
    values, found = labels(given, where, kind, label_map)
    return replace(columns, labels=values, label_kind=kind, label_names=named or found)
