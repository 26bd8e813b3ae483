"""Choosing the right one of 20: a bi-, a poly- and a cross-encoder from the same weights, taught by the same rows.

A row is two texts of one intent. The candidates of a test query are one other text of its intent and 19 of other
intents. Learning rates are chosen on intents or texts kept back from training; the test part is looked at once.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import tempfile
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from sidebyside import data_folder, finish, race
from sidebyside.tasks import one_core_each

from sbert import Backbone, BiEncoder, Columns, CrossEncoder, PolyEncoder, TrainConfig, Trainer, losses

TASKS = ("clu_banking77", "parakqc_ko")
KINDS = ("bi", "poly", "poly-first", "cross")
RATES = (5e-5, 2e-4)
CANDIDATES, BATCH = 20, 32
ROWS = {"clu_banking77": 1024, "parakqc_ko": 704}
QUERIES = {"clu_banking77": 400, "parakqc_ko": 240}
RATE_ROWS, RATE_QUERIES = 512, 100
"""Rates are compared on the first task only, with fewer rows."""

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
    """Every pair, and its query with the nearest other document of its batch by the untrained bi-encoder."""
    model = BiEncoder.from_pretrained()
    queries, documents, labels = [], [], []
    for part in parts:
        asked, answers = part.texts["query"], part.texts["document"]
        near = model.encode(asked) @ model.encode(answers).T
        np.fill_diagonal(near, -np.inf)
        queries += asked * 2
        documents += answers + [answers[place] for place in near.argmax(axis=1)]
        labels += [1] * len(part) + [0] * len(part)
    return Columns.of({"query": queries, "document": documents}, labels)


def new(kind: str) -> Model:
    """The embedded model, with new codes or a new head where it needs them."""
    if kind == "bi":
        return BiEncoder.from_pretrained()
    if kind == "cross":
        return CrossEncoder(Backbone.from_pretrained("all-MiniLM-L6-v2"))
    return PolyEncoder.from_pretrained("all-MiniLM-L6-v2", codes="first" if kind == "poly-first" else "learned")


def trained(task: str, kind: str, rate: float, rows: int) -> Model:
    """One epoch."""
    model, parts = new(kind), batches(task, rows)
    train = with_negatives(parts) if kind == "cross" else parts
    loss = {"bi": losses.info_nce, "cross": losses.bce}.get(kind, losses.poly_nce)
    with tempfile.TemporaryDirectory() as folder:
        config = TrainConfig(output_dir=folder, batch_size=BATCH, learning_rate=rate)
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
    score = 100 * float(right(trained(TASKS[0], kind, rate, RATE_ROWS), choices(TASKS[0], "dev", RATE_QUERIES)).mean())
    print(f"dev of {TASKS[0]}: {kind} at {rate:g}: {score:.1f}", flush=True)
    return score


def on_test(task: str, kind: str, rate: float) -> np.ndarray:
    model = trained(task, kind, rate, ROWS[task]) if rate else new(kind)
    chosen = right(model, choices(task, "test", QUERIES[task]))
    print(f"test of {task}: {kind} at {rate:g}: {100 * chosen.mean():.1f}", flush=True)
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
    tried = list(itertools.product(("bi", "poly", "cross"), RATES))
    dev = dict(zip(tried, one_core_each(on_dev, *zip(*tried, strict=True)), strict=True))
    rates = {kind: max(RATES, key=lambda rate: dev[kind.removesuffix("-first"), rate]) for kind in KINDS}
    runs = [(task, "bi", 0.0) for task in TASKS] + [(task, kind, rates[kind]) for task in TASKS for kind in KINDS]
    chosen = dict(zip(runs, one_core_each(on_test, *zip(*runs, strict=True)), strict=True))
    named = {(task, kind if rate else "untrained bi"): each for (task, kind, rate), each in chosen.items()}
    for (task, kind), each in named.items():
        print(f"{task:14} {kind:13} R@1 {100 * each.mean():5.1f} ± {error(each):.1f}")
    gains = {
        f"{kind}_over_bi_{task}": 100 * (named[task, kind].astype(float) - named[task, "bi"])
        for task in TASKS
        for kind in ("poly", "poly-first", "cross")
    }
    finish(
        "prove-selection",
        {name: (float(gain.mean()), 0.0) for name, gain in gains.items()},
        {
            "rows": ROWS,
            "questions": QUERIES,
            "candidates": CANDIDATES,
            "dev_by_rate": {f"{kind} {rate:g}": score for (kind, rate), score in dev.items()},
            "recall_at_1": {f"{task} {kind}": 100 * float(each.mean()) for (task, kind), each in named.items()},
            "standard_error": {f"{task} {kind}": error(each) for (task, kind), each in named.items()},
            "standard_error_of_gain": {
                name: float(gain.std(ddof=1) / np.sqrt(len(gain))) for name, gain in gains.items()
            },
            "candidates_per_second": speed(),
        },
    )


if __name__ == "__main__":
    main()
