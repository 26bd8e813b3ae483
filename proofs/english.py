"""The paper's recipe on a small raw BERT: one epoch of NLI with the softmax objective, then STSb, ten seeds.

The learning rate of the first stage is chosen on STSb's dev split; the test split is looked at once for each figure.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from functools import partial
from pathlib import Path

import torch
from sidebyside import ROOT, data_folder, finish, model_folder
from sidebyside.tasks import one_core_each, similarity

from sbert import BiEncoder, TrainConfig, Trainer, losses
from sbert.data import read

RATES = (1e-4, 2e-4)
SEEDS = range(10)


def nli(rate: float, folder: Path) -> float:
    """One epoch over all NLI pairs; the score on the dev split."""
    data = [read(data_folder() / f"{name}.tsv.gz") for name in ("snli", "multinli")]
    model = BiEncoder.from_pretrained(model_folder() / "bert-tiny")
    torch.manual_seed(0)
    objective = losses.SoftmaxClassifier(model.embedding_dimension, data[0].label_names)
    config = TrainConfig(output_dir=str(folder), learning_rate=rate, eval_steps=1000, log_steps=50)
    return (
        Trainer(model, config, train=data, loss=objective, evaluator=similarity("stsb", "dev"))
        .train(True, True)
        .best_score
    )


def regression(start: Path, seed: int, folder: Path) -> float:
    """Four epochs of STSb on top; the score on the test split."""
    model = BiEncoder.from_pretrained(start)
    config = TrainConfig(output_dir=str(folder), epochs=4, learning_rate=2e-4, seed=seed, eval_steps=180)
    data = read(data_folder() / "stsb.tsv.gz")
    Trainer(model, config, train=data, loss=losses.cosine_mse, evaluator=similarity("stsb", "dev")).train()
    return similarity("stsb", "test")(model)["spearman_cosine"]


def main() -> None:
    test = similarity("stsb", "test")
    with tempfile.TemporaryDirectory() as place:
        folders = {rate: Path(place) / f"nli-{rate}" for rate in RATES}
        dev = dict(zip(RATES, one_core_each(nli, RATES, folders.values()), strict=True))
        best = folders[max(dev, key=dev.__getitem__)]
        untrained = test(BiEncoder.from_pretrained(model_folder() / "bert-tiny"))["spearman_cosine"]
        trained = test(BiEncoder.from_pretrained(best / "model"))["spearman_cosine"]
        shutil.copy(best / "curve.png", ROOT / "docs" / "pictures" / "training-nli.png")
        again = [Path(place) / f"stsb-{seed}" for seed in SEEDS]
        scores = one_core_each(partial(regression, best / "model"), SEEDS, again)
    mean, deviation = statistics.mean(scores), statistics.stdev(scores)
    print(f"dev by learning rate: {dev}")
    print(f"STSb test: untrained {untrained:.2f}, after NLI {trained:.2f}, after STSb {mean:.2f} ± {deviation:.2f}")
    finish(
        "prove-english",
        {"nli_to_stsb": (trained, 50.0), "nli_then_stsb_mean_of_ten": (mean, trained)},
        {"untrained": untrained, "dev_by_rate": {str(rate): score for rate, score in dev.items()}, "seeds": scores},
    )


if __name__ == "__main__":
    main()
