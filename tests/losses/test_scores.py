"""The losses of cross-encoders: by hand, equal to sentence-transformers', and with sound gradients."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers import CrossEncoder
from sentence_transformers.cross_encoder import losses as theirs
from torch import Tensor, nn

from sbert import losses
from sbert.errors import BadInput

PAIRS = {"mse": losses.mse, "bce": losses.bce, "cosent_scores": losses.cosent_scores}
LISTS = {
    "margin_mse_scores": losses.margin_mse_scores,
    "rank_net": losses.rank_net,
    "list_net": losses.list_net,
    "lambda_rank": losses.lambda_rank,
}


class Given(CrossEncoder):
    """What sentence-transformers' losses take for a model; the logit of query q and document d is in a table."""

    device = torch.device("cpu")
    num_labels = 1

    def __init__(self, table: Tensor, labels: int = 1) -> None:
        nn.Module.__init__(self)
        self.table = table
        self.__dict__["num_labels"] = labels

    def preprocess(self, pairs, prompt=None, task=None) -> dict[str, Tensor]:
        return {"places": torch.tensor([[int(text) for text in pair] for pair in pairs])}

    def forward(self, features) -> dict[str, Tensor]:
        queries, documents = features["places"].T
        return {"scores": self.table[queries, documents]}


