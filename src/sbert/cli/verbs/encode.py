"""``sbert encode``: a file of texts in, a file of vectors out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.options import Column, Format, Json, ModelName
from sbert.data import texts as files
from sbert.data import vectors as output
from sbert.data import writers as tables
from sbert.errors import BadInput, NotCalibrated, WrongUsage, check_value, counted

if TYPE_CHECKING:
    from sbert.models.bi import BiEncoder
    from sbert.types import Array, EncodeOptions, OnTruncate, Precision

_CALIBRATED = ("int8", "uint8")


def encode(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="txt, tsv, csv, jsonl (or .gz), parquet; - reads stdin.")
    ],
    out: Annotated[Path, typer.Option("--output", "-o", help=".npy, .parquet or .jsonl; - writes jsonl to stdout.")],
    model: ModelName = None,
    column: Column = None,
    kind: Format = None,
    prompt_name: Annotated[str | None, typer.Option(help="One of the model's prompts, put before every text.")] = None,
    prompt: Annotated[str | None, typer.Option(help="A prompt in so many words.")] = None,
    normalize: Annotated[bool, typer.Option("--normalize", help="Every vector to length one.")] = False,
    truncate_dim: Annotated[int | None, typer.Option(min=1, help="Keep only the first so many dimensions.")] = None,
    precision: Annotated[str, typer.Option(help="float32, float16, int8, uint8, binary, ubinary.")] = "float32",
    calibrate: Annotated[bool, typer.Option("--calibrate", help="int8, uint8: learn the ranges from IN.")] = False,
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Tokens in one pass; changes speed and memory only.")
    ] = 2048,
    on_truncate: Annotated[str, typer.Option(help="Texts too long: warn, raise, ignore, chunk.")] = "warn",
    max_seq_length: Annotated[int | None, typer.Option(min=1, help="Cut texts at so many tokens.")] = None,
    json: Json = False,
) -> None:
    """Embed every text of a file; row i of the output belongs to row i of the input."""
    _check(source, out, precision, on_truncate, calibrate)
    rows = files.read(source, column, kind)
    beside = out.suffix.lower() != ".npy"
    if beside and "embedding" in rows.columns:
        raise BadInput(f"{source} has a field 'embedding' already; rename it, or write .npy")
    if beside:
        tables.check_fields(out, ((f"{source}, row {row}", record) for row, record in enumerate(rows.records())))
    if out.suffix.lower() == ".parquet":
        files.check_parquet(rows.table().schema)  # fields that make no table are an error now, not after the work

    from sbert.models.bi import BiEncoder

    encoder = BiEncoder.from_pretrained(model, max_seq_length=max_seq_length)
    options: EncodeOptions = {
        "prompt_name": prompt_name,
        "prompt": prompt,
        "normalize_embeddings": normalize,
        "truncate_dim": truncate_dim,
        "batch_tokens": batch_tokens,
        "on_truncate": cast("OnTruncate", on_truncate),
        "precision": cast("Precision", precision),
    }
    start = time.perf_counter()
    vectors = _vectors(encoder, rows.texts, options, calibrate)
    seconds = time.perf_counter() - start
    output.write_vectors(out, rows, vectors)
    _report(out, vectors, seconds, json)


def _check(source: str, out: Path, precision: str, on_truncate: str, calibrate: bool) -> None:
    from sbert.types import OnTruncate, Precision

    check_value("--precision", precision, get_args(Precision))
    check_value("--on-truncate", on_truncate, get_args(OnTruncate))
    if calibrate and precision not in _CALIBRATED:
        raise WrongUsage(f"--calibrate is for int8 and uint8, but --precision is {precision}; leave it out")
    if out != output.STANDARD_OUTPUT:
        output.check_output(out, output.VECTOR_SUFFIXES)
        output.check_other(out, source)


def _vectors(encoder: BiEncoder, texts: list[str], options: EncodeOptions, calibrate: bool) -> Array:
    precision = options["precision"]
    if precision in _CALIBRATED and not calibrate and encoder.ranges is None:
        raise NotCalibrated(
            f"--precision {precision} needs the model's value ranges, which it does not have; "
            "add --calibrate to learn them from this input, or choose float16 or binary"
        )
    if calibrate:
        options = {**options, "precision": "float32"}
    trial: EncodeOptions = {**options, "on_truncate": "ignore"}
    encoder.encode("", **trial)  # an option the model refuses shows now, not after the work
    options = {**options, "show_progress_bar": True}
    vectors = encoder.encode(texts, **options)
    if not calibrate:
        return vectors
    from sbert.nn.quantize import quantize, ranges_of

    learned = f"{precision}: ranges learned from this input ({counted(len(texts), 'text')})"
    show.note(f"{learned}; compare only with vectors made with them")
    return quantize(vectors, precision, ranges_of(vectors))


def _report(out: Path, vectors: Array, seconds: float, json: bool) -> None:
    count, dimension = vectors.shape
    facts = {"rows": count, "dimension": dimension, "type": str(vectors.dtype), "seconds": round(seconds, 3)}
    show.summary(out, facts, f"{count:,} x {dimension} {vectors.dtype} in {seconds:.1f} s", json)
