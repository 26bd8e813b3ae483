"""``sbert compare``: compares two models by their scores on test sets and by their vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import typer

from sbert import hub
from sbert.cli import options, show
from sbert.cli.verbs.evaluate import TestSets, number, test_sets
from sbert.data.rows import read_texts
from sbert.data.writers import check_output
from sbert.disk.files import write_bytes
from sbert.errors import BadInput
from sbert.evaluate.drift import Drift, drift
from sbert.evaluate.metrics.significance import Comparison
from sbert.evaluate.score import Missing, Report, Score
from sbert.models.load import class_of, load
from sbert.models.vectors import VectorModel
from sbert.pages import records
from sbert.pages import reports as pages
from sbert.text import display

_SIGNIFICANT = 0.05
_WORST = 10
_UNCHANGED = 0.99995
"""Cosines above this are shown as 1.0000."""


class Line(NamedTuple):
    """The same score of both models."""

    quantity: str
    """Name of the score for both models: an encoder's cosine and a scorer's score have different names."""
    first: Score
    second: Score
    comparison: Comparison | None

    @property
    def verdict(self) -> str:
        """Which model is better, if the difference is significant."""
        if self.comparison is None:
            return "not tested: not computed from independent items"
        if self.comparison.low == self.comparison.high == 0:
            return "no difference"
        if self.comparison.p_value >= _SIGNIFICANT:
            return "may be chance"
        return "A is better" if self.comparison.difference > 0 else "B is better"


class MovedText(NamedTuple):
    """A text whose vector or neighbours differ between the models."""

    row: int
    """First row of the text in the file, counted from 0."""
    text: str
    cosine: float | None
    changed: float
    """Share of its nearest texts that are others."""


class Moved(NamedTuple):
    """How far the vectors of the two models differ."""

    texts: int
    drift: Drift
    worst: list[MovedText]
    """The texts that moved furthest, without those that did not move."""


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
    sources = [] if test is None else test.sources
    data_names = sources if texts is None else [*sources, str(texts)]
    found = records.Comparison(
        first, second, _score_table(lines), _differences(lines), missing, _drift_part(moved), data_names
    )
    if report is not None:
        write_bytes(report, pages.comparison(found).encode())
    if json:
        drift_facts = {} if moved is None else {"drift": _drift_as_json(moved)}
        reasons = [task._asdict() for task in missing]
        show.as_json({"first": first, "second": second, "scores": _as_json(lines), "missing": reasons, **drift_facts})
    else:
        _print(found)
        if report is not None:
            show.note(f"report -> {report}")
    if test is not None and not lines and moved is None:
        raise test.nothing()


def _check_models(first: str, second: str, vectors: bool) -> None:
    """Raise an error, before any work, if a model does not exist or does not give the vectors that are needed."""
    for name in (first, second):
        cls = class_of(hub.resolve(name))
        if vectors and not issubclass(cls, VectorModel):
            raise BadInput(f"{name} is a {cls.__name__}, but --texts needs models that give a vector a text")


def _scores(first: str, second: str, test: TestSets, device: str | None) -> tuple[list[Line], list[Missing]]:
    """Compare the scores that both models have; the other tasks are missing, with the reason."""
    ours, theirs = test.measure(first, device), test.measure(second, device)
    others = _by_quantity(theirs)
    lines = [
        Line(key[1], score, others[key], score.compare(others[key]))
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
    if len(rows) < 2:
        raise BadInput(f"{source} has the same text in every row, but neighbours need at least two different ones")
    texts = list(rows)
    models = (cast(VectorModel, load(name, device=device)) for name in (first, second))  # see _check_models
    found = drift(*(model.encode(texts, show_progress_bar=True) for model in models))
    worst = [
        MovedText(
            row=rows[texts[place]],
            text=texts[place],
            cosine=None if found.cosines is None else float(found.cosines[place]),
            changed=float(found.changed[place]),
        )
        for place in found.worst(_WORST)
    ]
    kept = [text for text in worst if text.changed > 0 or (text.cosine is not None and text.cosine < _UNCHANGED)]
    return Moved(len(texts), found, kept)


# Output


def _score_table(lines: list[Line]) -> records.Table:
    rows = []
    for line in lines:
        found, first, second = line.comparison, line.first.value, line.second.value
        gap = f"{round(first - second, 2) + 0.0:+.2f}"
        test = ["", ""] if found is None else [f"{found.low:+.2f} to {found.high:+.2f}", f"{found.p_value:.3f}"]
        scores = [display.number(first), display.number(second)]
        rows.append([line.first.task, line.quantity, *scores, gap, *test, line.verdict])
    return records.Table(["task", "measure", "A", "B", "A - B", "95 %", "p", "verdict"], rows, "llrrrrrl")


def _differences(lines: list[Line]) -> list[records.Bar]:
    return [
        records.Bar(
            f"{line.first.task}, {line.quantity}",
            line.first.value - line.second.value,
            *(() if line.comparison is None else line.comparison[1:3]),
        )
        for line in lines
    ]


def _drift_part(moved: Moved | None) -> records.Drift | None:
    if moved is None:
        return None
    found = moved.drift
    near = "The vectors have different sizes, so only neighbours are compared."
    if found.cosines is not None:
        near = f"The two vectors of a text have a cosine of {found.cosines.mean():.4f} on average."
    others = f"The nearest text differs for {found.nearest_changed:.1%} of {moved.texts:,} texts"
    if found.neighbours < moved.texts - 1:  # otherwise they are all other texts
        others += f"; on average {found.changed.mean():.1%} of the {found.neighbours} nearest differ"
    rows = [
        [str(row), "" if cosine is None else f"{cosine:.4f}", f"{changed:.0%}", text]
        for row, text, cosine, changed in moved.worst
    ]
    table = records.Table(["row", "cosine", "neighbours changed", "text"], rows, "rrrl")
    return records.Drift([near, f"{others}."], None if found.cosines is None else found.histogram(), table)


def _print(found: records.Comparison) -> None:
    show.line(f"A  {found.first}\nB  {found.second}")
    if found.scores.rows:
        show.table(found.scores.headings, found.scores.rows)
    for task, reason in found.missing:
        show.note(f"missing  {task}: {reason}")
    if found.drift is not None:
        show.line("\n".join(found.drift.sentences))
        if rows := [[*cells, display.one_line(text)] for *cells, text in found.drift.moved.rows]:
            show.table(["row", "cosine", "changed", "texts that moved furthest"], rows)


def _as_json(lines: list[Line]) -> list[dict[str, Any]]:
    return [
        {
            "task": line.first.task,
            "metric": line.quantity,
            "first": number(line.first.value),
            "second": number(line.second.value),
            **({} if line.comparison is None else line.comparison._asdict()),
            "verdict": line.verdict,
        }
        for line in lines
    ]


def _drift_as_json(moved: Moved) -> dict[str, Any]:
    found = moved.drift
    cosine = None
    if found.cosines is not None:
        counts, low, high = found.histogram()
        cosine = {"mean": float(found.cosines.mean()), "histogram": {"low": low, "high": high, "counts": counts}}
    return {
        "texts": moved.texts,
        "cosine": cosine,
        "nearest_changed": found.nearest_changed,
        "neighbours": found.neighbours,
        "neighbours_changed": float(found.changed.mean()),
        "worst": [text._asdict() for text in moved.worst],
    }
