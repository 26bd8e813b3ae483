"""Draws the rows of every batch. Works on row numbers and on which texts are equal, not on tokens or models.

The batches are a pure function of the data, the random seed and the epoch, so two numbers identify a position: a run
that resumes from a cursor sees exactly the batches that it would have seen without the interruption.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal, get_args

import numpy as np

from sbert.data.columns import Columns
from sbert.errors import BadInput, check_option
from sbert.types import IntArray, Sampling

Mix = Literal["round-robin", "proportional"]


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position between two batches."""

    epoch: int = 0
    batch: int = 0
    """The number of batches of the epoch that are done."""


def batches(
    columns: Columns, batch_size: int, seed: int, epoch: int, kind: Sampling = "shuffled", drop_last: bool = False
) -> Iterator[IntArray]:
    """Yield the row numbers of each batch of one epoch.

    Args:
        columns: The data set.
        batch_size: The number of rows in a batch.
        seed: The random seed, which determines the order together with ``epoch``.
        epoch: The number of the epoch, counted from 0.
        kind: "shuffled" takes every row once. "no-duplicates" takes every row once and no text twice in a batch, so
            that no in-batch negative is a positive; the last batches may be small. "by-label" takes rows of the same
            label in pairs, so that every row has a partner, and spreads the labels evenly over the batches.
        drop_last: Whether to leave out batches with fewer than ``batch_size`` rows.
    """
    check_option("kind", kind, get_args(Sampling))
    if batch_size < 1 or seed < 0 or epoch < 0:
        got = f"batch_size is {batch_size}, seed {seed} and epoch {epoch}"
        raise BadInput(f"{got}, but must be at least 1, 0 and 0")
    generator = _generator(seed, epoch)
    if kind == "no-duplicates":
        rows, ends = _no_duplicates(columns, batch_size, generator)
    else:
        rows = _by_label(columns, batch_size, generator) if kind == "by-label" else generator.permutation(len(columns))
        ends = np.arange(batch_size, len(rows) + batch_size, batch_size)
    for batch in np.split(rows, ends[:-1]) if len(rows) else []:
        if len(batch) == batch_size or not drop_last:
            yield batch


def mixed(
    datasets: Sequence[Columns],
    batch_size: int,
    seed: int,
    epoch: int,
    kind: Sampling = "shuffled",
    mix: Mix = "proportional",
) -> Iterator[tuple[int, IntArray]]:
    """Yield the batches of one epoch over several data sets: the number of the data set, and row numbers of it.

    With ``mix="proportional"``, every batch of every data set comes once, in random order. With "round-robin", the
    data sets take turns until the one with the fewest batches has no more.
    """
    check_option("mix", mix, get_args(Mix))
    # Every data set has its own seed, so that two of equal size are not shuffled in the same way.
    drawn = [list(batches(columns, batch_size, seed + number, epoch, kind)) for number, columns in enumerate(datasets)]
    sizes = [len(parts) for parts in drawn]
    if mix == "round-robin":
        order = np.tile(np.arange(len(sizes)), min(sizes, default=0))
    else:
        order = _generator(seed + len(sizes), epoch).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rest = [iter(parts) for parts in drawn]
    for number in order.tolist():
        yield number, next(rest[number])


class Sampler:
    """Draws batches of one or several data sets, epoch after epoch, from any position on."""

    def __init__(
        self,
        datasets: Sequence[Columns],
        batch_size: int,
        seed: int,
        kind: Sampling = "shuffled",
        mix: Mix = "proportional",
    ) -> None:
        self.datasets, self.batch_size, self.seed, self.kind, self.mix = tuple(datasets), batch_size, seed, kind, mix
        # The epoch drawn last, which is first counted and then used.
        self._kept: dict[int, list[tuple[int, IntArray]]] = {}
        self.steps_per_epoch = self.steps(0)
        """The number of batches in the first epoch; with "no-duplicates", other epochs may differ by a few."""

    def steps(self, epoch: int) -> int:
        """Return the number of batches of an epoch."""
        return len(self._drawn(epoch))

    def from_(self, cursor: Cursor) -> Iterator[tuple[Cursor, int, IntArray]]:
        """Yield, without end, the position after a batch, the number of the data set, and row numbers of it."""
        start = cursor.batch
        for epoch in count(cursor.epoch):
            drawn = self._drawn(epoch)
            if start > len(drawn):
                raise BadInput(f"{cursor} is beyond the {len(drawn)} batches of its epoch; it belongs to other data")
            for batch, (number, rows) in enumerate(drawn[start:], start + 1):
                yield Cursor(epoch, batch) if batch < len(drawn) else Cursor(epoch + 1), number, rows
            start = 0

    def _drawn(self, epoch: int) -> list[tuple[int, IntArray]]:
        if epoch not in self._kept:
            self._kept = {epoch: list(mixed(self.datasets, self.batch_size, self.seed, epoch, self.kind, self.mix))}
        if not self._kept[epoch]:
            rows = [len(columns) for columns in self.datasets]
            raise BadInput(f"data sets of {rows} rows make no batch ({self.kind}, {self.mix}); give more rows")
        return self._kept[epoch]


def _generator(seed: int, epoch: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64((seed, epoch)))


def _by_label(columns: Columns, batch_size: int, generator: np.random.Generator) -> IntArray:
    """Return rows in pairs of one label; of a label with an odd number, each epoch leaves out another row."""
    if columns.labels is None or columns.label_kind not in ("class", "binary"):
        raise BadInput(f"{columns.name} has labels of kind {columns.label_kind!r}, but 'by-label' needs classes")
    if batch_size < 4 or batch_size % 2:
        raise BadInput(f"batch_size is {batch_size}, but 'by-label' needs an even number from 4 on")
    order = generator.permutation(len(columns))
    order = order[np.argsort(columns.labels[order], kind="stable")]
    _, starts, sizes = np.unique(columns.labels[order], return_index=True, return_counts=True)
    place = np.arange(len(order)) - np.repeat(starts, sizes)  # the position of each row among those of its label
    paired = place < np.repeat(sizes // 2 * 2, sizes)
    pairs, number = order[paired].reshape(-1, 2), place[paired][::2] // 2
    # The pairs of each label are spread evenly between 0 and 1, so that any interval holds the labels in proportion.
    position = (number + generator.random(len(pairs))) / np.repeat(sizes // 2, sizes // 2)
    return pairs[np.argsort(position, kind="stable")].ravel()


def _no_duplicates(columns: Columns, batch_size: int, generator: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return rows batch by batch, and the end of each batch.

    Every row goes into the first batch that is not full and comes after all batches with one of its texts.
    """
    order = generator.permutation(len(columns))
    texts = list(columns.texts.values())
    after: dict[str, int] = {}  # the batch after the last one with this text
    sizes: list[int] = []
    with_room: list[int] = []  # the batches that are not full, in ascending order
    chosen = np.empty(len(order), np.int64)
    for place, row in enumerate(order.tolist()):
        own = [column[row] for column in texts]
        position = bisect_left(with_room, max([after.get(text, 0) for text in own]))
        if position == len(with_room):
            with_room.append(len(sizes))
            sizes.append(0)
        batch = with_room[position]
        sizes[batch] += 1
        if sizes[batch] == batch_size:
            del with_room[position]
        for text in own:
            after[text] = batch + 1
        chosen[place] = batch
    return order[np.argsort(chosen, kind="stable")], np.cumsum(sizes)
