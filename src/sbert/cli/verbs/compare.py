"""``sbert compare``: compares two models by their scores on test sets and by their vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from sbert import hub
from sbert.cli import options, show
from sbert.cli.verbs.evaluate import TestSets, number, test_sets
from sbert.data.rows import read_texts
from sbert.data.writers import check_output
from sbert.disk.files import whole_file
from sbert.errors import BadInput
from sbert.evaluate.drift import Drift, drift
from sbert.evaluate.metrics.significance import Comparison
from sbert.evaluate.score import Missing, Report, Score
from sbert.models.load import CLASSES, load
from sbert.models.vectors import VectorModel
from sbert.pages import records
from sbert.pages import reports as pages
from sbert.text import display

_SIGNIFICANT = 0.05
_WORST = 10
_UNCHANGED = 0.99995
"""Cosines above this are shown as 1.0000."""
_HEADINGS = ("task", "A", "B", "A - B", "95 %", "p", "verdict")


class Line(NamedTuple):
    """The same score of both models."""

    first: Score
    second: Score
    comparison: Comparison | None

    @property
    def quantity(self) -> str:
        """Name of the score for both models: an encoder's cosine and a scorer's score have different names."""
        return self.first.quantity or self.first.name

    @property
    def verdict(self) -> str:
        """Which model is better, if the difference is significant."""
        if self.comparison is None:
            return "not tested: not computed from independent items"
        if self.comparison.p_value >= _SIGNIFICANT:
            return "may be chance"
        return "A is better" if self.comparison.difference > 0 else "B is better"


class Moved(NamedTuple):
    """The texts that both models embedded, and how far their vectors differ."""

    texts: list[str]
    rows: list[int]
    """First row of each text in the file, counted from 0."""
    drift: Drift

    def sentences(self) -> list[str]:
        """Summarise the difference."""
        found = self.drift
        if found.cosines is None:
            near = "The vectors have different sizes, so only neighbours are compared."
        else:
            near = f"The two vectors of a text have a cosine of {found.cosines.mean():.4f} on average."
        return [
            near,
            f"Of {len(self.texts):,} texts {found.nearest_changed:.1%} have another nearest text; of the "
            f"{found.neighbours} nearest, {found.changed.mean():.1%} are others.",
        ]

    def worst(self) -> list[int]:
        """Return the texts that moved furthest, without those that did not move."""
        found = self.drift
        return [
            place
            for place in found.worst(_WORST)
            if found.changed[place] > 0 or (found.cosines is not None and found.cosines[place] < _UNCHANGED)
        ]

    def cells(self) -> list[list[str]]:
        """Return the row, cosine, share of changed neighbours and text of the texts that moved furthest."""
        cosines, changed = self.drift.cosines, self.drift.changed
        return [
            [
                str(self.rows[place]),
                "" if cosines is None else f"{cosines[place]:.4f}",
                f"{changed[place]:.0%}",
                self.texts[place],
            ]
            for place in self.worst()
        ]


class Result(NamedTuple):
    """What ``sbert compare`` found."""

    first: str
    second: str
    lines: list[Line]
    missing: list[Missing]
    moved: Moved | None


def compare(
    first: options.ModelA,
    second: options.ModelB,
    suite: options.SuiteName = None,
    texts: Annotated[
        Path | None, typer.Option("--texts", metavar="FILE", help="File of texts whose vectors to compare.")
    ] = None,
    column: options.Column = None,
    data: options.DataFolder = None,
    pairs: options.PairsFile = None,
    columns: options.Columns = None,
    label: options.LabelColumn = None,
    split: options.Split = None,
    device: options.Device = None,
    report: options.HtmlReport = None,
    json: options.Json = False,
) -> None:
    """Compare two models: their scores on a suite or on your own pairs, their vectors of --texts, or both.

    Example: sbert compare all-MiniLM-L6-v2 runs/mine --suite sts --texts sentences.txt
    """
    if report is not None:
        check_output(report, (".html",))
    only_texts = texts is not None and suite is None and pairs is None
    test = None if only_texts else test_sets(suite, data, pairs, columns, label, split)
    _check_models(first, second, vectors=texts is not None)
    moved = None if texts is None else _moved(first, second, texts, column, device)
    lines, missing = ([], []) if test is None else _scores(first, second, test, device)
    result = Result(first, second, lines, missing, moved)
    if report is not None:
        with whole_file(report) as stream:
            stream.write(_page(result).encode())
    if json:
        show.as_json(_as_json(result))
    else:
        _print(result)
        if report is not None:
            show.note(f"report -> {report}")
    if test is not None and not lines and moved is None:
        raise test.nothing()


def _check_models(first: str, second: str, vectors: bool) -> None:
    """Raise BadInput, before any work, if a model does not exist or does not give the vectors that are needed."""
    for name in (first, second):
        folder = hub.resolve(name)
        kind = "bi" if hub.holds_words(folder) else hub.known_kind(folder) or "bi"
        if vectors and kind != "bi":
            raise BadInput(f"{name} is a {CLASSES[kind].__name__}, but --texts needs models that give a vector a text")


def _scores(first: str, second: str, test: TestSets, device: str | None) -> tuple[list[Line], list[Missing]]:
    """Compare the scores that both models have; the other tasks are missing, with the reason."""
    ours, theirs = test.measure(first, device), test.measure(second, device)
    others = _by_quantity(theirs)
    lines = [
        Line(score, others[key], score.compare(others[key]))
        for key, score in _by_quantity(ours).items()
        if key in others
    ]
    missing = {reason.task: reason for report in (*ours, *theirs) for reason in report.missing}
    return lines, list(missing.values())


def _by_quantity(reports: list[Report]) -> dict[tuple[str, str], Score]:
    return {(score.task, score.quantity or score.name): score for report in reports for score in report.scores}


def _moved(first: str, second: str, source: Path, column: str | None, device: str | None) -> Moved:
    rows: dict[str, int] = {}
    for place, row in enumerate(read_texts(str(source), column)):
        rows.setdefault(row.texts[0], place)  # copies of a text have no order
    texts = list(rows)
    if len(texts) < 2:
        raise BadInput(f"{source} has the same text in every row, but neighbours need at least two different ones")
    models = (load(name, device=device) for name in (first, second))
    encoders = (model for model in models if isinstance(model, VectorModel))  # both are, see _check_models
    vectors = (encoder.encode(texts, show_progress_bar=True) for encoder in encoders)
    return Moved(texts, list(rows.values()), drift(*vectors))


def _row(line: Line) -> list[str]:
    found = line.comparison
    scores = [display.number(line.first.value), display.number(line.second.value)]
    gap = f"{round(line.first.value - line.second.value, 2) + 0.0:+.2f}"
    test = ["", ""] if found is None else [f"{found.low:+.2f} to {found.high:+.2f}", f"{found.p_value:.3f}"]
    return [line.first.task, *scores, gap, *test, f"{line.verdict}; {line.quantity}"]


def _print(result: Result) -> None:
    show.line(f"A  {result.first}\nB  {result.second}")
    if result.lines:
        show.table(_HEADINGS, [_row(line) for line in result.lines])
    for task, reason in result.missing:
        show.note(f"missing  {task}: {reason}")
    if result.moved is not None:
        for sentence in result.moved.sentences():
            show.line(sentence)
        if rows := [[*cells, display.one_line(text)] for *cells, text in result.moved.cells()]:
            show.table(["row", "cosine", "changed", "texts that moved furthest"], rows)


def _as_json(result: Result) -> dict[str, Any]:
    scores = [
        {
            "task": line.first.task,
            "metric": line.quantity,
            "first": number(line.first.value),
            "second": number(line.second.value),
            **({} if line.comparison is None else line.comparison._asdict()),
            "verdict": line.verdict,
        }
        for line in result.lines
    ]
    missing = [task._asdict() for task in result.missing]
    found = {"first": result.first, "second": result.second, "scores": scores, "missing": missing}
    return found if result.moved is None else {**found, "drift": _drift_as_json(result.moved)}


def _drift_as_json(moved: Moved) -> dict[str, Any]:
    found = moved.drift
    cosine = None
    if found.cosines is not None:
        counts, low, high = found.histogram()
        cosine = {"mean": float(found.cosines.mean()), "histogram": {"low": low, "high": high, "counts": counts}}
    worst = [
        {
            "row": moved.rows[place],
            "text": moved.texts[place],
            "cosine": None if found.cosines is None else float(found.cosines[place]),
            "changed": float(found.changed[place]),
        }
        for place in moved.worst()
    ]
    return {
        "texts": len(moved.texts),
        "cosine": cosine,
        "nearest_changed": found.nearest_changed,
        "neighbours": found.neighbours,
        "neighbours_changed": float(found.changed.mean()),
        "worst": worst,
    }


def _page(result: Result) -> str:
    differences = [
        records.Bar(
            f"{line.first.task}, {line.quantity}: {line.verdict}",
            line.first.value - line.second.value,
            *(() if line.comparison is None else line.comparison[1:3]),
        )
        for line in result.lines
    ]
    part = None
    if (moved := result.moved) is not None:
        histogram = None if moved.drift.cosines is None else moved.drift.histogram()
        headings = ["row", "cosine", "neighbours changed", "text"]
        part = records.Drift(moved.sentences(), histogram, records.Table(headings, moved.cells(), "rrrl"))
    scores = records.Table(_HEADINGS, [_row(line) for line in result.lines], "lrrrrrl")
    return pages.comparison(result.first, result.second, scores, differences, result.missing, part)
