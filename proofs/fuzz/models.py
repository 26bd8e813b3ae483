"""Loads thousands of damaged and hostile model folders: each ends with a model or with one sentence.

Each mutation of a valid tiny folder is loaded and used in a child process that may take 20 seconds of processor time
and 3 GB more than an idle one, and that reaches no network. The same seed gives the same folders:

    python proofs/fuzz/models.py --count 3000 --seed 0
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from folders import write_sound
from mutations import mutate
from runner import Fuzzer, run


def warm_up(sound: Path) -> None:
    """Import everything that a trial needs, and load a model."""
    import torch
    import transformers  # noqa: F401

    from sbert.models.load import load

    torch.set_num_threads(1)
    load(sound / "modernbert").encode(["a cat"])


def trial(folder: Path, sound: Path, chance: random.Random, done: list[str]) -> None:
    """Mutate a folder, load it and use the model."""
    from sbert.models.load import load

    done.append(mutate(folder / "m", sound, chance))
    model = load(folder / "m")
    if hasattr(model, "encode"):
        model.encode(["a cat", "비 온다"])
    else:
        model.score_pairs([("a cat", "비 온다")])


if __name__ == "__main__":
    sys.exit(run(Fuzzer(__doc__ or "", write_sound, warm_up, trial, memory=3 << 30)))
