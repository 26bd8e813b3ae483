"""``sbert evaluate``: measures a model on test sets, with confidence intervals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast, get_args

import typer

from sbert.cli import options, show
from sbert.data import Columns as Pairs
from sbert.data.writers import check_output
from sbert.disk.files import write_bytes
from sbert.errors import BadInput, check_value
from sbert.evaluate.evaluators.similarity import Aggregation
from sbert.evaluate.metrics.significance import Interval
from sbert.evaluate.score import Report, Score
from sbert.evaluate.suites import SUITES, file
from sbert.evaluate.suites import download as download_suite
from sbert.models.load import load
from sbert.pages import reports as pages
from sbert.pages.records import Bar, Plot, Suite, Table
from sbert.text import display

Intervals = dict[Score, Interval | None]
_HEADINGS = ("score", "95 %", "items", "measure")


class TestSets(NamedTuple):
    """What to measure models on."""

    suites: list[str]
    folder: Path | None
    """Folder with the data of the suites; None if there are no suites."""
    pairs: Pairs | None
    """The user's own pairs or triplets."""

    @property
    def sources(self) -> list[str]:
        """The data folder and the file of pairs, where there are such."""
        folder = [] if self.folder is None else [str(self.folder)]
        return folder if self.pairs is None else [*folder, self.pairs.name]

    def measure(self, name: str, device: str | None, aggregation: Aggregation = "all") -> list[Report]:
        """Load a model and measure it."""
        model = load(name, device=device)
        suites = (SUITES[suite] for suite in self.suites)
        found = [
            suite.run(model, self.folder or "", aggregation=aggregation, show_progress_bar=True) for suite in suites
        ]
        return found if self.pairs is None else [*found, file.run(self.pairs, model)]

    def nothing(self) -> BadInput:
        """The error of a model that none of the data could measure."""
        where = f"with what is in {self.folder}; see docs/suites.md for the files" if self.folder else "with --pairs"
        return BadInput(f"nothing was measured {where}")


def evaluate(
    model: options.AnyModel,
    suite: options.SuiteName = None,
    data: options.DataFolder = None,
    pairs: options.PairsFile = None,
    columns: options.Columns = None,
    label: options.LabelColumn = None,
    split: options.Split = None,
    aggregation: Annotated[
        str, typer.Option(help="Aggregation over the subsets of an STS year: all (as in the paper), mean or wmean.")
    ] = "all",
    device: options.Device = None,
    report: options.HtmlReport = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download missing test data from the Hugging Face hub first.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Measure a model on the data sets of a suite, or on your own pairs, with confidence intervals.

    Example: sbert evaluate all-MiniLM-L6-v2 --suite sts --data data/
    """
    if report is not None:
        check_output(report, (".html",))
    check_value("--aggregation", aggregation, get_args(Aggregation))
    test = test_sets(suite, data, pairs, columns, label, split)
    if download and test.folder is not None:
        for name in test.suites:
            for path in download_suite(name, test.folder):
                show.note(f"downloaded {path}")
    reports = test.measure(model, device, cast("Aggregation", aggregation))
    intervals = {score: score.interval() for found in reports for score in found.scores}
    if report is not None:
        page = pages.evaluation(model, [_page_part(found, intervals) for found in reports], test.sources)
        write_bytes(report, page.encode())
    if json:
        show.as_json({"model": model, "suites": [_as_json(found, intervals) for found in reports]})
    else:
        for found in reports:
            _print(found, intervals)
        if report is not None:
            show.note(f"report -> {report}")
    if not any(found.scores for found in reports):
        raise test.nothing()


def test_sets(
    suite: str | None, data: Path | None, pairs: Path | None, columns: str | None, label: str | None, split: str | None
) -> TestSets:
    """Return the data that the options of the command line name; suite "sts" if they name none."""
    if suite is None and pairs is None:
        suite = "sts"
    if suite is not None:
        check_value("--suite", suite, (*SUITES, "all"))
    own = None if pairs is None else file.read_pairs(pairs, columns=options.names(columns), label=label, split=split)
    if suite is None:
        return TestSets([], None, own)
    return TestSets(list(SUITES) if suite == "all" else [suite], options.data_folder(data), own)


def _print(report: Report, intervals: Intervals) -> None:
    if report.scores:
        rows = _rows(report, intervals)
        if len({score.task for score in report.scores}) > 1:
            note = f"mean of {report.averaged}, with the first score of each"
            rows.append(["average", display.number(report.average), "", "", note])
        show.table([report.suite, *_HEADINGS], rows)
    for task, reason in report.missing:
        show.note(f"missing  {task}: {reason}")


def _rows(report: Report, intervals: Intervals) -> list[list[str]]:
    rows = []
    for score in report.scores:
        between = " to ".join(map(display.number, intervals[score] or ()))
        measure = f"{score.name}; {score.note}" if score.note else score.name
        rows.append([score.task, display.number(score.value), between, f"{score.items:,}", measure])
    return rows


def _as_json(report: Report, intervals: Intervals) -> dict[str, Any]:
    scores = [
        {
            "task": score.task,
            "metric": score.name,
            "value": number(score.value),
            "interval": intervals[score],
            "items": score.items,
            "note": score.note,
        }
        for score in report.scores
    ]
    missing = [task._asdict() for task in report.missing]
    return {"suite": report.suite, "average": number(report.average), "scores": scores, "missing": missing}


def number(value: float) -> float | None:
    """Replace NaN, which JSON does not have, with None."""
    return None if math.isnan(value) else value


def _page_part(report: Report, intervals: Intervals) -> Suite:
    plots = [Plot(f"{score.task}: gold labels and model", score.points()) for score in report.scores]
    return Suite(
        name=report.suite,
        average=f"{display.number(report.average)} over {report.averaged}",
        bars=[Bar(f"{score.task}, {score.name}", score.value, *(intervals[score] or ())) for score in report.scores],
        table=Table(["task", *_HEADINGS], _rows(report, intervals), "lrrrl"),
        plots=[plot for plot in plots if plot.points],
        missing=report.missing,
    )
