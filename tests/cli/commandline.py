"""How the tests call the command: inside this process where that will do, as a process of its own where it must."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from typer.testing import CliRunner, Result

from sbert.cli.main import app

# One thread each, since tests beside each other share the cores; and none of the data sets of whoever runs them.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "SBERT_DATA"} | {
    "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
}


def sbert(*arguments: object, stdin: str | bytes | None = None, code: int = 0) -> Result:
    """The verb and its options, in this process; ``code`` is how it must end."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, prog_name="sbert")
    assert result.exit_code == code, result.output
    return result


def failure(*arguments: object, stdin: str | bytes | None = None, code: int = 1) -> str:
    """The one line that a failing verb writes."""
    result = sbert(*arguments, stdin=stdin, code=code)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def refused(*arguments: object) -> None:
    """The verb finds that its model gives no numbers."""
    line = failure(*arguments)
    assert line.startswith("error: the model gives NaN for ")
    assert line.endswith("; its weights are damaged, fetch or train it again\n")


def process(
    *arguments: object, start: Sequence[str] = ("-m", "sbert"), stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """The same as a process; ``start`` is what Python is told to run."""
    return subprocess.run(
        [sys.executable, *start, *map(str, arguments)],
        env=ENVIRONMENT | environment,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
