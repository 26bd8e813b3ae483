"""The table of losses as people choose them: which columns, which labels, which kind of model. Makes none of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sbert.losses.contrastive import contrastive, online_contrastive
from sbert.losses.distill import embedding_mse, kl, margin_mse
from sbert.losses.pairs import angle, cosent, cosine_mse
from sbert.losses.poly import poly_nce
from sbert.losses.ranking import info_nce
from sbert.losses.scores import (
    bce,
    cosent_scores,
    cross_entropy,
    lambda_rank,
    list_net,
    margin_mse_scores,
    mse,
    rank_net,
)
from sbert.losses.softmax import SoftmaxClassifier
from sbert.losses.triplets import batch_all, batch_hard, batch_semi_hard, triplet
from sbert.types import LabelKind, ModelKind, Sampling


@dataclass(frozen=True, slots=True)
class Objective:
    """A loss under the name by which users choose it, with everything that must be known to apply it."""

    name: str
    """The name in run files and on the command line."""
    loss: Callable[..., Any]
    """The function, or the class of a loss with weights, which is called with ``dim`` and ``labels``."""
    texts: tuple[int, int | None]
    """The minimum and maximum number of text columns; None means any number."""
    label: LabelKind
    """The kind of label it learns from."""
    roles: tuple[str, ...]
    """What each text column is to the loss; the last role applies to all columns that follow."""
    meaning: str
    """A description of one line."""
    kinds: tuple[ModelKind, ...] = ("bi",)
    """The kinds of models it can train."""
    of_scores: Callable[..., Any] | None = None
    """The function for models that score pairs, where ``loss`` reads embeddings."""
    in_batch_negatives: bool = False
    """Whether the texts of the other rows in a batch serve as negatives."""
    sampler: Sampling | None = None
    """The sampler that it needs; None if any will do."""
    default_for: tuple[tuple[ModelKind, LabelKind], ...] = ()
    """The models and labels for which it is the default."""

    @property
    def forms(self) -> tuple[Callable[..., Any], ...]:
        """The function or class, and its form for scores if there is one."""
        return (self.loss,) if self.of_scores is None else (self.loss, self.of_scores)

    @property
    def options(self) -> dict[str, Any]:
        """The options it takes, with their defaults."""
        return {name: parameter.default for name, parameter in optional(self.loss).items()}

    @property
    def columns(self) -> str:
        """The text columns and the label in order, such as "anchor, positive[, negative, ...]"."""
        least, most = self.texts
        more = f"[, {self.role(least)}, ...]" if most is None else ""
        label = f", {_LABEL_COLUMNS[self.label]}" if self.label != "none" else ""
        return ", ".join(map(self.role, range(least))) + more + label

    def role(self, column: int) -> str:
        """What the text column with this number is to the loss."""
        return self.roles[min(column, len(self.roles) - 1)]

    def reads(self, text_columns: int, label: LabelKind) -> bool:
        """Whether it can learn from this number of text columns and this kind of label.

        A label of 0 or 1 is also a score from 0 to 1.
        """
        least, most = self.texts
        fits = label == self.label or (label == "binary" and self.label == "score")
        return fits and least <= text_columns and (most is None or text_columns <= most)


_LABEL_COLUMNS: dict[LabelKind, str] = {
    "class": "label",
    "score": "score",
    "binary": "label",
    "vector": "vector",
    "scores": "scores",
}


def optional(loss: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Find the parameters with defaults, besides the labels."""
    parameters = inspect.signature(loss, eval_str=True).parameters.items()
    return {name: each for name, each in parameters if each.default is not each.empty and name != "labels"}


