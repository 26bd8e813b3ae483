"""Wikipedia sections: triplets of two sentences from one section and one from another section of the same article."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sbert.data import Columns
from sbert.data.rows import in_split, read_table
from sbert.evaluate.suites.columns import evaluator_of
from sbert.evaluate.suites.sources import Read, Source, on_hub, own
from sbert.evaluate.suites.task import Task


def triplets_from_table(*names: str, split: str = "") -> Read[Columns]:
    """Make a reader of tables whose three columns have these names."""

    def read(paths: Sequence[Path]) -> Columns:
        (path,) = paths
        rows = list(in_split(read_table(path), (split,) if split else ()))
        return Columns({name: [row.text(name) for row in rows] for name in names}, name=str(path))

    return read


_COLUMNS = ("anchor", "positive", "negative")
_SELF_BUILT = "self-built from WikiText-2, not the set of Dor et al. 2018"

TASKS = (
    Task(
        "wikipedia_sections",
        (
            Source(
                ("wikipedia-sections-triplets/test.csv",),
                "Dor et al. 2018, public.ukp.informatik.tu-darmstadt.de/reimers/sentence-transformers/datasets",
                triplets_from_table("Sentence1", "Sentence2", "Sentence3"),
            ),
            on_hub("sentence-transformers/wikipedia-sections", "test", triplets_from_table(*_COLUMNS), "triplet"),
            own(
                "wikisection_triplets_selfbuilt",
                "WikiText-2",
                triplets_from_table(*_COLUMNS, split="test"),
                _SELF_BUILT,
            ),
        ),
        evaluator_of,
        ("encoder",),
        ("euclidean_accuracy",),
    ),
)
