"""Formats numbers, durations and texts for people. Prints nothing."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence

DIRECTION_MARKS = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""Characters that reorder or break what is shown, as a part of a character class."""


def number(value: float, decimals: int = 2) -> str:
    """Round a number. The result is never minus zero."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def figure(value: float) -> str:
    """Return a score with two decimals, or a count or a number in the thousands with none.

    >>> figure(72.3666), figure(6503.2), figure(12)
    ('72.37', '6,503', '12')
    """
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 1000 else number(value)


def signed(difference: float) -> str:
    """Return a difference of two scores with its sign.

    >>> signed(1.5), signed(-0.001), signed(-2000.0)
    ('+1.50', '0.00', '-2,000')
    """
    written = figure(difference)
    return f"+{written}" if difference > 0 and written != "0.00" else written


def duration(seconds: float) -> str:
    """Return a duration in the units that suit its size.

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
    """Shorten ``text`` to ``width`` columns of a terminal, of which a Hangul syllable takes two.

    >>> shorten("가나다라마", 8)
    '가나다…'
    """
    from rich.text import Text

    cut = Text(text[: width + 1])
    cut.truncate(width, overflow="ellipsis")
    return re.sub(r"\s+…$", "…", cut.plain)  # Half of a wide letter leaves a blank.


def one_line(text: str) -> str:
    r"""Replace line breaks and control characters, so that ``text`` can be a cell of a table.

    >>> one_line("하나\n둘\t\x1b[31m셋")
    '하나 둘 [31m셋'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def json_text(value: object, indent: int | None = None) -> str:
    r"""Write JSON with readable letters and escaped control characters, of which ``json`` itself leaves some.

    >>> print(json_text({"글": "하나\x9b\u202e"}))
    {"글": "하나\u009b\u202e"}
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return re.sub(f"[\x7f-\x9f{DIRECTION_MARKS}]", lambda found: f"\\u{ord(found[0]):04x}", text)


def html_table(headings: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "") -> str:
    """Return a table for notebooks, with every value escaped.

    >>> html_table(["text"], [["1 < 2"]])
    '<table><thead><tr><th>text</th></tr></thead><tbody><tr><td>1 &lt; 2</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in headings)
    lines = ("".join(f"<td>{html.escape(str(value))}</td>" for value in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
