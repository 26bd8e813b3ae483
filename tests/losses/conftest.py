"""Random columns, and the comparison with sentence-transformers: equal value, equal gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
import torch
from torch import Tensor, nn


class Given(nn.Module):
    """What sentence-transformers' losses take for a model; its features are the embeddings themselves."""

    device = torch.device("cpu")

    def __init__(self, dim: int = 5) -> None:
        super().__init__()
        self.dim = dim

    def get_embedding_dimension(self) -> int:
        return self.dim

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"sentence_embedding": features["embeddings"]}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tensors this small only wait for a second thread: on a busy machine, seven times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def given() -> Given:
    return Given()


@pytest.fixture
def columns() -> Callable[..., list[Tensor]]:
    """``columns(3, seed=1)``: three columns of six rows and five dimensions, float64."""

    def draw(count: int, seed: int, rows: int = 6, dim: int = 5) -> list[Tensor]:
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(rows, dim, generator=generator, dtype=torch.float64) for _ in range(count)]

    return draw


@pytest.fixture
def agree() -> Callable[..., None]:
    """``agree(ours, theirs, embeddings, labels)``: the same loss and the same gradients, to 1e-6."""

    def evaluate(loss: Callable[..., Tensor], embeddings: Sequence[Tensor]) -> tuple[Tensor, list[Tensor]]:
        leaves = [column.clone().requires_grad_() for column in embeddings]
        value = loss(leaves)
        return value.detach(), list(torch.autograd.grad(value, leaves))

    def compare(
        ours: Callable[..., Tensor], theirs: nn.Module, embeddings: Sequence[Tensor], labels: Tensor | None
    ) -> None:
        def their_loss(leaves: list[Tensor]) -> Tensor:
            features = [{"embeddings": leaf} for leaf in leaves]
            return theirs(features, labels)

        value, gradients = evaluate(lambda leaves: ours(leaves, labels), embeddings)
        their_value, their_gradients = evaluate(their_loss, embeddings)
        assert value.shape == ()
        torch.testing.assert_close(value, their_value, atol=1e-6, rtol=1e-6, check_dtype=False)
        torch.testing.assert_close(gradients, their_gradients, atol=1e-6, rtol=1e-6)
        assert any(gradient.abs().max() > 1e-4 for gradient in gradients)  # or there was nothing to compare

    return compare
