"""Table 1: Spearman correlation on seven sets of sentence pairs, of encoders that were not trained on them."""

from __future__ import annotations

from sbert.evaluate.suites import sts
from sbert.paper import measure, rows
from sbert.paper.context import Context
from sbert.paper.ledger import Job

COLUMNS = dict(
    zip(("STS12", "STS13", "STS14", "STS15", "STS16", "STSb", "SICK-R"), sts.ENGLISH, strict=True),
)


def jobs(context: Context) -> list[Job]:
    """Return one job for each cell."""
    return measure.jobs(context, "table1", context.contestants(rows.usual(context.materials)), COLUMNS)
