"""Everything the command line says: tables, notes, and the lines on standard error. Knows no files and no model."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sbert.text.display import number, one_line, shorten

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

# Where nobody watches there is no width to keep to; this keeps tables readable in a log.
_WIDTH_ELSEWHERE = 120
_LEAST_TEXT = 30


def console(width: int | None = None) -> Console:
    """Standard output."""
    from rich.console import Console

    return Console(width=width or (None if sys.stdout.isatty() else _WIDTH_ELSEWHERE), highlight=False, emoji=False)


def as_json(value: object) -> None:
    """Machine-readable, on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def summary(out: Path, facts: dict[str, object], sentence: str, in_json: bool) -> None:
    """What was written to ``out``; where that is standard output, the rest goes to standard error."""
    on_stdout = str(out) == "-"
    if in_json and on_stdout:
        note(json.dumps(facts, ensure_ascii=False))
    elif in_json:
        as_json({"output": str(out), **facts})
    else:
        note(f"{sentence} -> {'standard output' if on_stdout else out}")


def note(message: str, style: str = "") -> None:
    """One line on standard error."""
    from rich.console import Console

    line = " ".join(part.strip() for part in message.splitlines())
    Console(stderr=True, highlight=False, emoji=False).print(line, style=style, markup=False, soft_wrap=True)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Numbers to the right and never cut; texts, the last column, cut where the line ends (``--json`` does not)."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    screen = console()
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns[:-1]]
    room = max(screen.width - sum(widths) - 2 * len(widths), _LEAST_TEXT)
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings[:-1]:
        made.add_column(heading, justify="right")
    made.add_column(headings[-1])
    for row in rows:
        texts = [shorten(line, room) for line in row[-1].split("\n")]
        made.add_row(*map(Text, row[:-1]), Text("\n".join(texts)))
    console(sum(widths) + 2 * len(widths) + room).print(made)


def hits(found: Sequence[tuple[float, int, str]], json: bool) -> None:
    """Scores, rows and texts, best first, as a table or as JSON."""
    if json:
        as_json([{"score": score, "row": row, "text": text} for score, row, text in found])
        return
    lines = [
        [str(rank), number(score, 4), str(row), one_line(text)] for rank, (score, row, text) in enumerate(found, 1)
    ]
    table(["rank", "score", "row", "text"], lines)


class _Notes(logging.Handler):
    """What the library has to say, each thing once."""

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
    """Show the library's log while the block runs."""
    logger = logging.getLogger("sbert")
    handler, level = _Notes(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
