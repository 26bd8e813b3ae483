"""Wikipedia sections: triplets of two sentences from one section and one from another section of the same article."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sbert.data.rows import in_split, read_table
from sbert.evaluate.evaluators.triplets import Triplets
from sbert.evaluate.suites.sources import Read, Source, on_hub, own
from sbert.evaluate.suites.task import Options, Task
from sbert.types import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Triples:
    """Sentences, others of the same section, and others of another section."""

    anchors: list[str]
    positives: list[str]
    negatives: list[str]

    def __len__(self) -> int:
        return len(self.anchors)

    def take(self, places: IntArray) -> Triples:
        """Return the triplets at these places, in this order."""
        columns = (self.anchors, self.positives, self.negatives)
        return Triples(*([texts[place] for place in places] for texts in columns))


def triplets(triples: Triples, _options: Options) -> Triplets:
    """Make the evaluator of the triplets."""
    return Triplets(triples.anchors, triples.positives, triples.negatives)


def triples_from_table(*names: str, split: str = "") -> Read[Triples]:
    """Make a reader of tables whose three columns have these names."""

    def read(paths: Sequence[Path]) -> Triples:
        (path,) = paths
        rows = list(in_split(read_table(path), (split,) if split else ()))
        return Triples(*([row.text(name) for row in rows] for name in names))

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
                triples_from_table("Sentence1", "Sentence2", "Sentence3"),
            ),
            on_hub("sentence-transformers/wikipedia-sections", "test", triples_from_table(*_COLUMNS), "triplet"),
            own(
                "wikisection_triplets_selfbuilt",
                "WikiText-2",
                triples_from_table(*_COLUMNS, split="test"),
                _SELF_BUILT,
            ),
        ),
        triplets,
        ("encoder",),
        ("euclidean_accuracy",),
    ),
)
