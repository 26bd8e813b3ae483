"""Charts have true lengths on labelled axes."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.pages import charts
from sbert.pages.charts import Axis
from sbert.pages.records import Bar

NUMBERS = st.floats(-1e9, 1e9, allow_subnormal=False).map(lambda value: round(value, 6))


@given(st.lists(NUMBERS, min_size=1))
def test_an_axis_covers_its_values_with_a_few_round_ticks(values):
    axis = Axis.over(values, 0, 1000)
    ticks = axis.ticks
    assert ticks[0] == pytest.approx(axis.low)
    assert ticks[-1] == pytest.approx(axis.high)
    assert 2 <= len(ticks) <= 8
    assert axis.low - axis.step * 2e-5 <= min(values)
    assert max(values) <= axis.high + axis.step * 2e-5
    assert len({axis.written(tick) for tick in ticks}) == len(ticks)
    assert axis.at(axis.low) == 0
    assert axis.at(axis.high) == 1000


def test_rounding_does_not_lengthen_an_axis():
    assert Axis.over([0.13, 1.0000002], 0, 100).ticks == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert Axis.over([-1.0000002, 1.0], 0, 100).low == -1.0


def ticks(svg: str) -> list[str]:
    return re.findall(r'<text class="tick" [^>]*>([^<]*)</text>', svg)


def lengths(svg: str) -> list[float]:
    return [float(width) for width in re.findall(r'<rect class="bar"[^>]* width="([^"]*)"', svg)]


def test_bars_of_scores_stand_on_an_axis_from_0_to_100():
    svg = charts.bars(
        "Scores", [Bar("하나 <1>", 50.0, 45.0, 55.0), Bar("둘", 25.0), Bar("셋", math.nan)], ends=(0, 100)
    )
    assert ticks(svg) == ["0", "20", "40", "60", "80", "100"]
    first, second = lengths(svg)
    assert first == pytest.approx(2 * second, abs=0.1)
    assert "<title>하나 &lt;1&gt;: 50.00, 95 % confidence interval 45.00 to 55.00</title>" in svg


def test_bars_of_differences_stand_on_a_line_of_zero():
    svg = charts.bars("A minus B", [Bar("x", -1.5, -2.0, -1.0), Bar("y", 0.75)], signs=True)
    assert ticks(svg) == ["-2.0", "-1.5", "-1.0", "-0.5", "0.0", "0.5", "1.0"]
    assert svg.count('class="zero"') == 1
    zero = float(re.search(r'class="zero" d="M([\d.]+) ', svg)[1])
    places = re.findall(r'<rect class="bar" x="([^"]*)"[^>]* width="([^"]*)"', svg)
    (left, width), (start, _) = [[float(number) for number in place] for place in places]
    assert left + width == pytest.approx(zero, abs=0.2)
    assert start == pytest.approx(zero, abs=0.2)
    assert ">-1.50</text>" in svg
    assert ">+0.75</text>" in svg


def test_a_published_value_is_a_diamond():
    svg = charts.bars("Table", [Bar("SBERT", 70.0, other=72.5)], (0, 100), "the paper")
    assert svg.count('<path class="other"') == 1
    assert "SBERT: 70.00; the paper 72.50" in svg


def test_bars_of_different_magnitudes_are_seen_on_a_logarithmic_axis():
    rows = [Bar("느림", 10.0, 9.0, 11.0), Bar("fast", 10_000.0, other=1.0), Bar("none", 0.0)]
    svg = charts.bars("Sentences per second", rows, logarithmic=True)
    assert ticks(svg) == ["1", "10", "100", "1,000", "10,000"]
    slow, fast, none = lengths(svg)
    assert fast == pytest.approx(4 * slow, abs=0.2)
    assert none == 1
    assert ticks(charts.bars("Parts", [Bar("x", 0.05)], logarithmic=True)) == ["0.01", "0.10", "1.00", "10.00"]


def test_points_and_bins_have_labelled_axes():
    scatter = charts.scatter("STS", [(0.0, 0.1), (5.0, 0.9)])
    assert ticks(scatter) == ["0", "1", "2", "3", "4", "5", "0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "gold", "model"]
    histogram = charts.histogram("Cosines", [1, 0, 4], 0.7, 1.0)
    assert ticks(histogram) == ["0.70", "0.75", "0.80", "0.85", "0.90", "0.95", "1.00", "0", "1", "2", "3", "4"]
    heights = [float(height) for height in re.findall(r' height="([^"]*)"><title>', histogram)]
    assert heights == [pytest.approx(heights[2] / 4, abs=0.1), 0, heights[2]]
    assert "<title>0.900 to 1.000: 4</title>" in histogram


def test_a_long_curve_is_thinned_and_keeps_its_end():
    svg = charts.line("loss", [(step, 1 / step) for step in range(1, 50_001)], smooth=[(1, 1.0), (50_000, 0.5)])
    faint = re.search(r'<path class="faint" d="M([^"]*)"', svg)[1].split("L")
    assert 700 < len(faint) <= 801
    assert (
        faint[-1]
        == re.search(r'<path class="curve" d="M[^"]*L([^"]*)"', svg)[1].split()[0] + " " + faint[-1].split()[1]
    )


def test_losses_that_are_not_numbers_leave_a_gap():
    svg = charts.line("loss", [(1, 2.0), (2, math.nan), (3, math.inf), (4, 1.0)])
    assert "nan" not in svg
    assert "inf" not in svg
    assert svg.count("<circle") == 2


def test_predictions_that_are_not_numbers_are_left_out():
    svg = charts.scatter("STS", [(0.0, 0.1), (1.0, math.nan), (5.0, 0.9)])
    assert "nan" not in svg
    assert re.search(r'class="dots" d="([^"]*)"', svg)[1].count("M") == 2
