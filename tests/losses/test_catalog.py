"""Names, options and shapes: what is accepted, and the sentence when something is not."""

from __future__ import annotations

import math
from functools import partial
from typing import get_args

import pytest
import torch

from sbert import losses
from sbert.errors import BadInput, BadOption
from sbert.losses import OBJECTIVES, SoftmaxClassifier, accepted_shapes, check_shape, default, make, objective_of
from sbert.losses.objectives import DEFAULTS
from sbert.types import LabelKind

NLI = ["contradiction", "entailment", "neutral"]
FUNCTIONS = {
    "softmax": losses.SoftmaxClassifier,
    "cosine": losses.cosine_mse,
    "triplet": losses.triplet,
    "info-nce": losses.info_nce,
    "cosent": losses.cosent,
    "angle": losses.angle,
    "contrastive": losses.contrastive,
    "online-contrastive": losses.online_contrastive,
    "batch-hard": losses.batch_hard,
    "batch-semi-hard": losses.batch_semi_hard,
    "batch-all": losses.batch_all,
    "embedding-mse": losses.embedding_mse,
    "margin-mse": losses.margin_mse,
    "kl": losses.kl,
    "mse": losses.mse,
    "bce": losses.bce,
    "cross-entropy": losses.cross_entropy,
    "rank-net": losses.rank_net,
    "list-net": losses.list_net,
    "lambda": losses.lambda_rank,
    "poly-nce": losses.poly_nce,
}
BI, CROSS = ([name for name, each in OBJECTIVES.items() if kind in each.kinds] for kind in ("bi", "cross"))


def test_the_table():
    assert {name: objective.loss for name, objective in OBJECTIVES.items()} == FUNCTIONS
    assert all(name == objective.name for name, objective in OBJECTIVES.items())
    assert {objective.label for objective in OBJECTIVES.values()} == set(get_args(LabelKind))


def test_the_public_names():
    assert losses.__all__ == sorted(losses.__all__, key=lambda name: (not name.isupper(), name))
    assert all(hasattr(losses, name) for name in losses.__all__)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cosine", {}),
        ("softmax", {"concat": ("u", "v", "|u-v|")}),
        ("triplet", {"margin": 1.0, "distance": "euclidean"}),
        ("batch-hard", {"margin": 5.0, "distance": "euclidean"}),
        ("info-nce", {"scale": 20.0, "similarity": "cosine", "symmetric": False}),
        ("kl", {"temperature": 1.0}),
    ],
)
def test_options_and_their_defaults(name, options):
    assert OBJECTIVES[name].options == options
    assert make(name, options, dim=4, labels=NLI) is not None  # every default is a value that may be given


@pytest.mark.parametrize(
    ("name", "options", "bound"),
    [
        ("cosine", {}, {}),
        ("triplet", {"margin": 2, "distance": "cosine"}, {"margin": 2.0, "distance": "cosine"}),
        ("triplet", {"margin": 0}, {"margin": 0.0}),
        ("batch-hard", {"margin": None}, {"margin": None}),
        ("batch-all", {"margin": "none"}, {"margin": None}),
        ("batch-semi-hard", {"margin": 1}, {"margin": 1.0}),
        ("info-nce", {"scale": 1, "similarity": "dot", "symmetric": True}, None),
    ],
)
def test_make_binds_the_options(name, options, bound):
    loss = make(name, options, dim=4)
    assert isinstance(loss, partial)
    assert loss.func is FUNCTIONS[name]
    assert loss.keywords == (options if bound is None else bound)


def test_make_softmax():
    loss = make("softmax", {"concat": ["u*v"]}, dim=4, labels=["함의", "모순", "중립"])
    assert isinstance(loss, SoftmaxClassifier)
    assert loss.labels == ("함의", "모순", "중립")
    assert loss.linear.in_features == 4
    assert SoftmaxClassifier(4, NLI).concat == make("softmax", {}, dim=4, labels=NLI).concat


