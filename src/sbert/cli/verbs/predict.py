"""``sbert predict``: what a model says of every pair of a file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.options import AnyModel, Columns, Json, names
from sbert.data import vectors as output
from sbert.data import writers as tables
from sbert.errors import BadInput, check_value, counted

if TYPE_CHECKING:
    import pyarrow as pa

    from sbert.data.files import Record
    from sbert.data.rows import Rows
    from sbert.models.load import Model
    from sbert.types import OnTruncate, Output

_WINDOW = 1024


def predict(
    model: AnyModel,
    source: Annotated[str, typer.Argument(metavar="PAIRS", help="tsv, csv, jsonl, json (or .gz), parquet.")],
    out: Annotated[
        Path, typer.Option("--output", "-o", help=".tsv, .csv, .jsonl or .parquet; jsonl on stdout unless named.")
    ] = output.STANDARD_OUTPUT,
    columns: Columns = None,
    as_: Annotated[str, typer.Option("--as", help="score, on the model's scale; logit; probability.")] = "score",
    on_truncate: Annotated[str, typer.Option(help="Pairs too long: warn, raise, ignore.")] = "warn",
    json: Json = False,
) -> None:
    """Score or classify every pair of texts; row i of the output belongs to row i of the input.

    Example: sbert predict runs/cross-stsb pairs.tsv -o scores.tsv
    """
    from sbert.data.rows import scan
    from sbert.types import OnTruncateWhole, Output

    check_value("--as", as_, get_args(Output))
    check_value("--on-truncate", on_truncate, get_args(OnTruncateWhole))
    if out != output.STANDARD_OUTPUT:
        output.check_output(out, tables.SUFFIXES)
        output.check_other(out, source)
    rows = scan(source, names(columns))
    _check_pairs(rows)

    from sbert.models.load import load

    scorer = load(model)
    wanted = cast("Output", as_)
    result = _result(scorer, _scale(scorer, wanted), rows)
    _check_texts(scorer, rows, out, cast("OnTruncate", on_truncate))
    types = tables.types_of(out, lambda: _unscored(rows, result))
    start = time.perf_counter()
    _write(scorer, rows, result, out, wanted, types)
    _report(rows, result, out, time.perf_counter() - start, json)


def _scale(model: Model, wanted: Output) -> str:
    try:
        return model.pair_scale(wanted)
    except BadInput as error:
        raise BadInput(f"{error}; leave --as out") from None


def _check_pairs(rows: Rows) -> None:
    if len(rows.fields) < 2:
        raise BadInput(
            f"{rows.path} has one text a row, but a pair has two; give a tsv, csv or jsonl with two columns"
        )
    if len(rows.columns) != 2:
        texts = f"{counted(len(rows.columns), 'text')} a row ({', '.join(rows.columns)})"
        raise BadInput(
            f"{rows.path} has {texts}, but a pair has two; name them with --columns, such as --columns "
            f"{','.join((*rows.columns, '...', '...')[:2])}"
        )


def _check_texts(model: Model, rows: Rows, out: Path, on_truncate: OnTruncate) -> None:
    """Say once, before any work, what the output cannot hold and what the model does not read."""
    tables.check_fields(out, ((row.where, row.fields) for row in rows))
    windows = ([row.texts for row in window] for window in rows.windows(_WINDOW))
    model.pair_truncation(windows).report(on_truncate)


@dataclass(frozen=True, slots=True)
class _Result:
    """What stands beside the fields of a row."""

    labels: tuple[str, ...]
    scale: str

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that are added."""
        return ("prediction", *(self.labels if len(self.labels) > 1 else ()), "scale")

    def of(self, values: Any) -> dict[str, Any]:
        """One row's: a number, or the name of the likeliest class and the numbers of all."""
        if len(self.labels) < 2:
            return {"prediction": values, "scale": self.scale}
        best = max(range(len(values)), key=values.__getitem__)
        return {"prediction": self.labels[best], **dict(zip(self.labels, values, strict=True)), "scale": self.scale}


def _result(model: Model, scale: str, rows: Rows) -> _Result:
    result = _Result(getattr(model, "labels", ()), scale)
    for name in result.names:
        if name in rows.fields:
            raise BadInput(f"{rows.path} has a field {name!r} already, where the prediction goes; rename it")
    return result


def _unscored(rows: Rows, result: _Result) -> Iterator[list[Record]]:
    """What will be written, but for the numbers."""
    blank, like = dict.fromkeys(rows.fields), result.of([0.0] * len(result.labels) if len(result.labels) > 1 else 0.0)
    return ([blank | row.fields | like for row in window] for window in rows.windows(_WINDOW))


def _write(model: Model, rows: Rows, result: _Result, out: Path, wanted: Output, types: pa.Schema | None) -> None:
    from sbert.disk.progress import Progress

    blank = dict.fromkeys(rows.fields)
    with tables.table(out, types) as write, Progress(rows.count, "pairs", show=True) as progress:
        for window in rows.windows(_WINDOW):
            values = output.numbers(model.score_pairs([row.texts for row in window], wanted))
            write([blank | row.fields | result.of(value) for row, value in zip(window, values, strict=True)])
            progress.add(len(window))


def _report(rows: Rows, result: _Result, out: Path, seconds: float, json: bool) -> None:
    facts = {
        "rows": rows.count,
        "labels": list(result.labels),
        "scale": result.scale,
        "seconds": round(seconds, 3),
    }
    classes = f", classes {', '.join(result.labels)}" if len(result.labels) > 1 else ""
    show.summary(out, facts, f"{counted(rows.count, 'pair')} in {seconds:.1f} s, scale {result.scale}{classes}", json)
