"""Every epoch is the same for the same seed, sees what it should, and goes on from any place as if never stopped."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers.base.sampler import NoDuplicatesBatchSampler

from sbert.data.columns import Columns
from sbert.data.sampling import Cursor, Sampler, batches, mixed
from sbert.errors import BadInput, BadOption

FEW_WORDS = st.sampled_from(["비가 온다", "눈이 온다", "A cat", "A dog", "", "셋"])
PAIRS = st.lists(st.tuples(FEW_WORDS, st.one_of(FEW_WORDS, st.text())), min_size=1, max_size=60)
KINDS = st.sampled_from(["shuffled", "no-duplicates"])
SEEDS = st.integers(0, 2**32)


def pairs(rows: list[tuple[str, str]]) -> Columns:
    return Columns.of({"anchor": [row[0] for row in rows], "positive": [row[1] for row in rows]})


def numbered(size: int, mark: str = "글") -> Columns:
    return Columns.of({"text": [f"{mark} {row}" for row in range(size)]})


def as_lists(drawn):
    return [rows.tolist() for rows in drawn]


@given(PAIRS, st.integers(1, 9), SEEDS, st.integers(0, 3), KINDS)
def test_every_row_comes_once_and_again_for_the_same_seed(rows, batch_size, seed, epoch, kind):
    columns = pairs(rows)
    drawn = as_lists(batches(columns, batch_size, seed, epoch, kind))
    assert sorted(row for batch in drawn for row in batch) == list(range(len(rows)))
    assert all(1 <= len(batch) <= batch_size for batch in drawn)
    assert drawn == as_lists(batches(columns, batch_size, seed, epoch, kind))
    full = as_lists(batches(columns, batch_size, seed, epoch, kind, drop_last=True))
    assert full == [batch for batch in drawn if len(batch) == batch_size]


@given(PAIRS, st.integers(1, 9), SEEDS)
def test_no_text_comes_twice_in_a_batch(rows, batch_size, seed):
    drawn = as_lists(batches(pairs(rows), batch_size, seed, 0, "no-duplicates"))
    for batch in drawn:
        texts = Counter(text for row in batch for text in set(rows[row]))  # a row may repeat itself
        assert max(texts.values()) == 1
    # The most frequent text needs that many batches, and nothing needs more than one a row.
    frequent = max(Counter(text for row in rows for text in set(row)).values())
    assert max(frequent, -(-len(rows) // batch_size)) <= len(drawn) <= len(rows)


class Rows:
    """As much of datasets.Dataset as the other sampler asks for."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.column_names = list(columns.texts)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, row: int) -> dict[str, str]:
        return {name: texts[row] for name, texts in self.columns.texts.items()}


class Permuted(np.random.Generator):
    """A generator that gives the order torch gave."""

    def permutation(self, size: int):
        return torch.randperm(size, generator=torch.Generator().manual_seed(0)).numpy()


def both(monkeypatch: pytest.MonkeyPatch, columns: Columns, batch_size: int):
    """The batches of sentence-transformers and ours, from one order of rows."""
    monkeypatch.setattr("sbert.data.sampling._generator", lambda seed, epoch: Permuted(np.random.PCG64(0)))
    theirs = NoDuplicatesBatchSampler(Rows(columns), batch_size, drop_last=False, generator=torch.Generator(), seed=0)
    return list(theirs), as_lists(batches(columns, batch_size, 0, 0, "no-duplicates"))


@pytest.mark.parametrize("words", [20, 200, 2000])
def test_one_column_without_duplicates_is_that_of_sentence_transformers(monkeypatch, words):
    numbers = np.random.default_rng(words).integers(0, words, 1000)
    theirs, ours = both(monkeypatch, Columns.of({"text": [f"글 {number}" for number in numbers]}), 16)
    assert ours == theirs


def test_two_columns_need_no_more_batches_than_sentence_transformers(monkeypatch):
    numbers = np.random.default_rng(1).integers(0, 400, 2000).tolist()
    columns = pairs([(f"전제 {row // 3}", f"가설 {number}") for row, number in enumerate(numbers)])
    theirs, ours = both(monkeypatch, columns, 16)
    assert len(ours) <= len(theirs) + 1


def test_epochs_and_seeds_differ():
    columns = numbered(100)
    orders = {tuple(np.concatenate(list(batches(columns, 8, seed, epoch)))) for seed in range(3) for epoch in range(3)}
    assert len(orders) == 9


LABELS = st.lists(st.integers(0, 5), min_size=4, max_size=80)


