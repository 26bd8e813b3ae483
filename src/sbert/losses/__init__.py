"""Losses: functions of embeddings, or of scores, and labels, to a scalar. No loss knows a model."""

from typing import Any

from sbert.losses.compose import WeightedSum, matryoshka, poly_scores, weighted_sum
from sbert.losses.distill import embedding_mse, kl, margin_mse, margin_mse_scores
from sbert.losses.inputs import Distance, Loss
from sbert.losses.margins import batch_all, batch_hard, batch_semi_hard, contrastive, online_contrastive, triplet
from sbert.losses.objectives import (
    OBJECTIVES,
    Objective,
    accepted_shapes,
    check_name,
    check_shape,
    default,
    make,
    objective_of,
    shape,
    suitable,
)
from sbert.losses.pairs import SoftmaxClassifier, angle, cosent, cosine_mse
from sbert.losses.ranking import info_nce, poly_nce
from sbert.losses.scores import bce, cosent_scores, cross_entropy, lambda_rank, list_net, mse, rank_net
from sbert.porting import unknown_name

__all__ = [
    "OBJECTIVES",
    "Distance",
    "Loss",
    "Objective",
    "SoftmaxClassifier",
    "WeightedSum",
    "accepted_shapes",
    "angle",
    "batch_all",
    "batch_hard",
    "batch_semi_hard",
    "bce",
    "check_name",
    "check_shape",
    "contrastive",
    "cosent",
    "cosent_scores",
    "cosine_mse",
    "cross_entropy",
    "default",
    "embedding_mse",
    "info_nce",
    "kl",
    "lambda_rank",
    "list_net",
    "make",
    "margin_mse",
    "margin_mse_scores",
    "matryoshka",
    "mse",
    "objective_of",
    "online_contrastive",
    "poly_nce",
    "poly_scores",
    "rank_net",
    "shape",
    "suitable",
    "triplet",
    "weighted_sum",
]


def __getattr__(name: str) -> Any:
    raise unknown_name("sbert.losses", name, "losses", "cross_encoder.losses")