def draw(rows: int, documents: int, labels: int = 1, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Logits (rows, documents, labels) and relevance (rows, documents), graded from 0 to 3."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, documents, labels, generator=generator)
    return logits, torch.randint(0, 4, (rows, documents), generator=generator).float()


def compare(ours: Callable[[list[Tensor]], Tensor], theirs: Callable[[Tensor], Tensor], logits: Tensor) -> None:
    """The same value and the same slopes, to 1e-6."""
    found = []
    for loss in (lambda table: ours(list(table.unbind(dim=1))), theirs):
        leaf = logits.clone().requires_grad_()
        value = loss(leaf)
        found.append((value.detach(), torch.autograd.grad(value, leaf)[0]))
    torch.testing.assert_close(found[0], found[1], atol=1e-6, rtol=1e-6)
    assert found[0][1].abs().max() > 1e-4  # or there was nothing to compare


def texts(rows: int, documents: int) -> tuple[list[str], list[list[str]]]:
    return [str(row) for row in range(rows)], [[str(place) for place in range(documents)]] * rows


@pytest.mark.parametrize(
    ("ours", "their_class", "options"),
    [
        (losses.mse, theirs.MSELoss, {"activation_fn": nn.Sigmoid()}),
        (losses.bce, theirs.BinaryCrossEntropyLoss, {}),
    ],
)
def test_pairs_equal_theirs(ours, their_class, options):
    logits, labels = draw(6, 1)[0], torch.tensor([0.0, 1.0, 0.3, 0.5, 1.0, 0.0])
    queries = [str(row) for row in range(6)]
    compare(
        lambda scores: ours(scores, labels),
        lambda table: their_class(Given(table), **options)([queries, ["0"] * 6], labels),
        logits,
    )


def test_cross_entropy_equals_theirs():
    logits, labels = draw(6, 1, labels=3)[0], torch.tensor([0, 1, 2, 2, 1, 0])
    queries = [str(row) for row in range(6)]
    compare(
        lambda scores: losses.cross_entropy(scores, labels),
        lambda table: theirs.CrossEntropyLoss(Given(table, labels=3))([queries, ["0"] * 6], labels),
        logits,
    )


@pytest.mark.parametrize("as_margins", [True, False])
def test_margins_equal_theirs(as_margins):
    logits, relevance = draw(5, 4)
    labels = relevance[:, :1] - relevance[:, 1:] if as_margins else relevance
    queries, documents = texts(5, 4)
    columns = [queries, *map(list, zip(*documents, strict=True))]
    compare(
        lambda scores: losses.margin_mse_scores(scores, labels),
        lambda table: theirs.MarginMSELoss(Given(table))(columns, labels),
        logits,
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("ours", "make"),
    [
        (losses.rank_net, lambda model: theirs.RankNetLoss(model, reduction_log="natural")),
        (losses.list_net, theirs.ListNetLoss),
        (
            losses.lambda_rank,
            lambda model: theirs.LambdaLoss(model, theirs.LambdaRankScheme(), reduction_log="natural"),
        ),
    ],
)
def test_lists_equal_theirs(ours, make, seed):
    logits, relevance = draw(5, 4, seed=seed)
    compare(
        lambda scores: ours(scores, relevance),
        lambda table: make(Given(table))(list(texts(5, 4)), list(relevance)),
        logits,
    )


def test_by_hand():
    column = torch.tensor([[math.log(3)], [0.0]])  # sigmoids 3/4 and 1/2
    assert losses.mse([column], torch.tensor([1.0, 0.0])).item() == pytest.approx((1 / 16 + 1 / 4) / 2)
    assert losses.bce([column], torch.tensor([1.0, 0.0])).item() == pytest.approx((math.log(4 / 3) + math.log(2)) / 2)
    classes = torch.tensor([[1.0, 2.0, 1.0]]).log()  # 1/4, 1/2, 1/4
    assert losses.cross_entropy([classes], torch.tensor([1])).item() == pytest.approx(math.log(2))
    three = [torch.tensor([[value]]) for value in (0.0, math.log(2), math.log(2))]
    order = torch.tensor([[2.0, 1.0, 1.0]])  # the first is the better one in two pairs
    assert losses.rank_net(three, order).item() == pytest.approx(math.log(1 + 2))
    target = torch.tensor([[1.0, 2.0, 2.0]]).log()
    entropy = -(0.2 * math.log(0.2) + 0.8 * math.log(0.4))
    assert losses.list_net(three, target).item() == pytest.approx(entropy)
    # Ranks 3, 1, 2; gains 3, 1, 1 over 3 + 1 / log2(3) + 1 / 2.
    gain = 2 / (3 + 1 / math.log2(3) + 1 / 2)
    weights = gain * (1 - 1 / 2), gain * (1 / math.log2(3) - 1 / 2)
    assert losses.lambda_rank(three, order).item() == pytest.approx(sum(weights) / 2 * math.log(3))
    margins = losses.margin_mse_scores(three, torch.tensor([[-1.0, 0.0]])).item()
    assert margins == pytest.approx(((1 - math.log(2)) ** 2 + math.log(2) ** 2) / 2)


def labels_of(name: str, relevance: Tensor) -> Tensor:
    return relevance[:, 0] / 3 if name in PAIRS else relevance


@pytest.mark.parametrize("name", [*PAIRS, *LISTS])
def test_gradcheck(name):
    logits, relevance = draw(5, 1 if name in PAIRS else 4)
    loss = (PAIRS | LISTS)[name]
    leaves = [column.double().requires_grad_() for column in logits.unbind(dim=1)]
    assert torch.autograd.gradcheck(lambda *columns: loss(columns, labels_of(name, relevance)), leaves)


@pytest.mark.parametrize("name", [*PAIRS, *LISTS])
@settings(max_examples=20)
@given(order=st.permutations(range(5)), seed=st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(name, order, seed):
    logits, relevance = draw(5, 1 if name in PAIRS else 3, seed=seed)
    loss, labels = (PAIRS | LISTS)[name], labels_of(name, relevance)
    torch.testing.assert_close(
        loss(list(logits[order].unbind(dim=1)), labels[order]), loss(list(logits.unbind(dim=1)), labels)
    )


@pytest.mark.parametrize("name", ["rank_net", "list_net", "lambda_rank"])
@settings(max_examples=20)
@given(order=st.permutations(range(4)), seed=st.integers(0, 1000))
def test_the_order_of_documents_does_not_matter(name, order, seed):
    logits, relevance = draw(3, 4, seed=seed)
    columns = list(logits.unbind(dim=1))
    shuffled = LISTS[name]([columns[place] for place in order], relevance[:, order])
    torch.testing.assert_close(shuffled, LISTS[name](columns, relevance))


@pytest.mark.parametrize("name", ["rank_net", "lambda_rank"])
def test_nothing_to_order_gives_zero(name):
    columns = [torch.randn(2, 1, requires_grad=True) for _ in range(3)]
    value = LISTS[name](columns, torch.zeros(2, 3))
    assert value.item() == 0
    assert all(not slope.any() for slope in torch.autograd.grad(value, columns))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: losses.mse([torch.zeros(2, 1)] * 2, torch.zeros(2)), "mse got 2 pairs a row, but reads one"),
        (lambda: losses.bce([torch.zeros(2, 3)], torch.zeros(2)), "bce got 3 scores a pair, .*choose cross_entropy"),
        (lambda: losses.mse([torch.zeros(2, 1)]), "mse got no labels"),
        (lambda: losses.mse([torch.zeros(2, 1)], torch.zeros(3)), r"mse got labels of shape \(3,\) for 2 rows"),
        (
            lambda: losses.cross_entropy([torch.zeros(1, 1)], torch.tensor([0])),
            "got 1 scores a pair and labels up to 0",
        ),
        (
            lambda: losses.cross_entropy([torch.zeros(1, 2)], torch.tensor([2])),
            "got 2 scores a pair and labels up to 2",
        ),
        (lambda: losses.rank_net([torch.zeros(1, 1)], torch.zeros(1, 1)), r"reads two or more columns \(B, 1\)"),
        (lambda: losses.list_net([torch.zeros(1, 3)] * 2, torch.zeros(1, 2)), r"scores of shape \(1, 3\), \(1, 3\)"),
        (
            lambda: losses.lambda_rank([torch.zeros(1, 1)] * 2, torch.zeros(1, 3)),
            r"shape \(1, 3\), but needs \(1, 2\)",
        ),
        (
            lambda: losses.margin_mse_scores([torch.zeros(2, 1)] * 3, torch.zeros(2)),
            r"labels of shape \(2,\), but needs margins of shape \(2, 2\) or scores of shape \(2, 3\)",
        ),
    ],
)
def test_refusals(call, complaint):
    with pytest.raises(BadInput, match=complaint):
        call()
