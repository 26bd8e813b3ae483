"""``sbert verify``: checks the shards that ``sbert embed`` wrote."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sbert.bulk import verify_shards
from sbert.cli import show
from sbert.cli.options import Device, Json
from sbert.errors import SbertError, counted


def verify(
    out: Annotated[str, typer.Argument(metavar="FOLDER", help="Folder or address that sbert embed wrote to.")],
    sample: Annotated[int, typer.Option(min=1, help="Number of rows to embed again.")] = 100,
    seed: Annotated[int, typer.Option(help="Random seed of the sample.")] = 0,
    device: Device = None,
    json: Json = False,
) -> None:
    """Check the shards that sbert embed wrote: counts, digests, and a sample of vectors against the model."""
    found = verify_shards(out, sample, seed, device)
    if json:
        show.as_json(asdict(found))
    for problem in found.problems[:-1]:
        show.note(problem, "red")
    if found.problems:
        raise SbertError(found.problems[-1])
    if not json:
        how = f"{found.equal:,} of {counted(found.compared, 'vector')} equal bit for bit"
        rounding = "" if found.equal == found.compared else f", the others up to {found.difference:.1g}"
        show.note(f"{counted(found.rows, 'row')} in {counted(found.shards, 'shard')} are complete; {how}{rounding}")
