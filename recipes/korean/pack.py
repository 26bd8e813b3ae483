"""Puts a trained Korean model into its package: weights in half precision, a card and reference vectors.

    python recipes/korean/pack.py runs/korean/4-student/model
    python recipes/korean/pack.py runs/korean/3-cross/model

A bi-encoder becomes sbert-ko-base, a cross-encoder sbert-ko-cross. Rounding the weights halves the package; they are
read back as float32, so the results of the package are those of the rounded weights, bit for bit. Prints the digest of
the weights, which sbert/hub/bundled.py lists.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from sbert import BiEncoder, load
from sbert.disk.digest import file_digest

HERE = Path(__file__).parent
TEXTS = ["환불은 며칠 안에 되나요?", "돈을 언제 돌려받을 수 있는지 궁금합니다.", "부산역에 짐을 맡길 곳이 있나요?"]


def main(trained: str) -> None:
    model = load(trained, device="cpu")
    kind = "base" if isinstance(model, BiEncoder) else "cross"
    package = HERE.parents[1] / "packages" / f"sbert-ko-{kind}" / f"sbert_ko_{kind}" / "model"
    with torch.no_grad():
        for weights in model.parameters():
            weights.copy_(weights.half().float())
    expected = results(model)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        model.save_pretrained(folder)  # with the reference vectors of the rounded weights
        path = folder / "model.safetensors"
        halves = {name: tensor.half() for name, tensor in load_file(path).items()}
        save_file(halves, path, metadata={"format": "pt"})
        path.chmod(0o644)
        shutil.copy(HERE / f"card-{kind}.md", folder / "README.md")
        if not np.array_equal(results(load(folder, device="cpu")), expected):
            raise SystemExit("error: the packed model gives other results than the rounded one; nothing was changed")
        shutil.rmtree(package, ignore_errors=True)
        shutil.copytree(folder, package)
    print(f"{package}: sha256 {file_digest(package / 'model.safetensors')}")


def results(model) -> np.ndarray:
    """Return what a model computes for the sample: vectors, or scores of all pairs."""
    if isinstance(model, BiEncoder):
        return model.encode(TEXTS)
    return model.predict([(first, second) for first in TEXTS for second in TEXTS])


if __name__ == "__main__":
    main(*sys.argv[1:])
