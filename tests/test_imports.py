"""Importing sbert and asking for help is light, and the public surface is what ``__all__`` says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
HEAVY = {"numpy", "torch", "transformers", "pyarrow", "matplotlib", "sklearn", "scipy", "sentence_transformers"}
HELP = """
import sys
from sbert.cli.main import main
sys.argv = ["sbert", *{arguments!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""
COMPLETE = """
import os
os.environ |= {"_SBERT_COMPLETE": "complete_bash", "COMP_WORDS": "sbert enc", "COMP_CWORD": "1"}
""" + HELP.format(arguments=[])


def run(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(code: str) -> set[str]:
    """The modules in a fresh interpreter after ``code``; the last line of its output, so ``code`` may print too."""
    out = run("-c", f"{code}\nimport json, sys\nprint()\nprint(json.dumps(sorted(sys.modules)))")
    return set(json.loads(out.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    ["import sbert", "import sbert; dir(sbert)", HELP.format(arguments=["--help"]), COMPLETE],
    ids=["import", "dir", "help", "completion"],
)
def test_nothing_heavy_is_loaded(code: str):
    modules = loaded_by(code)
    assert "sbert" in modules
    assert modules & HEAVY == set()


def test_help_and_completion_import_no_verb():
    for start in (HELP.format(arguments=["--help"]), COMPLETE):
        assert {name for name in loaded_by(start) if name.startswith("sbert.cli.verbs")} == set()
    modules = loaded_by(HELP.format(arguments=["info", "--help"]))
    assert {name for name in modules if name.startswith("sbert.cli.verbs.")} == {"sbert.cli.verbs.info"}


def test_the_check_sees_heavy_modules():
    assert "scipy" in loaded_by("import scipy")


def test_module_answers_help():
    assert "sbert" in run("-m", "sbert", "--help")


def test_public_names():
    import sbert

    assert list(sbert.__all__) == sorted(set(sbert.__all__))
    assert "BiEncoder" in sbert.__all__
    missing = [name for name in sbert.__all__ if not hasattr(sbert, name)]
    assert missing == []
    assert set(sbert.__all__) <= set(dir(sbert))


def test_unknown_name_is_an_attribute_error():
    import sbert

    with pytest.raises(AttributeError, match="BiEncodr"):
        _ = sbert.BiEncodr
