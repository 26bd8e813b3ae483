"""Trains the Korean models step by step; after any stop, the same command continues.

    SBERT_DATA=data python recipes/korean/train.py

The folder SBERT_DATA holds klue_nli, korsts and klue_sts (.tsv.gz); everything that is made lies in runs/korean. Each
step is one `sbert` command, which is printed before it runs and can also be run alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path

from sbert.data import read
from sbert.data.writers import open_table
from sbert.errors import SbertError

HERE, DATA, RUNS = Path(__file__).parent, Path(os.environ.get("SBERT_DATA", ".")), Path("runs/korean")
GOLD = [DATA / "korsts.tsv.gz", DATA / "klue_sts.tsv.gz"]


def main() -> None:
    triplets, texts, silver = RUNS / "triplets.tsv", RUNS / "texts.tsv", RUNS / "silver.tsv"
    RUNS.mkdir(parents=True, exist_ok=True)
    write_triplets(triplets)
    train("1-triplets", triplets)
    train("2-sts", *GOLD)
    train("3-cross", *GOLD)
    write_texts(texts)
    if not silver.exists():
        sbert("distill", RUNS / "3-cross", texts, "-o", silver, "--retriever", RUNS / "2-sts", "--neighbours", "1")
    train("4-student", *GOLD, silver)


def train(step: str, *files: Path) -> None:
    """Train one step, or what is left of it."""
    data = [word for file in files for word in ("--data", file)]
    sbert("train", HERE / f"{step}.toml", *data, "--dev", GOLD[0], "--resume")


def sbert(*words: str | Path) -> None:
    """Run a command of sbert, and end with its exit code if it fails."""
    command = [sys.executable, "-m", "sbert", *map(str, words)]
    print("$ sbert", *command[3:], flush=True)
    before = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C reaches the command, which saves its work and ends
    code = subprocess.call(command)
    signal.signal(signal.SIGINT, before)
    if code:
        sys.exit(code)


def write_triplets(path: Path) -> None:
    """Write every premise of KLUE-NLI with each hypothesis that it entails and each that contradicts it."""
    rows = read(DATA / "klue_nli.tsv.gz", split="train")
    premises, hypotheses = rows.texts.values()
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for premise, hypothesis, label in zip(premises, hypotheses, rows.labels, strict=True):
        found[premise, rows.label_names[label]].append(hypothesis)
    with open_table(path) as write:
        for premise in dict.fromkeys(premises):
            pairs = product(found[premise, "entailment"], found[premise, "contradiction"])
            write([{"anchor": premise, "positive": one, "negative": other} for one, other in pairs])


def write_texts(path: Path) -> None:
    """Write the sentences whose neighbours the cross-encoder scores: those of the training pairs of KorSTS."""
    columns = read(GOLD[0], split="train").texts.values()
    with open_table(path) as write:
        write([{"text": text} for text in dict.fromkeys(text for column in columns for text in column)])


if __name__ == "__main__":
    try:
        main()
    except SbertError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
