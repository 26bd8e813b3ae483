"""How fast pairs are learned from, beside sentence-transformers' own trainer: same rows, weights, loss and optimizer.

Both train the default model on the same SNLI pairs with the paper's softmax objective, batch 16, AdamW, in turn; a
round is timed from the end of its second step to the end of its last. Memory is the peak of a process that does
nothing else.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable

from sidebyside import data_folder, finish, peak_megabytes

from sbert import BiEncoder, Columns, TrainConfig, Trainer, hub, losses
from sbert.data import read

OURS, THEIRS = "sbert", "sentence-transformers"
BATCH, STEPS, ROUNDS = 16, 22, 5


def rows() -> Columns:
    """The first pairs of SNLI: as many as one round reads."""
    return read(data_folder() / "snli.tsv.gz", limit=BATCH * STEPS)


class Watch:
    """Notes when each step ended."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def __call__(self, *_: object) -> None:
        self.ends.append(time.perf_counter())

    @property
    def pairs_per_second(self) -> float:
        return BATCH * (len(self.ends) - 2) / (self.ends[-1] - self.ends[1])


def ours(columns: Columns) -> float:
    watch = Watch()
    model = BiEncoder.from_pretrained()
    objective = losses.SoftmaxClassifier(model.embedding_dimension, columns.label_names)
    with tempfile.TemporaryDirectory() as folder:
        config = TrainConfig(output_dir=folder, batch_size=BATCH)
        callback = lambda event: watch() if event.kind == "step" else None  # noqa: E731
        Trainer(model, config, train=columns, loss=objective, callbacks=[callback]).train()
    return watch.pairs_per_second


def theirs(columns: Columns) -> float:
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.losses import SoftmaxLoss
    from transformers import TrainerCallback

    watch = Watch()
    callback = type("Timed", (TrainerCallback,), {"on_step_end": lambda self, *_, **__: watch()})()
    model = SentenceTransformer(str(hub.resolve(None)), device="cpu")
    loss = SoftmaxLoss(model, model.get_embedding_dimension(), len(columns.label_names))
    data = Dataset.from_dict({**columns.texts, "label": columns.labels.tolist()})
    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            folder,
            num_train_epochs=1,
            per_device_train_batch_size=BATCH,
            learning_rate=2e-5,
            weight_decay=0.01,
            warmup_steps=0.1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            logging_strategy="no",
            use_cpu=True,
        )
        trainer = SentenceTransformerTrainer(model, arguments, train_dataset=data, loss=loss, callbacks=[callback])
        trainer.train()
    return watch.pairs_per_second


PEOPLE: dict[str, Callable[[Columns], float]] = {OURS: ours, THEIRS: theirs}


def peak_alone(name: str) -> float:
    """Of a fresh process in which only ``name`` trains."""
    output = subprocess.run([sys.executable, __file__, name], check=True, capture_output=True, text=True).stdout
    return float(output.split()[-1])


def alone(name: str) -> None:
    PEOPLE[name](rows())
    print(peak_megabytes())


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    columns = rows()
    speed = dict.fromkeys(PEOPLE, 0.0)
    for number in range(ROUNDS):
        for name in list(PEOPLE)[:: 1 if number % 2 == 0 else -1]:
            speed[name] = max(speed[name], PEOPLE[name](columns))
    memory = {name: peak_alone(name) for name in PEOPLE}
    for name in PEOPLE:
        print(f"{name}: {speed[name]:.1f} pairs/s, {memory[name]:.0f} MB at the peak")
    finish(
        "train",
        {
            "train_speed": (speed[OURS] / speed[THEIRS], 1.6),
            "train_memory_saved": (memory[THEIRS] / memory[OURS], 1.0),
        },
        {"pairs_per_second": speed, "peak_megabytes": memory, "steps": STEPS, "rounds": ROUNDS},
    )


if __name__ == "__main__":
    alone(sys.argv[1]) if len(sys.argv) > 1 else main()
