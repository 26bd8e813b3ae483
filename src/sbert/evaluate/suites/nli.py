"""Natural language inference: the published data sets. Defines their file names, columns and labels."""

from __future__ import annotations

from sbert.data import Columns
from sbert.data.rows import Row
from sbert.errors import BadInput, listed, shown
from sbert.evaluate.suites.sources import Source, on_hub, own, published
from sbert.evaluate.suites.task import Task, evaluator_of

LABELS = ("entailment", "neutral", "contradiction")
"""In the order of the label numbers in files from the hub."""
_NUMBERS = tuple(map(str, range(len(LABELS))))


def read_nli(rows: list[Row]) -> Columns:
    """Read pairs from columns with any of the usual names of NLI; pairs without a gold label are left out."""
    columns = rows[0].fields
    pair = ("premise", "hypothesis") if "premise" in columns else ("sentence1", "sentence2")
    label = "gold_label" if "gold_label" in columns else "label"
    rows[0].field(label)
    judged = [row for row in rows if row.fields.get(label) not in ("-", "", None, -1)]
    texts = {column: [row.text(column) for row in judged] for column in pair}
    if not judged:
        raise BadInput(f"{rows[0].source.name} has no gold label in any of {len(rows):,} rows, but one is needed")
    return Columns.of(texts, [_name(row, label) for row in judged], label_kind="class", name=rows[0].source.name)


def _name(row: Row, label: str) -> str:
    """Return the name of a label, which is given as a name or as a number."""
    value = row.field(label)
    name = str(value).lower()
    if name in LABELS:
        return name
    if isinstance(value, (str, int)) and name in _NUMBERS:
        return LABELS[_NUMBERS.index(name)]
    numbers = f"one of their numbers, 0 to {len(LABELS) - 1}"
    raise BadInput(f"{row.where}: the label is {shown(value)}, but must be one of {listed(LABELS)} or {numbers}")


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
