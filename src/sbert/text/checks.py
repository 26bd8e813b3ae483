"""Checks that the input consists of texts, or of pairs of texts. Works on strings only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sbert.errors import BadInput


def check_texts(sentences: Iterable[str]) -> list[str]:
    """Return ``sentences`` as a list, after checking that every row is text.

    >>> check_texts(["하나", None])
    Traceback (most recent call last):
    sbert.errors.BadInput: row 1 is NoneType, but every row must be text; drop it or convert it with str()
    """
    # Iterating over a dictionary or a table gives its column names, and over a set an arbitrary order.
    unlisted = isinstance(sentences, bytes | Mapping | set | frozenset) or hasattr(sentences, "columns")
    unlisted = unlisted or getattr(sentences, "shape", None) == ()  # an array without dimensions
    if unlisted or not isinstance(sentences, Iterable):
        raise BadInput(
            f"got {type(sentences).__name__}, but a text or a sequence of texts is needed, such as a list, "
            "or one column of a table"
        )
    if isinstance(sentences, str):
        raise BadInput("got one text, but a list of texts is expected; put it in one: [text]")
    texts = list(sentences)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(
                f"row {row} is {type(text).__name__}, but every row must be text; drop it or convert it with str()"
            )
    return texts


def check_pairs(pairs: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Return ``pairs`` as a list, after checking that every row is two texts.

    >>> check_pairs([("비", "눈"), ("a", "b", "c")])
    Traceback (most recent call last):
    sbert.errors.BadInput: row 1 has 3 texts, but a pair has two; score each pair in a row of its own
    """
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise BadInput(f"got {type(pairs).__name__}, but a sequence of pairs of texts is needed: [(a, b), ...]")
    rows = list(pairs)
    for row, pair in enumerate(rows):
        if isinstance(pair, str | bytes) or not isinstance(pair, Sequence):
            kind = type(pair).__name__
            raise BadInput(f"row {row} is {kind}, but every row must be a pair of texts; a single pair is [(a, b)]")
        if len(pair) != 2:
            raise BadInput(f"row {row} has {len(pair)} texts, but a pair has two; score each pair in a row of its own")
        for text in pair:
            if not isinstance(text, str):
                kind = type(text).__name__
                raise BadInput(f"row {row} holds {kind}, but a pair is two texts; drop it or convert it with str()")
    return [(first, second) for first, second in rows]
