"""Natural language inference: the published data sets. Knows file names, columns and labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sbert.data import Columns
from sbert.data.rows import in_split, read_table
from sbert.evaluate.suites.columns import evaluator_of
from sbert.evaluate.suites.sources import Read, Source, on_hub, own
from sbert.evaluate.suites.task import Task

LABELS = ("entailment", "neutral", "contradiction")
"""In the order of the label numbers in files from the hub."""


def nli_from_table(*splits: str) -> Read[Columns]:
    """Make a reader of NLI files with any of their usual column names; pairs without a gold label are left out."""

    def read(paths: Sequence[Path]) -> Columns:
        (path,) = paths
        rows = list(in_split(read_table(path), splits))
        columns = rows[0].fields
        premise, hypothesis = ("premise", "hypothesis") if "premise" in columns else ("sentence1", "sentence2")
        label = "gold_label" if "gold_label" in columns else "label"
        judged = [row for row in rows if row.fields.get(label) not in ("-", "", None, -1)]
        texts = {column: [row.text(column) for row in judged] for column in (premise, hypothesis)}
        return Columns.of(texts, [_name(row.field(label)) for row in judged], label_kind="class", name=str(path))

    return read


def _name(label: object) -> str:
    return LABELS[label] if isinstance(label, int) else str(label).lower()


def _nli(name: str, *sources: Source[Columns]) -> Task[Columns]:
    return Task(name, sources, evaluator_of, ("classifier",), ("accuracy",))


_SNLI, _MULTINLI = "nlp.stanford.edu/projects/snli", "cims.nyu.edu/~sbowman/multinli"
_KORNLI, _KLUE = "KakaoBrain, KorNLUDatasets", "KLUE, klue-benchmark.com"

ENGLISH = (
    *(
        _nli(
            f"snli_{split}",
            own("snli", _SNLI, nli_from_table(split)),
            Source((f"snli_1.0_{split}.jsonl",), _SNLI, nli_from_table()),
            on_hub("stanfordnlp/snli", {"dev": "validation"}.get(split, split), nli_from_table(), "plain_text"),
        )
        for split in ("dev", "test")
    ),
    _nli(
        "multinli_matched",
        own("multinli", _MULTINLI, nli_from_table("dev_matched")),
        Source(("multinli_1.0_dev_matched.jsonl",), _MULTINLI, nli_from_table()),
        on_hub("nyu-mll/multi_nli", "validation_matched", nli_from_table()),
    ),
    _nli(
        "multinli_mismatched",
        Source(("multinli_1.0_dev_mismatched.jsonl",), _MULTINLI, nli_from_table()),
        on_hub("nyu-mll/multi_nli", "validation_mismatched", nli_from_table()),
        own(
            "multinli",
            _MULTINLI,
            nli_from_table("dev_mismatched"),
            "only the pairs with a published gold label",
        ),
    ),
)

KOREAN = (
    *(
        _nli(
            f"kornli_{split}",
            own("xnli_ko", _KORNLI, nli_from_table(split)),
            Source((f"xnli.{split}.ko.tsv",), _KORNLI, nli_from_table()),
        )
        for split in ("dev", "test")
    ),
    _nli(
        "klue_nli_dev",
        own("klue_nli", _KLUE, nli_from_table("dev")),
        Source(("klue-nli-v1.1_dev.json",), _KLUE, nli_from_table()),
        on_hub("klue/klue", "validation", nli_from_table(), "nli"),
    ),
)
