"""Puts a trained Korean model into its package: weights in half precision, a card and reference vectors.

    python recipes/korean/pack.py runs/korean/2-sts

Rounding the weights halves the package; they are read back as float32, so the vectors of the package are those of the
rounded weights, bit for bit. Prints the digest of the weights, which sbert/hub/bundled.py lists.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from sbert import BiEncoder
from sbert.disk.digest import file_digest

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "packages" / "sbert-ko-base" / "sbert_ko_base" / "model"
TEXTS = ["환불은 며칠 안에 되나요?", "돈을 언제 돌려받을 수 있는지 궁금합니다.", "부산역에 짐을 맡길 곳이 있나요?"]


def main(trained: str) -> None:
    model = BiEncoder.from_pretrained(trained, device="cpu")
    with torch.no_grad():
        for weights in model.parameters():
            weights.copy_(weights.half().float())
    expected = model.encode(TEXTS)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        model.save_pretrained(folder)  # with the reference vectors of the rounded weights
        path = folder / "model.safetensors"
        halves = {name: tensor.half() for name, tensor in load_file(path).items()}
        save_file(halves, path, metadata={"format": "pt"})
        path.chmod(0o644)
        shutil.copy(HERE / "card.md", folder / "README.md")
        again = BiEncoder.from_pretrained(folder, device="cpu", self_check=True)
        if not np.array_equal(again.encode(TEXTS), expected):
            raise SystemExit("error: the packed model gives other vectors than the rounded one; nothing was changed")
        shutil.rmtree(PACKAGE, ignore_errors=True)
        shutil.copytree(folder, PACKAGE)
    print(f"{PACKAGE}: sha256 {file_digest(PACKAGE / 'model.safetensors')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
