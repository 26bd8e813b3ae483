"""The options that several verbs share, so that they are spelt and explained once."""

from __future__ import annotations

from typing import Annotated

import typer

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
Column = Annotated[
    str | None,
    typer.Option(help="Field that holds the texts; 'text', 'sentence' or the only one unless named."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="Format of the input, whatever its suffix: txt, tsv, csv, jsonl, parquet."),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
