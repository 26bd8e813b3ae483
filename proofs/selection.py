"""Choosing the right one of 20: a bi-, a poly- and a cross-encoder from the same weights, taught by the same rows.

A row is two texts of one intent. The candidates of a test query are one other text of its intent and 19 of other
intents. Learning rates come from texts of the banking task that are kept back from training, and serve both tasks.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import sys
import tempfile
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from sidebyside import data_folder, finish, race
from sidebyside.tasks import one_core_each

from sbert import Backbone, BiEncoder, Columns, CrossEncoder, PolyEncoder, TrainConfig, Trainer, losses

TASKS = ("clu_banking77", "parakqc_ko")
RATES = {"cross": 1e-4, "bi": 2e-4, "poly": 2e-4}
"""Of bi and poly the better of TRIED on dev; that of cross lies between them. `... selection.py rates` compares."""
TRIED = (5e-5, 2e-4)
DEV_ROWS, DEV_QUESTIONS = 512, 100
CANDIDATES, BATCH = 20, 32
EPOCHS = 2
ROWS = {"clu_banking77": 4096, "parakqc_ko": 2560}
QUESTIONS = {"clu_banking77": 770, "parakqc_ko": 400}

Model = BiEncoder | PolyEncoder | CrossEncoder
Texts = dict[str, list[str]]


class Choice(NamedTuple):
    """One question with its candidates, of which the first is the right one."""

    query: str
    candidates: list[str]


def by_intent(task: str, part: str) -> Texts:
    """The texts of each intent of "train", "dev" or "test".

    Korean: 720, 80 and 200 intents. Banking: the same 77 intents in all; the last ten texts of each in the published
    training split are dev.
    """
    found: Texts = defaultdict(list)
    published = "test" if part == "test" else "train"
    with gzip.open(data_folder() / f"{task}.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["split"] in ("all", published):
                found[row["intent" if task == "parakqc_ko" else "label"]].append(row["text"])
    if task == "parakqc_ko":
        first, end = {"train": (0, 720), "dev": (720, 800), "test": (800, 1000)}[part]
        return {intent: texts for intent, texts in found.items() if first <= int(intent) < end}
    piece = {"train": slice(None, -10), "dev": slice(-10, None), "test": slice(None)}[part]
    return {intent: texts[piece] for intent, texts in found.items()}


def choices(task: str, part: str, number: int) -> list[Choice]:
    """Questions, drawn by a fixed seed."""
    generator, texts = np.random.default_rng(0), by_intent(task, part)
    drawn = []
    for _ in range(number):
        own, *others = generator.choice(list(texts), CANDIDATES, replace=False)
        query, right = generator.choice(texts[own], 2, replace=False)
        wrong = [str(generator.choice(texts[other])) for other in others]
        drawn.append(Choice(str(query), [str(right), *wrong]))
    return drawn


def batches(task: str, rows: int) -> list[Columns]:
    """Pairs of one intent, batch by batch: no intent twice in one, so that no negative of a batch is a positive."""
    generator, texts = np.random.default_rng(1), by_intent(task, "train")
    made: list[Columns] = []
    while len(made) * BATCH < rows:
        intents = generator.permutation(list(texts))
        for start in range(0, len(intents) - BATCH + 1, BATCH):
            pairs = [generator.choice(texts[own], 2, replace=False).tolist() for own in intents[start : start + BATCH]]
            queries, documents = zip(*pairs, strict=True)
            made.append(Columns.of({"query": queries, "document": documents}))
    return made[: rows // BATCH]


def with_negatives(parts: list[Columns]) -> Columns:
    """Every pair, and its query with the document of another row of its batch."""
    asked = [query for part in parts for query in part.texts["query"] * 2]
    answers = [part.texts["document"] for part in parts]
    documents = [document for own in answers for document in [*own, *own[1:], own[0]]]
    labels = [label for part in parts for label in (1, 0) for _ in range(len(part))]
    return Columns.of({"query": asked, "document": documents}, labels)


def new(kind: str) -> Model:
    """The default model, with new codes or a new head where it needs them."""
    if kind == "bi":
        return BiEncoder.from_pretrained()
    if kind == "cross":
        return CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2"))
    return PolyEncoder.from_pretrained("all-MiniLM-L6-v2")


def trained(task: str, kind: str, rate: float, rows: int) -> Model:
    """By the same rows, whatever the kind."""
    model, parts = new(kind), batches(task, rows)
    train = with_negatives(parts) if kind == "cross" else parts
    loss = {"bi": losses.info_nce, "poly": losses.poly_nce, "cross": losses.bce}[kind]
    with tempfile.TemporaryDirectory() as folder:
        config = TrainConfig(output_dir=folder, epochs=EPOCHS, batch_size=BATCH, learning_rate=rate)
        Trainer(model, config, train=train, loss=loss).train()
    return model


def scores(model: Model, asked: list[Choice]) -> np.ndarray:
    """(questions, candidates)."""
    pairs = [(choice.query, text) for choice in asked for text in choice.candidates]
    if isinstance(model, BiEncoder):
        texts = list(dict.fromkeys(itertools.chain.from_iterable(pairs)))
        vectors = dict(zip(texts, model.encode(texts), strict=True))
        flat = np.array([vectors[query] @ vectors[document] for query, document in pairs])
    elif isinstance(model, CrossEncoder):
        flat = model.predict(pairs, output="logit")
    else:
        flat = model.predict(pairs)
    return flat.reshape(len(asked), -1)


def right(model: Model, asked: list[Choice]) -> np.ndarray:
    """(questions,): whether the right candidate scores above all others."""
    scored = scores(model, asked)
    return scored[:, 0] > scored[:, 1:].max(axis=1)


def on_dev(kind: str, rate: float) -> float:
    model = trained(TASKS[0], kind, rate, DEV_ROWS)
    score = 100 * float(right(model, choices(TASKS[0], "dev", DEV_QUESTIONS)).mean())
    print(f"dev of {TASKS[0]}: {kind} at {rate:g}: {score:.1f}", flush=True)
    return score


def on_test(task: str, kind: str) -> np.ndarray:
    """(questions,): which were answered right; "untrained" is the bi-encoder as it comes."""
    model = new("bi") if kind == "untrained" else trained(task, kind, RATES[kind], ROWS[task])
    chosen = right(model, choices(task, "test", QUESTIONS[task]))
    print(f"{task:14} {kind:10} R@1 {100 * chosen.mean():5.1f} ± {error(chosen):.1f}", flush=True)
    return chosen


def speed() -> dict[str, float]:
    """Candidates a second on one core with the documents' vectors at hand, the reading of the query included."""
    asked = choices(TASKS[0], "test", 20)
    bi, poly, cross = new("bi"), new("poly"), new("cross")
    vectors = [bi.encode(choice.candidates) for choice in asked]
    kept = [poly.encode_document(choice.candidates) for choice in asked]
    best = race(
        {
            "bi": lambda: [known @ bi.encode(one.query) for one, known in zip(asked, vectors, strict=True)],
            "poly": lambda: [
                poly.score(poly.encode_query(one.query), known) for one, known in zip(asked, kept, strict=True)
            ],
            "cross": lambda: [cross.predict([(one.query, text) for text in one.candidates]) for one in asked],
        },
        rounds=4,
    )
    return {name: len(asked) * CANDIDATES / seconds for name, seconds in best.items()}


