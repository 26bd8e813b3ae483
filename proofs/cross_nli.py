"""The default model as a cross-encoder for inference: SNLI, three labels, one epoch of a part of its training set.

With a folder as argument, work that was stopped goes on there.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from sidebyside import data_folder, finish

from sbert import Backbone, Columns, CrossEncoder, TrainConfig, Trainer, losses
from sbert.data import read

ROWS = 32_000
"""Of the 549,367 pairs that were published; the part at hand has 94,093."""


def snli(split: str, rows: int | None = None) -> Columns:
    """The first rows of a split."""
    return read(data_folder() / "snli.tsv.gz", split=split, limit=rows)


def trained(folder: Path, rows: int = ROWS) -> CrossEncoder:
    """The default model's body with a new head, after one epoch; goes on where it was stopped."""
    data = snli("train_subset", rows)
    model = CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2"), data.label_names)
    config = TrainConfig(output_dir=str(folder), batch_size=32, learning_rate=5e-5, checkpoint_steps=250)
    Trainer(model, config, train=data, loss=losses.cross_entropy).train(resume=True, show_progress_bar=True)
    return model


def accuracy(model: CrossEncoder, data: Columns) -> float:
    """Per cent of the pairs whose highest score is their label's."""
    chosen = model.predict(zip(*data.texts.values(), strict=True), on_truncate="ignore").argmax(axis=1)
    return 100 * float((chosen == data.labels).mean())


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        model = trained(Path(sys.argv[1] if len(sys.argv) > 1 else place) / "snli")
    score = accuracy(model, snli("test"))
    print(f"SNLI test: {score:.2f} after {ROWS:,} training pairs")
    finish("prove-cross-nli", {"cross_snli_accuracy": (score, 75.0)}, {"rows": ROWS})


if __name__ == "__main__":
    main()
