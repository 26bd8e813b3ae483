"""Natural language inference: the published data sets. Defines their file names, columns and labels."""

from __future__ import annotations

from sbert.data import Columns
from sbert.data.rows import Row
from sbert.evaluate.suites.sources import Source, on_hub, own, published
from sbert.evaluate.suites.task import Task, evaluator_of

LABELS = ("entailment", "neutral", "contradiction")
"""In the order of the label numbers in files from the hub."""


def read_nli(rows: list[Row]) -> Columns:
    """Read pairs from columns with any of the usual names of NLI; pairs without a gold label are left out."""
    columns = rows[0].fields
    pair = ("premise", "hypothesis") if "premise" in columns else ("sentence1", "sentence2")
    label = "gold_label" if "gold_label" in columns else "label"
    judged = [row for row in rows if row.fields.get(label) not in ("-", "", None, -1)]
    texts = {column: [row.text(column) for row in judged] for column in pair}
    given = [row.field(label) for row in judged]
    names = [LABELS[value] if isinstance(value, int) else str(value).lower() for value in given]
    return Columns.of(texts, names, label_kind="class", name=rows[0].source.name)


def _nli(name: str, *sources: Source[Columns]) -> Task[Columns]:
    return Task(name, sources, evaluator_of, ("classifier",), ("accuracy",))


_SNLI, _MULTINLI = "nlp.stanford.edu/projects/snli", "cims.nyu.edu/~sbowman/multinli"
_KORNLI, _KLUE = "KakaoBrain, KorNLUDatasets", "KLUE, klue-benchmark.com"
_JUDGED = "only the pairs with a published gold label"

ENGLISH = (
    *(
        _nli(
            f"snli_{split}",
            own("snli", _SNLI, read_nli, split),
            published(f"snli_1.0_{split}.jsonl", _SNLI, read_nli),
            on_hub("stanfordnlp/snli", name_on_hub, read_nli, "plain_text"),
        )
        for split, name_on_hub in (("dev", "validation"), ("test", "test"))
    ),
    _nli(
        "multinli_matched",
        own("multinli", _MULTINLI, read_nli, "dev_matched"),
        published("multinli_1.0_dev_matched.jsonl", _MULTINLI, read_nli),
        on_hub("nyu-mll/multi_nli", "validation_matched", read_nli),
    ),
    _nli(
        "multinli_mismatched",
        published("multinli_1.0_dev_mismatched.jsonl", _MULTINLI, read_nli),
        on_hub("nyu-mll/multi_nli", "validation_mismatched", read_nli),
        own("multinli", _MULTINLI, read_nli, "dev_mismatched", note=_JUDGED),
    ),
)

KOREAN = (
    *(
        _nli(
            f"kornli_{split}",
            own("xnli_ko", _KORNLI, read_nli, split),
            published(f"xnli.{split}.ko.tsv", _KORNLI, read_nli),
        )
        for split in ("dev", "test")
    ),
    _nli(
        "klue_nli_dev",
        own("klue_nli", _KLUE, read_nli, "dev"),
        published("klue-nli-v1.1_dev.json", _KLUE, read_nli),
        on_hub("klue/klue", "validation", read_nli, "nli"),
    ),
)
