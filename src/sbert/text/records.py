"""Lists of named tuples, such as hits and pairs, which a notebook shows as a table. Formats nothing before that."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from sbert.text import display

_MOST_ROWS = 100

T = TypeVar("T")


class Records(list[T]):
    """A list of named tuples, or a list of such lists, one for each query. It differs from a list in notebooks only.

    >>> from sbert.types import Pair
    >>> Records([Pair(0, 1, 0.5)])
    [Pair(first=0, second=1, score=0.5)]
    >>> Records([Pair(0, 1, 0.5)]) == [Pair(0, 1, 0.5)]
    True
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        nested = any(isinstance(item, list) for item in self)
        rows = list(islice(_rows(self, nested), _MOST_ROWS))
        fields = rows[0][1]._fields if rows else ()
        used = [name for name in fields if any(getattr(record, name) is not None for _, record in rows)]
        query = ["query"] if nested else []
        lines = [[*([number] * nested), *(_cell(getattr(record, name)) for name in used)] for number, record in rows]
        total = sum(1 for _ in _rows(self, nested))
        caption = f"the first {len(rows):,} of {total:,}" if total > len(rows) else ""
        return display.html_table([*query, *used], lines, caption)


def _rows(records: list[Any], nested: bool) -> Iterator[tuple[int, Any]]:
    """Yield the number of a query, from 0, and a record."""
    for number, item in enumerate(records):
        yield from ((number, record) for record in item) if nested else ((number, item),)


def _cell(value: object) -> object:
    return display.number(value, 4) if isinstance(value, float) else "" if value is None else value
