"""Draws a matrix of similarities. Knows texts, numbers and fonts: no model."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from sbert.text import display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.font_manager import FontEntry

    from sbert.types import FloatArray

logger = logging.getLogger(__name__)

_LABEL = 44
"""Letters of a label; one of Hangul or Kanji takes the room of two."""
_MOST_LABELS = 80
_MOST_WRITTEN_SCORES = 16
_OWN_FONT = "DejaVu Sans"  # comes with matplotlib
_BOXES = "Last Resort"  # so does this one, which has a box for every letter there is


def draw(file: IO[bytes], kind: str, texts: list[str], scores: FloatArray, measure: str) -> None:
    """(N, N) scores as a heat map: texts and their rows on the left, rows alone below."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from rich.cells import cell_len

    labels, family = _labels(texts)
    cells = _inches(len(texts))
    margin = max(map(cell_len, labels)) * 0.075 + 1.8
    with rc_context({"font.family": family, "svg.fonttype": "path"}):
        figure = Figure(figsize=(cells + margin, cells + 1.0), layout="constrained", dpi=150)
        axes = figure.add_subplot()
        low = min(0.0, float(scores.min())) if measure == "cosine" else float(scores.min())
        high = 1.0 if measure == "cosine" else float(scores.max())
        image = axes.imshow(scores, cmap="YlGnBu", vmin=low, vmax=high)
        axes.set_title(f"{measure} similarity", fontsize=11, pad=10)
        _name_rows(axes, labels)
        if len(texts) <= _MOST_WRITTEN_SCORES:
            _write_scores(axes, scores, (low + high) / 2)
        bar = figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02, aspect=30)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8, length=0)
        figure.savefig(file, format=kind, bbox_inches="tight", pad_inches=0.15)


def _inches(count: int) -> float:
    """The side of the square: roomy cells for a few texts, narrow ones for many."""
    return min(max(count * 0.55, 2.2), 4.5 + count * 0.11, 12.0)


def _name_rows(axes: Axes, labels: list[str]) -> None:
    count = len(labels)
    size = 9 if count <= 25 else 7.5 if count <= 45 else 6
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=size)
    if count > _MOST_LABELS:
        return
    axes.set_xticks(range(count), [str(row) for row in range(count)])
    axes.set_yticks(range(count), [f"{label}  {row}".strip() for row, label in enumerate(labels)])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)  # a dollar sign is a dollar sign
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
    """Shortened texts and the fonts to write them in, a box for each letter that no font here has.

    A text that would be boxes for the most part is left to its row number.
    """
    labels = [display.shorten(display.one_line(text), _LABEL) for text in texts]
    known = _letters(_own_font_file())
    missing = {letter for label in labels for letter in label} - known
    family, more = _font_for(missing)
    unwritable = missing - more
    if unwritable:
        lacking = sum(not unwritable.isdisjoint(label) for label in labels)
        logger.info("no font here has %s: %d of %d texts are not shown whole", _some(unwritable), lacking, len(labels))
    return [_with_boxes(label, unwritable) for label in labels], [_OWN_FONT, *family]


def _with_boxes(label: str, unwritable: set[str]) -> str:
    boxed = "".join("□" if letter in unwritable else letter for letter in label)
    return boxed if 2 * boxed.count("□") < len(boxed) else ""


def _some(letters: set[str]) -> str:
    hangul = any("가" <= letter <= "힣" for letter in letters)
    return "Hangul (install one such as Noto Sans CJK or Nanum Gothic)" if hangul else repr(min(letters))


def _own_font_file() -> str:
    from matplotlib.font_manager import FontProperties, findfont

    return str(findfont(FontProperties(family=_OWN_FONT)))


def _font_for(letters: set[str]) -> tuple[list[str], set[str]]:
    """The installed font that has most of ``letters``, if one has any, and those it has."""
    from matplotlib.font_manager import fontManager

    known = _widest(fontManager.ttflist, letters)
    return known if known[1] == letters else max(known, _widest(_new_fonts(), letters), key=lambda font: len(font[1]))


def _widest(fonts: list[FontEntry], letters: set[str]) -> tuple[list[str], set[str]]:
    best: tuple[list[str], set[str]] = ([], set())
    regular = [font for font in fonts if font.style == "normal" and font.weight in (400, "normal")]
    for font in sorted(regular, key=_preference) if letters else []:
        has = letters & _letters(font.fname)
        if len(has) > len(best[1]):
            best = [font.name], has
        if has == letters:
            break
    return best


def _new_fonts() -> list[FontEntry]:
    """Fonts installed since matplotlib looked for them, which it does once and for all."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = list(fontManager.ttflist)
    for path in sorted(set(findSystemFonts()) - {font.fname for font in known}):
        with suppress(OSError, RuntimeError):  # a file that is no font, or one of a kind it cannot read
            fontManager.addfont(path)
    return fontManager.ttflist[len(known) :]


def _preference(font: FontEntry) -> tuple[bool, bool, bool, str]:
    """Plain faces first, and Korean ones among those that hold all of Chinese, Japanese and Korean."""
    return "Serif" in font.name, "Mono" in font.name, "KR" not in font.name, font.name


def _letters(path: str) -> set[str]:
    """What a font can write; nothing if it cannot be drawn from: pictures of emoji, or boxes for every letter."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
    except (OSError, RuntimeError):
        return set()
    usable = font.num_fixed_sizes == 0 and not font.family_name.startswith(_BOXES)
    return set(map(chr, font.get_charmap())) if usable else set()