def test_make_with_dims(columns):
    three = columns(3, 0)
    loss = make("triplet", {"margin": 3}, dim=5, dims=[5, 2])
    expected = losses.matryoshka(partial(losses.triplet, margin=3.0), [5, 2])
    assert torch.equal(loss(three, None), expected(three, None))


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("tripet", {}, BadOption, "objective is 'tripet'.*did you mean 'triplet'"),
        ("triplet", {"margn": 1}, BadOption, "an option of triplet is 'margn'.*did you mean 'margin'"),
        ("softmax", {"labels": NLI}, BadOption, "must be one of 'concat'"),
        ("cosine", {"scale": 1}, BadInput, "cosine got the option 'scale', but takes none"),
        ("triplet", {"margin": "1"}, BadInput, "triplet.margin is '1', but must be a finite number"),
        ("triplet", {"margin": None}, BadInput, "triplet.margin is None, but must be a finite number"),
        ("triplet", {"margin": True}, BadInput, "triplet.margin is True"),
        ("batch-hard", {"margin": "soft"}, BadInput, "batch-hard.margin is 'soft'"),
        ("cosent", {"scale": math.nan}, BadInput, "cosent.scale is nan"),
        ("cosent", {"scale": 0}, BadInput, "cosent.scale is 0, but must be a finite number above 0"),
        ("kl", {"temperature": -1.0}, BadInput, "kl.temperature is -1.0"),
        ("triplet", {"distance": "cosin"}, BadOption, "triplet.distance is 'cosin'.*did you mean 'cosine'"),
        ("triplet", {"distance": ["cosine"]}, BadOption, "triplet.distance is"),
        ("info-nce", {"symmetric": 1}, BadInput, "info-nce.symmetric is 1, but must be true or false"),
        ("softmax", {"concat": "u"}, BadInput, "softmax.concat is 'u', but must be a list of names"),
        ("softmax", {"concat": [1]}, BadInput, "must be a list of names"),
        ("softmax", {"concat": ["w"]}, BadOption, "concat is 'w'"),
    ],
)
def test_bad_options(name, options, error, message):
    with pytest.raises(error, match=message):
        make(name, options, dim=4, labels=NLI)


@pytest.mark.parametrize(
    ("name", "dims", "message"),
    [
        ("softmax", [4, 2], "whose weights fit one size only"),
        ("embedding-mse", [4, 2], "takes no matryoshka dims"),
        ("info-nce", [8, 4], r"\[8, 4\], but the embedding size is 4"),
        ("info-nce", ["4"], "whole numbers"),
        ("info-nce", [], "one or more"),
    ],
)
def test_bad_dims(name, dims, message):
    with pytest.raises(BadInput, match=message):
        make(name, {}, dim=4, labels=NLI, dims=dims)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("softmax", "two text columns and a class: sentence1, sentence2, label"),
        ("cosine", "two text columns and a score from 0 to 1: sentence1, sentence2, score"),
        ("triplet", "three text columns and no label: anchor, positive, negative"),
        ("info-nce", "two or more text columns and no label: anchor, positive[, negative, ...]"),
        ("batch-hard", "one text column and a class: text, label"),
        ("contrastive", "two text columns and a label of 0 or 1: sentence1, sentence2, label"),
        ("embedding-mse", "one or more text columns and a teacher's vector: text[, translation, ...], vector"),
    ],
)
def test_accepted_shapes(name, sentence):
    assert accepted_shapes(name) == sentence


@pytest.mark.parametrize("name", BI)
def test_check_shape_and_the_loss_agree_on_the_columns(name, columns):
    """Whatever number of columns the table allows, the function takes; and no other."""
    kind, dim = OBJECTIVES[name].label, 5
    loss = make(name, {}, dim=dim, labels=NLI)
    if isinstance(loss, SoftmaxClassifier):
        loss.double()
    for count in range(1, 6):
        shape = {"none": None, "vector": (6, dim), "scores": (6, count - 1)}.get(kind, (6,))
        labels = None if shape is None else torch.zeros(shape, dtype=torch.int64)
        try:
            check_shape(name, count, kind)
        except BadInput:
            with pytest.raises(BadInput, match="text column"):
                loss(columns(count, 0), labels)
        else:
            assert loss(columns(count, 0), labels).isfinite()


@pytest.mark.parametrize("name", CROSS)
def test_check_shape_and_the_loss_of_scores_agree_on_the_columns(name):
    """A cross-encoder gives one column of scores less than there are texts."""
    label = OBJECTIVES[name].label
    loss = make(name, {}, dim=0, kind="cross")
    for count in range(2, 6):
        scores = [torch.zeros(6, 3 if label == "class" else 1) for _ in range(count - 1)]
        labels = torch.zeros((6, count - 1) if label == "scores" else (6,), dtype=torch.int64)
        try:
            check_shape(name, count, label, "cross")
        except BadInput:
            with pytest.raises(BadInput, match=r"pairs a row|two or more columns"):
                loss(scores, labels)
        else:
            assert loss(scores, labels).isfinite()


