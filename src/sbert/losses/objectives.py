"""The table of losses that can be chosen by name: which columns, labels and kinds of models each of them is for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sbert.losses import distill, pairs, scores, triplets
from sbert.losses.contrastive import contrastive, online_contrastive
from sbert.losses.poly import poly_nce
from sbert.losses.ranking import info_nce
from sbert.losses.softmax import SoftmaxClassifier
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


_PAIR = ("sentence1", "sentence2")
_RANKED = ("query", "document")
_ALL = (
    Objective("softmax", SoftmaxClassifier, (2, 2), "class", _PAIR),
    Objective("cosine", pairs.cosine_mse, (2, 2), "score", _PAIR),
    Objective("triplet", triplets.triplet, (3, 3), "none", ("anchor", "positive", "negative")),
    Objective("info-nce", info_nce, (2, None), "none", ("anchor", "positive", "negative"), in_batch_negatives=True),
    Objective(
        "cosent",
        pairs.cosent,
        (2, 2),
        "score",
        _PAIR,
        ("bi", "cross", "poly"),
        scores.cosent_scores,
        default_for=(("poly", "score"),),
    ),
    Objective("angle", pairs.angle, (2, 2), "score", _PAIR),
    Objective("contrastive", contrastive, (2, 2), "binary", _PAIR),
    Objective("online-contrastive", online_contrastive, (2, 2), "binary", _PAIR),
    Objective("batch-hard", triplets.batch_hard, (1, 1), "class", ("text",), sampler="by-label"),
    Objective("batch-semi-hard", triplets.batch_semi_hard, (1, 1), "class", ("text",), sampler="by-label"),
    Objective("batch-all", triplets.batch_all, (1, 1), "class", ("text",), sampler="by-label"),
    Objective("embedding-mse", distill.embedding_mse, (1, None), "vector", ("text", "translation")),
    Objective(
        "margin-mse",
        distill.margin_mse,
        (3, None),
        "scores",
        ("query", "positive", "negative"),
        ("bi", "cross", "poly"),
        scores.margin_mse_scores,
    ),
    Objective("kl", distill.kl, (3, None), "scores", _RANKED),
    Objective(
        "mse",
        scores.mse,
        (2, 2),
        "score",
        _PAIR,
        ("cross", "poly"),
        default_for=(("cross", "score"), ("cross", "binary")),
    ),
    Objective("bce", scores.bce, (2, 2), "score", _PAIR, ("cross", "poly"), default_for=(("poly", "binary"),)),
    Objective(
        "cross-entropy", scores.cross_entropy, (2, 2), "class", _PAIR, ("cross",), default_for=(("cross", "class"),)
    ),
    Objective("rank-net", scores.rank_net, (3, None), "scores", _RANKED, ("cross", "poly")),
    Objective("list-net", scores.list_net, (3, None), "scores", _RANKED, ("cross", "poly")),
    Objective("lambda", scores.lambda_rank, (3, None), "scores", _RANKED, ("cross", "poly")),
    Objective(
        "poly-nce",
        poly_nce,
        (2, None),
        "none",
        ("query", "document", "negative"),
        ("poly",),
        in_batch_negatives=True,
        default_for=(("poly", "none"),),
    ),
)
OBJECTIVES: dict[str, Objective] = {objective.name: objective for objective in _ALL}
