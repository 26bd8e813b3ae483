"""Checks the data of evaluators and computes their checksums."""

from __future__ import annotations

import hashlib
from collections.abc import Sized

from sbert.errors import BadInput
from sbert.types import Array


def check_lengths(**columns: Sized) -> None:
    """Raise BadInput unless all columns have the same length and are not empty.

    >>> check_lengths(anchors=["비"], positives=["소나기", "눈"])
    Traceback (most recent call last):
    ...
    sbert.errors.BadInput: got 1 anchors and 2 positives, but there must be equally many, and at least one
    """
    lengths = [len(column) for column in columns.values()]
    if len(set(lengths)) > 1 or not all(lengths):
        *others, last = (f"{len(column)} {name.replace('_', ' ')}" for name, column in columns.items())
        raise BadInput(f"got {', '.join(others)} and {last}, but there must be equally many, and at least one")


def checksum(*parts: str | Array) -> str:
    """Return eight hexadecimal digits that identify the data, so that a resumed run recognises its evaluator."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0" if isinstance(part, str) else part.tobytes())
    return digest.hexdigest()[:8]
