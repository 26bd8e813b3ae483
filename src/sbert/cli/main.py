"""The command ``sbert``: hangs up the verbs and turns whatever ends one early into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, ParamSpec

import typer

from sbert.cli import show
from sbert.cli.options import INTERRUPTED
from sbert.cli.verbs.compare import compare
from sbert.cli.verbs.demo import demo
from sbert.cli.verbs.distill import distill
from sbert.cli.verbs.doctor import doctor
from sbert.cli.verbs.encode import encode
from sbert.cli.verbs.evaluate import evaluate
from sbert.cli.verbs.info import info
from sbert.cli.verbs.pairs import pairs
from sbert.cli.verbs.paper import paper
from sbert.cli.verbs.predict import predict
from sbert.cli.verbs.rank import rank
from sbert.cli.verbs.search import search
from sbert.cli.verbs.similarity import similarity
from sbert.cli.verbs.train import train
from sbert.errors import SbertError, WrongUsage

_WRONG_USAGE = 2  # as typer ends where an option is unknown

Parameters = ParamSpec("Parameters")
app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a letter shows its number instead of failing
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="sbert")


def guarded(verb: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """``verb`` with every error as one line on standard error; a traceback only where SBERT_TRACEBACK asks for it."""

    @wraps(verb)
    def run(*arguments: Parameters.args, **options: Parameters.kwargs) -> None:
        try:
            with show.library_notes():
                verb(*arguments, **options)
                sys.stdout.flush()
        except KeyboardInterrupt:
            show.note("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(1) from None
        except Exception as error:
            if isinstance(error, (typer.Exit, typer.BadParameter)) or os.environ.get("SBERT_TRACEBACK"):
                raise
            show.note(f"error: {_sentence(error)}", "red")
            raise typer.Exit(_WRONG_USAGE if isinstance(error, WrongUsage) else 1) from None

    return run


def _sentence(error: Exception) -> str:
    if isinstance(error, SbertError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error} (this was not foreseen; SBERT_TRACEBACK=1 shows where it happened)"


def _discard_output() -> None:
    """Whoever read our output has left: what is still buffered must not fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version(wanted: bool) -> None:
    if wanted:
        print(f"sbert {sys.modules['sbert'].__version__}")  # rooms do not import the package's own door
        raise typer.Exit


@app.callback()
def sbert(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Sentences in, meaning-vectors out, and the search that uses them."""


for _verb in (
    encode,
    similarity,
    search,
    pairs,
    predict,
    rank,
    distill,
    train,
    evaluate,
    compare,
    paper,
    info,
    doctor,
    demo,
):
    app.command()(guarded(_verb))
