"""``sentence_transformers.losses`` over the losses of sbert: the same names and arguments.

A loss of sentence-transformers runs the model on tokens. The result here is a loss of :mod:`sbert.losses`, a function
of embeddings and labels for :class:`sbert.Trainer`; therefore the model is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any, Literal

from torch import Tensor

from sbert.adapters.sentence_transformers.same import same
from sbert.adapters.sentence_transformers.util import cos_sim, named_similarity
from sbert.errors import BadInput, check_option, shown
from sbert.losses import Distance, Loss, distill, margins, matryoshka, pairs, ranking
from sbert.porting import unknown_name

ScoreFunction = Callable[[Tensor, Tensor], Tensor]
Directions = tuple[Literal["query_to_doc", "query_to_query", "doc_to_query", "doc_to_doc"], ...]
_ONE_WAY: Directions = ("query_to_doc",)
_BOTH_WAYS: Directions = ("query_to_doc", "doc_to_query")


class SiameseDistanceMetric(Enum):
    """The distances of ``ContrastiveLoss``."""

    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"
    COSINE_DISTANCE = "cosine"


class TripletDistanceMetric(Enum):
    """The distances of ``TripletLoss``."""

    COSINE = "cosine"
    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"


class BatchHardTripletLossDistanceFunction(Enum):
    """The distances of the losses that mine triplets in the batch."""

    cosine_distance = "cosine"
    euclidean_distance = "euclidean"


_METRICS = (SiameseDistanceMetric, TripletDistanceMetric, BatchHardTripletLossDistanceFunction)
_EUCLIDEAN = BatchHardTripletLossDistanceFunction.euclidean_distance


def _distance(metric: Any) -> Distance:
    if not isinstance(metric, _METRICS):
        names = ", ".join(each.__name__ for each in _METRICS)
        raise BadInput(f"the distance is {shown(metric)}, but must be a member of {names} of this module")
    distance: Distance = metric.value
    return distance


@same("losses.MultipleNegativesRankingLoss")
def MultipleNegativesRankingLoss(
    model: object,
    scale: float = 20.0,
    similarity_fct: ScoreFunction = cos_sim,
    gather_across_devices: bool = False,
    directions: Directions = ("query_to_doc",),
    partition_mode: Literal["joint", "per_direction"] = "joint",
    hardness_mode: str | None = None,
    hardness_strength: float = 0.0,
) -> Loss:
    """Return ``info_nce``."""
    ways = tuple(directions)
    both = set(ways) == set(_BOTH_WAYS) and partition_mode == "per_direction"
    if ways != _ONE_WAY and not both:
        raise BadInput(
            f"directions is {shown(ways)} with partition_mode {shown(partition_mode)}, but must be {_ONE_WAY}, or "
            f"{_BOTH_WAYS} with 'per_direction'"
        )
    name = named_similarity(similarity_fct)
    check_option("similarity_fct", name, ("cosine", "dot"))
    return partial(ranking.info_nce, scale=scale, similarity="dot" if name == "dot" else "cosine", symmetric=both)


@same("losses.CachedMultipleNegativesRankingLoss")
def CachedMultipleNegativesRankingLoss(
    model: object,
    scale: float = 20.0,
    similarity_fct: ScoreFunction = cos_sim,
    mini_batch_size: int = 32,
    mini_batch_num_tokens: int | None = None,
    gather_across_devices: bool = False,
    directions: Directions = ("query_to_doc",),
    partition_mode: Literal["joint", "per_direction"] = "joint",
    show_progress_bar: bool = False,
    hardness_mode: str | None = None,
    hardness_strength: float = 0.0,
) -> Loss:
    """Return ``info_nce``; ``TrainConfig(mini_batch_tokens=...)`` computes a large batch in parts."""
    return MultipleNegativesRankingLoss(
        model, scale, similarity_fct, directions=directions, partition_mode=partition_mode
    )


@same("losses.MultipleNegativesSymmetricRankingLoss")
def MultipleNegativesSymmetricRankingLoss(
    model: object,
    scale: float = 20.0,
    similarity_fct: ScoreFunction = cos_sim,
    gather_across_devices: bool = False,
) -> Loss:
    """Return ``info_nce`` in both directions."""
    return MultipleNegativesRankingLoss(
        model, scale, similarity_fct, directions=_BOTH_WAYS, partition_mode="per_direction"
    )


@same("losses.CachedMultipleNegativesSymmetricRankingLoss")
def CachedMultipleNegativesSymmetricRankingLoss(
    model: object,
    scale: float = 20.0,
    similarity_fct: ScoreFunction = cos_sim,
    mini_batch_size: int = 32,
    mini_batch_num_tokens: int | None = None,
    gather_across_devices: bool = False,
    show_progress_bar: bool = False,
) -> Loss:
    """Return ``info_nce`` in both directions; ``TrainConfig(mini_batch_tokens=...)`` computes a batch in parts."""
    return MultipleNegativesSymmetricRankingLoss(model, scale, similarity_fct)


@same("losses.CosineSimilarityLoss")
def CosineSimilarityLoss(model: object, loss_fct: object = None, cos_score_transformation: object = None) -> Loss:
    """Return ``cosine_mse``."""
    return pairs.cosine_mse


@same("losses.SoftmaxLoss")
def SoftmaxLoss(
    model: object,
    embedding_dimension: int,
    num_labels: int,
    concatenation_sent_rep: bool = True,
    concatenation_sent_difference: bool = True,
    concatenation_sent_multiplication: bool = False,
    loss_fct: object = None,
) -> Loss:
    """Return a ``SoftmaxClassifier``, whose classes are called by their numbers."""
    parts: list[pairs.Part] = ["u", "v"] if concatenation_sent_rep else []
    parts += ["|u-v|"] if concatenation_sent_difference else []
    parts += ["u*v"] if concatenation_sent_multiplication else []
    return pairs.SoftmaxClassifier(embedding_dimension, [str(number) for number in range(num_labels)], parts)


@same("losses.TripletLoss")
def TripletLoss(
    model: object, distance_metric: object = TripletDistanceMetric.EUCLIDEAN, triplet_margin: float = 5
) -> Loss:
    """Return ``triplet``."""
    return partial(margins.triplet, margin=triplet_margin, distance=_distance(distance_metric))


@same("losses.ContrastiveLoss")
def ContrastiveLoss(
    model: object,
    distance_metric: object = SiameseDistanceMetric.COSINE_DISTANCE,
    margin: float = 0.5,
    size_average: bool = True,
) -> Loss:
    """Return ``contrastive``."""
    return partial(margins.contrastive, margin=margin, distance=_distance(distance_metric))


@same("losses.OnlineContrastiveLoss")
def OnlineContrastiveLoss(
    model: object, distance_metric: object = SiameseDistanceMetric.COSINE_DISTANCE, margin: float = 0.5
) -> Loss:
    """Return ``online_contrastive``."""
    return partial(margins.online_contrastive, margin=margin, distance=_distance(distance_metric))


@same("losses.CoSENTLoss")
def CoSENTLoss(model: object, scale: float = 20.0, similarity_fct: object = None) -> Loss:
    """Return ``cosent``."""
    return partial(pairs.cosent, scale=scale)


@same("losses.AnglELoss")
def AnglELoss(model: object, scale: float = 20.0) -> Loss:
    """Return ``angle``."""
    return partial(pairs.angle, scale=scale)


@same("losses.MSELoss")
def MSELoss(model: object, projection_dim: int | None = None) -> Loss:
    """Return ``embedding_mse``."""
    return distill.embedding_mse


@same("losses.EmbedDistillLoss")
def EmbedDistillLoss(
    model: object, distance_metric: Literal["mse", "l2", "cosine"] = "cosine", projection_dim: int | None = None
) -> Loss:
    """Return ``embedding_mse``; other distances do not exist."""
    check_option("distance_metric", distance_metric, ("mse",))
    return distill.embedding_mse


@same("losses.MarginMSELoss")
def MarginMSELoss(model: object, similarity_fct: object = None) -> Loss:
    """Return ``margin_mse``."""
    return distill.margin_mse


@same("losses.DistillKLDivLoss")
def DistillKLDivLoss(
    model: object,
    similarity_fct: object = None,
    temperature: float = 1.0,
    student_temperature: float | None = None,
    teacher_temperature: float | None = None,
) -> Loss:
    """Return ``kl``."""
    return partial(distill.kl, temperature=temperature)


@same("losses.MatryoshkaLoss")
def MatryoshkaLoss(
    model: object,
    loss: Loss,
    matryoshka_dims: Sequence[int],
    matryoshka_weights: Sequence[float] | None = None,
    n_dims_per_step: int = -1,
) -> Loss:
    """Return ``matryoshka`` of a loss."""
    return matryoshka(loss, matryoshka_dims, matryoshka_weights)


@same("losses.BatchHardTripletLoss")
def BatchHardTripletLoss(model: object, distance_metric: object = _EUCLIDEAN, margin: float = 5) -> Loss:
    """Return ``batch_hard``."""
    return partial(margins.batch_hard, margin=margin, distance=_distance(distance_metric))


@same("losses.BatchHardSoftMarginTripletLoss")
def BatchHardSoftMarginTripletLoss(model: object, distance_metric: object = _EUCLIDEAN) -> Loss:
    """Return ``batch_hard`` with the soft margin."""
    return partial(margins.batch_hard, margin=None, distance=_distance(distance_metric))


@same("losses.BatchSemiHardTripletLoss")
def BatchSemiHardTripletLoss(model: object, distance_metric: object = _EUCLIDEAN, margin: float = 5) -> Loss:
    """Return ``batch_semi_hard``."""
    return partial(margins.batch_semi_hard, margin=margin, distance=_distance(distance_metric))


@same("losses.BatchAllTripletLoss")
def BatchAllTripletLoss(model: object, distance_metric: object = _EUCLIDEAN, margin: float = 5) -> Loss:
    """Return ``batch_all``."""
    return partial(margins.batch_all, margin=margin, distance=_distance(distance_metric))


def __getattr__(name: str) -> Any:
    raise unknown_name("sbert.adapters.sentence_transformers.losses", name, "losses")
