"""The recipe of the Korean models: its run files can be read, and its data is made of the data sets as they are."""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import pytest

from sbert.data import read
from sbert.train.run.file import RunFile

FOLDER = Path(__file__).parents[2] / "recipes" / "korean"


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """The script, with folders of its own."""
    spec = importlib.util.spec_from_file_location("korean_recipe", FOLDER / "train.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "DATA", tmp_path)
    monkeypatch.setattr(module, "GOLD", [tmp_path / "korsts.tsv"])
    return module


def test_the_run_files():
    runs = {path.stem: RunFile.read(path) for path in sorted(FOLDER.glob("*.toml"))}
    assert [run.train.output_dir for run in runs.values()] == [f"runs/korean/{name}" for name in runs]
    assert {run.data.dev for run in runs.values()} == {"korsts.tsv.gz"}
    assert all(run.train.checkpoint_steps <= 30 for run in runs.values())


def test_every_premise_is_paired_with_what_it_entails_and_what_contradicts_it(recipe, tmp_path):
    rows = [
        ("train", "비가 온다", "날이 궂다", "entailment"),
        ("train", "비가 온다", "날이 맑다", "contradiction"),
        ("train", "비가 온다", "해가 난다", "contradiction"),
        ("train", "비가 온다", "춥다", "neutral"),
        ("train", "개가 잔다", "개가 깨어 있다", "contradiction"),
        ("dev", "눈이 온다", "눈이 내린다", "entailment"),
        ("dev", "눈이 온다", "비가 온다", "contradiction"),
    ]
    lines = ["split\tpremise\thypothesis\tlabel", *("\t".join(row) for row in rows)]
    (tmp_path / "klue_nli.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    recipe.write_triplets(tmp_path / "triplets.tsv")
    texts = read(tmp_path / "triplets.tsv").texts
    assert list(zip(*texts.values(), strict=True)) == [
        ("비가 온다", "날이 궂다", "날이 맑다"),
        ("비가 온다", "날이 궂다", "해가 난다"),
    ]


def test_only_training_rows_are_labelled(recipe, tmp_path):
    lines = ["split\tsentence1\tsentence2\tscore", "train\t가\t나\t5", "train\t나\t다\t0", "test\t라\t마\t1"]
    (tmp_path / "korsts.tsv").write_text("\n".join(lines), "utf-8")
    recipe.write_texts(tmp_path / "texts.tsv")
    assert (tmp_path / "texts.tsv").read_text("utf-8").split() == ["text", "가", "나", "다"]
