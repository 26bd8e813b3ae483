"""``sbert train``: a run file, or a few options, in; a trained model out."""

from __future__ import annotations

import inspect
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from sbert.cli import show
from sbert.cli.options import INTERRUPTED, Columns, Device, Json, ModelName, names
from sbert.disk.files import check_folder
from sbert.errors import BadInput, SbertError, WrongUsage, check_value, counted, usage
from sbert.losses.objectives import check_name
from sbert.text import display
from sbert.train import checkpoint
from sbert.train.callbacks import tensorboard as tensorboard_callback
from sbert.train.distributed import Team
from sbert.train.run import settings
from sbert.train.run.build import assemble
from sbert.train.run.explain import DataFacts, Explanation
from sbert.train.run.explain import explain as explain_run
from sbert.train.run.file import RunFile
from sbert.train.trainer import Result, Trainer
from sbert.types import ModelKind

_LEADER_FIRST_SECONDS = 10.0
_EXAMPLE = '"A man is eating." "Someone has a meal."'


def _option(kind: Any, help: str, *names: str, min: int | None = None, max: int | None = None) -> Any:
    return Annotated[kind, typer.Option(*names, help=help, min=min, max=max)]


_SHORTCUTS: dict[str, tuple[str, Any]] = {
    "model": ("model.name", ModelName),
    "kind": ("model.kind", _option(str | None, "bi, cross or poly. Defaults to the kind of the model.")),
    "data": ("data.train", _option(list[str] | None, "File to train on; may be repeated.")),
    "loss": ("loss.name", _option(str | None, "softmax, cosine, triplet, info-nce, mse, ...: see docs/losses.md.")),
    "output": ("train.output_dir", _option(str | None, "Folder of the run.", "--output", "-o")),
    "epochs": ("train.epochs", _option(int | None, "Number of passes over the data.", min=1)),
    "batch_size": ("train.batch_size", _option(int | None, "Number of rows in a batch.", min=1)),
    "learning_rate": ("train.learning_rate", _option(float | None, "Peak learning rate.", min=0)),
    "warmup_ratio": ("train.warmup_ratio", _option(float | None, "Fraction of warm-up steps.", min=0, max=1)),
    "seed": ("train.seed", _option(int | None, "Random seed; the same seed gives the same weights.", min=0)),
    "columns": ("data.columns", Columns),
    "label": ("data.label", _option(str | None, "Field that holds the labels. Defaults to its usual names.")),
    "limit": ("data.limit", _option(int | None, "Maximum number of rows of each training file.", min=1)),
    "split": ("data.split", _option(str | None, "Rows to train on, by their value in the column 'split'.")),
    "dev": ("data.dev", _option(str | None, "File to evaluate on: pairs with labels, or triplets.")),
    "dev_split": ("data.dev_split", _option(str | None, "Rows of --dev to evaluate on. Defaults to dev.")),
    "eval_every": ("train.eval_steps", _option(int | None, "Steps between evaluations. Defaults to an epoch.", min=1)),
    "checkpoint_every": (
        "train.checkpoint_steps",
        _option(int | None, "Steps between checkpoints. Defaults to an epoch.", min=1),
    ),
    "device": ("model.device", Device),
}
"""The options that set a key of the run file: the key, and the type and help of the option."""


def _with_shortcuts(verb: Callable[..., None]) -> Callable[..., None]:
    """Add the options of ``_SHORTCUTS`` to the signature of ``verb``, after its first argument."""
    first, *rest = inspect.signature(verb, eval_str=True).parameters.values()
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, (_, kind) in _SHORTCUTS.items()
    ]
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in rest[:-1]]
    verb.__signature__ = inspect.Signature([first, *options, *own])  # type: ignore[attr-defined]
    return verb


