"""The page of a training run and the picture of its curve. Works on metrics and settings only: no model, no files."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from typing import Any

from sbert.errors import counted
from sbert.pages import charts
from sbert.pages.records import Metrics, Points, Run, Table
from sbert.pages.render import render
from sbert.text import display

_SMOOTHING = 0.9
_BLUE, _ORANGE, _GREY = "#1f6feb", "#d9822b", "#b8bfc9"


def page(run: Run) -> str:
    """Return the page of a run: the curves of the loss and the main score, every evaluation, and the settings."""
    losses, name, points = _curves(run.metrics)
    curves = [charts.line("Training loss", losses, smoothed(losses))] if losses else []
    if points:
        curves.append(charts.line(name, points))
    scores = [record for record in run.metrics if "loss" not in record]
    names = list(dict.fromkeys(name for record in scores for name in record))
    rows = [[f"{record[name]:,.6g}" if name in record else "" for name in names] for record in scores]
    settings = [[name, _plain(value)] for name, value in run.settings.items()]
    return render(
        "run.html",
        title=run.name,
        summary=_summary(run, name, dict(points).get(run.best_step)),
        curves=curves,
        scores=Table(names, rows, "r" * len(names)),
        settings=Table(["setting", "value"], settings, "ll"),
    )


def for_notebook(facts: Mapping[str, object], curve: bytes) -> str:
    """Return what a notebook shows of a run: its result as a table, and the picture of its curve (PNG)."""
    shown = {name: display.figure(value) if isinstance(value, float) else value for name, value in facts.items()}
    table = display.html_table(["", ""], [[name.replace("_", " "), value] for name, value in shown.items()])
    picture = base64.b64encode(curve).decode()
    return f'{table}<img alt="curve" src="data:image/png;base64,{picture}">' if curve else table


def _summary(run: Run, metric: str, best: float | None) -> list[str]:
    data = ", ".join(f"{name} ({counted(rows, 'row')})" for name, rows in run.data)
    steps = counted(run.steps, "step")
    lines = [
        f"{steps if run.step == run.steps else f'{run.step:,} of {steps}'} over {data}.",
        f"Model {run.model}, loss {run.loss}, {f'evaluated on {run.dev}' if run.dev else 'not evaluated'}.",
    ]
    return lines if best is None else [*lines, f"The best {metric} is {best:.2f}, after step {run.best_step:,}."]


def _plain(value: Any) -> str:
    """Return a setting as people write it.

    >>> [_plain(value) for value in (None, "runs/하나", ["a", "b"], 2e-05, True)]
    ['none', 'runs/하나', 'a, b', '2e-05', 'true']
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value)) or "none"
    return "none" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def picture(metrics: Metrics) -> bytes:
    """Return the curves of the loss and the main score as a PNG."""
    from matplotlib.figure import Figure

    losses, name, points = _curves(metrics)
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    left = figure.subplots()
    left.plot(*zip(*losses, strict=True), color=_GREY, linewidth=0.8)
    left.plot(*zip(*smoothed(losses), strict=True), color=_BLUE, linewidth=1.5)
    left.set_xlabel("step")
    left.set_ylabel("loss", color=_BLUE)
    left.spines[["top", "right"]].set_visible(False)
    if points:
        right = left.twinx()
        right.plot(*zip(*points, strict=True), "o-", color=_ORANGE, markersize=4)
        right.set_ylabel(name, color=_ORANGE)
        right.spines[["top"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return buffer.getvalue()


def smoothed(points: Points) -> list[tuple[float, float]]:
    """Replace each value by the exponentially weighted mean of the values up to it.

    >>> [(step, round(value, 2)) for step, value in smoothed([(1, 1.0), (2, 1.0), (3, 2.0)])]
    [(1, 1.0), (2, 1.0), (3, 1.37)]
    """
    total = weight = 0.0
    means = []
    for step, value in points:
        total, weight = _SMOOTHING * total + value, _SMOOTHING * weight + 1
        means.append((step, total / weight))
    return means


def _curves(metrics: Metrics) -> tuple[Points, str, Points]:
    """Return the losses by step, and the name and the values by step of the score that decides which model is best."""
    losses = [(record["step"], record["loss"]) for record in metrics if "loss" in record]
    scores = [record for record in metrics if "loss" not in record]
    name = next((name for record in scores for name in record if name != "step"), "")
    return losses, name, [(record["step"], record[name]) for record in scores if name in record]
