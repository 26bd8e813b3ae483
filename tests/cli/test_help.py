"""The help and the shell completion of the command and of every verb."""

from __future__ import annotations

import inspect
import re
from importlib import import_module

import pytest
from commandline import process, sbert
from typer.testing import CliRunner

from sbert.cli.main import VERBS, app
from sbert.data.files import FORMATS


def completing(*words: str) -> dict[str, str]:
    """The environment in which bash asks for what can follow ``words``, the last of which is incomplete."""
    line = " ".join(("sbert", *words))
    return {"_SBERT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}


def completed(*words: str) -> list[str]:
    result = CliRunner().invoke(app, env=completing(*words), prog_name="sbert")
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.split()


def test_the_command_lists_every_verb():
    shown = " ".join(sbert("--help").stdout.replace("│", " ").split())
    for verb, line in VERBS.items():
        assert f" {verb} {line}" in shown


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb(verb):
    function = getattr(import_module(f"sbert.cli.verbs.{verb}"), verb)
    paragraph = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    assert re.split(r"(?<=\.) ", paragraph)[0] == VERBS[verb]
    shown = sbert(verb, "--help").stdout
    assert " --help " in shown
    assert "<bool>" not in shown
    usage = next(line for line in shown.splitlines() if "Usage:" in line)
    assert re.fullmatch(
        rf" Usage: sbert {verb} \[OPTIONS\]( \{{[A-Z]+\}}(\.\.\.)?| \[[A-Z]+(\.toml)?\](\.\.\.)?)* *", usage
    )


@pytest.mark.parametrize("verb", ["encode", "similarity", "search", "pairs", "predict", "rank", "distill"])
def test_the_help_names_every_format(verb):
    shown = " ".join(sbert(verb, "--help").stdout.replace("│", " ").split())
    assert f"Input format: {', '.join(FORMATS)}." in shown


def test_search_and_rank_take_their_arguments_in_one_order():
    assert "sbert search [OPTIONS] {FILE} [QUERY]" in sbert("search", "--help").stdout
    assert "sbert rank [OPTIONS] {MODEL} {FILE} {QUERY}" in sbert("rank", "--help").stdout


def test_bash_completes_verbs_and_options():
    assert completed("") == list(VERBS)
    assert completed("se") == ["search", "serve"]
    assert completed("--v") == ["--version"]
    assert completed("search", "--col") == ["--column"]
    assert {"--column", "--device", "--format", "--json"} <= set(completed("search", "--"))
    done = process(**completing("di"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "distill\n", "")


def test_the_completion_script_of_bash_calls_the_command():
    done = process("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "complete -o default -F _sbert_completion sbert" in done.stdout


def test_completion_is_installed_in_the_home_folder(tmp_path):
    environment = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = process("--install-completion", "bash", **environment)
    assert done.returncode == 0, done.stderr
    assert "bash completion installed in" in done.stdout
    assert ".bash_completions/sbert.sh" in (tmp_path / ".bashrc").read_text(encoding="utf-8")
    assert "_sbert_completion" in (tmp_path / ".bash_completions" / "sbert.sh").read_text(encoding="utf-8")
