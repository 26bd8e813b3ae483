"""Writes the output of the command line: tables and JSON on standard output, notes on standard error.

Every control character is escaped here, so that no text of a file, model or error can control the terminal.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from sbert.text import display
from sbert.types import Hit

_WIDTH_ELSEWHERE = 120  # columns of a table where standard output is not a terminal
_LEAST_TEXT = 30  # columns that the texts of a table keep on a narrow terminal
_MOST_FIELDS = 40  # columns of a table that the other fields of a hit may take


def escaped(text: str) -> str:
    r"""Escape control characters except tabs and line feeds, and characters that change the direction of writing.

    >>> print(escaped("\x1b[31m빨강\x9b\u202e"))
    \x1b[31m빨강\x9b\u202e
    """
    return re.sub(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{display.DIRECTION_MARKS}]", _escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


class Screen(Console):
    """A rich console that escapes control characters and writes no spaces at the end of a line."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render ``renderable`` with the control characters of its texts escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escaped(segment.text), segment.style)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print like :meth:`rich.console.Console.print`."""
        with self.capture() as captured:
            super().print(*objects, **options)
        if not self.quiet:
            self.file.write(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE))


def console(width: int | None = None) -> Screen:
    """Return a console on standard output."""
    return Screen(width=width or (None if sys.stdout.isatty() else _WIDTH_ELSEWHERE), highlight=False, emoji=False)


def line(text: str = "") -> None:
    """Print a line on standard output."""
    print(escaped(text))


def note(message: str, style: str = "") -> None:
    """Print a message as one line on standard error."""
    text = " ".join(part.strip() for part in message.splitlines())
    Screen(stderr=True, highlight=False, emoji=False).print(text, style=style, markup=False, soft_wrap=True)


def as_json(value: object) -> None:
    """Print ``value`` as JSON on standard output."""
    print(display.json_text(value, indent=2))


def summary(out: Path, facts: dict[str, object], sentence: str, in_json: bool) -> None:
    """Report what was written to ``out``, on standard error where ``out`` is standard output."""
    on_stdout = str(out) == "-"
    if in_json and on_stdout:
        note(display.json_text(facts))
    elif in_json:
        as_json({"output": str(out), **facts})
    else:
        note(f"{sentence} -> {'standard output' if on_stdout else out}")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: numbers are aligned to the right and never cut; the last column is cut at the end of the line."""
    headings, *rows = ([escaped(cell) for cell in row] for row in (headings, *rows))
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(cell_len(part) for cell in column for part in cell.split("\n")) for column in columns[:-1]]
    taken = sum(widths) + 2 * len(widths)
    left = max(console().width - taken, _LEAST_TEXT)
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings[:-1]:
        made.add_column(heading, justify="right")
    made.add_column(headings[-1])
    for row in rows:
        texts = [display.shorten(part, left) for part in row[-1].split("\n")]
        made.add_row(*map(Text, row[:-1]), Text("\n".join(texts)))
    console(taken + left).print(made)


def hits(found: Sequence[Hit], fields: Sequence[Mapping[str, Any]], in_json: bool, key: str = "row") -> None:
    """Print hits, best first, as a table or as JSON.

    Args:
        found: The hits.
        fields: The other fields of each hit. JSON has all of them, a table those that are short.
        in_json: Whether to print JSON.
        key: What the id of a hit is called: "row" if it is the row of its text.
    """
    if in_json:
        records = [{"score": hit.score, key: hit.id, "text": hit.text} for hit in found]
        as_json([{**hit, "fields": more} if more else hit for hit, more in zip(records, fields, strict=True)])
        return
    columns = {
        "rank": [str(rank) for rank in range(1, len(found) + 1)],
        "score": [display.number(hit.score, 4) for hit in found],
        key: [display.one_line(str(hit.id)) for hit in found],
    }
    texts = [display.one_line(hit.text or "") for hit in found]
    more = _short_columns(fields)
    table([*columns, *more, "text"], list(zip(*columns.values(), *more.values(), texts, strict=True)))


def _short_columns(fields: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the fields that fit into a table beside the texts, by name."""
    columns: dict[str, list[str]] = {}
    left = _MOST_FIELDS
    for name in dict.fromkeys(name for record in fields for name in record):
        values = [record.get(name) for record in fields]
        cells = ["" if value is None else display.one_line(str(value)) for value in values]
        width = max(map(cell_len, (name, *cells)))
        if width <= left:
            columns[display.one_line(name)] = cells
            left -= width + 2
    return columns


class _Notes(logging.Handler):
    """Prints every message of the library once."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message in self._said:
            return
        self._said.add(message)
        if record.levelno >= logging.WARNING:
            note(f"warning: {message}", "yellow")
        else:
            note(message)


@contextmanager
def library_notes() -> Iterator[None]:
    """Print the library's log on standard error while the block runs."""
    logger = logging.getLogger("sbert")
    handler, level = _Notes(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
