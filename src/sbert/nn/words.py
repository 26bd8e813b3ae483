"""What stands in for a transformer in a word-level model: a table of vectors, and a BiLSTM. Knows tensors only."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from sbert.types import Group


class WordEmbeddings(nn.Module):
    """A vector for each word. Row 0, of texts without a known word, is zero and stays so.

    Args:
        table: (V + 1, D); kept as it is, so a frozen table may be in half precision.
        trainable: whether training changes it.

    Attributes:
        size: D, of a word's vector.
    """

    def __init__(self, table: Tensor, trainable: bool = False) -> None:
        super().__init__()
        self.table = nn.Embedding.from_pretrained(
            table.float() if trainable else table, freeze=not trainable, padding_idx=0
        )
        self.trainable = trainable
        self.size = table.shape[1]

    def forward(self, ids: Tensor) -> Tensor:
        """(T,) word numbers -> (T, D)."""
        vectors: Tensor = self.table(ids)
        return vectors.float()


class BiLSTM(nn.Module):
    """One layer that reads a text forwards and backwards; each word gets both readers' states.

    Attributes:
        size: 2H, of a word's state.

    >>> BiLSTM(100, 256)(torch.zeros(5, 100), [Group(1, 3), Group(2, 1)]).shape
    torch.Size([5, 512])
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True, bidirectional=True)
        self.size = 2 * hidden_size

    def forward(self, x: Tensor, groups: Sequence[Group]) -> Tensor:
        """(T, D) -> (T, 2H), texts of these lengths lying end to end."""
        if torch.is_grad_enabled():
            # A training batch has a few texts of each length. All lengths together are a third of the time at
            # H = 2,048; in encoding, where a batch has many of each, length by length is quicker, and a text's
            # states do not depend on its company.
            lengths = [group.length for group in groups for _ in range(group.texts)]
            return torch.cat(unpack_sequence(self.lstm(pack_sequence(x.split(lengths), enforce_sorted=False))[0]))
        pieces = x.split([group.texts * group.length for group in groups])
        return torch.cat(
            [self.lstm(piece.view(*group, -1))[0].flatten(0, 1) for piece, group in zip(pieces, groups, strict=True)]
        )
