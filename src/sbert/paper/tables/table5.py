"""Table 5: SentEval, seven tasks of a logistic regression on vectors that are not trained any further."""

from __future__ import annotations

from sbert.evaluate.suites import senteval
from sbert.evaluate.suites.task import Options
from sbert.paper import measure
from sbert.paper.ledger import Job
from sbert.paper.rows import Encoders

COLUMNS = dict(zip(("MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC"), senteval.TASKS, strict=True))


def jobs(encoders: Encoders) -> list[Job]:
    """One a cell."""
    options = Options(folds=encoders.limits.transfer_folds, train_limit=encoders.limits.transfer)
    return measure.jobs(encoders, "table5", encoders.rows(encoders.usual), COLUMNS, options)
