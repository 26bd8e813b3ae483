"""The options that several verbs share, so that they are spelt and explained once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sbert.errors import BadInput, WrongUsage

ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", help="Folder, installed model package or hub name; the embedded model unless named."
    ),
]
ModelArgument = Annotated[
    str | None,
    typer.Argument(metavar="[MODEL]", help="Folder, installed model package or hub name; else the embedded model."),
]
AnyModel = Annotated[
    str, typer.Argument(metavar="MODEL", help="Of any kind: a folder, a run, an installed package or a hub name.")
]
Columns = Annotated[
    str | None, typer.Option(help="Fields that hold the texts, such as a,b; their usual names unless named.")
]


def names(columns: str | None) -> list[str] | None:
    """What ``--columns`` names, blanks around the commas or not."""
    if not columns:
        return None
    named = [name.strip() for name in columns.split(",")]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise WrongUsage(f"--columns names {twice!r} twice, but each text has a field of its own; name it once")
    return named


TextFile = Annotated[str, typer.Argument(metavar="FILE", help="txt, tsv, csv, jsonl (or .gz), parquet; - is stdin.")]
Column = Annotated[
    str | None,
    typer.Option(help="Field that holds the texts; 'text', 'sentence' or the only one unless named."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="Format of the input, whatever its suffix: txt, tsv, csv, jsonl, parquet."),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
DataFolder = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Folder of the test data; the variable SBERT_DATA unless named."),
]
SuiteName = Annotated[
    str | None,
    typer.Option(help="sts (unless named), korean, nli, senteval, arguments, sections, retrieval, or all of them."),
]
HtmlReport = Annotated[Path | None, typer.Option("--report", metavar="OUT.html", help="A page with pictures, too.")]

INTERRUPTED = 130
"""The exit code that a shell reports of a program that SIGINT ended."""


def data_folder(named: Path | None) -> Path:
    """The folder that an option or the environment names."""
    folder = named or os.environ.get("SBERT_DATA")
    if not folder:
        raise BadInput("no folder of test data is named: say --data DIR, or set SBERT_DATA")
    return Path(folder)
