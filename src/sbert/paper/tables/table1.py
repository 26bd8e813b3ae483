"""Table 1: Spearman on seven sets of sentence pairs, of encoders that were not trained on any."""

from __future__ import annotations

from sbert.evaluate.suites import sts
from sbert.paper import measure
from sbert.paper.ledger import Job
from sbert.paper.rows import Encoders

COLUMNS = dict(
    zip(("STS12", "STS13", "STS14", "STS15", "STS16", "STSb", "SICK-R"), sts.ENGLISH, strict=True),
)


def jobs(encoders: Encoders) -> list[Job]:
    """One a cell."""
    return measure.jobs(encoders, "table1", encoders.rows(encoders.usual), COLUMNS)
