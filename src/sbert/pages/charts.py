"""Bars with intervals, points against gold, and histograms, as SVG that stands inside a page. Knows numbers only.

The pictures are written here, not by matplotlib: they follow light and dark, and a browser has a font for Hangul.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _MARGIN, _ROW = 420, 10, 38
_VALUE_ROOM = 62  # to the right of the bars, where their numbers stand

STYLE = """
figure { margin: 0; }
figcaption { font-weight: 600; font-size: .9rem; }
svg { display: block; width: 100%; max-width: 34rem; height: auto; overflow: visible; }
svg text { fill: var(--ink); font-size: 13px; }
svg .dim { fill: var(--dim); font-size: 12px; }
svg .bar { fill: var(--accent); fill-opacity: .75; }
svg .dots { stroke: var(--accent); stroke-width: 5; stroke-linecap: round; stroke-opacity: .6; }
svg .other { fill: var(--other); }
svg .whisker { stroke: var(--ink); stroke-width: 1.5; }
svg .axis { stroke: var(--line); stroke-width: 1; }
svg .number { font-variant-numeric: tabular-nums; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: 1.5rem;
  margin: 1rem 0; }
"""


class Bar(NamedTuple):
    """One line of a bar chart."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    other: float | None = None
    """What somebody else found, drawn as a diamond."""


def figure(value: float) -> str:
    """Two decimals, or none where there are thousands.

    >>> figure(72.3666), figure(6503.2)
    ('72.37', '6,503')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{round(value, 2) + 0.0:.2f}"


def bars(name: str, rows: Sequence[Bar], other: str = "") -> str:
    """Horizontal bars from 0, longest possible, with whiskers for intervals; what is not a number has no bar."""
    rows = [row for row in rows if not math.isnan(row.value)]
    ends = [end for row in rows for end in row[1:] if isinstance(end, float)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    scale = (_WIDTH - _VALUE_ROOM) / ((high - low) or 1.0)
    parts = [part for place, row in enumerate(rows) for part in _row(row, place * _ROW, low, scale, other)]
    return picture(name, len(rows) * _ROW, parts)


def _row(row: Bar, top: int, low: float, scale: float, other: str) -> Iterable[str]:
    def x(value: float) -> float:
        return (value - low) * scale

    start, end = sorted((x(0.0), x(row.value)))
    middle = top + 25
    title = f"{row.label}: {figure(row.value)}"
    if row.low is not None and row.high is not None:
        title += f", 95 % between {figure(row.low)} and {figure(row.high)}"
    if row.other is not None:
        title += f"; {other} {figure(row.other)}"
    yield f"<g><title>{escape(title)}</title>"
    yield f'<text x="0" y="{top + 14}">{escape(row.label)}</text>'
    yield f'<rect class="bar" x="{start:.1f}" y="{middle - 6}" width="{max(end - start, 1):.1f}" height="12" rx="2"/>'
    if row.low is not None and row.high is not None:
        left, right = x(row.low), x(row.high)
        lines = f"M{left:.1f} {middle}H{right:.1f}M{left:.1f} {middle - 4}v8M{right:.1f} {middle - 4}v8"
        yield f'<path class="whisker" d="{lines}"/>'
    if row.other is not None:
        yield f'<path class="other" d="M{x(row.other):.1f} {middle - 7}l6 7l-6 7l-6 -7z"/>'
    yield f'<text class="number" x="{_WIDTH}" y="{middle + 5}" text-anchor="end">{figure(row.value)}</text></g>'


def scatter(name: str, points: Sequence[tuple[float, float]], across: str = "gold", up: str = "model") -> str:
    """(gold, predicted) points, each axis from its least to its greatest value."""
    height, bottom = 260, 235
    xs, ys = zip(*points, strict=True)
    place_x, place_y = _axis(xs, 30, _WIDTH - _MARGIN), _axis(ys, bottom - _MARGIN, _MARGIN)
    frame = f'<path class="axis" fill="none" d="M20 0V{bottom}H{_WIDTH}"/>'
    # One path for all: lines of no length with round ends are dots, at a fifth of the bytes.
    spots = "".join(f"M{place_x(x):.0f} {place_y(y):.0f}h0" for x, y in points)
    names = [
        f'<text class="dim" x="20" y="{height - 6}">{escape(across)} {min(xs):.3g}</text>',
        f'<text class="dim" x="{_WIDTH}" y="{height - 6}" text-anchor="end">{max(xs):.3g}</text>',
        f'<text class="dim" transform="translate(14 {bottom}) rotate(-90)">{escape(up)} {min(ys):.3g}</text>',
        f'<text class="dim" transform="translate(14 4) rotate(-90)" text-anchor="end">{max(ys):.3g}</text>',
    ]
    return picture(name, height, [frame, f'<path class="dots" d="{spots}"/>', *names])


def histogram(name: str, counts: Sequence[int], low: float, high: float) -> str:
    """Upright bars of equal width between two values."""
    height, bottom = 180, 155
    width, most = _WIDTH / len(counts), max(counts) or 1
    step = (high - low) / len(counts)
    parts = []
    for place, count in enumerate(counts):
        tall = count / most * (bottom - _MARGIN)
        where = f"{low + place * step:.3f} to {low + (place + 1) * step:.3f}: {count:,}"
        box = f'x="{place * width + 1:.1f}" y="{bottom - tall:.1f}" width="{width - 2:.1f}" height="{tall:.1f}"'
        parts.append(f'<rect class="bar" {box}><title>{where}</title></rect>')
    parts.append(f'<path class="axis" d="M0 {bottom}H{_WIDTH}"/>')
    parts.append(f'<text class="dim" x="0" y="{height - 6}">{low:.3g}</text>')
    parts.append(f'<text class="dim" x="{_WIDTH}" y="{height - 6}" text-anchor="end">{high:.3g}</text>')
    return picture(name, height, parts)


def _axis(values: Sequence[float], start: float, end: float) -> Callable[[float], float]:
    """From a value to its place between ``start``, of the least, and ``end``."""
    least, span = min(values), (max(values) - min(values)) or 1.0
    return lambda value: start + (value - least) / span * (end - start)


def picture(name: str, height: float, parts: Iterable[str]) -> str:
    """A figure with its caption."""
    inside = "\n".join(parts)
    label = escape(name, quote=True)
    return (
        f"<figure><figcaption>{escape(name)}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{label}">\n{inside}\n</svg></figure>'
    )
