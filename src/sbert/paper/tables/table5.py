"""Table 5: SentEval, seven tasks of a logistic regression on embeddings that are not trained any further."""

from __future__ import annotations

from sbert.evaluate.suites import senteval
from sbert.evaluate.suites.task import Options
from sbert.paper import measure, rows
from sbert.paper.context import Context
from sbert.paper.ledger import Job

COLUMNS = dict(zip(("MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC"), senteval.TASKS, strict=True))


def jobs(context: Context) -> list[Job]:
    """Return one job for each cell."""
    limits = context.materials.limits
    options = Options(folds=limits.transfer_folds, train_limit=limits.transfer)
    return measure.jobs(context, "table5", context.contestants(rows.usual(context.materials)), COLUMNS, options)
