"""Options and arguments that several subcommands share, each defined and explained once."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from sbert.errors import WrongUsage, shown

INTERRUPTED = 130
"""The exit code that a shell reports for a program that SIGINT ended."""

# Models

_DEFAULT_MODEL = "Model folder, installed model package or Hugging Face name. Defaults to all-MiniLM-L6-v2."
ModelName = Annotated[str | None, typer.Option("--model", "-m", help=_DEFAULT_MODEL)]
ModelArgument = Annotated[str | None, typer.Argument(metavar="MODEL", help=_DEFAULT_MODEL)]
AnyModel = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Model of any kind: a folder, a training run, an installed model package or a Hugging Face name.",
    ),
]
ModelA = Annotated[str, typer.Argument(metavar="A", help="First model, of any kind: a folder or a name.")]
ModelB = Annotated[str, typer.Argument(metavar="B", help="Second model, of any kind: a folder or a name.")]


def _device(name: str | None) -> str | None:
    if name is not None and not re.fullmatch(r"(cpu|cuda|mps|xpu)(:\d+)?", name):
        raise typer.BadParameter(f"--device is {shown(name)}, but must be cpu, cuda, cuda:N or mps")
    return name


Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        callback=_device,
        help="Device to run on, such as cpu, cuda or cuda:1. Defaults to a GPU if there is one, else cpu.",
    ),
]

# Input

TextFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="File of texts: txt, tsv, csv, jsonl, json (or .gz) or parquet; - is standard input."
    ),
]

Collection = Annotated[
    str,
    typer.Argument(metavar="SOURCE", help="File of texts (- is standard input), or a store that sbert index wrote."),
]


def checked_query(text: str | None) -> str | None:
    """Refuse an empty query, whose hits mean nothing."""
    if text is not None and not text.strip():
        raise typer.BadParameter("the query is empty, but must be a text")
    return text


Query = Annotated[str, typer.Argument(metavar="QUERY", callback=checked_query, help="Text to look for.")]
Column = Annotated[
    str | None,
    typer.Option("--column", help="Field that holds the texts. Defaults to 'text', 'sentence' or the only field."),
]
Columns = Annotated[
    str | None,
    typer.Option("--columns", help="Fields that hold the texts, such as a,b. Defaults to their usual names."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="Input format: txt, tsv, csv, jsonl, json, parquet. Defaults to that of the suffix."
    ),
]
DataFolder = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Folder of the test data. Defaults to the variable SBERT_DATA."),
]
SuiteName = Annotated[
    str | None,
    typer.Option(
        "--suite", help="sts, korean, nli, senteval, arguments, sections, retrieval, or all of them. Defaults to sts."
    ),
]
PairsFile = Annotated[
    Path | None,
    typer.Option(
        "--pairs", metavar="FILE", help="File of your own pairs with scores or labels, or triplets, to measure on."
    ),
]
LabelColumn = Annotated[
    str | None, typer.Option("--label", help="Field of --pairs that holds the labels. Defaults to its usual names.")
]
Split = Annotated[
    str | None, typer.Option("--split", help="Rows of --pairs to use, by its field 'split'. Defaults to all rows.")
]

StoreOption = Annotated[
    str, typer.Option("--store", help="Store to write to: an SQLite file such as faq.db, or postgresql://...")
]

# Output

TopK = Annotated[int, typer.Option("-k", min=1, help="Number of texts to show.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
HtmlReport = Annotated[
    Path | None, typer.Option("--report", metavar="OUT.html", help="Also write the results as an HTML page.")
]

RowsOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write every row with its result: .tsv, .csv, .jsonl or .parquet."),
]
MapPage = Annotated[Path | None, typer.Option("--plot", metavar="MAP.html", help="Also draw a map of the texts.")]


def names(columns: str | None) -> list[str] | None:
    """Split the value of ``--columns`` at its commas."""
    if not columns:
        return None
    named = [name.strip() for name in columns.split(",")]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise WrongUsage(f"--columns names {twice!r} twice, but each text has a field of its own; name it once")
    return named


def data_folder(named: Path | None) -> Path:
    """Return the folder that ``--data`` or the variable SBERT_DATA names."""
    folder = named or os.environ.get("SBERT_DATA")
    if not folder:
        raise WrongUsage("no folder of test data is named; give --data DIR, or set SBERT_DATA")
    return Path(folder)
