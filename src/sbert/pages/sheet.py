"""One page of HTML that needs nothing but itself: light and dark, on a phone and on a desk. Knows no figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from sbert.pages import charts

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --dim: #667085; --paper: #ffffff; --card: #f4f6fa; --line: #dfe4ec;
  --accent: #2458d3; --other: #c2410c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ebf3; --dim: #98a2b6; --paper: #12161e; --card: #1b212c;
  --line: #2e3644; --accent: #7ba2ff; --other: #fb923c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  word-break: keep-all; overflow-wrap: anywhere;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans KR", "Noto Sans CJK KR", sans-serif; }
h1 { font-size: clamp(1.4rem, 5vw, 2.1rem); line-height: 1.2; margin: .5rem 0; text-wrap: balance; }
h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p, ul { max-width: 46rem; }
.dim, th { color: var(--dim); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .95rem; overflow-wrap: normal; }
th { text-align: left; font-weight: 500; font-size: .85rem; }
th, td { padding: .35rem 1rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td small { display: block; color: var(--dim); }
.other { color: var(--other); }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """The whole document; the parts are HTML, the title is text."""
    body = "\n".join(parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>{_STYLE}{charts.STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{body}
<p class="dim">This page loads nothing from anywhere.</p>
</body>
</html>
"""


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: int) -> str:
    """Cells are HTML; the columns after the first, as many as ``numbers``, hold numbers."""
    kinds = [' class="number"' if 1 <= place <= numbers else "" for place in range(len(headings))]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, headings, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>\n{body}\n</table></div>'


def paragraph(text: str) -> str:
    """Plain text as a paragraph."""
    return f"<p>{escape(text)}</p>"


def bullets(items: Iterable[str]) -> str:
    """Plain texts as a list."""
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def grid(figures: Iterable[str]) -> str:
    """Pictures side by side where there is room, else below each other."""
    return f'<div class="charts">{"".join(figures)}</div>'
