"""The paper's classifier: hand-computed values, sentence-transformers, every concatenation, its weights."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
import torch
from sentence_transformers.sentence_transformer import losses as theirs

from sbert.errors import BadInput, BadOption
from sbert.losses import SoftmaxClassifier

NLI = ["contradiction", "entailment", "neutral"]
PARTS = ["u", "v", "|u-v|", "u*v"]


def test_by_hand():
    softmax = SoftmaxClassifier(2, ["아니오", "네"], concat=("u", "v", "|u-v|", "u*v"))
    u, v = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0]])
    with torch.no_grad():
        softmax.linear.weight.copy_(torch.tensor([[0.0] * 8, [1.0, 0, 0, 0, 0, 1, 0, 1]]))  # u0 + |u-v|1 + (u*v)1
        softmax.linear.bias.copy_(torch.tensor([0.5, 0.0]))
    assert softmax.logits([u, v]).tolist() == [[0.5, 1 + 3 - 2]]
    assert softmax([u, v], torch.tensor([1])).item() == pytest.approx(math.log(1 + math.exp(0.5 - 2)))
    assert softmax.labels == ("아니오", "네")


@pytest.mark.parametrize(
    "concat", [("u", "v", "|u-v|"), ("u", "v"), ("|u-v|",), ("u*v",), ("|u-v|", "u*v"), ("u", "v", "|u-v|", "u*v")]
)
@pytest.mark.parametrize("seed", range(2))
def test_as_sentence_transformers(seed, concat, columns, given, agree):
    ours = SoftmaxClassifier(5, NLI, concat=concat).double()
    reference = theirs.SoftmaxLoss(given, 5, 3, "u" in concat, "|u-v|" in concat, "u*v" in concat).double()
    reference.classifier.load_state_dict(ours.linear.state_dict())
    pair, labels = columns(2, seed), torch.tensor([0, 2, 1, 1, 0, 2])
    agree(ours, reference, pair, labels)
    ours(pair, labels).backward()
    reference([{"embeddings": column} for column in pair], labels).backward()
    torch.testing.assert_close(ours.linear.weight.grad, reference.classifier.weight.grad)
    torch.testing.assert_close(ours.linear.bias.grad, reference.classifier.bias.grad)


@pytest.mark.parametrize("concat", [parts for size in range(1, 5) for parts in combinations(PARTS, size)])
def test_every_concatenation(concat, columns):
    u, v = columns(2, 0)
    softmax = SoftmaxClassifier(5, NLI, concat=concat).double()
    pieces = {"u": u, "v": v, "|u-v|": (u - v).abs(), "u*v": u * v}
    features = torch.cat([pieces[part] for part in concat], dim=1)
    torch.testing.assert_close(softmax.logits([u, v]), softmax.linear(features))


def test_its_weights_are_saved_and_read():
    first, second = SoftmaxClassifier(4, NLI), SoftmaxClassifier(4, NLI)
    second.load_state_dict(first.state_dict())
    pair, labels = [torch.randn(3, 4), torch.randn(3, 4)], torch.tensor([0, 1, 2])
    assert torch.equal(first(pair, labels), second(pair, labels))
    assert {name: tuple(value.shape) for name, value in first.named_parameters()} == {
        "linear.weight": (3, 12),
        "linear.bias": (3,),
    }


@pytest.mark.parametrize("labels", [[], ["yes"], ["yes", "no", "yes"]])
def test_labels_are_two_or_more_different_names(labels):
    with pytest.raises(BadInput, match="two or more different names"):
        SoftmaxClassifier(4, labels)


def test_concat_must_make_sense():
    with pytest.raises(BadOption, match=r"did you mean '\|u-v\|'"):
        SoftmaxClassifier(4, NLI, concat=("u", "|u-w|"))
    for concat in [(), ("u", "u")]:
        with pytest.raises(BadInput, match="none twice"):
            SoftmaxClassifier(4, NLI, concat=concat)
