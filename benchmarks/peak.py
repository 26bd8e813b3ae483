"""How much of the machine's own float32 matrix-multiply peak encoding gets.

Both contestants do the same number of floating point operations: encoding 2,000 STS sentences (linear layers and
attention counted, everything else is free), and plain 2048 x 2048 matrix multiplies.
"""

from __future__ import annotations

import random

import torch
from sidebyside import finish, race, sts_sentences

from sbert import BiEncoder
from sbert.cli.measure import flops

SIZE = 2048


def main() -> None:
    texts = random.Random(0).sample(sts_sentences(), 2000)
    model = BiEncoder.from_pretrained()
    work = flops(model, model.tokenize(texts))
    matrix = torch.rand(SIZE, SIZE)
    times = round(work / (2 * SIZE**3))

    def multiply() -> None:
        for _ in range(times):
            torch.mm(matrix, matrix)

    best = race({"encode": lambda: model.encode(texts), "multiply": multiply}, rounds=7)
    peak = times * 2 * SIZE**3 / best["multiply"]
    finish(
        "peak",
        {"encode_share_of_peak": (work / best["encode"] / peak, 0.8)},
        {"seconds": best, "gflops_peak": peak / 1e9, "gflop": work / 1e9},
    )


if __name__ == "__main__":
    main()
