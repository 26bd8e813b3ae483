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
from sbert.types import Kind, LabelKind


@dataclass(frozen=True, slots=True)
class Objective:
    """One loss, as people choose it."""

    name: str
    """As run files and the command line say it."""
    loss: Callable[..., Any]
    """The function, or the class of a loss with weights: it is made with ``dim`` and ``labels``."""
    texts: tuple[int, int | None]
    """The least and the most text columns; None: any number."""
    label: LabelKind
    """The kind of label it learns from."""
    columns: str
    """The columns in order, by their usual names."""
    meaning: str
    """One line for people."""
    kinds: tuple[Kind, ...] = ("bi",)
    """The kinds of models it is for."""
    of_scores: Callable[..., Any] | None = None
    """Its form for scores, where one name serves bi-encoders and others."""

    @property
    def forms(self) -> tuple[Callable[..., Any], ...]:
        """The function or class, and its form for scores if there is one."""
        return (self.loss,) if self.of_scores is None else (self.loss, self.of_scores)

    @property
    def options(self) -> dict[str, Any]:
        """The options it takes, with their defaults."""
        return {name: parameter.default for name, parameter in optional(self.loss).items()}

    def reads(self, text_columns: int, label: LabelKind) -> bool:
        """Whether it can learn from so many text columns and such a label; 0 or 1 is also a score from 0 to 1."""
        least, most = self.texts
        fits = label == self.label or (label == "binary" and self.label == "score")
        return fits and least <= text_columns and (most is None or text_columns <= most)


def optional(loss: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """What may be left out when ``loss`` is called or made, besides the labels."""
    parameters = inspect.signature(loss, eval_str=True).parameters.items()
    return {name: each for name, each in parameters if each.default is not each.empty and name != "labels"}


_ALL = (
    Objective(
        "softmax",
        SoftmaxClassifier,
        (2, 2),
        "class",
        "sentence1, sentence2, label",
        "name the relation of two texts; the paper's objective for NLI",
    ),
    Objective(
        "cosine",
        cosine_mse,
        (2, 2),
        "score",
        "sentence1, sentence2, score",
        "make the cosine equal to the score; the paper's objective for STS",
    ),
    Objective(
        "triplet",
        triplet,
        (3, 3),
        "none",
        "anchor, positive, negative",
        "bring the anchor nearer to the positive than to the negative; the paper's objective for triplets",
    ),
    Objective(
        "info-nce",
        info_nce,
        (2, None),
        "none",
        "anchor, positive[, negative, ...]",
        "rank the positive above everything else in the batch",
    ),
    Objective(
        "cosent",
        cosent,
        (2, 2),
        "score",
        "sentence1, sentence2, score",
        "order the cosines as the scores are ordered",
        ("bi", "cross", "poly"),
        cosent_scores,
    ),
    Objective(
        "angle",
        angle,
        (2, 2),
        "score",
        "sentence1, sentence2, score",
        "order the angles in complex space as the scores are ordered",
    ),
    Objective(
        "contrastive",
        contrastive,
        (2, 2),
        "binary",
        "sentence1, sentence2, label",
        "pull alike pairs together, push unlike ones apart",
    ),
    Objective(
        "online-contrastive",
        online_contrastive,
        (2, 2),
        "binary",
        "sentence1, sentence2, label",
        "contrastive, from the hard pairs of a batch alone",
    ),
    Objective(
        "batch-hard",
        batch_hard,
        (1, 1),
        "class",
        "text, label",
        "triplets found in the batch: the farthest positive, the nearest negative",
    ),
    Objective(
        "batch-semi-hard",
        batch_semi_hard,
        (1, 1),
        "class",
        "text, label",
        "triplets found in the batch: the nearest negative beyond each positive",
    ),
    Objective(
        "batch-all",
        batch_all,
        (1, 1),
        "class",
        "text, label",
        "triplets found in the batch: all of them that are still violated",
    ),
    Objective(
        "embedding-mse",
        embedding_mse,
        (1, None),
        "vector",
        "text[, translation, ...], vector",
        "copy a teacher's vectors",
    ),
    Objective(
        "margin-mse",
        margin_mse,
        (3, None),
        "scores",
        "query, positive, negative[, negative, ...], scores",
        "copy by how much a teacher prefers the positive",
        ("bi", "cross", "poly"),
        margin_mse_scores,
    ),
    Objective(
        "kl",
        kl,
        (3, None),
        "scores",
        "query, document, document[, document, ...], scores",
        "copy how a teacher shares its preference among candidates",
    ),
    Objective(
        "mse",
        mse,
        (2, 2),
        "score",
        "sentence1, sentence2, score",
        "make the score of two texts, from 0 to 1, equal to the given one",
        ("cross", "poly"),
    ),
    Objective(
        "bce",
        bce,
        (2, 2),
        "score",
        "sentence1, sentence2, score",
        "say yes or no of two texts, or how likely yes is",
        ("cross", "poly"),
    ),
    Objective(
        "cross-entropy",
        cross_entropy,
        (2, 2),
        "class",
        "sentence1, sentence2, label",
        "name the relation of two texts",
        ("cross",),
    ),
    Objective(
        "rank-net",
        rank_net,
        (3, None),
        "scores",
        "query, document, document[, document, ...], scores",
        "say which of two documents is the better one",
        ("cross", "poly"),
    ),
    Objective(
        "list-net",
        list_net,
        (3, None),
        "scores",
        "query, document, document[, document, ...], scores",
        "share preference among documents as their scores do",
        ("cross", "poly"),
    ),
    Objective(
        "lambda",
        lambda_rank,
        (3, None),
        "scores",
        "query, document, document[, document, ...], scores",
        "put the best documents at the top of the list",
        ("cross", "poly"),
    ),
    Objective(
        "poly-nce",
        poly_nce,
        (2, None),
        "none",
        "query, document[, negative, ...]",
        "rank the answer above every other document of the batch",
        ("poly",),
    ),
)
OBJECTIVES: dict[str, Objective] = {objective.name: objective for objective in _ALL}
