"""Every pooling by hand, and against sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from sentence_transformers.sentence_transformer.modules import Pooling as TheirPooling

from sbert.nn.pooling import POOLINGS, pool
from sbert.types import Group, Pooling

THEIR_NAME = {"mean_sqrt_len": "mean_sqrt_len_tokens"}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("mean", [2.0, 4.0]),
        ("max", [3.0, 6.0]),
        ("cls", [1.0, 2.0]),
        ("lasttoken", [3.0, 4.0]),
        ("mean_sqrt_len", [6 / 3**0.5, 12 / 3**0.5]),
        ("weightedmean", [(1 + 2 * 2 + 3 * 3) / 6, (2 + 2 * 6 + 3 * 4) / 6]),
    ],
)
def test_by_hand(mode: Pooling, expected: list[float]) -> None:
    hidden = torch.tensor([[1.0, 2.0], [2.0, 6.0], [3.0, 4.0], [7.0, -7.0]])
    pooled = pool(hidden, [Group(1, 3), Group(1, 1)], [mode])
    assert torch.allclose(pooled, torch.tensor([expected, [7.0, -7.0]]))


@pytest.mark.parametrize("modes", [*[(mode,) for mode in POOLINGS], ("mean", "max"), POOLINGS])
@pytest.mark.parametrize("skip", [0, 2])
def test_equals_sentence_transformers(modes: Sequence[Pooling], skip: int) -> None:
    torch.manual_seed(0)
    groups = [Group(2, 7), Group(3, 5), Group(1, 3)]
    lengths = [group.length for group in groups for _ in range(group.texts)]
    hidden = torch.randn(sum(lengths), 8)
    padded = torch.nn.utils.rnn.pad_sequence(hidden.split(lengths), batch_first=True, padding_value=99.0)
    mask = torch.tensor([[1] * length + [0] * (7 - length) for length in lengths])
    theirs = TheirPooling(8, tuple(THEIR_NAME.get(mode, mode) for mode in modes), include_prompt=False)
    expected = theirs({"token_embeddings": padded, "attention_mask": mask, "prompt_length": skip})
    assert torch.allclose(pool(hidden, groups, modes, skip), expected["sentence_embedding"], atol=1e-6)


def test_a_prompt_that_fills_the_text_leaves_its_last_token() -> None:
    hidden = torch.tensor([[1.0], [5.0]])
    assert pool(hidden, [Group(1, 2)], ["mean"], skip=9).item() == 5.0
