"""How much data and time the tables may take, and the settings of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sbert.errors import check_option


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits on the data; None means no limit. The defaults follow the paper."""

    nli: int | None = None
    """Number of SNLI and MultiNLI pairs to train on."""
    stsb: int | None = None
    """Number of STS benchmark pairs to train on."""
    epochs: int = 4
    """Number of epochs over pairs with scores; all other training takes one epoch, as in the paper."""
    arguments: int | None = None
    """Number of argument pairs to train and to test on."""
    argument_folds: int = 10
    """Number of folds for the cross-validation on arguments."""
    triplets: int | None = None
    """Number of triplets of Wikipedia sections to train on."""
    test: int | None = None
    """Number of items of each test set."""
    transfer: int | None = None
    """Number of rows to train each of SentEval's classifiers on."""
    transfer_folds: int = 10
    """Number of folds for SentEval's inner and outer cross-validation."""
    lstm: int = 2048
    """Number of units of InferSent's network in each direction."""
    sentences: int | None = None
    """Number of sentences whose encoding is timed."""
    seeds: tuple[int, ...] = tuple(range(1, 11))
    """Random seeds of the models whose mean and standard deviation table 2 shows."""


_FULL = Budget()
_HONEST = replace(
    _FULL, nli=50_000, argument_folds=5, transfer=5000, transfer_folds=5, lstm=256, sentences=2000, seeds=(1, 2, 3)
)
_LITTLE = Budget(nli=4000, stsb=1500, epochs=1, arguments=800, argument_folds=2, triplets=1500, test=500)
_QUICK = replace(_LITTLE, transfer=500, transfer_folds=2, lstm=64, sentences=300, seeds=(1, 2, 3))
BUDGETS = {"quick": _QUICK, "honest": _HONEST, "full": _FULL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What to measure, with what, and where the results go."""

    data: Path
    """Folder of the data files, under the names that their publishers use or as tables, in any subfolder."""
    out: Path
    """Folder of the finished cells and the trained models."""
    budget: str = "quick"
    """One of :data:`BUDGETS`."""
    backbone: str = "bert-base-uncased"
    """The encoder that Sentence-BERT is trained from."""
    models: tuple[str, ...] = ()
    """Further models to measure, beside the default model."""
    seeds: tuple[int, ...] = ()
    """Random seeds that replace the budget's."""
    device: str | None = None
    """Where models run. Defaults to the first accelerator, or the CPU if there is none."""

    def __post_init__(self) -> None:
        check_option("budget", self.budget, BUDGETS)

    @property
    def limits(self) -> Budget:
        """The limits that the budget's name stands for."""
        budget = BUDGETS[self.budget]
        return replace(budget, seeds=self.seeds) if self.seeds else budget
