"""Natural language inference: does a model that labels pairs say what people said? Knows names, columns and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.evaluators.pairs import Classifier
from sbert.evaluate.suites.report import Score
from sbert.evaluate.suites.sources import Source, column, of_split, on_hub, own, rows
from sbert.evaluate.suites.task import Options, Task

LABELS = ("entailment", "neutral", "contradiction")
"""In the order of the numbers that files of the hub write."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPairs:
    """Pairs of texts and what the second is to the first."""

    premises: list[str]
    hypotheses: list[str]
    labels: list[str]


def score(task: str, pairs: LabelledPairs, model: Classifier, _options: Options) -> list[Score]:
    """Accuracy, by the names of the labels: their order is the model's own."""
    names = np.array([label.lower() for label in model.labels])
    if set(names) != set(LABELS):
        raise BadInput(f"the model's labels are {list(model.labels)}, but {task} needs {', '.join(LABELS)}; name them")
    scores = model.predict(list(zip(pairs.premises, pairs.hypotheses, strict=True)), on_truncate="ignore")
    predicted, gold = names[scores.argmax(axis=1)], np.array(pairs.labels)
    return [Score(task, "accuracy", 100 * float((predicted == gold).mean()), len(gold), "", predicted, gold)]


def table(*splits: str) -> Callable[[Sequence[Path]], LabelledPairs]:
    """A reader of NLI files under any of their usual column names; rows without a gold label are left out."""

    def read(paths: Sequence[Path]) -> LabelledPairs:
        (path,) = paths
        records = of_split(rows(path), splits, path)
        two = ("premise", "hypothesis") if "premise" in records[0] else ("sentence1", "sentence2")
        label = "gold_label" if "gold_label" in records[0] else "label"
        judged = [record for record in records if record.get(label) not in ("-", "", None, -1)]
        gold = [LABELS[value] if isinstance(value := record[label], int) else str(value).lower() for record in judged]
        return LabelledPairs(column(judged, two[0], path), column(judged, two[1], path), gold)

    return read


def _nli(name: str, *sources: Source[LabelledPairs]) -> Task[LabelledPairs]:
    return Task(name, sources, score, ("classifier",))


_SNLI, _MULTINLI = "nlp.stanford.edu/projects/snli", "cims.nyu.edu/~sbowman/multinli"
_KORNLI, _KLUE = "KakaoBrain, KorNLUDatasets", "KLUE, klue-benchmark.com"

ENGLISH = (
    *(
        _nli(
            f"snli_{split}",
            own("snli", _SNLI, table(split)),
            Source((f"snli_1.0_{split}.jsonl",), _SNLI, table()),
            on_hub("stanfordnlp/snli", {"dev": "validation"}.get(split, split), table(), "plain_text"),
        )
        for split in ("dev", "test")
    ),
    _nli(
        "multinli_matched",
        own("multinli", _MULTINLI, table("dev_matched")),
        Source(("multinli_1.0_dev_matched.jsonl",), _MULTINLI, table()),
        on_hub("nyu-mll/multi_nli", "validation_matched", table()),
    ),
    _nli(
        "multinli_mismatched",
        Source(("multinli_1.0_dev_mismatched.jsonl",), _MULTINLI, table()),
        on_hub("nyu-mll/multi_nli", "validation_mismatched", table()),
        own("multinli", _MULTINLI, table("dev_mismatched"), "only the pairs with a published gold label"),
    ),
)

KOREAN = (
    *(
        _nli(
            f"kornli_{split}",
            own("xnli_ko", _KORNLI, table(split)),
            Source((f"xnli.{split}.ko.tsv",), _KORNLI, table()),
        )
        for split in ("dev", "test")
    ),
    _nli(
        "klue_nli_dev",
        own("klue_nli", _KLUE, table("dev")),
        Source(("klue-nli-v1.1_dev.json",), _KLUE, table()),
        on_hub("klue/klue", "validation", table(), "nli"),
    ),
)
