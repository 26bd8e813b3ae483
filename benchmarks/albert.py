"""Measures how fast a Korean ALBERT encodes Korean sentences, beside transformers and sentence-transformers, in turn.

All run the same weights with mean pooling, in one process. transformers gets batches of 32 texts of similar length, as
sentence-transformers sorts them.
"""

from __future__ import annotations

import argparse
import random
import tempfile

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sidebyside import column, finish, race
from sidebyside.runtimes import Encode
from transformers import AutoModel, AutoTokenizer

from sbert import BiEncoder

OURS, TRANSFORMERS, DEFAULT = "sbert", "transformers (batch 32)", "sentence-transformers (batch 32, default)"
BATCH = 32
ROUNDS = 4
TOLERANCE = 1e-5
"""The largest difference between two vectors of length one."""


def transformers_encoder(folder: str) -> Encode:
    """The forward pass of transformers on padded batches, and the mean of the hidden states."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    @torch.inference_mode()
    def encode(texts: list[str]) -> np.ndarray:
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        vectors = np.empty((len(texts), model.config.hidden_size), np.float32)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            inputs = tokenizer([texts[row] for row in rows], padding=True, truncation=True, return_tensors="pt")
            mask = inputs["attention_mask"][..., None]
            hidden = model(**inputs).last_hidden_state * mask
            vectors[rows] = (hidden.sum(1) / mask.sum(1)).numpy()
        return vectors

    return encode


def contestants(folder: str) -> dict[str, Encode]:
    """Name -> encode. The weights are saved first, because the others do not read the tokenizer of the package."""
    BiEncoder.from_pretrained("kykim/albert-kor-base").save_pretrained(folder)
    ours, theirs = BiEncoder.from_pretrained(folder), SentenceTransformer(folder, device="cpu")
    return {
        OURS: lambda texts: ours.encode(texts, on_truncate="ignore"),
        TRANSFORMERS: transformers_encoder(folder),
        DEFAULT: lambda texts: theirs.encode(texts),
    }


def check_equal(people: dict[str, Encode], texts: list[str]) -> None:
    """Stop unless all give the same vectors."""
    directions = {}
    for name, encode in people.items():
        vectors = encode(texts)
        directions[name] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        difference = float(np.abs(directions[name] - directions[OURS]).max())
        if difference > TOLERANCE:
            raise SystemExit(f"{name} gives other vectors: {difference:.2g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=400, help="number of sentences of KorSTS")
    count = parser.parse_args().texts
    texts = random.Random(0).sample(column("korsts.tsv.gz", "sentence1", "sentence2"), count)
    with tempfile.TemporaryDirectory() as place:
        people = contestants(f"{place}/model")
        check_equal(people, texts)
        best = race({name: (lambda encode=encode: encode(texts)) for name, encode in people.items()}, ROUNDS)
    others = min(best[TRANSFORMERS], best[DEFAULT])
    for name, seconds in best.items():
        print(f"{name}: {count / seconds:.0f} sentences/s")
    finish("albert", {"encode_korean_albert": (others / best[OURS], 1.5)}, {"seconds": best, "texts": count})


if __name__ == "__main__":
    main()
