"""TENSORS -> SCALAR: each loss a pure function of embeddings and labels. None ever sees a model."""

from sbert.losses.catalog import OBJECTIVES, Objective, accepted_shapes, check_shape, make
from sbert.losses.compose import Loss, WeightedSum, matryoshka, weighted_sum
from sbert.losses.contrastive import contrastive, online_contrastive
from sbert.losses.distances import Distance
from sbert.losses.distill import embedding_mse, kl, margin_mse
from sbert.losses.pairs import angle, cosent, cosine_mse
from sbert.losses.ranking import info_nce
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
    "check_shape",
    "contrastive",
    "cosent",
    "cosine_mse",
    "embedding_mse",
    "info_nce",
    "kl",
    "make",
    "margin_mse",
    "matryoshka",
    "online_contrastive",
    "triplet",
    "weighted_sum",
]
