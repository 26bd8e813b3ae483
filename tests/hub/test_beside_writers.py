"""A load during a save sees the old model or the new one, and permissions are kept."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sbert import BiEncoder, PolyEncoder, hub
from sbert.errors import BadModel
from sbert.hub.files import reads_folder

SOURCE = Path(__file__).parents[2] / "src"
LOADS = 250
SAVER = """
import sys
from dataclasses import replace
from pathlib import Path
import torch
from sbert import hub
target, sources = Path(sys.argv[1]), sys.argv[2:]
parts = [hub.read_poly(Path(source)) for source in sources]
print("ready", flush=True)
while True:
    for documents, queries in parts:
        hub.write_poly(documents, queries, target)
"""


@pytest.fixture
def two_models(tiny_folder, tmp_path) -> list[Path]:
    """Two poly-encoders that differ in every file."""
    model = PolyEncoder(BiEncoder.from_pretrained(tiny_folder("bert")), num_codes=2)
    model.save_pretrained(tmp_path / "first")
    documents, queries = hub.read_poly(tmp_path / "first")
    assert queries is not None
    assert queries.codes is not None
    with torch.no_grad():
        for weights in documents.transformer.parameters():
            weights.add_(1)
    other = replace(documents, pooling=("cls",), prompts={"query": "질문: "}, similarity="cosine")
    hub.write_poly(other, replace(queries, num_codes=1, codes=queries.codes[:1]), tmp_path / "second")
    return [tmp_path / "first", tmp_path / "second"]


def seen(folder: Path) -> tuple[object, ...]:
    documents, queries = hub.read_poly(folder)
    weights = [float(tensor.double().sum()) for tensor in documents.transformer.state_dict().values()]
    return documents.pooling, str(documents.prompts), documents.similarity, queries and queries.num_codes, *weights


def test_a_load_during_saves_sees_one_of_two_models(two_models, tmp_path):
    target = tmp_path / "target"
    expected = {seen(folder) for folder in two_models}
    assert len(expected) == 2
    shutil.copytree(two_models[0], target)
    command = [sys.executable, "-c", SAVER, target, *two_models]
    with subprocess.Popen(command, env={"PYTHONPATH": str(SOURCE)}, stdout=subprocess.PIPE, text=True) as saver:
        try:
            assert saver.stdout is not None
            assert saver.stdout.readline() == "ready\n"
            loads = [seen(target) for _ in range(LOADS)]
            assert saver.poll() is None
        finally:
            saver.kill()
    assert set(loads) == expected


def test_a_folder_replaced_while_it_is_read_is_read_again(two_models, tmp_path):
    target = shutil.copytree(two_models[0], tmp_path / "target")
    reads = []

    @reads_folder
    def read(folder: Path) -> str:
        reads.append((folder / "modules.json").read_text())
        if len(reads) == 1:
            hub.write_poly(*hub.read_poly(two_models[1]), folder)  # type: ignore[arg-type]
            raise BadModel("a mix of two models")
        return "whole"

    assert (read(target), len(reads)) == ("whole", 2)


@pytest.mark.parametrize("mode", [0o700, 0o750])
def test_a_private_folder_stays_private(two_models, mode):
    first, second = two_models
    first.chmod(mode)
    hub.write(hub.read(second), first)
    assert stat.S_IMODE(first.stat().st_mode) == mode
