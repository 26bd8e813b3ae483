"""``sbert encode``: a file of texts in, a file of vectors out."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, cast, get_args

import numpy as np
import typer

from sbert.cli import show
from sbert.cli.embeddings import MODEL, check_free, signature
from sbert.cli.options import Column, Device, Format, Json, ModelName
from sbert.data.rows import Row, Rows, scan
from sbert.data.writers import VECTOR_SUFFIXES, check_fields, check_output, open_vectors, types_of
from sbert.disk.progress import Progress
from sbert.errors import NotCalibrated, WrongUsage, check_value, counted
from sbert.models.bi import BiEncoder
from sbert.models.prompts import choose_prompt
from sbert.nn.quantize import quantize, ranges_of
from sbert.text import Truncation
from sbert.types import Array, EncodeOptions, FloatArray, OnTruncate, Precision

Windows = Iterator[tuple[list[Row], Array]]

_OPTIONS = EncodeOptions.__annotations__.keys()
"""The parameters of the command that are options of ``BiEncoder.encode``, under the same names."""
_CALIBRATED = ("int8", "uint8")
_WINDOW = 1024
"""Rows that are read, embedded and written together."""


def encode(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="txt, tsv, csv, jsonl, json (or .gz), parquet; - reads standard input.")
    ],
    out: Annotated[
        Path, typer.Option("--output", "-o", help=".npy, .parquet or .jsonl; - writes jsonl to standard output.")
    ],
    model: ModelName = None,
    column: Column = None,
    kind: Format = None,
    prompt_name: Annotated[str | None, typer.Option(help="Name of a prompt of the model to prepend.")] = None,
    prompt: Annotated[str | None, typer.Option(help="Text to prepend to every text.")] = None,
    normalize_embeddings: Annotated[bool, typer.Option("--normalize", help="Scale vectors to unit length.")] = False,
    truncate_dim: Annotated[int | None, typer.Option(min=1, help="Number of leading dimensions to keep.")] = None,
    precision: Annotated[str, typer.Option(help="float32, float16, int8, uint8, binary, ubinary.")] = "float32",
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="int8, uint8: learn the value ranges from IN in a first pass.")
    ] = False,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Tokens per batch; affects speed and memory only.")] = 2048,
    on_truncate: Annotated[
        str, typer.Option(help="For texts that are too long: warn, raise, ignore, chunk.")
    ] = "warn",
    max_seq_length: Annotated[int | None, typer.Option(min=1, help="Maximum number of tokens per text.")] = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Embed every text of a file; row i of the output belongs to row i of the input."""
    options = cast(EncodeOptions, {name: value for name, value in locals().items() if name in _OPTIONS})
    _check(out, source, options, calibrate)
    rows = scan(source, None if column is None else [column], kind, one_text=True)
    if out.suffix.lower() != ".npy":
        check_free(rows)
        check_fields(out, rows)
    types = types_of(out, rows, _WINDOW, {MODEL: ""})
    encoder = BiEncoder.from_pretrained(model, device=device)
    added = {MODEL: signature(model, encoder)}  # of the model as it is loaded by default
    if max_seq_length is not None:
        encoder.max_seq_length = max_seq_length
    start = time.perf_counter()
    _check_model(encoder, options, calibrate)
    _report_truncation(encoder, rows, options)
    windows = (_calibrated if calibrate else _embedded)(encoder, rows, options)
    with open_vectors(out, rows.count, types) as write:
        for window, vectors in windows:
            write([{**row.fields, **added} for row in window], vectors)
    seconds, dimension, kind = time.perf_counter() - start, vectors.shape[1], str(vectors.dtype)
    facts = {"rows": rows.count, "dimension": dimension, "type": kind, "seconds": round(seconds, 3)}
    show.summary(out, facts, f"{rows.count:,} x {dimension} {kind} in {seconds:.1f} s", json)


def _check(out: Path, source: str, options: EncodeOptions, calibrate: bool) -> None:
    check_value("--precision", options["precision"], get_args(Precision))
    check_value("--on-truncate", options["on_truncate"], get_args(OnTruncate))
    if calibrate and options["precision"] not in _CALIBRATED:
        raise WrongUsage(f"--calibrate is for int8 and uint8, but --precision is {options['precision']}; leave it out")
    check_output(out, VECTOR_SUFFIXES, source, standard_output=True)


def _check_model(encoder: BiEncoder, options: EncodeOptions, calibrate: bool) -> None:
    """Find out before any work whether the model refuses an option."""
    precision = options["precision"]
    if precision in _CALIBRATED and not calibrate and encoder.ranges is None:
        raise NotCalibrated(
            f"--precision {precision} needs the model's value ranges, which it does not have; "
            "add --calibrate to learn them from this input, or choose float16 or binary"
        )
    trial: EncodeOptions = {**options, "on_truncate": "ignore"}
    encoder.encode("", **(trial | {"precision": "float32"} if calibrate else trial))


def _report_truncation(encoder: BiEncoder, rows: Rows, options: EncodeOptions) -> None:
    """Count the texts that are too long once, before any work, instead of window by window."""
    if options["on_truncate"] not in ("warn", "raise"):
        return
    prompt = choose_prompt(encoder.prompts, options["prompt_name"] or encoder.default_prompt_name, options["prompt"])
    texts = ([row.texts[0] for row in window] for window in rows.windows(_WINDOW))
    Truncation.total(encoder.tokenize(window, prompt).truncation for window in texts).report(options["on_truncate"])


def _embedded(encoder: BiEncoder, rows: Rows, options: EncodeOptions) -> Windows:
    """Yield windows of rows with their vectors."""
    if options["on_truncate"] != "chunk":
        options = {**options, "on_truncate": "ignore"}
    with Progress(rows.count, "rows", show=True) as progress:
        for window in rows.windows(_WINDOW):
            yield window, encoder.encode([row.texts[0] for row in window], **options)
            progress.add(len(window))


def _calibrated(encoder: BiEncoder, rows: Rows, options: EncodeOptions) -> Windows:
    """Yield windows of rows with vectors quantized by the ranges of all vectors, which are kept on the disk."""
    show.note("--calibrate: the first pass embeds the texts and learns the ranges, the second writes the vectors")
    ranges: FloatArray | None = None
    with tempfile.TemporaryFile() as kept:
        for _, vectors in _embedded(encoder, rows, {**options, "precision": "float32"}):
            kept.write(vectors.data)
            ranges = ranges_of(vectors if ranges is None else np.concatenate([ranges, vectors]))
        learned = f"{options['precision']}: ranges learned from this input ({counted(rows.count, 'text')})"
        show.note(f"{learned}; compare only with vectors made with them")
        kept.seek(0)
        size = vectors[0].nbytes
        for window in rows.windows(_WINDOW):
            part = np.frombuffer(kept.read(size * len(window)), np.float32).reshape(len(window), -1)  # (N, D)
            yield window, quantize(part, options["precision"], ranges)