@_with_shortcuts
def train(
    run: Annotated[Path | None, typer.Argument(metavar="RUN.toml", help="Run file, as in recipes/.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Any setting; may be repeated.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the newest checkpoint, if any.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what the run would do, and stop.")] = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Also write metrics for TensorBoard.")] = False,
    json: Json = False,
    **shortcuts: Any,
) -> None:
    """Train a model on pairs, triplets or labelled texts; options win over the run file, --set over both."""
    if run is None and not (shortcuts["data"] and shortcuts["output"]):
        raise WrongUsage("name a run file, or at least --data and --output; a bi-encoder also needs --loss")
    team = Team.join()
    with _only_leader_speaks(team):
        if shortcuts["kind"] is not None:
            check_value("--kind", shortcuts["kind"], get_args(ModelKind))
        if shortcuts["loss"] is not None:
            with usage():
                check_name("--loss", shortcuts["loss"], shortcuts["kind"] or "bi")
        shortcuts["columns"] = names(shortcuts["columns"])
        given = {_SHORTCUTS[name][0]: value for name, value in shortcuts.items() if value is not None}
        described = _describe(run, given, setting or [])
        folder = Path(described.train.output_dir)
        check_folder(folder)
        callbacks = [tensorboard_callback(folder / "tensorboard")] if tensorboard and team.leads else []
        trainer = assemble(described, callbacks)
        if explain:
            explanation = explain_run(trainer)
            if team.leads:
                _print_explanation(explanation, json)
        else:
            result = _train(trainer, team, resume)
            if team.leads:
                _report(trainer, result, json)


@contextmanager
def _only_leader_speaks(team: Team) -> Iterator[None]:
    if team.leads:
        yield
        return
    logging.getLogger("sbert").setLevel(logging.CRITICAL)
    try:
        yield
    except SbertError:
        # Most errors occur in all processes: the leader reports them, and torchrun then ends the others. A process
        # that still runs after a while is the only one with the error.
        time.sleep(_LEADER_FIRST_SECONDS)
        raise


# The description of the run


def _describe(path: Path | None, given: dict[str, Any], assignments: list[str]) -> RunFile:
    """Combine the run file with the options, which win over it, and every --set, which wins over both."""
    tables = {} if path is None else settings.read(path)
    data = tables.get("data", {})
    folder = (data.get("folder") if isinstance(data, dict) else None) or os.environ.get("SBERT_DATA")
    if folder:
        tables = settings.put(tables, "data.folder", folder)
        given = {key: _as_typed(value) if key in ("data.train", "data.dev") else value for key, value in given.items()}
    for key, value in given.items():
        tables = settings.put(tables, key, value)
    with usage():
        tables = reduce(settings.override, assignments, tables)
    try:
        described = RunFile.of(tables)
    except BadInput as error:
        typed = [*given, *(assignment.partition("=")[0].strip() for assignment in assignments)]
        about = tuple(f"{name} is " for key in typed for name in (key, key.rpartition(".")[2]))
        if path is None or str(error).startswith(about):  # without a file, only the command line can be wrong
            raise WrongUsage(str(error)) from None
        raise
    _check_typed(described, given)
    return described


def _as_typed(files: Any) -> Any:
    """Make paths that exist as they were typed absolute, so that they are not looked up in the data folder."""
    if isinstance(files, list):
        return [_as_typed(file) for file in files]
    return str(Path(files).absolute()) if Path(files).is_file() else files


def _check_typed(described: RunFile, given: dict[str, Any]) -> None:
    """Raise BadInput if a typed file is neither in the current folder nor in the data folder."""
    folder = described.data.folder
    typed = [*given.get("data.train", ()), given.get("data.dev")]
    for path in (*described.data.train, described.data.dev):
        if folder is None or not isinstance(path, str) or path not in typed:
            continue
        if not any(place.expanduser().is_file() for place in (Path(path), Path(folder, path))):
            raise BadInput(
                f"there is no file {path!r}, neither in the current folder nor in the data folder {folder!r}; put it "
                "there, or name another file"
            )


# Training


