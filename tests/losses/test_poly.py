"""The losses of poly-encoders: by hand, as those of scores, and with sound gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from sbert import losses
from sbert.errors import BadInput
from sbert.nn.poly import score


def draw(columns: int, rows: int = 3, codes: int = 4, size: int = 5) -> list[Tensor]:
    """Codes of queries, and vectors of documents."""
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(rows, codes, size, generator=generator, dtype=torch.float64)
    return [queries, *torch.randn(columns, rows, size, generator=generator, dtype=torch.float64)]


def test_every_other_document_is_a_negative():
    queries, positives, negatives = columns = draw(2)
    expected = 0.0
    for row, codes in enumerate(queries):
        products = [score(codes, each[None])[0] for each in [*positives, *negatives]]
        expected += (torch.stack(products).logsumexp(dim=0) - products[row]) / 3
    torch.testing.assert_close(losses.poly_nce(columns), expected)


def test_losses_of_scores():
    columns, labels = draw(1), torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64)
    logits = torch.stack([score(codes, each[None])[0] for codes, each in zip(*columns, strict=True)])
    torch.testing.assert_close(losses.poly_scores(losses.mse)(columns, labels), F.mse_loss(logits.sigmoid(), labels))
    columns, grades = draw(3), torch.tensor([[2.0, 1.0, 0.0]] * 3, dtype=torch.float64)
    listed = [score(columns[0], column[:, None]) for column in columns[1:]]
    assert listed[0].shape == (3, 1)
    torch.testing.assert_close(losses.poly_scores(losses.list_net)(columns, grades), losses.list_net(listed, grades))


@pytest.mark.parametrize("loss", [losses.poly_nce, losses.poly_scores(losses.rank_net)])
def test_gradients(loss):
    columns = [column.requires_grad_() for column in draw(2)]
    grades = torch.tensor([[1.0, 0.0]] * 3, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda *columns: loss(columns, grades), columns)


@pytest.mark.parametrize("columns", [[], [torch.zeros(2, 3, 4)], [torch.zeros(2, 4)] * 2, [torch.zeros(2, 3, 4)] * 2])
def test_what_is_no_poly_encoders(columns):
    with pytest.raises(BadInput, match=r"reads codes \(B, M, H\) and .* vectors \(B, H\); train a poly-encoder"):
        losses.poly_nce(columns)
