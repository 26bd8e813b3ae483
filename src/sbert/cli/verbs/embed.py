"""``sbert embed``: embeds files of any size into parquet shards; the same command resumes an interrupted job."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, cast

import typer

from sbert.bulk import Running, Settings, embed_files
from sbert.bulk.job import Engine, OnBadRow
from sbert.cli import show
from sbert.cli.groups import grouped
from sbert.cli.options import Column, Device, Format, Json, ModelName, names
from sbert.errors import counted
from sbert.text import display
from sbert.types import OnTruncate, Precision


def _settings(
    column: Column = None,
    id: Annotated[
        str | None, typer.Option("--id", help="Field with the id of each text. Defaults to the number of the row.")
    ] = None,
    keep: Annotated[str | None, typer.Option(help="Further fields to write, such as lang,year.")] = None,
    kind: Format = None,
    rows_per_shard: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of rows in a shard. Defaults to 1,024 to 65,536.")
    ] = None,
    precision: Annotated[str, typer.Option(help="float32, float16, int8, uint8, binary, ubinary.")] = "float32",
    normalize_embeddings: Annotated[bool, typer.Option("--normalize", help="Scale vectors to unit length.")] = False,
    truncate_dim: Annotated[int | None, typer.Option(min=1, help="Number of leading dimensions to keep.")] = None,
    prompt_name: Annotated[str | None, typer.Option(help="Name of a prompt of the model to prepend.")] = None,
    prompt: Annotated[str | None, typer.Option(help="Text to prepend to every text.")] = None,
    on_truncate: Annotated[
        str, typer.Option(help="For texts that are too long: warn, raise, ignore, chunk.")
    ] = "warn",
    max_seq_length: Annotated[int | None, typer.Option(min=1, help="Maximum number of tokens per text.")] = None,
    on_bad_row: Annotated[
        str, typer.Option(help="For rows without a text: skip (write them to rejected.jsonl), fail.")
    ] = "skip",
) -> Settings:
    return Settings(
        column=column,
        id=id,
        keep=tuple(names(keep) or ()),
        format=kind,
        rows_per_shard=rows_per_shard,
        precision=cast(Precision, precision),
        normalize_embeddings=normalize_embeddings,
        truncate_dim=truncate_dim,
        prompt_name=prompt_name,
        prompt=prompt,
        on_truncate=cast(OnTruncate, on_truncate),
        max_seq_length=max_seq_length,
        on_bad_row=cast(OnBadRow, on_bad_row),
    )


def _running(
    workers: Annotated[int, typer.Option(min=1, help="Number of processes, or of Ray actors.")] = 1,
    engine: Annotated[str, typer.Option(help="local, or ray.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster, or auto. Defaults to a new one on this machine.")
    ] = None,
    device: Device = None,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Tokens per batch; affects speed and memory only.")] = 2048,
    timeout: Annotated[float, typer.Option(help="Time limit of a worker in seconds for 4,096 texts.")] = 600.0,
    dedupe: Annotated[
        bool, typer.Option("--dedupe", help="Embed texts that occur in several shards once; needs space on the disk.")
    ] = False,
) -> Running:
    return Running(
        workers=workers,
        engine=cast(Engine, engine),
        address=address,
        device=device,
        batch_tokens=batch_tokens,
        timeout=timeout,
        dedupe=dedupe,
    )


def _embed(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="IN", help="Files, patterns or addresses (s3://...): parquet, csv, tsv, jsonl, txt; - is stdin."
        ),
    ],
    out: Annotated[str, typer.Option("--output", "-o", help="Folder to write to, or an address such as s3://...")],
    settings: Settings,
    running: Running,
    model: ModelName = None,
    force: Annotated[
        bool, typer.Option("--force", help="Remove the output of another job from the folder, and start over.")
    ] = False,
    json: Json = False,
) -> None:
    """Embed files of any size into parquet shards; the same command resumes an interrupted job.

    Example: sbert embed texts/*.jsonl.gz -o vectors --column text --id number --workers 4
    """
    if running.engine == "ray":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # otherwise a new cluster sends usage statistics
    start = time.perf_counter()
    done = embed_files(
        inputs, out, model=model, settings=settings, running=running, force=force, show_progress_bar=True
    )
    seconds = time.perf_counter() - start
    tokens, truncated = sum(shard.tokens for shard in done.shards), sum(shard.truncated for shard in done.shards)
    facts: dict[str, object] = {
        "rows": done.rows,
        "rejected": done.rejected,
        "shards": len(done.shards),
        "tokens": tokens,
        "truncated": truncated,
        "dimension": done.dimension,
        "precision": done.settings.precision,
        "seconds": round(seconds, 3),
    }
    what = f"{counted(done.rows, 'row')} x {done.dimension} {done.settings.precision}"
    show.summary(
        Path(out), facts, f"{what} in {counted(len(done.shards), 'shard')}, {display.duration(seconds)}", json
    )


_embed.__name__ = "embed"
embed = grouped(_embed, settings=_settings, running=_running)