@given(LABELS, st.sampled_from([4, 6, 16]), SEEDS)
def test_by_label_gives_every_row_a_partner(labels, batch_size, seed):
    columns = Columns.of({"text": [f"글 {row}" for row in range(len(labels))]}, labels)
    drawn = as_lists(batches(columns, batch_size, seed, 0, "by-label"))
    for batch in drawn:
        assert min(Counter(labels[row] for row in batch).values()) >= 2
    taken = Counter(row for batch in drawn for row in batch)
    assert set(taken.values()) <= {1}
    by_label = Counter(labels[row] for row in taken)
    assert by_label == {label: size // 2 * 2 for label, size in Counter(labels).items() if size > 1}
    assert len(drawn) == -(-len(taken) // batch_size)


def test_by_label_puts_several_labels_into_every_batch():
    labels = [row % 3 for row in range(600)]
    columns = Columns.of({"text": [f"글 {row}" for row in range(600)]}, labels)
    for epoch in range(5):
        for batch in batches(columns, 12, 7, epoch, "by-label"):
            assert Counter(labels[row] for row in batch) == {0: 4, 1: 4, 2: 4}


def test_by_label_leaves_out_another_row_each_epoch():
    columns = Columns.of({"text": list("가나다라마바사아")}, ["x"] * 5 + ["y"] * 3)
    seen = {
        row for epoch in range(20) for batch in batches(columns, 4, 0, epoch, "by-label") for row in batch.tolist()
    }
    assert seen == set(range(8))


SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=4)


@given(SIZES, st.integers(1, 9), SEEDS, st.integers(0, 3))
def test_proportional_sees_everything_once(sizes, batch_size, seed, epoch):
    drawn = list(mixed([numbered(size) for size in sizes], batch_size, seed, epoch))
    for number, size in enumerate(sizes):
        rows = [row for owner, batch in drawn if owner == number for row in batch.tolist()]
        assert sorted(rows) == list(range(size))


@given(SIZES, st.integers(1, 9), SEEDS)
def test_round_robin_takes_turns_until_the_smallest_has_no_more(sizes, batch_size, seed):
    drawn = list(mixed([numbered(size) for size in sizes], batch_size, seed, 0, mix="round-robin"))
    turns = min(-(-size // batch_size) for size in sizes)
    assert [owner for owner, _ in drawn] == list(range(len(sizes))) * turns
    for number in range(len(sizes)):
        rows = [row for owner, batch in drawn if owner == number for row in batch.tolist()]
        assert len(rows) == len(set(rows))


def test_proportional_order_is_drawn_by_size():
    owners = np.array([owner for owner, _ in mixed([numbered(3000), numbered(1000)], 1, 0, 0)])
    assert abs((owners[:2000] == 0).mean() - 0.75) < 0.05  # both halves hold three of one for one of the other


def test_data_sets_of_equal_size_are_not_shuffled_alike():
    drawn = list(mixed([numbered(50), numbered(50)], 50, 3, 0, mix="round-robin"))
    assert drawn[0][1].tolist() != drawn[1][1].tolist()


@given(SIZES, st.integers(1, 9), SEEDS, KINDS, st.sampled_from(["proportional", "round-robin"]), st.data())
def test_going_on_from_any_cursor_is_as_if_never_stopped(sizes, batch_size, seed, kind, mix, data):
    sampler = Sampler([numbered(size, str(size % 3)) for size in sizes], batch_size, seed, kind, mix)
    length = sum(map(sampler.steps, range(3)))
    whole = [(cursor, number, rows.tolist()) for cursor, number, rows in islice(sampler.from_(Cursor()), length)]
    assert whole[-1][0] == Cursor(3, 0)
    stop = data.draw(st.integers(1, length - 1))
    again = Sampler(sampler.datasets, batch_size, seed, kind, mix).from_(whole[stop - 1][0])
    assert [(cursor, number, rows.tolist()) for cursor, number, rows in islice(again, length - stop)] == whole[stop:]


def test_cursor_counts_batches_and_epochs():
    sampler = Sampler([numbered(5)], 2, 0)
    assert sampler.steps_per_epoch == sampler.steps(7) == 3
    places = [cursor for cursor, _, _ in islice(sampler.from_(Cursor(1, 1)), 3)]
    assert places == [Cursor(1, 2), Cursor(2, 0), Cursor(2, 1)]
    at_the_end = [rows.tolist() for _, _, rows in islice(sampler.from_(Cursor(0, 3)), 3)]
    assert at_the_end == as_lists(batches(numbered(5), 2, 0, 1))


def test_the_order_of_today_is_the_order_of_tomorrow():
    """A saved cursor is worth nothing if another release draws another order."""
    assert as_lists(batches(numbered(6), 4, 42, 0)) == [[3, 2, 5, 4], [1, 0]]
    assert as_lists(batches(numbered(6), 4, 42, 1)) == [[4, 0, 1, 2], [3, 5]]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Sampler([], 2, 0), r"\[\] rows make no batch"),
        (lambda: Sampler([numbered(3), numbered(0)], 2, 0, mix="round-robin"), r"\[3, 0\] rows make no batch"),
        (lambda: Sampler([numbered(3)], 0, 0), "batch_size is 0"),
        (lambda: Sampler([numbered(3)], 1, -1), "seed -1"),
        (lambda: Sampler([numbered(3)], 4, 0, "by-label"), "kind 'none', but 'by-label' needs classes"),
        (lambda: Sampler([Columns.of({"t": ["가", "나"]}, ["x", "x"])], 5, 0, "by-label"), "even number from 4 on"),
        (lambda: Sampler([Columns.of({"t": ["가", "나"]}, ["x", "y"])], 4, 0, "by-label"), "make no batch"),
        (lambda: next(Sampler([numbered(3)], 1, 0).from_(Cursor(0, 4))), "belongs to other data"),
    ],
)
def test_what_cannot_be_drawn_is_named(build, message):
    with pytest.raises(BadInput, match=message):
        build()


@pytest.mark.parametrize("options", [{"kind": "shufled"}, {"mix": "robin"}])
def test_options_that_do_not_exist(options):
    with pytest.raises(BadOption, match="must be one of"):
        Sampler([numbered(3)], 1, 0, **options)
