"""Bi-, poly- and cross-encoder on STSb, from the default model and with one budget: what accuracy costs.

All see the STSb training split twice, in batches of 16; the cross-encoder also after one epoch of SNLI, which it needs
to learn to read two texts at once. The best on the dev split is measured on the test split. With a folder as
argument, work that was stopped goes on there.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cross_nli import trained as trained_on_snli
from sidebyside import ROOT, data_folder, finish, seconds
from sidebyside.tasks import one_core_each, similarity

from sbert import Backbone, BiEncoder, CrossEncoder, PolyEncoder, TrainConfig, Trainer, losses
from sbert.data import read
from sbert.evaluate import primary_metric

DOCUMENTS = 1000
"""Of which a query is compared with each, to measure the cost."""


def bi(_folder: Path) -> tuple[Any, Any]:
    """Two vectors, their cosine."""
    return BiEncoder.from_pretrained(), losses.cosine_mse


def poly(_folder: Path) -> tuple[Any, Any]:
    """Sixty-four codes of the one text, a vector of the other."""
    return PolyEncoder.from_pretrained(), losses.poly_scores(losses.cosent_scores)


def cross(_folder: Path) -> tuple[Any, Any]:
    """Both texts together."""
    return CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2")), losses.mse


def cross_after_nli(folder: Path) -> tuple[Any, Any]:
    """Both texts together, by a body that has read inference pairs."""
    read_pairs = trained_on_snli(folder / "snli")
    model = CrossEncoder(Backbone(read_pairs.tokenizer, read_pairs.transformer))
    model.head.dense.load_state_dict(read_pairs.head.dense.state_dict())
    return model, losses.mse


KINDS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "bi": bi,
    "poly": poly,
    "cross": cross,
    "cross, SNLI first": cross_after_nli,
}


def tuned(kind: str, folder: Path) -> float:
    """The score on the test split."""
    model, loss = KINDS[kind](folder)
    config = TrainConfig(output_dir=str(folder / kind), epochs=2, learning_rate=5e-5, eval_steps=180)
    data = read(data_folder() / "stsb.tsv.gz")
    Trainer(model, config, train=data, loss=loss, evaluator=similarity("stsb", "dev")).train(resume=True)
    test = similarity("stsb", "test")
    return test(model)[primary_metric(test, model)]


def pairs_per_second(folder: Path) -> dict[str, float]:
    """How fast one query is compared with many documents that were read beforehand, where a kind can do that."""
    texts = list(dict.fromkeys(read(data_folder() / "stsb.tsv.gz").texts["sentence1"]))[: DOCUMENTS + 1]
    query, documents = texts[0], texts[1:]
    two, many, one = BiEncoder.from_pretrained(), PolyEncoder.from_pretrained(), cross(folder)[0]
    vectors, read_before = two.encode(documents), many.encode_document(documents)
    work: dict[str, Callable[[], object]] = {
        "bi": lambda: two.similarity(two.encode([query]), vectors),
        "poly": lambda: many.score(many.encode_query(query), read_before),
        "cross": lambda: one.rank(query, documents),
    }
    return {kind: len(documents) / min(seconds(run) for _ in range(5)) for kind, run in work.items()}


def picture(scores: dict[str, float], speeds: dict[str, float]) -> None:
    """Accuracy against cost."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for kind, score in scores.items():
        speed = speeds[kind.split(",")[0]]
        axes.scatter(speed, score, s=60)
        axes.annotate(kind, (speed, score), xytext=(7, 5), textcoords="offset points")
    axes.set(
        xscale="log",
        xlabel="pairs per second: one query, documents read beforehand",
        ylabel="STSb test, Spearman x 100",
        title="What accuracy costs",
    )
    axes.margins(x=0.2, y=0.2)
    axes.grid(alpha=0.3)
    figure.savefig(ROOT / "docs" / "pictures" / "kinds.png", dpi=110)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(place)
        measured = one_core_each(tuned, KINDS, [folder] * len(KINDS))
        speeds = pairs_per_second(folder)
    scores = dict(zip(KINDS, np.round(measured, 2).tolist(), strict=True))
    picture(scores, speeds)
    for kind, score in scores.items():
        print(f"{kind:20} STSb test {score:.2f}, {speeds[kind.split(',')[0]]:12,.0f} pairs/s")
    finish(
        "prove-kinds",
        {"cross_minus_bi": (max(scores["cross"], scores["cross, SNLI first"]) - scores["bi"], 0.0)},
        {"stsb_test": scores, "pairs_per_second": speeds},
    )


if __name__ == "__main__":
    main()
