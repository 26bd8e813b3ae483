"""Wikipedia sections: triplets of two sentences from one section and one from another section of the same article."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sbert.data import Columns
from sbert.data.rows import Row
from sbert.evaluate.suites.sources import on_hub, own, published
from sbert.evaluate.suites.task import Task, evaluator_of

_DOR = "Dor et al. 2018, public.ukp.informatik.tu-darmstadt.de/reimers/sentence-transformers/datasets"
_DOR_COLUMNS = ("Sentence1", "Sentence2", "Sentence3")
_SELF_BUILT = "self-built from WikiText-2, not the set of Dor et al. 2018"


def read_triplets(rows: list[Row], names: Sequence[str] = ("anchor", "positive", "negative")) -> Columns:
    """Read triplets from three columns."""
    return Columns({name: [row.text(name) for row in rows] for name in names}, name=rows[0].source.name)


TASKS = (
    Task(
        "wikipedia_sections",
        (
            published("wikipedia-sections-triplets/test.csv", _DOR, partial(read_triplets, names=_DOR_COLUMNS)),
            on_hub("sentence-transformers/wikipedia-sections", "test", read_triplets, "triplet"),
            own("wikisection_triplets_selfbuilt", "WikiText-2", read_triplets, "test", note=_SELF_BUILT),
        ),
        evaluator_of,
        ("encoder",),
        ("euclidean_accuracy",),
    ),
)
