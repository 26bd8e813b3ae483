"""The table and the BiLSTM against torch's own, padded and packed."""

from __future__ import annotations

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sbert.nn.pooling import pool
from sbert.nn.words import BiLSTM, WordEmbeddings
from sbert.types import Group

LENGTHS = (7, 7, 4, 3, 3, 3, 1)
GROUPS = (Group(2, 7), Group(1, 4), Group(3, 3), Group(1, 1))


@pytest.fixture
def lstm() -> BiLSTM:
    torch.manual_seed(0)
    return BiLSTM(10, 6)


@pytest.fixture
def vectors() -> torch.Tensor:
    return torch.randn(sum(LENGTHS), 10, generator=torch.Generator().manual_seed(1))


def torchs_own(lstm: BiLSTM, vectors: torch.Tensor) -> torch.Tensor:
    """The same through padding and pack_padded_sequence, in another order."""
    order = [3, 0, 6, 2, 5, 1, 4]
    texts = [vectors.split(LENGTHS)[text] for text in order]
    padded = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=99.0)
    packed = pack_padded_sequence(padded, [len(text) for text in texts], batch_first=True, enforce_sorted=False)
    states, lengths = pad_packed_sequence(lstm.lstm(packed)[0], batch_first=True)
    found = {text: row[:length] for text, row, length in zip(order, states, lengths, strict=True)}
    return torch.cat([found[text] for text in range(len(order))])


@pytest.mark.parametrize("grad", [False, True], ids=["encoding", "training"])
def test_equals_torchs_lstm_on_padded_batches(lstm, vectors, grad):
    with torch.set_grad_enabled(grad):
        torch.testing.assert_close(lstm(vectors, GROUPS), torchs_own(lstm, vectors), atol=1e-6, rtol=0)
        ours, theirs = (pool(states, GROUPS, ["max"]) for states in (lstm(vectors, GROUPS), torchs_own(lstm, vectors)))
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)
    assert ours.shape == (7, lstm.size)


def test_gradients_equal_torchs(lstm, vectors):
    weights = list(lstm.parameters())
    ours = torch.autograd.grad(lstm(vectors, GROUPS).square().sum(), weights)
    theirs = torch.autograd.grad(torchs_own(lstm, vectors).square().sum(), weights)
    assert all(gradient.abs().max() > 1e-3 for gradient in theirs)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5)


def test_both_directions_count(lstm, vectors):
    """The first word's backward state knows the last word, its forward state does not."""
    changed = vectors.clone()
    changed[6] += 1
    with torch.inference_mode():
        before, after = (lstm(x, GROUPS)[0] for x in (vectors, changed))
    assert torch.equal(before[:6], after[:6])
    assert not torch.isclose(before[6:], after[6:]).any()


def test_a_frozen_table_stays_in_half_precision_and_gives_floats():
    words = WordEmbeddings(torch.tensor([[0.0, 0.0], [1.5, -2.0]], dtype=torch.float16))
    assert words.table.weight.dtype == torch.float16
    assert not words.table.weight.requires_grad
    vectors = words(torch.tensor([1, 0, 1]))
    assert vectors.dtype == torch.float32
    assert vectors.tolist() == [[1.5, -2.0], [0.0, 0.0], [1.5, -2.0]]


def test_a_trainable_table_learns_except_for_nothing():
    words = WordEmbeddings(torch.zeros(3, 2, dtype=torch.float16), trainable=True)
    assert words.table.weight.dtype == torch.float32
    words(torch.tensor([0, 2])).sum().backward()
    assert words.table.weight.grad.tolist() == [[0, 0], [0, 0], [1, 1]]
