"""Measures how fast texts become vectors, beside sentence-transformers on the same model, in one process, in turn.

Measures the throughput on short sentences and on mixed texts, its share of the matrix-multiply peak, one large batch
by itself, and the time from a cold process to the first vector.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sidebyside import RESULTS, column, finish, race, seconds, sts_sentences
from sidebyside.runtimes import Encode, runtimes

from sbert import BiEncoder, hub
from sbert.evaluate.performance import flops
from sbert.nn.products import matrix_product
from sbert.text import batches
from sbert.types import Batch

OURS, DEFAULT = "sbert", "sentence-transformers (batch 32, default)"
LIMIT = "limit: the same number of operations in plain matrix products"
ALL_THREADS = "one forward pass on all threads"
ROUNDS = 4
SIZE = 2048
COLD = {
    OURS: "from sbert import BiEncoder; BiEncoder.from_pretrained({folder!r}).encode('first')",
    DEFAULT: "from sentence_transformers import SentenceTransformer; SentenceTransformer({folder!r}).encode('first')",
}


def text_sets() -> dict[str, list[str]]:
    """STS sentences; and a mix of half STS, a quarter KorSTS, a quarter newsgroup posts cut at 256 tokens."""
    rng = random.Random(0)
    sts = rng.sample(sts_sentences(), 650)
    korean = rng.sample(column("korsts.tsv.gz", "sentence1", "sentence2"), 75)
    posts = rng.sample(column("clu_20newsgroups.tsv.gz", "body_2000chars"), 75)
    mixed = [*sts[500:], *korean, *posts]
    rng.shuffle(mixed)
    return {"sts": sts[:500], "mixed": mixed}


class Loaded(NamedTuple):
    """Everybody on the same weights."""

    ours: BiEncoder
    theirs: SentenceTransformer
    others: dict[str, Encode]


def load(folder: str, place: Path) -> Loaded:
    theirs = SentenceTransformer(folder, device="cpu")
    return Loaded(BiEncoder.from_pretrained(folder), theirs, runtimes(folder, theirs, place))


def contestants(loaded: Loaded, texts: list[str]) -> dict[str, Encode]:
    """sentence-transformers also at the batch size that suits it best on these texts."""
    ours, theirs, others = loaded
    sample = texts[:300]
    sizes = (8, 16, 64, 128)
    theirs.encode(sample[:32])

    def best_of_two(size: int) -> float:
        return min(seconds(lambda: theirs.encode(sample, batch_size=size)) for _ in range(2))

    best_size = min(sizes, key=best_of_two)
    return {
        OURS: lambda texts: ours.encode(texts, on_truncate="ignore"),
        DEFAULT: lambda texts: theirs.encode(texts),
        "sentence-transformers (its best batch size)": lambda texts: theirs.encode(texts, batch_size=best_size),
        **others,
    }


def multiplies(model: BiEncoder, texts: list[str]) -> Callable[[], None]:
    """The float32 operations of encoding ``texts`` without padding, linear layers and attention, and nothing else."""
    matrix = torch.rand(SIZE, SIZE)
    whole, rest = divmod(flops(model, model.tokenize(texts)), 2 * SIZE**3)
    last = matrix[: round(rest / (2 * SIZE**2))]

    def multiply() -> None:
        with torch.inference_mode():
            for _ in range(whole):
                matrix_product(matrix, matrix)
            matrix_product(last, matrix)

    return multiply


def throughput(loaded: Loaded, texts: list[str], rounds: int = ROUNDS) -> dict[str, float]:
    """Best seconds of each contestant over ``texts``, after checking that all give the same vectors; and the limit."""
    people = contestants(loaded, texts)
    expected = people[OURS](texts)
    for name, encode in people.items():
        difference = float(np.abs(encode(texts) - expected).max())
        if difference > 1e-5:
            raise SystemExit(f"{name} gives other vectors: {difference:.2g}")
    turns = {name: (lambda encode=encode: encode(texts)) for name, encode in people.items()}
    return race({**turns, LIMIT: multiplies(loaded.ours, texts)}, rounds)


def single_batches(loaded: Loaded) -> dict[str, dict[str, float]]:
    """Best seconds for one long text, and for one batch of 16, also by a forward pass that uses all threads."""
    ours, theirs, _ = loaded
    text = "a cat sat on the mat " * 60
    results = {}
    for name, texts in {"one_text": [text], "one_batch": [text] * 16}.items():
        ((_, batch),) = batches(ours.tokenize(texts), batch_tokens=10**6)

        def forward(batch: Batch = batch) -> None:
            with torch.inference_mode():
                ours(batch)

        contestants: dict[str, Callable[[], object]] = {
            OURS: lambda texts=texts: ours.encode(texts, batch_tokens=10**6, on_truncate="ignore"),
            DEFAULT: lambda texts=texts: theirs.encode(texts),
            ALL_THREADS: forward,
        }
        results[name] = race(contestants, 3 * ROUNDS)
    return results


def cold_start(folder: str) -> dict[str, float]:
    """Best seconds from starting Python to holding a vector."""

    def start(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code.format(folder=folder)], check=True)

    return race({name: start(code) for name, code in COLD.items()}, 3)


def table(results: dict[str, dict[str, float]]) -> str:
    """Markdown: how many times faster than sentence-transformers at its default."""
    names = list(results["sts"])
    rows = [
        f"| {name} | " + " | ".join(f"{r[DEFAULT] / r[name]:.2f}" for r in results.values()) + " |" for name in names
    ]
    return "\n".join(["| | " + " | ".join(results) + " |", "| --- |" + " --- |" * len(results), *rows]) + "\n"


def plot(results: dict[str, dict[str, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    titles = {"sts": "STS sentences", "mixed": "mixed: STS, Korean, newsgroup posts"}
    figure, axes = plt.subplots(1, len(results), figsize=(11, 3.2), sharey=True, layout="constrained")
    for axis, (name, best) in zip(axes, results.items(), strict=True):
        people = [person for person in best if person != LIMIT][::-1]
        ratios = [best[DEFAULT] / best[person] for person in people]
        colors = ["#1f6feb" if person == OURS else "#b8bfc9" for person in people]
        bars = axis.barh([person.replace(" (", "\n(") for person in people], ratios, color=colors)
        axis.bar_label(bars, fmt="%.2f×", padding=3)
        axis.set_title(titles[name], fontsize=10)
        limit = best[DEFAULT] / best[LIMIT]
        axis.axvline(limit, color="#57606a", linestyle=":")
        axis.text(limit, 0, "multiply \npeak ", ha="right", va="center", color="#57606a", fontsize=8)
        axis.set_xlim(0, max(*ratios, limit) * 1.15)
        axis.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("sentences per second, relative to sentence-transformers at its default", fontsize=9)
    figure.savefig(RESULTS / "encode.png", dpi=150)


def main() -> None:
    folder = str(hub.resolve(None))
    sets = text_sets()
    with tempfile.TemporaryDirectory() as place:
        loaded = load(folder, Path(place))
        results = {name: throughput(loaded, texts) for name, texts in sets.items()}
        single = single_batches(loaded)
    cold = cold_start(folder)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "encode.md").write_text(table(results), encoding="utf-8")
    plot(results)
    print(table(results))
    others = {name: min(s for who, s in best.items() if who not in (OURS, LIMIT)) for name, best in results.items()}
    finish(
        "encode",
        {
            "encode_sts": (results["sts"][DEFAULT] / results["sts"][OURS], 1.5),
            "encode_mixed": (results["mixed"][DEFAULT] / results["mixed"][OURS], 2.3),
            "encode_best_peer_sts": (others["sts"] / results["sts"][OURS], 1.0),
            "encode_best_peer_mixed": (others["mixed"] / results["mixed"][OURS], 1.0),
            "encode_share_of_peak": (results["sts"][LIMIT] / results["sts"][OURS], 0.8),
            "encode_one_text": (single["one_text"][DEFAULT] / single["one_text"][OURS], 1.0),
            "encode_one_text_all_threads": (single["one_text"][ALL_THREADS] / single["one_text"][OURS], 1.0),
            "encode_one_batch": (single["one_batch"][DEFAULT] / single["one_batch"][OURS], 1.0),
            "encode_one_batch_all_threads": (single["one_batch"][ALL_THREADS] / single["one_batch"][OURS], 1.0),
            "cold_first_vector": (cold[DEFAULT] / cold[OURS], 2.0),
        },
        {"seconds": results, "single_batch_seconds": single, "cold_seconds": cold, "torch": torch.__version__},
    )


if __name__ == "__main__":
    main()
