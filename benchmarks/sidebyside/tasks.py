"""What several proofs share: tasks with known answers, and runs side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import torch

from sbert.data import read
from sbert.evaluate import Similarity
from sidebyside import data_folder


def similarity(name: str, split: str) -> Similarity:
    """One split of a data set of pairs with scores, such as ``stsb`` or ``korsts``."""
    columns = read(data_folder() / f"{name}.tsv.gz", split=split)
    return Similarity(*columns.texts.values(), gold=columns.labels)


def one_core_each(work: Callable[..., float], *arguments: Iterable[object]) -> list[float]:
    """``map`` with a process for every core: runs of small models gain more from that than from several threads."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        return list(pool.map(work, *arguments))
