"""Whole or not at all: what is read back, what is thrown away, and what a damaged or full disk does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from sbert.errors import CannotResume, CheckpointNotSaved
from sbert.train import checkpoint
from sbert.train.checkpoint import Checkpoint, newest, save, steps


def made(step: int) -> Checkpoint:
    generator = torch.Generator().manual_seed(step)
    tensors = {"model.가중치": torch.randn(40, 30, generator=generator), "optimizer.step.x": torch.tensor(float(step))}
    return Checkpoint(step, tensors, {"position": {"step": step}, "data": [{"name": "한국어 자료"}], "best": None})


def test_there_and_back(tmp_path, same):
    path = save(tmp_path / "새 폴더", made(7), keep=2)
    assert path.is_file()
    back = newest(tmp_path / "새 폴더")
    assert back is not None
    assert (back.step, back.facts) == (7, made(7).facts)
    same(back.tensors, made(7).tensors)


def test_a_view_is_saved_as_it_looks(tmp_path):
    table = torch.arange(6.0).reshape(2, 3).T
    save(tmp_path, Checkpoint(1, {"a": table}, {}), keep=1)
    back = newest(tmp_path)
    assert back is not None
    assert torch.equal(back.tensors["a"], table)


def test_nothing_there(tmp_path):
    assert newest(tmp_path) is None
    assert newest(tmp_path / "없음") is None
    assert steps(tmp_path / "없음") == []


def test_the_newest_stay(tmp_path):
    for step in (5, 9, 90, 100):
        save(tmp_path, made(step), keep=3)
    assert steps(tmp_path) == [100, 90, 9]
    save(tmp_path, made(101), keep=1)
    assert steps(tmp_path) == [101]
    assert len(os.listdir(tmp_path)) == 1


def damage(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    if how == "a flipped bit":
        content[len(content) // 2] ^= 1
    path.write_bytes(content[:-1] if how == "a missing byte" else b"" if how == "empty" else content)


@pytest.mark.parametrize("how", ["a flipped bit", "a missing byte", "empty"])
def test_damaged(tmp_path, caplog, same, how):
    _, second = (save(tmp_path, made(step), keep=2) for step in (3, 4))
    damage(second, how)
    back = newest(tmp_path)
    assert back is not None
    assert back.step == 3
    same(back.tensors, made(3).tensors)
    assert [record.getMessage() for record in caplog.records] == [
        f"{second} is damaged; using the checkpoint before it"
    ]
    third = save(tmp_path, made(5), keep=1)  # the damaged one takes nobody's place
    assert third.is_file()
    damage(third, how)
    for _ in range(2):
        with pytest.raises(CannotResume, match=r"every checkpoint in .* is damaged; start again"):
            newest(tmp_path)


def test_what_lies_ahead_was_given_up(tmp_path):
    for step in (3, 9, 5):
        save(tmp_path, made(step), keep=2)
    assert steps(tmp_path) == [5, 3]


def test_another_format(tmp_path):
    draft = tmp_path / "draft"
    save_file({"a": torch.zeros(1)}, draft, {"format": "99", "facts": "{}"})
    draft.rename(tmp_path / f"step-00000001-{checkpoint._checksum(draft)}.safetensors")
    with pytest.raises(CannotResume, match=r"has format 99, but this version of sbert reads 1; resume with"):
        newest(tmp_path)


def test_a_draft_is_cleared_and_strangers_stay(tmp_path):
    save(tmp_path, made(2), keep=2)
    for name in ("step-00000003.draft", ".tmpAbCdEf", ".sbert-0123456789abcdef.tmp/new.safetensors"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"half")
    (tmp_path / "step-by-step.txt").write_text("메모", encoding="utf-8")
    back = newest(tmp_path)
    assert back is not None
    assert back.step == 2
    save(tmp_path, made(4), keep=1)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".safetensors", ".txt"]


def test_a_place_that_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointNotSaved, match="the checkpoint of step 1 could not be written"):
        save(tmp_path / "file", made(1), keep=1)


def test_a_full_disk(nursery, spec, same):
    settings = {"loss": "softmax", "dropout": 0.1, "batch_size": 4, "epochs": 3, "checkpoint_steps": 6}
    path, content = spec("꽉 찬".replace(" ", "-"), file_limit=100_000, **settings)
    folder = Path(content["config"]["output_dir"]) / "checkpoints"
    nursery.start(path, "disk-full")
    code, told = nursery.end()
    (error,) = (text for word, text in told if word == "error")
    assert code == 1
    assert error.startswith("CheckpointNotSaved: the checkpoint of step 12 could not be written to")
    assert error.endswith("the previous checkpoints are intact: free some disk space, then resume the run")
    assert [path.suffix for path in folder.iterdir()] == [".safetensors"]  # no draft
    kept = newest(folder)
    assert kept is not None
    assert kept.step == 6
    nursery.start(path)  # now there is room
    assert nursery.end()[0] == 0
    straight, other = spec("straight", **settings)
    nursery.start(straight)
    assert nursery.end()[0] == 0
    ours, theirs = (newest(there) for there in (folder, Path(other["config"]["output_dir"]) / "checkpoints"))
    assert ours is not None
    assert theirs is not None
    same(ours.tensors, theirs.tensors)