def _train(trainer: Trainer, team: Team, resume: bool) -> Result:
    try:
        return trainer.train(resume, show_progress_bar=True)
    except KeyboardInterrupt:
        step, saved = trainer.position.step, checkpoint.steps(trainer.checkpoints)
        if not saved:
            rest = "before anything was saved; the same command starts again"
        else:
            kept = "which is saved" if saved[0] == step else f"step {saved[0]:,} is saved"
            rest = f"{kept}; continue with the same command and --resume"
        if team.leads:
            show.note(f"interrupted after step {step:,} of {trainer.total_steps:,}, {rest}")
        raise typer.Exit(INTERRUPTED) from None


def _report(trainer: Trainer, result: Result, json: bool) -> None:
    metric = trainer.metric
    if json:
        show.as_json({**asdict(result), "model": str(result.model), "metric": metric})
        return
    score = "none" if result.best_score is None else f"{result.best_score:.2f} after step {result.best_step:,}"
    best = "nothing was evaluated" if metric is None else f"best {metric} {score}"
    steps, before = counted(result.steps, "step"), result.steps_before
    if before == result.steps:
        show.line(f"the run in {trainer.folder} is complete ({steps}); nothing to do")
    else:
        part = f", the last {result.steps - before:,}" if before else ""
        show.line(f"{steps}{part} in {display.duration(result.seconds)}; {best}")
    show.line(f"model   {result.model}")
    show.line(f"curve   {trainer.folder / 'run.html'}")
    reads_pairs = hasattr(trainer.model, "predict")
    use = f"predict {trainer.folder} pairs.tsv" if reads_pairs else f"similarity -m {trainer.folder} {_EXAMPLE}"
    show.line(f"use it  sbert {use}")


# Explanation


def _print_explanation(found: Explanation, json: bool) -> None:
    if json:
        show.as_json(asdict(found))
        return
    for facts in found.data:
        _print_data(facts, found.max_seq_length)
    size = f"{counted(found.epochs, 'epoch')} in batches of {found.batch_size}"
    seconds, measured = display.duration(found.seconds), counted(found.measured_steps, "step")
    show.line(f"steps      {found.steps:,} ({size}), with a warm-up of {counted(found.warmup_steps, 'step')}")
    show.line(f"trained    {found.parameters:,} parameters")
    show.line(f"metric     {found.evaluator or 'none: without a dev file the last weights are the result'}")
    show.line(f"time       about {seconds}, estimated from {measured}")
    if found.peak_memory is not None:
        show.line(f"memory     {found.peak_memory / 2**20:,.0f} MiB so far")
    for note in found.notes:
        show.note(f"warning: {note}", "yellow")


def _print_data(facts: DataFacts, max_length: int) -> None:
    skipped = f", {facts.skipped:,} more without a gold label skipped" if facts.skipped else ""
    show.line(
        f"{facts.name}: {counted(facts.rows, 'row')} for {facts.loss}{skipped}; duplicate rows {facts.duplicates:,}"
    )
    rows = []
    for column in facts.columns:
        found = column.tokens
        tokens = (
            ["", "", ""] if found is None else [f"{found.mean:.1f}", f"{found.longest:,}", f"{found.truncated:.1%}"]
        )
        rows.append([column.name, column.role, *tokens, f"{column.repeated:,}", display.one_line(column.first)])
    show.table(["column", "role", "tokens", "longest", f"over {max_length}", "repeated", "first row"], rows)
    pairs = f"; the model reads pairs, {facts.columns[0].name} with each other column"
    sample = f"{facts.sample:,}" if facts.sample < facts.rows else "all"
    show.line(f"(tokens of {sample} rows{'' if facts.unit == 'texts' else pairs})")
    if facts.label_kind != "none":
        show.line(f"label      {_labels(facts)}; first row {facts.first_label}")
    if facts.negatives is not None:
        show.line(f"negatives  {facts.negatives:,} for each anchor, from its batch")
    show.line()


def _labels(facts: DataFacts) -> str:
    if facts.scores is not None:
        least, mean, highest = facts.scores
        return f"scores from {least:.2f} to {highest:.2f}, mean {mean:.2f}"
    parts = [f"{name} {count:,} ({count / facts.rows:.1%})" for name, count in facts.balance.items()]
    return f"{facts.label_kind}: {', '.join(parts)}" if parts else f"{facts.label_kind} of a teacher"
