"""The command ``sbert``: lists the subcommands, imports the one that is called, and reports errors in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from sbert.cli import usage
from sbert.cli.options import INTERRUPTED
from sbert.errors import SbertError, WrongUsage

VERBS = {
    "encode": "Embed every text of a file; row i of the output belongs to row i of the input.",
    "embed": "Embed files of any size into parquet shards; the same command resumes an interrupted job.",
    "verify": "Check the shards that sbert embed wrote: counts, digests, and a sample of vectors against the model.",
    "similarity": "Compare two texts, or all texts of a file with each other.",
    "index": "Add the texts of files to a store; repeating the command embeds only new and changed texts.",
    "search": "Find the texts of a store or of a file that are nearest in meaning to a query.",
    "serve": "Serve models and a store over HTTP: the APIs of OpenAI, Cohere, Jina and TEI, and a search page.",
    "store": "Show, check, compact or export a store that sbert index wrote.",
    "pairs": "Find the pairs of texts in a file that are nearest in meaning, such as paraphrases and duplicates.",
    "cluster": "Divide the texts of a file or a store into clusters of similar meaning, the largest first.",
    "dedupe": "Find texts with nearly the same meaning, and keep one of each group.",
    "keywords": "Find the phrases that are nearest in meaning to each text, in English and Korean.",
    "topics": "Find what the texts of a file or a store are about, in English and Korean.",
    "map": "Draw a map of texts: similar ones lie close together; move, zoom, point and search on the page.",
    "predict": "Score or classify every pair of texts; row i of the output belongs to row i of the input.",
    "rank": "Rank the texts of a file by how well they answer a query, with a model of any kind.",
    "mine": "Find hard negatives: texts near to an anchor that do not belong to it, as triplets for sbert train.",
    "distill": "Label texts with a cross-encoder, so that a bi-encoder can be trained on them.",
    "train": "Train a model on pairs, triplets or labelled texts; options win over the run file, --set over both.",
    "evaluate": "Measure a model on the data sets of a suite, or on your own pairs, with confidence intervals.",
    "export": "Write a model with an ONNX graph, for ONNX Runtime, transformers.js and other engines.",
    "compare": "Compare two models: their scores on a suite or on your own pairs, their vectors of --texts, or both.",
    "paper": "Measure a table of the paper, or all of them; the same command continues an interrupted run.",
    "info": "Show what a model consists of and how it runs on this machine.",
    "doctor": "Check the installation, a model of any kind and this machine's speed; exit code 1 if a check fails.",
    "demo": "Find the most similar of 1,300 sentences in seconds, and see them on a page.",
}
"""The help line of each subcommand: the first sentence of the function of that name in ``sbert.cli.verbs``.

The table lets ``sbert --help`` and the completion of subcommands work without importing any of them.
"""

_WRONG_USAGE = 2  # the exit code of typer for an unknown option


class _Verb(TyperCommand):
    """A subcommand whose help shows no type beside a flag, and whose errors are one line."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_flag_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        with reported_errors(), usage.named_options(ctx):
            return super().invoke(ctx)


class _Verbs(TyperGroup):
    """The group of all subcommands, each imported when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, short_help=line) for name, line in VERBS.items()}

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_flag_types(super().get_params(ctx))

    def main(self, args: Any = None, *, standalone_mode: bool = True, **settings: Any) -> Any:  # type: ignore[override]
        try:
            done = super().main(args, standalone_mode=False, **settings)
        except usage.UsageError as error:
            if message := usage.sentence(error):  # empty after the help of sbert alone
                _report(message)
            sys.exit(_WRONG_USAGE)
        return sys.exit(done) if standalone_mode else done

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and _imported(str(name)), rest


def _imported(name: str) -> Any:
    """Return the command of one subcommand, with its arguments and options."""
    with reported_errors():
        verb = getattr(import_module(f"sbert.cli.verbs.{name}"), name)
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    single.command(cls=_Verb)(verb)
    return typer.main.get_command(single)


def _without_flag_types(params: list[Any]) -> list[Any]:
    for param in params:
        if isinstance(param, TyperOption) and param.is_flag:
            param.metavar = ""
    return params


@contextmanager
def reported_errors() -> Iterator[None]:
    """Report an error as one line on standard error and exit; SBERT_TRACEBACK=1 raises it with its traceback."""
    from sbert.cli import show  # imports numpy, which sbert --help does not need

    try:
        with show.library_notes():
            yield
            sys.stdout.flush()
    except KeyboardInterrupt:
        show.note("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # The rest of the output goes nowhere, so that closing it does not fail again when its reader has left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except Exception as error:
        if isinstance(error, typer.Exit) or os.environ.get("SBERT_TRACEBACK"):
            raise
        _report(_sentence(error))
        raise typer.Exit(_WRONG_USAGE if isinstance(error, WrongUsage) else 1) from None


def _report(message: str) -> None:
    from sbert.cli import show

    show.note(f"error: {message}", "red")


def _sentence(error: Exception) -> str:
    if isinstance(error, SbertError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error} (an unexpected error; SBERT_TRACEBACK=1 shows where it was raised)"


def _version(wanted: bool) -> None:
    if wanted:
        print(f"sbert {sys.modules['sbert'].__version__}")  # modules of the package do not import its __init__
        raise typer.Exit


app = typer.Typer(cls=_Verbs, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def sbert(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    data_limit: Annotated[
        int | None,
        typer.Option(
            envvar="SBERT_DATA_LIMIT_MB",
            min=1,
            help="Maximum size in MB of a line or a value in a data file. Defaults to 256.",
        ),
    ] = None,
) -> None:
    """Turn sentences into embeddings, and search, compare, train and evaluate with them."""
    if data_limit is not None:
        from sbert.data.files import set_limit

        set_limit(data_limit)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal lacks is escaped instead of failing
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="sbert")
