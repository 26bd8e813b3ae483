"""Draws a matrix of similarities as PNG, SVG or PDF with matplotlib. Works on texts, numbers and fonts only."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from sbert.text import display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.font_manager import FontEntry

    from sbert.types import FloatArray

logger = logging.getLogger(__name__)

_LABEL_WIDTH = 44  # columns; a Hangul or Chinese character takes two
_MOST_LABELS = 80
_MOST_WRITTEN_SCORES = 16
_OWN_FONT = "DejaVu Sans"  # comes with matplotlib
_BOX_FONT = "Last Resort"  # comes with matplotlib, too, and shows a box for every character


def draw(file: IO[bytes], kind: str, texts: list[str], scores: FloatArray, measure: str) -> None:
    """Draw a heat map with the texts and their row numbers on the left, and the row numbers below.

    Args:
        file: The file to write to.
        kind: "png", "svg" or "pdf".
        texts: N texts.
        scores: (N, N) similarities.
        measure: The name of the similarity; cosines get a scale up to 1.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from rich.cells import cell_len

    labels, fonts = _labels(texts)
    side = min(max(len(texts) * 0.55, 2.2), 4.5 + len(texts) * 0.11, 12.0)  # inches
    margin = max(map(cell_len, labels)) * 0.075 + 1.8
    with rc_context({"font.family": fonts, "svg.fonttype": "path"}):
        figure = Figure(figsize=(side + margin, side + 1.0), layout="constrained", dpi=150)
        axes = figure.add_subplot()
        low = min(0.0, float(scores.min())) if measure == "cosine" else float(scores.min())
        high = 1.0 if measure == "cosine" else float(scores.max())
        image = axes.imshow(scores, cmap="YlGnBu", vmin=low, vmax=high)
        axes.set_title(f"{measure} similarity", fontsize=11, pad=10)
        _label_rows(axes, labels)
        if len(texts) <= _MOST_WRITTEN_SCORES:
            _write_scores(axes, scores, (low + high) / 2)
        bar = figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02, aspect=30)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8, length=0)
        figure.savefig(file, format=kind, bbox_inches="tight", pad_inches=0.15)


def _label_rows(axes: Axes, labels: list[str]) -> None:
    count = len(labels)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=9 if count <= 25 else 7.5 if count <= 45 else 6)
    if count > _MOST_LABELS:
        return
    axes.set_xticks(range(count), [str(row) for row in range(count)])
    axes.set_yticks(range(count), [f"{label}  {row}".strip() for row, label in enumerate(labels)])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)  # a dollar sign does not begin a formula
    for edge in range(1, count):
        axes.axhline(edge - 0.5, color="white", linewidth=0.6)
        axes.axvline(edge - 0.5, color="white", linewidth=0.6)


def _write_scores(axes: Axes, scores: FloatArray, middle: float) -> None:
    decimals = 2 if abs(scores).max() < 10 else 1
    for row, line in enumerate(scores.tolist()):
        for column, score in enumerate(line):
            colour = "white" if score > middle else "#222222"
            written = display.number(score, decimals)
            axes.text(column, row, written, ha="center", va="center", fontsize=8, color=colour)


def _labels(texts: list[str]) -> tuple[list[str], list[str]]:
    """Return the shortened texts and the names of the fonts that can write them.

    A character that no font has becomes a box. A text that would be mostly boxes becomes empty.
    """
    from matplotlib.font_manager import FontProperties, findfont

    labels = [display.shorten(display.one_line(text), _LABEL_WIDTH) for text in texts]
    missing = set("".join(labels)) - _characters(findfont(FontProperties(family=_OWN_FONT)))
    fonts, unwritable = [_OWN_FONT], missing
    for font in _fonts() if missing else ():
        left = missing - _characters(font.fname)
        if len(left) < len(unwritable):
            fonts, unwritable = [_OWN_FONT, font.name], left
        if not left:
            break
    if unwritable:
        hangul = any("가" <= letter <= "힣" for letter in unwritable)
        lacks = "Hangul: install one such as Noto Sans CJK or Nanum Gothic" if hangul else repr(min(unwritable))
        incomplete = sum(not unwritable.isdisjoint(label) for label in labels)
        counts = f"{incomplete} of {len(labels)} texts are not shown completely"
        logger.info("no installed font has %s; %s", lacks, counts)
    boxed = ["".join("□" if letter in unwritable else letter for letter in label) for label in labels]
    return [label if 2 * label.count("□") < len(label) else "" for label in boxed], fonts


def _fonts() -> Iterator[FontEntry]:
    """Yield the fonts that matplotlib knows, then those that were installed since it looked for fonts."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = list(fontManager.ttflist)
    yield from _regular(known)
    for path in sorted(set(findSystemFonts()) - {font.fname for font in known}):
        with suppress(OSError, RuntimeError):  # not a font, or of a format that matplotlib cannot read
            fontManager.addfont(path)
    yield from _regular(fontManager.ttflist[len(known) :])


def _regular(fonts: list[FontEntry]) -> list[FontEntry]:
    """Return the regular styles, sans-serif and Korean fonts first."""
    regular = (font for font in fonts if font.style == "normal" and font.weight in (400, "normal"))
    return sorted(
        regular, key=lambda each: ("Serif" in each.name, "Mono" in each.name, "KR" not in each.name, each.name)
    )


def _characters(path: str) -> set[str]:
    """Return the characters of a font; none if matplotlib cannot draw them, as with colour emoji."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
    except (OSError, RuntimeError):
        return set()
    usable = font.num_fixed_sizes == 0 and not font.family_name.startswith(_BOX_FONT)
    return set(map(chr, font.get_charmap())) if usable else set()
