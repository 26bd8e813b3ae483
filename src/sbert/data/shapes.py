"""Recognises what a table holds by the names of its columns. Works on names only: no values and no files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args
from unicodedata import normalize

from sbert.errors import BadInput, BadOption, check_option, listed, shown
from sbert.types import LabelKind

ShapeName = Literal["triplets", "sections", "sts", "nli", "pairs", "texts"]

_TWO = (("premise", "hypothesis"), ("sentence1", "sentence2"), ("text", "text2"))
_PAIR = (("anchor", "positive"), ("query", "positive"), ("question", "answer"))
_NEGATIVE = re.compile(r"negative(?:_(\d{1,9}))?")


class Shape(NamedTuple):
    """The usual names of columns that belong together."""

    texts: tuple[tuple[str, ...], ...]
    """Groups of text columns, any one of which makes the shape."""
    labels: tuple[str, ...] = ()
    """Names of the label column; the first one that exists is taken."""
    needs_label: bool = False
    negatives: bool = False
    """Whether at least one column negative, negative_1, negative_2, ... follows."""

    def __str__(self) -> str:
        last = ("negative",) if self.negatives else self.labels[-1:] if self.needs_label else ()
        return " or ".join("/".join((*group, *last)) for group in self.texts)


class Layout(NamedTuple):
    """The columns to take from a table."""

    texts: tuple[str, ...]
    label: str | None
    kind: LabelKind | None
    """None if only the values can tell."""
    no_gold: tuple[object, ...]
    """Values in the label column that mean that the annotators did not agree."""


# In the order in which they are tried.
SHAPES: dict[ShapeName, Shape] = {
    "triplets": Shape(_PAIR, ("scores",), negatives=True),
    "sections": Shape((("Sentence1", "Sentence2", "Sentence3"),)),
    "sts": Shape(_TWO, ("score",), needs_label=True),
    "nli": Shape(_TWO, ("gold_label", "label"), needs_label=True),
    "pairs": Shape(_PAIR, ("label",)),
    "texts": Shape((("text",), ("sentence",)), ("label",)),
}


def recognise(
    available: Sequence[str],
    name: str,
    shape: ShapeName | None = None,
    columns: Sequence[str] | None = None,
    label: str | None = None,
) -> Layout:
    """Return which of the ``available`` columns of a table hold texts and labels; messages call the table ``name``.

    The shape defaults to the first one that fits. ``columns`` and ``label`` name columns that have unusual names.

    >>> recognise(["gold_label", "sentence1", "sentence2"], "snli_1.0_train.txt").texts
    ('sentence1', 'sentence2')
    """
    if shape is not None:
        check_option("shape", shape, get_args(ShapeName))
    columns = None if columns is None else _found(columns, available, name)
    label = None if label is None else _found([label], available, name)[0]
    for candidate in SHAPES if shape is None else (shape,):
        if shape is None and candidate == "sts" and label not in (None, "score"):
            continue  # a label of another name is a score only if the caller says so
        if layout := _fit(candidate, available, columns, label):
            return layout
    wanted = SHAPES if shape is None else {shape: SHAPES[shape]}
    raise BadInput(
        f"{name} has the columns {listed(available)}, but needs those of a shape: "
        f"{'; '.join(f'{key} ({value})' for key, value in wanted.items())}; or name them "
        "with columns and label (--columns and --label)"
    )


def text_columns(
    available: Sequence[str], name: str, columns: Sequence[str] | None = None, one_text: bool = False
) -> tuple[str, ...]:
    """Return the columns of texts: those in ``columns``, those with the usual names of a shape, or the only column.

    With ``one_text``, the usual names are ``text`` and ``sentence``.

    >>> text_columns(["id", "sentence1", "sentence2"], "pairs.tsv")
    ('sentence1', 'sentence2')
    >>> text_columns(["id", "sentence"], "topics.tsv", one_text=True)
    ('sentence',)
    """
    named = _found(columns or (), available, name)
    shapes = [SHAPES["texts"]] if one_text else SHAPES.values()
    usual = next(filter(None, (_texts(shape, available) for shape in shapes)), ())
    found = named or usual or (tuple(available) if len(available) == 1 else ())
    if not found:
        unknown = ", of which none is known to hold texts; name those that do, as with --columns a,b"
        unnamed = "; name the one that holds the texts with --column"
        raise BadInput(f"{name} has the columns {listed(available)}{unnamed if one_text else unknown}")
    return found


def _found(asked: Sequence[str], available: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the columns that are asked for, as the table writes them; equal letters may have other Unicode forms."""
    by_form = {normalize("NFC", column): column for column in available}
    forms = [normalize("NFC", str(column)) for column in asked]
    for form, uses in Counter(forms).items():
        if form not in by_form:
            raise BadOption(f"the column for {name}", form, by_form)
        if uses > 1:
            raise BadInput(f"columns names {shown(form)} twice, but each text has a column of its own; name it once")
    return tuple(by_form[form] for form in forms)


def _fit(name: ShapeName, available: Sequence[str], columns: Sequence[str] | None, label: str | None) -> Layout | None:
    shape = SHAPES[name]
    if columns is None:
        texts = _texts(shape, available)
    else:
        size = len(shape.texts[0])
        fits = len(columns) > size if shape.negatives else len(columns) == size
        texts = tuple(columns) if fits else ()
    if label is None:
        label = next((column for column in shape.labels if column in available), None)
    if not texts or (shape.needs_label and label is None):
        return None
    kind: LabelKind | None = (
        "none" if label is None else "score" if name == "sts" else "scores" if label == "scores" else None
    )
    # Files of the Hugging Face hub have the number -1 where SNLI has "-".
    return Layout(texts, label, kind, ("-", "", None, -1) if name == "nli" else ("-", "", None))


def _texts(shape: Shape, available: Sequence[str]) -> tuple[str, ...]:
    texts = next((group for group in shape.texts if set(group) <= set(available)), ())
    if not shape.negatives:
        return texts
    numbers = {column: int(match[1] or 0) for column in available if (match := _NEGATIVE.fullmatch(column))}
    return (*texts, *sorted(numbers, key=numbers.__getitem__)) if texts and numbers else ()
