"""Draws charts as SVG: bars with intervals, scatter plots, histograms, curves, heat maps and maps of points.

This module computes coordinates; the templates in ``templates/charts`` write the SVG. It does not use matplotlib, so
that charts follow light and dark mode, show values under the pointer, and use the browser's fonts for Hangul.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from sbert.pages.records import Bar, Points
from sbert.pages.render import render

_WIDTH, _TOP, _LEFT = 420, 8, 44
_ROW, _NUMBERS_WIDTH = 38, 62  # of a bar chart, which has its values to the right of the bars
_CELL, _LABEL_WIDTH = 50, 150  # of a heat map
_MAP_WIDTH, _MAP_MARGIN = 1000, 20
_INVISIBLE = 1e-5  # part of a step by which a value may lie beyond the end of its axis
_MOST_POINTS = 800  # of a curve; more points would not be visible


class Axis(NamedTuple):
    """A linear scale from values to coordinates."""

    low: float
    high: float
    start: float
    """Coordinate of ``low``."""
    end: float
    step: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float, most: int = 6) -> Axis:
        """Create an axis that covers all values with about ``most`` steps between round numbers.

        >>> Axis.over([0.3, 17], start=0, end=100).ticks
        [0.0, 5.0, 10.0, 15.0, 20.0]
        """
        numbers = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(numbers), max(numbers)
        span = high - low or abs(high) or 1.0
        power = 10.0 ** math.floor(math.log10(span / most))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power * most >= span * 0.999)
        # A cosine of 1.0000001, which rounding can give, does not lengthen the axis.
        first, last = math.floor(low / step + _INVISIBLE), math.ceil(high / step - _INVISIBLE)
        return cls(first * step, max(last, first + 1) * step, start, end, step)

    @property
    def ticks(self) -> list[float]:
        """The round values from one end to the other."""
        count = round((self.high - self.low) / self.step)
        return [round(self.low + place * self.step, 12) + 0.0 for place in range(count + 1)]

    def at(self, value: float) -> float:
        """Return the coordinate of a value."""
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def written(self, tick: float) -> str:
        """Return a tick with as many digits as the step needs."""
        return f"{tick:,.{max(0, -math.floor(math.log10(self.step) + 1e-9))}f}"


class LogAxis(NamedTuple):
    """A logarithmic scale from positive values to coordinates, between two powers of ten."""

    low: int
    """Exponent of the first power."""
    high: int
    start: float
    """Coordinate of the first power, and of everything below it."""
    end: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float) -> LogAxis:
        """Create an axis that covers 1 and all positive values.

        >>> LogAxis.over([9.5, 860, 18_380], start=0, end=100).ticks
        [1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0]
        """
        exponents = [math.log10(value) for value in values if 0 < value < math.inf]
        return cls(math.floor(min([0, *exponents])), math.ceil(max([1, *exponents])), start, end)

    @property
    def ticks(self) -> list[float]:
        """The powers of ten from one end to the other."""
        return [10.0**power for power in range(self.low, self.high + 1)]

    def at(self, value: float) -> float:
        """Return the coordinate of a value."""
        power = max(self.low, math.log10(value)) if value > 0 else self.low
        return round(self.start + (power - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def written(self, tick: float) -> str:
        """Return a power of ten with all its digits."""
        return f"{tick:,.{max(0, -self.low)}f}"


def bars(
    name: str,
    rows: Iterable[Bar],
    ends: Sequence[float] = (),
    other: str = "",
    signs: bool = False,
    logarithmic: bool = False,
) -> Markup:
    """Draw horizontal bars that start at zero or, on a logarithmic axis, at 1, with a whisker for each interval.

    Args:
        name: The caption.
        rows: The bars. A bar whose value is not a number is left out.
        ends: Values that the axis covers in any case: (0, 100) for scores.
        other: What the diamonds are.
        signs: Whether positive values are written with a sign, as differences are.
        logarithmic: Whether the axis is logarithmic and starts at 1, for values of different magnitudes.
    """
    rows = [row for row in rows if not math.isnan(row.value)]
    values = [value for row in rows for value in row[1:] if isinstance(value, (int, float))]
    kind = LogAxis if logarithmic else Axis
    axis = kind.over([0.0, *ends, *values], 4, _WIDTH - _NUMBERS_WIDTH)
    sizes = {"height": len(rows) * _ROW + 20, "row": _ROW}
    return render("charts/bars.svg", name=name, axis=axis, bars=rows, other=other, signs=signs, **sizes)


def scatter(name: str, points: Points) -> Markup:
    """Draw (gold, predicted) points."""
    x, y = _axes(points, height=260)
    return render("charts/scatter.svg", name=name, height=260, x=x, y=y, points=_thinned(points))


def histogram(name: str, counts: Sequence[int], low: float, high: float) -> Markup:
    """Draw the counts of bins of equal width between two values."""
    edges = [low + (high - low) * place / len(counts) for place in range(len(counts) + 1)]
    bins = list(zip(edges, edges[1:], counts, strict=False))
    x, y = _axes([(low, 0), (high, max(counts))], height=180)
    return render("charts/histogram.svg", name=name, height=180, x=x, y=y, bins=bins)


def line(name: str, points: Points, smooth: Points = ()) -> Markup:
    """Draw values by step: faint below a smoothed curve if there is one, else with a mark on every value."""
    x, y = _axes([*points, *smooth], height=220)
    lines = [("faint" if smooth else "curve", _thinned(points)), ("curve", _thinned(smooth))]
    marks = [] if smooth else _thinned(points)
    return render("charts/line.svg", name=name, height=220, x=x, y=y, lines=lines, marks=marks)


def heat_map(name: str, labels: Sequence[str], values: Sequence[Sequence[float]], full: float) -> Markup:
    """Draw a square matrix of values; ``full`` is the value from which the colour is at its strongest."""
    side = _LABEL_WIDTH + _CELL * len(labels)
    sizes = {"width": side, "height": side, "margin": _LABEL_WIDTH, "cell": _CELL}
    return render("charts/heat.svg", name=name, labels=labels, values=values, full=full, kind="heat", **sizes)


def point_map(name: str, points: Points, titles: Sequence[str], groups: Sequence[int], names: Sequence[str]) -> Markup:
    """Draw points in the plane, each in the colour of its group and with its title under the pointer.

    Args:
        name: The caption.
        points: (N, 2) coordinates in any unit.
        titles: N texts.
        groups: N numbers of groups.
        names: The name of each group, written at the group's median.
    """
    left, right = (find(x for x, _ in points) for find in (min, max))
    top = min(y for _, y in points)
    scale = (_MAP_WIDTH - 2 * _MAP_MARGIN) / ((right - left) or 1.0)
    spots = [(round((x - left) * scale) + _MAP_MARGIN, round((y - top) * scale) + _MAP_MARGIN) for x, y in points]
    height = max(y for _, y in spots) + _MAP_MARGIN
    members = [[spot for spot, group in zip(spots, groups, strict=True) if group == one] for one in range(len(names))]
    labels = [(*_label_place(own, title), title) for own, title in zip(members, names, strict=True)]
    dots = list(zip(spots, groups, titles, strict=True))
    return render("charts/map.svg", name=name, width=_MAP_WIDTH, height=height, kind="map", dots=dots, labels=labels)


def _label_place(spots: Sequence[tuple[int, int]], label: str) -> tuple[int, int]:
    """Return the median of some points, or a place above them if the label would hide them."""
    xs, ys = (sorted(side) for side in zip(*spots, strict=True))
    narrow = xs[-1] - xs[0] < 12 * len(label)
    return xs[len(xs) // 2], ys[0] - 10 if narrow else ys[len(ys) // 2]


def _axes(points: Points, height: int) -> tuple[Axis, Axis]:
    """Return the horizontal and the vertical axis of a chart of points."""
    x = Axis.over((x for x, _ in points), _LEFT, _WIDTH - 12)
    return x, Axis.over((y for _, y in points), height - 34, _TOP)


def _thinned(points: Points) -> list[tuple[float, float]]:
    """Return the finite points, or every n-th of them and the last one if there are too many."""
    finite = [point for point in points if math.isfinite(point[1])]
    step = math.ceil(len(finite) / _MOST_POINTS) or 1
    return [*finite[::step], *(finite[-1:] if (len(finite) - 1) % step else ())]