def error(chosen: np.ndarray) -> float:
    """The binomial standard error of a share, in per cent."""
    share = chosen.mean()
    return 100 * float(np.sqrt(share * (1 - share) / len(chosen)))


def main() -> None:
    runs = list(itertools.product(TASKS, (*RATES, "untrained")))
    chosen = dict(zip(runs, one_core_each(on_test, *zip(*runs, strict=True)), strict=True))
    gains = {
        f"{kind}_over_bi_{task}": 100 * (chosen[task, kind].astype(float) - chosen[task, "bi"])
        for task in TASKS
        for kind in ("poly", "cross")
    }
    finish(
        "prove-selection",
        {name: (float(gain.mean()), 0.0) for name, gain in gains.items()},
        {
            "rows": ROWS,
            "questions": QUESTIONS,
            "candidates": CANDIDATES,
            "rates": RATES,
            "recall_at_1": {f"{task} {kind}": 100 * float(each.mean()) for (task, kind), each in chosen.items()},
            "standard_error": {f"{task} {kind}": error(each) for (task, kind), each in chosen.items()},
            "standard_error_of_gain": {
                name: float(gain.std(ddof=1) / np.sqrt(len(gain))) for name, gain in gains.items()
            },
            "candidates_per_second": speed(),
        },
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["rates"]:
        one_core_each(on_dev, *zip(*itertools.product(RATES, TRIED), strict=True))
    else:
        main()
