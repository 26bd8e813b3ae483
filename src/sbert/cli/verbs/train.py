"""``sbert train``: a run file, or a few options, in; a trained model out."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from sbert.cli import show
from sbert.cli.options import INTERRUPTED, Json, ModelName
from sbert.errors import BadInput, SbertError, check_value, counted, usage
from sbert.text import display

if TYPE_CHECKING:
    from sbert.train.distributed import Team
    from sbert.train.run.explain import DataFacts, Explanation, TokenFacts
    from sbert.train.run.file import RunFile
    from sbert.train.trainer import Result, Trainer

_LEADER_FIRST_SECONDS = 3.0
_EXAMPLE = '"A man is eating." "Someone has a meal."'


def train(
    run: Annotated[
        Path | None, typer.Argument(metavar="RUN.toml", help="A run file, such as those in recipes/.")
    ] = None,
    model: ModelName = None,
    kind: Annotated[str | None, typer.Option(help="bi, cross or poly; what the model is unless named.")] = None,
    data: Annotated[list[str] | None, typer.Option(help="File to learn from; may be given again.")] = None,
    loss: Annotated[
        str | None, typer.Option(help="softmax, cosine, triplet, info-nce, mse, ...: see docs/losses.md.")
    ] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="The run's folder.")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="How often every row is seen.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Rows in one batch.")] = None,
    learning_rate: Annotated[float | None, typer.Option(min=0, help="The highest.")] = None,
    warmup_ratio: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of the steps over which it rises.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed gives the same weights.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many rows of each file.")] = None,
    split: Annotated[str | None, typer.Option(help="Rows to learn from, in files with a column 'split'.")] = None,
    dev: Annotated[str | None, typer.Option(help="File to measure on: pairs with labels, or triplets.")] = None,
    eval_every: Annotated[
        int | None, typer.Option(min=1, help="Measure every so many steps; else once an epoch.")
    ] = None,
    checkpoint_every: Annotated[
        int | None, typer.Option(min=1, help="Save every so many steps; else once an epoch.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Any setting; may be given again.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the newest checkpoint, if any.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what the run would do, and stop.")] = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write figures for TensorBoard too.")] = False,
    json: Json = False,
) -> None:
    """Train a model on pairs, triplets or labelled texts; options win over the run file, --set over both."""
    if run is None and not (data and output):
        raise typer.BadParameter("name a run file, or at least --data and --output; a bi-encoder also needs --loss")
    flags = {
        "model.name": model,
        "model.kind": kind,
        "data.train": data,
        "data.dev": dev,
        "data.limit": limit,
        "data.split": split,
        "loss.name": loss,
        "train.output_dir": output,
        "train.epochs": epochs,
        "train.batch_size": batch_size,
        "train.learning_rate": learning_rate,
        "train.warmup_ratio": warmup_ratio,
        "train.seed": seed,
        "train.eval_steps": eval_every,
        "train.checkpoint_steps": checkpoint_every,
    }
    from sbert.disk.lock import check_folder
    from sbert.train.distributed import Team

    team = Team.join()
    with _one_voice(team):
        _check(kind, loss)
        described = _describe(run, {key: value for key, value in flags.items() if value is not None}, setting or [])
        check_folder(Path(described.train.output_dir))
        trainer = _assemble(described, tensorboard and team.leads)
        if explain:
            _explain(trainer, team, json)
        else:
            result = _train(trainer, team, resume)
            if team.leads:
                _report(trainer, result, json)


def _check(kind: str | None, loss: str | None) -> None:
    from sbert.losses import OBJECTIVES
    from sbert.types import ModelKind

    if kind is not None:
        check_value("--kind", kind, get_args(ModelKind))
    if loss is not None:
        check_value("--loss", loss, OBJECTIVES)


def _describe(path: Path | None, flags: dict[str, Any], assignments: list[str]) -> RunFile:
    """The file, under the options, under every --set."""
    from sbert.train.run import settings
    from sbert.train.run.file import RunFile

    tables = {} if path is None else settings.read(path)
    own = tables.get("data", {})
    folder = (own.get("folder") if isinstance(own, dict) else None) or os.environ.get("SBERT_DATA")
    if folder:
        tables = settings.put(tables, "data.folder", folder)
        flags = {**flags, **_as_typed(flags)}
    for key, value in flags.items():
        tables = settings.put(tables, key, value)
    with usage():
        tables = reduce(settings.override, assignments, tables)
    with usage() if path is None else nullcontext():  # a file may be wrong itself
        described = RunFile.of(tables)
    _check_typed(described, flags)
    return described


def _as_typed(flags: dict[str, Any]) -> dict[str, Any]:
    """A file that the shell would find is meant, wherever the other data is."""
    found = {key: flags[key] for key in ("data.train", "data.dev") if key in flags}
    return {
        key: [_absolute(path) for path in value] if isinstance(value, list) else _absolute(value)
        for key, value in found.items()
    }


def _absolute(path: str) -> str:
    return str(Path(path).absolute()) if Path(path).is_file() else path


def _check_typed(described: RunFile, flags: dict[str, Any]) -> None:
    """What was typed is looked for in two folders: where it is in neither, both are named."""
    folder = described.data.folder
    if folder is None:  # then there is only one
        return
    typed = [*flags.get("data.train", ()), flags.get("data.dev")]
    for path in (*described.data.train, described.data.dev):
        if path not in typed or not isinstance(path, str):
            continue
        if not any(place.expanduser().is_file() for place in (Path(path), Path(folder, path))):
            raise BadInput(
                f"there is no file {path!r}, neither in the current folder nor in the folder {folder!r}, where data "
                "is looked for; put it there, or name another file"
            )


def _assemble(described: RunFile, tensorboard: bool) -> Trainer:
    from sbert.train.run.file import assemble

    if not tensorboard:
        return assemble(described)
    from sbert.train.callbacks import tensorboard as for_tensorboard

    return assemble(described, [for_tensorboard(Path(described.train.output_dir) / "tensorboard")])


@contextmanager
def _one_voice(team: Team) -> Iterator[None]:
    """Of several processes only the leader speaks."""
    if team.leads:
        yield
        return
    logging.getLogger("sbert").setLevel(logging.CRITICAL)
    try:
        yield
    except SbertError:
        # What is wrong is usually wrong for all: the leader says it, and torchrun then ends the others. Whoever is
        # still there after a while is the only one in trouble.
        time.sleep(_LEADER_FIRST_SECONDS)
        raise


def _train(trainer: Trainer, team: Team, resume: bool) -> Result:
    try:
        return trainer.train(resume, show_progress_bar=True)
    except KeyboardInterrupt:
        if team.leads:
            show.note(_interrupted(trainer))
        raise typer.Exit(INTERRUPTED) from None


def _interrupted(trainer: Trainer) -> str:
    from sbert.train import checkpoint

    saved = checkpoint.steps(trainer.checkpoints)
    so_far = f"interrupted after step {trainer.position.step:,} of {trainer.total_steps:,}"
    if not saved:
        return f"{so_far}, before anything was saved; the same command starts again"
    kept = "which is saved" if saved[0] == trainer.position.step else f"step {saved[0]:,} is saved"
    return f"{so_far}, {kept}; the same command with --resume goes on from there"


def _report(trainer: Trainer, result: Result, json: bool) -> None:
    metric = trainer.metric
    if json:
        show.as_json({**asdict(result), "model": str(result.model), "metric": metric})
        return
    best = "nothing was measured" if metric is None else f"best {metric} {_score(result)}"
    show.line(f"{counted(result.steps, 'step')} in {display.duration(result.seconds)}; {best}")
    show.line(f"model   {result.model}")
    show.line(f"curve   {trainer.folder / 'run.html'}")
    reads_pairs = hasattr(trainer.model, "predict")
    use = f"predict {trainer.folder} pairs.tsv" if reads_pairs else f"similarity -m {trainer.folder} {_EXAMPLE}"
    show.line(f"use it  sbert {use}")


def _score(result: Result) -> str:
    return "none" if result.best_score is None else f"{result.best_score:.2f} after step {result.best_step:,}"


def _explain(trainer: Trainer, team: Team, json: bool) -> None:
    from sbert.train.run.explain import explain

    found = explain(trainer)
    if not team.leads:
        return
    if json:
        show.as_json(asdict(found))
        return
    for facts in found.data:
        _print_data(facts, found.max_seq_length)
    _print_run(found)
    for note in found.notes:
        show.note(f"warning: {note}", "yellow")


def _print_data(facts: DataFacts, max_length: int) -> None:
    skipped = f", {facts.skipped:,} more without a gold label left out" if facts.skipped else ""
    show.line(
        f"{facts.name}: {counted(facts.rows, 'row')} for {facts.loss}{skipped}; duplicate rows {facts.duplicates:,}"
    )
    headings = ("column", "seen as", "tokens", "longest", f"cut at {max_length}", "repeated", "first row")
    rows = [
        (
            column.name,
            column.role,
            *_tokens(column.tokens),
            f"{column.repeated:,}",
            display.one_line(column.first),
        )
        for column in facts.columns
    ]
    show.table(headings, rows)
    read = "" if facts.unit == "texts" else f"; the model reads pairs, {facts.columns[0].name} with each other column"
    show.line(f"(tokens of {f'{facts.sample:,}' if facts.sample < facts.rows else 'all'} rows{read})")
    if facts.label_kind != "none":
        show.line(f"label      {_labels(facts)}; first row {facts.first_label}")
    if facts.negatives is not None:
        show.line(f"negatives  {facts.negatives:,} for each anchor, from its batch")
    show.line()


def _tokens(tokens: TokenFacts | None) -> tuple[str, str, str]:
    return ("", "", "") if tokens is None else (f"{tokens.mean:.1f}", f"{tokens.longest:,}", f"{tokens.truncated:.1%}")


def _labels(facts: DataFacts) -> str:
    if facts.scores is not None:
        least, mean, highest = facts.scores
        return f"scores from {least:.2f} to {highest:.2f}, mean {mean:.2f}"
    parts = [f"{name} {count:,} ({count / facts.rows:.1%})" for name, count in facts.balance.items()]
    return f"{facts.label_kind}: {', '.join(parts)}" if parts else f"{facts.label_kind} of a teacher"


def _print_run(found: Explanation) -> None:
    size = f"{counted(found.epochs, 'epoch')} in batches of {found.batch_size}"
    show.line(f"steps      {found.steps:,} ({size}), the first {found.warmup_steps:,} warm up")
    show.line(f"trained    {found.parameters:,} parameters")
    show.line(f"score      {found.evaluator or 'none: without a dev file the last weights are the result'}")
    seconds = display.duration(found.seconds)
    show.line(f"time       about {seconds} for the steps, going by {found.measured_steps} that were tried")
    if found.peak_memory is not None:
        show.line(f"memory     {found.peak_memory / 2**20:,.0f} MiB so far")
