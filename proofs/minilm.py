"""The embedded model fine-tuned on STSb: cosine with MSE, batch 16, 5e-5, two epochs, three seeds."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

from sidebyside import ROOT, data_folder, finish
from sidebyside.tasks import similarity

from sbert import BiEncoder, TrainConfig, Trainer, losses
from sbert.data import read

SEEDS = (1, 2, 3)


def main() -> None:
    data, test = read(data_folder() / "stsb.tsv.gz"), similarity("stsb", "test")
    before = test(BiEncoder.from_pretrained())["spearman"]
    scores = []
    with tempfile.TemporaryDirectory() as place:
        for seed in SEEDS:
            model, folder = BiEncoder.from_pretrained(), Path(place) / str(seed)
            config = TrainConfig(output_dir=str(folder), epochs=2, learning_rate=5e-5, seed=seed, eval_steps=120)
            Trainer(model, config, train=data, loss=losses.cosine_mse, evaluator=similarity("stsb", "dev")).train(
                True, True
            )
            scores.append(test(model)["spearman"])
        shutil.copy(folder / "curve.png", ROOT / "docs" / "pictures" / "training-stsb.png")
    print(f"STSb test: {before:.2f} before, {scores} after")
    finish(
        "prove-minilm",
        {"minilm_stsb_mean_of_three": (statistics.mean(scores), 85.5)},
        {"before": before, "seeds": scores, "deviation": statistics.stdev(scores)},
    )


if __name__ == "__main__":
    main()
