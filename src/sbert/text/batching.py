"""Groups rows of tokens into batches by a token budget. Works on integers only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sbert.errors import check_count
from sbert.text.tokenizer import Tokens
from sbert.types import Batch, IntArray


def plan(lengths: IntArray, batch_tokens: int, batch_size: int | None = None) -> Iterator[IntArray]:
    """Yield the row numbers of each batch, the longest rows first.

    A batch has at most ``batch_tokens`` tokens, but at least one row. Rows of equal length are next to each other, and
    the last batches, whose rows are short, take the least time, so that several cores finish at about the same time.

    >>> [rows.tolist() for rows in plan(np.array([3, 9, 3, 4]), batch_tokens=8)]
    [[1], [3, 0], [2]]
    """
    check_count("batch_tokens", batch_tokens)
    if batch_size is not None:
        check_count("batch_size", batch_size)
    order = np.argsort(-lengths, kind="stable")
    ends = np.cumsum(lengths[order])
    start = 0
    while start < len(order):
        used = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, used + batch_tokens, side="right")))
        if batch_size is not None:
            stop = min(stop, start + batch_size)
        yield order[start:stop]
        start = stop


def batches(
    tokens: Tokens, batch_tokens: int, batch_size: int | None = None, among: IntArray | None = None
) -> Iterator[tuple[IntArray, Batch]]:
    """Yield each batch with its row numbers. Every row of ``tokens``, or every one of ``among``, is in one batch."""
    ends = np.cumsum(tokens.lengths)
    among = np.arange(len(ends)) if among is None else among
    for places in plan(tokens.lengths[among], batch_tokens, batch_size):
        rows = among[places]
        lengths = tokens.lengths[rows]
        ids = lay(tokens.ids, ends[rows], lengths).astype(np.int64)
        types = None if tokens.types is None else lay(tokens.types, ends[rows], lengths).astype(np.int64)
        yield rows, Batch(ids, tuple(lengths.tolist()), tokens.prompt_length, types)


def lay(values: IntArray, ends: IntArray, lengths: IntArray) -> IntArray:
    """Concatenate the parts of ``values`` with these ends and lengths.

    >>> lay(np.array([1, 2, 3, 4, 5]), ends=np.array([5, 2]), lengths=np.array([1, 2])).tolist()
    [5, 1, 2]
    """
    return np.concatenate([values[end - length : end] for end, length in zip(ends, lengths, strict=True)])
