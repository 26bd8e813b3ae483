"""``sbert evaluate``: a model on the paper's test sets, with confidence intervals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.options import AnyModel, DataFolder, HtmlReport, Json, SuiteName, data_folder
from sbert.data.writers import check_output
from sbert.disk.files import whole_file
from sbert.errors import BadInput, check_value
from sbert.text import display

if TYPE_CHECKING:
    from sbert.evaluate.evaluators.similarity import Aggregation
    from sbert.evaluate.metrics.significance import Interval
    from sbert.evaluate.score import Score
    from sbert.evaluate.suites.report import Report
    from sbert.pages.records import Suite

    Intervals = dict[Score, Interval | None]


def evaluate(
    model: AnyModel,
    suite: SuiteName = None,
    data: DataFolder = None,
    aggregation: Annotated[
        str, typer.Option(help="Of a year of STS: all (the paper's), mean or wmean over its subsets.")
    ] = "all",
    report: HtmlReport = None,
    download: Annotated[bool, typer.Option("--download", help="First fetch what the hub has of the data.")] = False,
    json: Json = False,
) -> None:
    """Measure a model of any kind on whatever of a suite's data is there, and say what is missing.

    Example: sbert evaluate all-MiniLM-L6-v2 --suite sts --data data/
    """
    folder = data_folder(data)
    if report is not None:
        check_output(report, (".html",))
    from sbert.evaluate.evaluators.similarity import Aggregation

    check_value("--aggregation", aggregation, get_args(Aggregation))
    names = suite_names(suite or "sts")
    if download:
        _download(names, folder)
    reports = measure(model, names, folder, cast("Aggregation", aggregation))
    intervals = _intervals(reports)
    if report is not None:
        with whole_file(report) as file:
            file.write(_page(model, reports, intervals).encode())
    if json:
        show.as_json({"model": model, "suites": [_as_json(found, intervals) for found in reports]})
    else:
        for found in reports:
            _print(found, intervals)
        if report is not None:
            show.note(f"report -> {report}")
    if not any(found.scores for found in reports):
        raise BadInput(f"nothing was measured with what is in {folder}; see docs/suites.md for the files")


def suite_names(asked: str) -> list[str]:
    """One suite, or all."""
    from sbert.evaluate.suites.catalog import SUITES

    check_value("--suite", asked, (*SUITES, "all"))
    return list(SUITES) if asked == "all" else [asked]


def _download(names: list[str], folder: Path) -> None:
    from sbert.evaluate.suites import catalog as suites

    for name in names:
        for path in suites.download(name, folder):
            show.note(f"fetched {path}")


def measure(name: str, suites: list[str], folder: Path, aggregation: Aggregation = "all") -> list[Report]:
    """What each suite says of a model."""
    from sbert.evaluate.suites.catalog import SUITES
    from sbert.models.load import load

    model = load(name)
    return [SUITES[suite].run(model, folder, aggregation=aggregation, show_progress_bar=True) for suite in suites]


def _intervals(reports: list[Report]) -> Intervals:
    return {score: score.interval() for report in reports for score in report.scores}


def _print(report: Report, intervals: Intervals) -> None:
    if report.scores:
        rows = _rows(report, intervals)
        if len({score.task for score in report.scores}) > 1:
            rows.append(
                ["average", display.number(report.average), "", "", f"of {report.averaged}, each by its first score"]
            )
        show.table([report.suite, "score", "95 %", "items", "measure"], rows)
    for task, reason in report.missing:
        show.note(f"missing  {task}: {reason}")


def _rows(report: Report, intervals: Intervals) -> list[list[str]]:
    return [
        [
            score.task,
            display.number(score.value),
            _between(intervals[score]),
            f"{score.items:,}",
            _measure(score),
        ]
        for score in report.scores
    ]


def _between(interval: Interval | None) -> str:
    return "" if interval is None else f"{display.number(interval.low)} to {display.number(interval.high)}"


def _measure(score: Score) -> str:
    return f"{score.name}; {score.note}" if score.note else score.name


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
    """JSON has no word for what is not a number."""
    return None if math.isnan(value) else value


def _page(model: str, found: list[Report], intervals: Intervals) -> str:
    from sbert.pages import reports

    return reports.evaluation(model, [_suite(report, intervals) for report in found])


def _suite(report: Report, intervals: Intervals) -> Suite:
    from sbert.pages.records import Bar, Plot, Suite, Table

    plots = [Plot(f"{score.task}: gold labels and model", score.points()) for score in report.scores]
    return Suite(
        name=report.suite,
        average=f"{display.number(report.average)} over {report.averaged}",
        bars=[Bar(f"{score.task}, {score.name}", score.value, *(intervals[score] or ())) for score in report.scores],
        table=Table(["task", "score", "95 %", "items", "measure"], _rows(report, intervals), "lrrrl"),
        plots=[plot for plot in plots if plot.points],
        missing=report.missing,
    )
