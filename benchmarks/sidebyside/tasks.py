"""Tasks with known answers that several proofs measure."""

from __future__ import annotations

from sbert.data import read
from sbert.evaluate import Similarity
from sidebyside import data_folder


def similarity(name: str, split: str) -> Similarity:
    """One split of a data set of pairs with scores, such as ``stsb`` or ``korsts``."""
    columns = read(data_folder() / f"{name}.tsv.gz", split=split)
    return Similarity(*columns.texts.values(), gold=columns.labels)
