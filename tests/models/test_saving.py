"""A model of any kind that cannot be saved says why in one sentence, and leaves everything as it was."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
import torch

from sbert import BiEncoder, CrossEncoder, PolyEncoder, WordEncoder
from sbert.errors import BadInput, ModelNotSaved, SbertError
from sbert.nn.words import WordEmbeddings
from sbert.text import WordTokenizer

MAKERS = {
    "bi": BiEncoder.from_pretrained,
    "cross": CrossEncoder.from_pretrained,
    "poly": PolyEncoder.from_pretrained,
    "words": lambda _: WordEncoder(WordTokenizer(["고양이"]), WordEmbeddings(torch.eye(2))),
}


@pytest.fixture(params=MAKERS)
def model(request, tiny_folder):
    return MAKERS[request.param](tiny_folder("bert"))


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.skipif(os.name != "posix", reason="no such permissions")
def test_whoever_may_read_the_folder_may_read_the_weights(model, tmp_path):
    model.save_pretrained(tmp_path / "모형")
    readable = (tmp_path / "모형").stat().st_mode & 0o444
    assert {path.stat().st_mode & 0o444 for path in (tmp_path / "모형").rglob("*") if path.is_file()} == {readable}


def test_below_a_file(model, tmp_path):
    (tmp_path / "논문.txt").write_text("mine")
    before = everything(tmp_path)
    for place in ("논문.txt/모델", "논문.txt/deep/er"):
        with pytest.raises(
            BadInput, match=r"논문\.txt is a file, but a model is saved as a folder; name another place"
        ):
            model.save_pretrained(tmp_path / place)
    assert everything(tmp_path) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is read-only for an administrator")
def test_in_a_read_only_folder(model, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(ModelNotSaved, match="Permission denied"):
        model.save_pretrained(tmp_path / "locked" / "모델")
    assert not list((tmp_path / "locked").iterdir())


def test_with_a_name_that_no_disk_takes(model, tmp_path):
    with pytest.raises(ModelNotSaved, match="File name too long"):
        model.save_pretrained(tmp_path / ("긴" * 100))
    assert not list(tmp_path.iterdir())


def test_on_a_full_disk(model, tmp_path, monkeypatch):
    """The old model stays, whether Python or safetensors meets the end of the disk."""
    model.save_pretrained(tmp_path / "모델")
    before = everything(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sbert.disk.files.sync", full)
    with pytest.raises(ModelNotSaved, match=r"모델 \(No space left on device\); make room there, or name") as caught:
        model.save_pretrained(tmp_path / "모델")
    assert isinstance(caught.value, SbertError)
    assert isinstance(caught.value, OSError)
    assert everything(tmp_path) == before


@pytest.mark.skipif(os.name != "posix", reason="links are not for everybody elsewhere")
def test_through_a_link(model, tmp_path):
    """The model behind it is replaced, the link stays one, and nothing is left beside either."""
    model.save_pretrained(tmp_path / "곳" / "모델")
    (tmp_path / "link").symlink_to(tmp_path / "곳" / "모델")
    (tmp_path / "곳" / "모델" / "old").write_text("mine")
    before = {path for path in everything(tmp_path) if path.name != "old"}
    model.save_pretrained(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert set(everything(tmp_path)) == before
    type(model).from_pretrained(tmp_path / "link")


@pytest.mark.parametrize("kind", ["bi", "cross", "poly"])
def test_where_one_is(kind, tiny_folder, tmp_path, monkeypatch):
    """A folder called "." has a name all the same."""
    model = MAKERS[kind](tiny_folder("bert"))
    (tmp_path / "모델").mkdir()
    monkeypatch.chdir(tmp_path / "모델")
    model.save_pretrained(".")
    card = (tmp_path / "모델" / "README.md").read_text(encoding="utf-8")
    assert "# 모델\n" in card
    assert 'from_pretrained("모델")' in card
    monkeypatch.chdir(tmp_path)  # the folder one is in was replaced


def test_where_safetensors_cannot_write(tiny_folder, tmp_path, monkeypatch):
    model = MAKERS["words"](tiny_folder)
    monkeypatch.setattr("sbert.hub.words._WEIGHTS", "없는/folder/model.safetensors")
    with pytest.raises(ModelNotSaved, match=r"\(.*No such file"):
        model.save_pretrained(tmp_path / "모델")
    assert not list(tmp_path.iterdir())
