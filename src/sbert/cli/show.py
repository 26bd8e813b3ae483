"""Everything the command line says: tables, notes, and the lines on standard error. Knows no files and no model."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

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


def number(value: float, decimals: int = 2) -> str:
    """Rounded, and never minus zero."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def duration(seconds: float) -> str:
    """As people say it.

    >>> [duration(value) for value in (0.0312, 4.26, 59.97, 75, 4400, 249_000)]
    ['0.03 s', '4.3 s', '1 min 0 s', '1 min 15 s', '1 h 13 min', '69 h']
    """
    if seconds < 59.95:
        return f"{seconds:.{2 if seconds < 1 else 1}f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min" if minutes < 600 else f"{seconds / 3600:,.0f} h"


def shorten(text: str, width: int) -> str:
    """``text`` cut to ``width`` columns; a letter of Hangul takes two.

    >>> shorten("가나다라마", 8)
    '가나다…'
    """
    from rich.text import Text

    cut = Text(text[: width + 1])
    cut.truncate(width, overflow="ellipsis")
    return re.sub(r"\s+…$", "…", cut.plain)  # half a wide letter leaves a blank


def one_line(text: str) -> str:
    r"""``text`` as it can stand in a table: no line breaks, nothing that steers a terminal.

    >>> one_line("하나\n둘\t\x1b[31m셋")
    '하나 둘 [31m셋'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


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
