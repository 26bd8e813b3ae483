"""Table 4: is a sentence nearer to one of its own Wikipedia section than to one of another section of the article?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from sbert import losses
from sbert.data import Columns
from sbert.errors import counted
from sbert.evaluate.suites import sections
from sbert.models.bi import BiEncoder
from sbert.models.words import WordEncoder
from sbert.paper import baselines, measure, sources
from sbert.paper.ledger import Job
from sbert.paper.rows import Encoders, Row

(TASK,) = sections.TASKS


def jobs(encoders: Encoders) -> list[Job]:
    """One a row."""

    @cache
    def triplets() -> Columns:
        return sources.triplets(sources.find(encoders.folder, sources.SECTIONS), encoders.limits.triplets)

    rows = encoders.rows(
        {
            "mean-vectors": lambda: replace(encoders.glove(), name="mean-vectors", paper="mean-vectors"),
            "Dor et al.": lambda: _dor(encoders, triplets()),
            "SBERT-WikiSec": lambda: _sbert(encoders, triplets()),
        }
    )
    return measure.jobs(encoders, "table4", rows, {"Accuracy": TASK})


def _dor(encoders: Encoders, triplets: Columns) -> Row:
    """A BiLSTM on word vectors."""
    path, size, start = encoders.vectors, encoders.limits.lstm, encoders.vectors_print

    def load() -> WordEncoder:
        new = partial(baselines.infersent, path, size)
        folder = encoders.train("dor", new, start, triplets, lambda _: losses.triplet, rate=1e-3, batch=64)
        return WordEncoder.from_pretrained(folder)

    note = f"trained here on {counted(len(triplets), 'triplet')}, {size} units in each direction, {path.name}"
    return Row("Dor et al.", "Dor et al.", note, load, f"{start} {triplets.fingerprint}")


def _sbert(encoders: Encoders, triplets: Columns) -> Row:
    """The backbone."""
    bare, start = encoders.bare, encoders.bare.fingerprint
    name = f"{bare.family}-WikiSec"

    def load() -> BiEncoder:
        new = partial(bare.bi, "mean")
        folder = encoders.train(name.lower(), new, start, triplets, lambda _: losses.triplet, bare.rate)
        return BiEncoder.from_pretrained(folder)

    paper = f"{name}-{bare.size}"
    note = f"{bare.trained_note}, trained on {counted(len(triplets), 'triplet')}; the paper's is {paper}"
    return Row(name, paper, note, load, f"{start} {triplets.fingerprint}")
