"""How much data and time the tables may take: a first look, an honest try, or all there is. Knows numbers only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sbert.errors import check_option


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What is taken of the data; None for all there is."""

    nli: int | None
    """Pairs of SNLI and MultiNLI to train on."""
    stsb: int | None
    """Pairs of the STS benchmark to train on."""
    epochs: int
    """Over graded pairs, of the STS benchmark and of arguments; over all others one, as in the paper."""
    arguments: int | None
    """Pairs of arguments, to train on and to test on."""
    argument_folds: int
    triplets: int | None
    """Of Wikipedia sections, to train on."""
    test: int | None
    """Of every test set."""
    transfer: int | None
    """Rows for each of SentEval's classifiers."""
    transfer_folds: int
    lstm: int
    """Units of InferSent's network in each direction; its authors have 2048."""
    sentences: int | None
    """Whose encoding is timed."""
    seeds: tuple[int, ...]
    """Of the models whose mean and deviation table 2 shows."""


BUDGETS = {
    "quick": Budget(
        nli=4000,
        stsb=1500,
        epochs=1,
        arguments=800,
        argument_folds=2,
        triplets=1500,
        test=500,
        transfer=500,
        transfer_folds=2,
        lstm=64,
        sentences=300,
        seeds=(1, 2, 3),
    ),
    "honest": Budget(
        nli=50_000,
        stsb=None,
        epochs=4,
        arguments=None,
        argument_folds=5,
        triplets=None,
        test=None,
        transfer=5000,
        transfer_folds=5,
        lstm=256,
        sentences=2000,
        seeds=(1, 2, 3),
    ),
    "full": Budget(
        nli=None,
        stsb=None,
        epochs=4,
        arguments=None,
        argument_folds=10,
        triplets=None,
        test=None,
        transfer=None,
        transfer_folds=10,
        lstm=2048,
        sentences=None,
        seeds=tuple(range(1, 11)),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What to measure, with what, and where the results go."""

    data: Path
    """The files, under the names that their publishers use or as tables, in any sub-folder."""
    out: Path
    """Finished cells and trained models."""
    budget: str = "quick"
    """One of :data:`BUDGETS`."""
    backbone: str = "bert-base-uncased"
    """The bare encoder that Sentence-BERT is trained from."""
    models: tuple[str, ...] = ()
    """Rows of their own, beside the embedded model."""
    seeds: tuple[int, ...] = ()
    """In place of the budget's."""

    def __post_init__(self) -> None:
        check_option("budget", self.budget, BUDGETS)

    @property
    def limits(self) -> Budget:
        """The numbers behind the budget's name."""
        budget = BUDGETS[self.budget]
        return replace(budget, seeds=self.seeds) if self.seeds else budget
