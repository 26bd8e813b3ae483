"""Defines the layers of word-level models: a table of word vectors and a BiLSTM. Works on tensors only."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from sbert.types import Group


class WordEmbeddings(nn.Module):
    """One vector per word. Row 0, for texts without a known word, is zero and is never trained.

    Args:
        table: (V + 1, D). It is not converted, so a frozen table may be in half precision.
        trainable: Whether training changes the table.

    Attributes:
        size: D, the size of a word vector.
    """

    def __init__(self, table: Tensor, trainable: bool = False) -> None:
        super().__init__()
        self.table = nn.Embedding.from_pretrained(
            table.float() if trainable else table, freeze=not trainable, padding_idx=0
        )
        self.trainable = trainable
        self.size = table.shape[1]

    def forward(self, ids: Tensor) -> Tensor:
        """Look up word vectors: (T,) -> (T, D)."""
        vectors: Tensor = self.table(ids)
        return vectors.float()


class BiLSTM(nn.Module):
    """One LSTM layer in both directions, whose states are concatenated.

    Attributes:
        size: 2H, the size of the state of a word.

    >>> BiLSTM(100, 256)(torch.zeros(5, 100), [Group(1, 3), Group(2, 1)]).shape
    torch.Size([5, 512])
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True, bidirectional=True)
        self.size = 2 * hidden_size

    def forward(self, x: Tensor, groups: Sequence[Group]) -> Tensor:
        """Compute the states of all words: (T, D) -> (T, 2H)."""
        if torch.is_grad_enabled():
            # A training batch has few texts of each length, so all lengths are processed together, which takes a
            # third of the time at H = 2,048. In inference a batch has many texts of each length: one length after
            # another is faster, and the states of a text do not depend on the others.
            lengths = [group.length for group in groups for _ in range(group.texts)]
            return torch.cat(unpack_sequence(self.lstm(pack_sequence(x.split(lengths), enforce_sorted=False))[0]))
        pieces = x.split([group.texts * group.length for group in groups])
        return torch.cat(
            [self.lstm(piece.view(*group, -1))[0].flatten(0, 1) for piece, group in zip(pieces, groups, strict=True)]
        )