_ALL = (
    Objective(
        "softmax",
        SoftmaxClassifier,
        (2, 2),
        "class",
        ("sentence1", "sentence2"),
        "name the relation of two texts; the paper's objective for NLI",
    ),
    Objective(
        "cosine",
        cosine_mse,
        (2, 2),
        "score",
        ("sentence1", "sentence2"),
        "make the cosine equal to the score; the paper's objective for STS",
    ),
    Objective(
        "triplet",
        triplet,
        (3, 3),
        "none",
        ("anchor", "positive", "negative"),
        "bring the anchor nearer to the positive than to the negative; the paper's objective for triplets",
    ),
    Objective(
        "info-nce",
        info_nce,
        (2, None),
        "none",
        ("anchor", "positive", "negative"),
        "rank the positive above everything else in the batch",
        in_batch_negatives=True,
    ),
    Objective(
        "cosent",
        cosent,
        (2, 2),
        "score",
        ("sentence1", "sentence2"),
        "order the cosines as the scores are ordered",
        ("bi", "cross", "poly"),
        cosent_scores,
        default_for=(("poly", "score"),),
    ),
    Objective(
        "angle",
        angle,
        (2, 2),
        "score",
        ("sentence1", "sentence2"),
        "order the angles in complex space as the scores are ordered",
    ),
    Objective(
        "contrastive",
        contrastive,
        (2, 2),
        "binary",
        ("sentence1", "sentence2"),
        "pull alike pairs together, push unlike ones apart",
    ),
    Objective(
        "online-contrastive",
        online_contrastive,
        (2, 2),
        "binary",
        ("sentence1", "sentence2"),
        "contrastive, from the hard pairs of a batch alone",
    ),
    Objective(
        "batch-hard",
        batch_hard,
        (1, 1),
        "class",
        ("text",),
        "triplets found in the batch: the farthest positive, the nearest negative",
        sampler="by-label",
    ),
    Objective(
        "batch-semi-hard",
        batch_semi_hard,
        (1, 1),
        "class",
        ("text",),
        "triplets found in the batch: the nearest negative beyond each positive",
        sampler="by-label",
    ),
    Objective(
        "batch-all",
        batch_all,
        (1, 1),
        "class",
        ("text",),
        "triplets found in the batch: all of them that are still violated",
        sampler="by-label",
    ),
    Objective(
        "embedding-mse",
        embedding_mse,
        (1, None),
        "vector",
        ("text", "translation"),
        "copy a teacher's vectors",
    ),
    Objective(
        "margin-mse",
        margin_mse,
        (3, None),
        "scores",
        ("query", "positive", "negative"),
        "copy by how much a teacher prefers the positive",
        ("bi", "cross", "poly"),
        margin_mse_scores,
    ),
    Objective(
        "kl",
        kl,
        (3, None),
        "scores",
        ("query", "document"),
        "copy how a teacher shares its preference among candidates",
    ),
    Objective(
        "mse",
        mse,
        (2, 2),
        "score",
        ("sentence1", "sentence2"),
        "make the score of two texts, from 0 to 1, equal to the given one",
        ("cross", "poly"),
        default_for=(("cross", "score"), ("cross", "binary")),
    ),
    Objective(
        "bce",
        bce,
        (2, 2),
        "score",
        ("sentence1", "sentence2"),
        "say yes or no of two texts, or how likely yes is",
        ("cross", "poly"),
        default_for=(("poly", "binary"),),
    ),
    Objective(
        "cross-entropy",
        cross_entropy,
        (2, 2),
        "class",
        ("sentence1", "sentence2"),
        "name the relation of two texts",
        ("cross",),
        default_for=(("cross", "class"),),
    ),
    Objective(
        "rank-net",
        rank_net,
        (3, None),
        "scores",
        ("query", "document"),
        "say which of two documents is the better one",
        ("cross", "poly"),
    ),
    Objective(
        "list-net",
        list_net,
        (3, None),
        "scores",
        ("query", "document"),
        "share preference among documents as their scores do",
        ("cross", "poly"),
    ),
    Objective(
        "lambda",
        lambda_rank,
        (3, None),
        "scores",
        ("query", "document"),
        "put the best documents at the top of the list",
        ("cross", "poly"),
    ),
    Objective(
        "poly-nce",
        poly_nce,
        (2, None),
        "none",
        ("query", "document", "negative"),
        "rank the answer above every other document of the batch",
        ("poly",),
        in_batch_negatives=True,
        default_for=(("poly", "none"),),
    ),
)
OBJECTIVES: dict[str, Objective] = {objective.name: objective for objective in _ALL}
