"""Table 4: is a sentence nearer to one of its own Wikipedia section than to one of another section of the article?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sbert import losses
from sbert.data import Columns
from sbert.evaluate import sections
from sbert.models.bi import BiEncoder
from sbert.models.words import WordEncoder
from sbert.paper import baselines, measure, sources
from sbert.paper.cells import Job
from sbert.paper.encoders import Encoders, Row

(TASK,) = sections.TASKS


def jobs(encoders: Encoders) -> list[Job]:
    """One a row."""
    rows = encoders.rows(
        lambda: replace(encoders.glove(), name="mean-vectors", paper="mean-vectors"),
        lambda: _dor(encoders, _triplets(encoders)),
        lambda: _sbert(encoders, _triplets(encoders)),
    )
    return measure.jobs(encoders, "table4", rows, {"Accuracy": TASK})


def _triplets(encoders: Encoders) -> Columns:
    return sources.triplets(sources.find(encoders.folder, sources.SECTIONS), encoders.limits.triplets)


def _dor(encoders: Encoders, triplets: Columns) -> Row:
    """A BiLSTM on word vectors."""
    path, size = encoders.vectors, encoders.limits.lstm

    def load() -> WordEncoder:
        new = partial(baselines.infersent, path, size)
        folder = encoders.train("dor", new, triplets, lambda _: losses.triplet, rate=1e-3, batch=64)
        return WordEncoder.from_pretrained(folder)

    note = f"trained here on {len(triplets):,} triplets, {size} units in each direction, {path.name}"
    return Row("Dor et al.", "Dor et al.", note, load)


def _sbert(encoders: Encoders, triplets: Columns) -> Row:
    """The backbone."""
    name = f"{encoders.family}-WikiSec"

    def load() -> BiEncoder:
        new = partial(encoders.bare, "mean")
        return BiEncoder.from_pretrained(
            encoders.train(name.lower(), new, triplets, lambda _: losses.triplet, encoders.rate)
        )

    paper = f"{name}-{encoders.size}"
    note = f"{encoders.trained_note}, trained on {len(triplets):,} triplets; the paper's is {paper}"
    return Row(name, paper, note, load)