def test_every_kind_has_its_own():
    assert CROSS == ["cosent", "margin-mse", "mse", "bce", "cross-entropy", "rank-net", "list-net", "lambda"]
    poly = {name for name, objective in OBJECTIVES.items() if "poly" in objective.kinds}
    assert poly == {*CROSS, "poly-nce"} - {"cross-entropy"}
    assert {*BI, *CROSS, "poly-nce"} == set(OBJECTIVES)
    assert set(BI) & set(CROSS) == {"cosent", "margin-mse"}
    assert make("mse", {}, dim=4, kind="poly").keywords["loss"].func is losses.mse
    assert make("poly-nce", {}, dim=4, kind="poly").func is losses.poly_nce
    assert make("margin-mse", {}, dim=4).func is losses.margin_mse
    assert make("margin-mse", {}, dim=4, kind="cross").func is losses.margin_mse_scores


def test_a_loss_of_another_kind_says_what_to_choose():
    with pytest.raises(BadInput) as error:
        check_shape("cosine", 2, "score", "cross")
    assert str(error.value) == "cosine is for bi-encoders; for a cross-encoder choose cosent, mse, bce"
    with pytest.raises(
        BadInput, match=r"a cross-encoder choose cosent, margin-mse, mse, bce, cross-entropy, rank-net, list-net,"
    ):
        check_shape("info-nce", 2, None, "cross")
    with pytest.raises(
        BadInput, match=r"^mse is for cross-encoders and poly-encoders; for a bi-encoder choose softmax"
    ):
        make("mse", {}, dim=4)
    with pytest.raises(
        BadInput, match=r"^mse got two text columns and a class, .*; what was got suits cross-entropy$"
    ):
        check_shape("mse", 2, "class", "cross")
    with pytest.raises(BadInput, match="only a bi-encoder's vectors have sizes"):
        make("mse", {}, dim=4, dims=[4, 2], kind="cross")


@pytest.mark.parametrize("name", BI)
def test_labels_are_asked_for_where_they_are_needed(name, columns):
    objective = OBJECTIVES[name]
    loss = make(name, {}, dim=5, labels=NLI)
    if isinstance(loss, SoftmaxClassifier):
        loss.double()
    if objective.label == "none":
        check_shape(name, objective.texts[0], None)
        assert loss(columns(objective.texts[0], 0)).isfinite()
    else:
        with pytest.raises(BadInput, match="no label"):
            check_shape(name, objective.texts[0], None)
        with pytest.raises(BadInput, match="got no labels"):
            loss(columns(objective.texts[0], 0))


def test_zero_or_one_is_also_a_score():
    for name in ("cosine", "cosent", "angle"):
        check_shape(name, 2, "binary")


def test_check_shape_says_what_would_fit():
    with pytest.raises(BadInput) as error:
        check_shape("triplet", 2, "score")
    assert str(error.value) == (
        "triplet got two text columns and a score from 0 to 1, but reads three text columns and no label: "
        "anchor, positive, negative; what was got suits cosine, cosent, angle"
    )
    with pytest.raises(BadInput, match=r"5 text columns and a class, but .*scores$"):
        check_shape("kl", 5, "class")
    with pytest.raises(BadOption, match="did you mean 'score'"):
        check_shape("cosine", 2, "scor")


@pytest.mark.parametrize(
    "shapes", [[(3, 2), (4, 2)], [(3, 2), (3, 4)], [(2,), (2,)], [(0, 2), (0, 2)], [(1, 3, 2), (1, 3, 2)]]
)
def test_columns_have_one_shape(shapes):
    with pytest.raises(BadInput, match="all must have one shape"):
        losses.info_nce([torch.zeros(shape) for shape in shapes])


def test_every_objective_states_its_roles_and_at_most_one_is_the_default():
    assert len(DEFAULTS) == 6
    for (kind, label), name in DEFAULTS.items():
        assert kind in OBJECTIVES[name].kinds
        assert OBJECTIVES[name].reads(2, label)
    for objective in OBJECTIVES.values():
        least, most = objective.texts
        assert 1 <= len(objective.roles) <= (most or least + 1)
    assert default("binary", "poly") == "bce"
    assert default("none", "bi") is None


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_made_loss_is_found_again(name):
    objective = OBJECTIVES[name]
    for kind in objective.kinds:
        loss = make(name, {}, dim=8, labels=("a", "b"), kind=kind)
        assert objective_of(loss) is objective
    assert objective_of(lambda embeddings, labels=None: embeddings[0].sum()) is None
