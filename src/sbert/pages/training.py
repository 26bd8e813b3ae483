"""The loss and the scores of a run as a picture and as a page that needs no other file. Knows metrics only."""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sbert.disk.files import write_bytes
from sbert.errors import counted

_SMOOTHING = 0.9
_ALWAYS = {"step", "loss", "tokens", "padding_saved", "truncated", "gradient", "learning_rate", "rows_per_second"}
_BLUE, _ORANGE, _GREY = "#1f6feb", "#d9822b", "#b8bfc9"


def draw(folder: Path, metrics: Sequence[Mapping[str, float]], facts: Mapping[str, Any]) -> None:
    """curve.png and run.html in ``folder``."""
    picture = _picture(metrics)
    page = _page(folder.name, metrics, facts, picture).encode()
    write_bytes(folder / "curve.png", picture)
    write_bytes(folder / "run.html", page)


def smoothed(values: Sequence[float]) -> list[float]:
    """Each value as a mean of those before it, the nearest counting most.

    >>> [round(value, 2) for value in smoothed([1.0, 1.0, 2.0])]
    [1.0, 1.0, 1.37]
    """
    total = weight = 0.0
    means = []
    for value in values:
        total, weight = _SMOOTHING * total + value, _SMOOTHING * weight + 1
        means.append(total / weight)
    return means


def _picture(metrics: Sequence[Mapping[str, float]]) -> bytes:
    from matplotlib.figure import Figure

    steps = [record for record in metrics if "loss" in record]
    scores = [record for record in metrics if "loss" not in record]
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    left = figure.subplots()
    losses = [record["loss"] for record in steps]
    left.plot([record["step"] for record in steps], losses, color=_GREY, linewidth=0.8)
    left.plot([record["step"] for record in steps], smoothed(losses), color=_BLUE)
    left.set_xlabel("step")
    left.set_ylabel("loss", color=_BLUE)
    left.spines[["top", "right"]].set_visible(False)
    if scores:
        name = _score_name(scores)
        right = left.twinx()
        right.plot([r["step"] for r in scores], [r[name] for r in scores], "o-", color=_ORANGE, markersize=4)
        right.set_ylabel(name, color=_ORANGE)
        right.spines[["top"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return buffer.getvalue()


def _score_name(scores: Sequence[Mapping[str, float]]) -> str:
    return next(name for name in scores[0] if name not in _ALWAYS)


def _page(name: str, metrics: Sequence[Mapping[str, float]], facts: Mapping[str, Any], picture: bytes) -> str:
    scores = [record for record in metrics if "loss" not in record]
    source = base64.b64encode(picture).decode()
    settings = "".join(
        f"<tr><td>{html.escape(key)}</td><td>{html.escape(json.dumps(value, ensure_ascii=False))}</td></tr>"
        for key, value in facts["config"].items()
    )
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(name)}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
img {{ width: 100%; background: white; border-radius: 6px }}
table {{ border-collapse: collapse; margin: 1rem 0 }}
td, th {{ padding: .2rem 1rem .2rem 0; text-align: left; border-bottom: 1px solid #8884 }}
</style>
<h1>{html.escape(name)}</h1>
<p>{counted(facts["steps"], "step")} over {html.escape(_data(facts))}.</p>
<img alt="loss and score by step" src="data:image/png;base64,{source}">
{_scores(scores)}
<details><summary>Settings</summary><table>{settings}</table></details>
</html>
"""


def _data(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{data['name']} ({counted(data['rows'], 'row')})" for data in facts["data"])


def _scores(scores: Sequence[Mapping[str, float]]) -> str:
    if not scores:
        return ""
    names = list(scores[0])
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    rows = "".join("<tr>" + "".join(f"<td>{record[name]:,.6g}</td>" for name in names) + "</tr>" for record in scores)
    return f"<table><tr>{head}</tr>{rows}</table>"
