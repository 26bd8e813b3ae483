"""``sbert export``: a model in a format that other engines run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sbert.adapters.onnx import GRAPH, export_onnx
from sbert.cli import show
from sbert.cli.options import AnyModel, Json
from sbert.errors import check_value
from sbert.models.load import load

_FORMATS = ("onnx",)


def export(
    model: AnyModel,
    out: Annotated[Path, typer.Option("--output", "-o", help="Folder to write; an older export is replaced.")],
    to: Annotated[str, typer.Option(help="Format: onnx.")] = "onnx",
    json: Json = False,
) -> None:
    """Write a model with an ONNX graph, for ONNX Runtime, transformers.js and other engines.

    Example: sbert export sbert-ko-base -o sbert-ko-onnx
    """
    check_value("--to", to, _FORMATS)
    loaded = load(model, device="cpu")
    difference = export_onnx(loaded, out)
    megabytes = (out / GRAPH).stat().st_size / 1e6
    facts: dict[str, object] = {"graph": str(out / GRAPH), "megabytes": round(megabytes, 1), "difference": difference}
    sentence = f"{megabytes:,.0f} MB; differs from the model by {difference:.1e} of the largest value"
    show.summary(out, facts, sentence, json)
