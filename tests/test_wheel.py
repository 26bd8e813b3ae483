"""The wheel has every file of the package; `make wheel` also installs it in an empty environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import sbert

ROOT = Path(__file__).parents[1]


def test_the_wheel_has_every_file_of_the_package(tmp_path: Path):
    pytest.importorskip("setuptools", minversion="77", reason="setuptools is too old to build the wheel")
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src" / "sbert", source / "src" / "sbert", ignore=shutil.ignore_patterns("__pycache__"))
    build = "from setuptools.build_meta import build_wheel; build_wheel('../dist')"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("sbert/")}
    files = (path for path in (source / "src" / "sbert").rglob("*") if path.is_file())
    assert {path.relative_to(source / "src").as_posix() for path in files} == packed


def test_the_version_is_the_same_everywhere():
    assert f'\nversion = "{sbert.__version__}"\n' in (ROOT / "pyproject.toml").read_text("utf-8")
    for page in ("installation.md", "installation.ko.md"):
        assert f"dist/sbert-{sbert.__version__}-py3-none-any.whl" in (ROOT / "docs" / page).read_text("utf-8")
