"""``sbert compare``: which of two models is better, how sure that is, and where their vectors differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sbert.cli import show
from sbert.cli.options import Column, DataFolder, HtmlReport, Json, ModelA, ModelB, SuiteName, data_folder
from sbert.cli.verbs.evaluate import measure, number, suite_names
from sbert.data.rows import read_texts
from sbert.data.writers import check_output
from sbert.disk.files import whole_file
from sbert.errors import BadInput
from sbert.text import display

if TYPE_CHECKING:
    from sbert.evaluate.drift import Drift
    from sbert.evaluate.metrics.significance import Comparison
    from sbert.evaluate.score import Score
    from sbert.evaluate.suites.report import Missing, Report

_SURE, _WORST = 0.05, 10
_STILL = 0.99995
"""A cosine that is 1.0000 to the reader is that of a text that did not move."""


class Line(NamedTuple):
    """One score of both models."""

    first: Score
    second: Score
    comparison: Comparison | None

    @property
    def verdict(self) -> str:
        """Who is better, where chance is an unlikely reason."""
        if self.comparison is None:
            return "no test: the score is not one of items"
        if self.comparison.p_value >= _SURE:
            return "may be chance"
        return "A is better" if self.comparison.difference > 0 else "B is better"


class Moved(NamedTuple):
    """The same texts in both models."""

    texts: list[str]
    rows: list[int]
    """Where each text first stands in the file, from 0."""
    drift: Drift


def compare(
    first: ModelA,
    second: ModelB,
    suite: SuiteName = None,
    texts: Annotated[
        Path | None, typer.Option("--texts", metavar="FILE", help="Texts whose vectors are compared.")
    ] = None,
    column: Column = None,
    data: DataFolder = None,
    report: HtmlReport = None,
    json: Json = False,
) -> None:
    """Compare model A with model B: their scores on a suite, or their vectors of --texts, or both.

    Example: sbert compare all-MiniLM-L6-v2 runs/mine --suite sts --texts sentences.txt
    """
    wanted = suite or (None if texts else "sts")
    folder = data_folder(data) if wanted else None
    if report is not None:
        check_output(report, (".html",))
    suites = suite_names(wanted) if wanted else []
    _check_models(first, second, vectors=texts is not None)
    moved = None if texts is None else _drift(first, second, texts, column)
    lines, missing = ([], []) if folder is None else _scores(first, second, suites, folder)
    if report is not None:
        with whole_file(report) as file:
            file.write(_page(first, second, lines, missing, moved).encode())
    if json:
        show.as_json(_as_json(first, second, lines, missing, moved))
    else:
        _print(first, second, lines, missing, moved)
        if report is not None:
            show.note(f"report -> {report}")
    if not lines and moved is None:
        raise BadInput(f"nothing was measured with what is in {folder}; see docs/suites.md for the files")


def _check_models(first: str, second: str, vectors: bool) -> None:
    """Whether both are there, and give vectors where that is asked for: said before anything is measured."""
    from sbert import hub
    from sbert.models.load import CLASSES

    for name in (first, second):
        folder = hub.resolve(name)
        kind = "bi" if hub.holds_words(folder) else hub.known_kind(folder) or "bi"
        if vectors and kind != "bi":
            raise BadInput(f"{name} is a {CLASSES[kind].__name__}, but --texts needs models that give a vector a text")


def _scores(first: str, second: str, suites: list[str], folder: Path) -> tuple[list[Line], list[Missing]]:
    """Every score that both models have; the rest is missing for the reason of whichever lacks it."""
    ours, theirs = measure(first, suites, folder), measure(second, suites, folder)
    others = {_key(score): score for score in _all(theirs)}
    lines = [
        Line(score, others[_key(score)], score.compare(others[_key(score)]))
        for score in _all(ours)
        if _key(score) in others
    ]
    missing = {reason.task: reason for report in (*ours, *theirs) for reason in report.missing}
    return lines, list(missing.values())


def _all(reports: list[Report]) -> Iterator[Score]:
    for report in reports:
        yield from report.scores


def _key(score: Score) -> tuple[str, str]:
    """An encoder's cosine and a scorer's score give the same quantity under two names."""
    return score.task, score.quantity or score.name


def _drift(first: str, second: str, source: Path, column: str | None) -> Moved:
    from sbert.evaluate.drift import drift
    from sbert.models.bi import BiEncoder
    from sbert.models.load import load
    from sbert.models.words import WordEncoder

    rows: dict[str, int] = {}
    for place, row in enumerate(read_texts(str(source), column)):
        rows.setdefault(row.texts[0], place)  # a text and its copy have no order
    texts = list(rows)
    if len(texts) < 2:
        raise BadInput(f"{source} has the same text in every row, but neighbours need at least two different ones")
    models = (load(name) for name in (first, second))
    encoders = (model for model in models if isinstance(model, (BiEncoder, WordEncoder)))  # as both are
    vectors = (encoder.encode(texts, show_progress_bar=True) for encoder in encoders)
    return Moved(texts, list(rows.values()), drift(*vectors))


def _row(line: Line) -> list[str]:
    found = line.comparison
    scores = [display.number(line.first.value), display.number(line.second.value)]
    gap = f"{round(line.first.value - line.second.value, 2) + 0.0:+.2f}"
    sure = ["", ""] if found is None else [f"{found.low:+.2f} to {found.high:+.2f}", f"{found.p_value:.3f}"]
    return [line.first.task, *scores, gap, *sure, f"{line.verdict}; {_key(line.first)[1]}"]


_HEADINGS = ("task", "A", "B", "A - B", "95 %", "p", "verdict")


def _print(first: str, second: str, lines: list[Line], missing: list[Missing], moved: Moved | None) -> None:
    show.line(f"A  {first}\nB  {second}")
    if lines:
        show.table(_HEADINGS, [_row(line) for line in lines])
    for task, reason in missing:
        show.note(f"missing  {task}: {reason}")
    if moved is not None:
        for sentence in _sentences(moved):
            show.line(sentence)
        if rows := [[*cells, display.one_line(text)] for *cells, text in _worst(moved)]:
            show.table(["row", "cosine", "changed", "texts that moved furthest"], rows)


def _sentences(moved: Moved) -> list[str]:
    found = moved.drift
    if found.cosines is None:
        near = "The vectors have different sizes, so only neighbours are compared."
    else:
        near = f"The two vectors of a text have a cosine of {found.cosines.mean():.4f} on average."
    return [
        near,
        f"Of {len(moved.texts):,} texts {found.nearest_changed:.1%} have another nearest text; of the "
        f"{found.neighbours} nearest, {found.changed.mean():.1%} are others.",
    ]


def _worst(moved: Moved) -> list[tuple[str, str, str, str]]:
    found = moved.drift
    return [
        (
            str(moved.rows[row]),
            "" if found.cosines is None else f"{found.cosines[row]:.4f}",
            f"{found.changed[row]:.0%}",
            moved.texts[row],
        )
        for row in _furthest(found)
    ]


def _furthest(found: Drift) -> list[int]:
    """The rows that moved furthest, without those that did not move."""
    return [
        row
        for row in found.worst(_WORST)
        if found.changed[row] > 0 or (found.cosines is not None and found.cosines[row] < _STILL)
    ]


def _as_json(
    first: str, second: str, lines: list[Line], missing: list[Missing], moved: Moved | None
) -> dict[str, Any]:
    scores = [
        {
            "task": line.first.task,
            "metric": _key(line.first)[1],
            "first": number(line.first.value),
            "second": number(line.second.value),
            **({} if line.comparison is None else line.comparison._asdict()),
            "verdict": line.verdict,
        }
        for line in lines
    ]
    found = {"first": first, "second": second, "scores": scores, "missing": [task._asdict() for task in missing]}
    return found if moved is None else {**found, "drift": _drift_as_json(moved)}


def _drift_as_json(moved: Moved) -> dict[str, Any]:
    found = moved.drift
    cosine = None
    if found.cosines is not None:
        counts, low, high = found.histogram()
        cosine = {"mean": float(found.cosines.mean()), "histogram": {"low": low, "high": high, "counts": counts}}
    worst = [
        {
            "row": moved.rows[row],
            "text": moved.texts[row],
            "cosine": None if found.cosines is None else float(found.cosines[row]),
            "changed": float(found.changed[row]),
        }
        for row in _furthest(found)
    ]
    return {
        "texts": len(moved.texts),
        "cosine": cosine,
        "nearest_changed": found.nearest_changed,
        "neighbours": found.neighbours,
        "neighbours_changed": float(found.changed.mean()),
        "worst": worst,
    }


def _page(first: str, second: str, lines: list[Line], missing: list[Missing], moved: Moved | None) -> str:
    from sbert.pages import reports
    from sbert.pages.records import Bar, Drift, Table

    differences = [
        Bar(
            f"{line.first.task}, {_key(line.first)[1]}: {line.verdict}",
            line.first.value - line.second.value,
            *(() if line.comparison is None else line.comparison[1:3]),
        )
        for line in lines
    ]
    drift = None
    if moved is not None:
        histogram = None if moved.drift.cosines is None else moved.drift.histogram()
        headings = ["row", "cosine", "neighbours changed", "text"]
        drift = Drift(_sentences(moved), histogram, Table(headings, _worst(moved), "rrrl"))
    scores = Table(_HEADINGS, [_row(line) for line in lines], "lrrrrrl")
    return reports.comparison(first, second, scores, differences, missing, drift)
