"""Losses: functions of embeddings, or of scores, and labels, to a scalar. No loss knows a model."""

from sbert.losses.catalog import accepted_shapes, check_shape, default, make, objective_of, shape, suitable
from sbert.losses.compose import Loss, WeightedSum, matryoshka, weighted_sum
from sbert.losses.contrastive import contrastive, online_contrastive
from sbert.losses.distances import Distance
from sbert.losses.distill import embedding_mse, kl, margin_mse
from sbert.losses.objectives import OBJECTIVES, Objective
from sbert.losses.pairs import angle, cosent, cosine_mse
from sbert.losses.poly import poly_nce, poly_scores
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
