"""Damaged and changed files of a job: each ends in the shards that it should have, or in one sentence."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sbert import BiEncoder
from sbert.bulk import Running, Settings, embed_files, verify_shards
from sbert.bulk.cache import NAME, VectorCache
from sbert.bulk.documents import ShardDocuments
from sbert.bulk.folder import LocalFolder
from sbert.bulk.manifest import read_manifest
from sbert.errors import BadInput, CannotResume

from .conftest import contents, vectors_in

TEXTS = [f"문장 {number % 9} of nine" for number in range(30)]
SETTINGS = Settings(rows_per_shard=10)


@pytest.fixture
def job(folder: Path, bi: str) -> Path:
    """A finished job in the folder ``out``."""
    Path("글.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    embed_files("글.txt", "out", model=bi, settings=SETTINGS)
    return Path("out")


def changed(value: Any) -> Iterator[Any]:
    """Yield copies of a JSON value, in each of which one value is another one."""
    if isinstance(value, dict):
        yield from ({**value, name: part} for name in value for part in changed(value[name]))
    elif isinstance(value, list):
        yield from (
            [*value[:place], part, *value[place + 1 :]]
            for place in range(len(value))
            for part in changed(value[place])
        )
    yield from (None, 3, "../글.txt", [], {"가": 1})


def test_a_manifest_that_was_changed_anywhere_is_refused(job):
    manifest = json.loads((job / "manifest.json").read_text(encoding="utf-8"))
    for one in changed(manifest):
        (job / "manifest.json").write_text(json.dumps(one), encoding="utf-8")
        if isinstance(one, dict) and one != manifest:
            with pytest.raises(BadInput, match=r"manifest\.json was changed, or was not written by this version"):
                read_manifest(LocalFolder(job))


def test_a_changed_plan_and_a_changed_line_are_made_again(folder, job, bi, monkeypatch):
    def stops(self, entry):
        append(self, entry)
        if entry.shard == 1:
            raise KeyboardInterrupt

    append = LocalFolder.append
    monkeypatch.setattr(LocalFolder, "append", stops)
    with pytest.raises(KeyboardInterrupt):
        embed_files("글.txt", "again", model=bi, settings=SETTINGS)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    for name, before, after in [
        ("plan.json", '"rejected": 0', '"rejected": 7'),
        ("shards.jsonl", '"rows": 10', '"rows": 9'),
    ]:
        text = Path("again", name).read_text(encoding="utf-8")
        assert before in text
        Path("again", name).write_text(text.replace(before, after), encoding="utf-8")
    done = embed_files("글.txt", "again", model=bi, settings=SETTINGS)
    assert (done.rejected, [entry.rows for entry in done.shards], contents("again")) == (
        0,
        [10, 10, 10],
        contents(job),
    )


def test_an_input_that_changes_during_the_work_is_refused(folder, bi, monkeypatch):
    def changes(self, entry):
        append(self, entry)
        Path("글.txt").write_text("\n".join(TEXTS).replace("nine", "many"), encoding="utf-8")

    append = LocalFolder.append
    Path("글.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    monkeypatch.setattr(LocalFolder, "append", changes)
    with pytest.raises(BadInput, match=r"글\.txt was changed while it was embedded; start over with --force"):
        embed_files("글.txt", "out", model=bi, settings=SETTINGS)


def test_a_store_takes_no_shard_that_changed(job):
    whole = (job / "part-00001.parquet").read_bytes()
    (job / "part-00001.parquet").write_bytes(whole[:-100])
    with pytest.raises(BadInput, match=r"part-00001\.parquet has changed since it was written; the same sbert embed"):
        list(ShardDocuments(str(job)))


def test_a_cache_that_is_damaged_or_of_another_job_is_not_used(job, bi, tiny_folder):
    for name, content in [("a", b"no database" * 999), ("b", b"")]:
        Path(name).mkdir()
        Path(name, NAME).write_bytes(content)
    Path("c").mkdir()
    other = BiEncoder.from_pretrained(tiny_folder("electra"))
    VectorCache(Path("c", NAME), "another job").encode(other, TEXTS[:9], {})
    for name in "abc":
        embed_files("글.txt", name, model=bi, settings=SETTINGS, running=Running(dedupe=True))
        assert contents(name) == contents(job)


def test_a_model_with_other_ranges_does_not_go_on_with_a_job_of_int8(folder, tiny_folder):
    Path("글.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    model = BiEncoder.from_pretrained(tiny_folder("bert"))
    for sample in (TEXTS[:4], ["다른 글", "others", "a", "b"]):
        model.calibrate(sample)
        shutil.rmtree("model", ignore_errors=True)
        model.save_pretrained("model")
        if not Path("out").exists():
            embed_files("글.txt", "out", model="model", settings=Settings(precision="int8"))
    with pytest.raises(CannotResume, match="its model is"):
        embed_files("글.txt", "out", model="model", settings=Settings(precision="int8"))


@pytest.mark.skipif(os.name != "posix", reason="names of files are Unicode there")
def test_a_name_of_a_file_that_is_not_unicode(folder, bi):
    name = os.fsdecode(b"\xff.txt")
    Path(name).write_text("하나\n둘\n", encoding="utf-8")
    embed_files(name, "out", model=bi)
    assert embed_files(name, "out", model=bi).inputs[0].path.endswith(name)
    assert np.array_equal(vectors_in("out"), BiEncoder.from_pretrained(bi).encode(["하나", "둘"]))
    assert verify_shards("out").problems == ()
