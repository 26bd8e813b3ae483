"""``sbert predict``: scores or classes for every pair of texts in a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.options import AnyModel, Columns, Device, Format, Json, names
from sbert.data import writers
from sbert.data.rows import Rows, scan
from sbert.disk.progress import Progress
from sbert.errors import BadInput, WrongUsage, check_value, counted
from sbert.models.load import Model, load
from sbert.types import OnTruncateWhole, Output

if TYPE_CHECKING:
    import pyarrow as pa

_WINDOW = 1024
"""Rows that are read, scored and written together."""


def predict(
    model: AnyModel,
    source: Annotated[
        str, typer.Argument(metavar="PAIRS", help="tsv, csv, jsonl, json (or .gz), parquet; - reads standard input.")
    ],
    out: Annotated[
        Path,
        typer.Option("--output", "-o", help=".tsv, .csv, .jsonl or .parquet. Defaults to jsonl on standard output."),
    ] = writers.STANDARD_OUTPUT,
    columns: Columns = None,
    kind: Format = None,
    as_: Annotated[
        str, typer.Option("--as", help="score (on the scale of the model), logit or probability.")
    ] = "score",
    on_truncate: Annotated[str, typer.Option(help="For pairs that are too long: warn, raise, ignore.")] = "warn",
    device: Device = None,
    json: Json = False,
) -> None:
    """Score or classify every pair of texts; row i of the output belongs to row i of the input.

    Example: sbert predict runs/cross-stsb pairs.tsv -o scores.tsv
    """
    check_value("--as", as_, get_args(Output))
    check_value("--on-truncate", on_truncate, get_args(OnTruncateWhole))
    writers.check_output(out, writers.TABLE_SUFFIXES, source, standard_output=True)
    rows = scan(source, names(columns), kind)
    _check_pairs(rows)
    writers.check_fields(out, rows)
    scorer = load(model, device=device)
    output = cast(Output, as_)
    result = _result(scorer, output, rows)
    types = writers.types_of(out, rows, _WINDOW, result.example)
    windows = ([row.texts for row in window] for window in rows.windows(_WINDOW))
    scorer.pair_truncation(windows).report(cast(OnTruncateWhole, on_truncate))
    start = time.perf_counter()
    _write(scorer, rows, result, out, output, types)
    seconds = time.perf_counter() - start
    facts = {"rows": rows.count, "labels": list(result.labels), "scale": result.scale, "seconds": round(seconds, 3)}
    classes = f", classes {', '.join(result.labels)}" if len(result.labels) > 1 else ""
    sentence = f"{counted(rows.count, 'pair')} in {seconds:.1f} s, scale {result.scale}{classes}"
    show.summary(out, facts, sentence, json)


def _check_pairs(rows: Rows) -> None:
    name = rows.source.name
    if len(rows.fields) < 2:
        raise BadInput(f"{name} has one text a row, but a pair has two; give a tsv, csv or jsonl with two columns")
    if len(rows.columns) != 2:
        texts = f"{counted(len(rows.columns), 'text')} a row ({', '.join(rows.columns)})"
        raise BadInput(
            f"{name} has {texts}, but a pair has two; name them with --columns, such as --columns "
            f"{','.join((*rows.columns, '...', '...')[:2])}"
        )


class _Result(NamedTuple):
    """The fields that are added to every row."""

    labels: tuple[str, ...]
    scale: str

    def of(self, values: Any) -> dict[str, Any]:
        """Return the added fields of one row: a score, or the likeliest class and the scores of all classes."""
        if len(self.labels) < 2:
            return {"prediction": values, "scale": self.scale}
        best = max(range(len(values)), key=values.__getitem__)
        return {"prediction": self.labels[best], **dict(zip(self.labels, values, strict=True)), "scale": self.scale}

    @property
    def example(self) -> dict[str, Any]:
        """The added fields of a row whose scores are zero."""
        return self.of([0.0] * len(self.labels) if len(self.labels) > 1 else 0.0)


def _result(model: Model, output: Output, rows: Rows) -> _Result:
    try:
        scale = model.pair_scale(output)
    except BadInput as error:
        raise WrongUsage(f"{str(error).replace('output', '--as', 1)}; leave --as out") from None
    result = _Result(getattr(model, "labels", ()), scale)
    for name in result.example:
        if name in rows.fields:
            raise BadInput(
                f"{rows.source.name} has a field {name!r} already, where the prediction would be written; rename it"
            )
    return result


def _write(model: Model, rows: Rows, result: _Result, out: Path, output: Output, types: pa.Schema | None) -> None:
    blank = dict.fromkeys(rows.fields)
    with writers.open_table(out, types) as write, Progress(rows.count, "pairs", show=True) as progress:
        for window in rows.windows(_WINDOW):
            values = writers.numbers(model.score_pairs([row.texts for row in window], output))
            write([blank | row.fields | result.of(value) for row, value in zip(window, values, strict=True)])
            progress.add(len(window))
