"""Requests vectors and scores from models, once for every distinct text or pair. Independent of any task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
import torch

from sbert.errors import BadInput
from sbert.nn.similarity import pairwise
from sbert.types import Array, Encoder, FloatArray, Role, Scorer, Similarity

SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)


def embed(model: object, *columns: Sequence[str], role: Role | None = None) -> list[Array]:
    """Embed columns of texts.

    Args:
        model: An encoder.
        columns: Lists of texts; each distinct text is embedded once.
        role: Use the model's ``encode_query`` or ``encode_document`` if it has one.

    Returns:
        One (N, D) array for each column.
    """
    if isinstance(model, str) or not isinstance(model, Encoder):  # a str has a method encode, too
        raise BadInput(
            f"got a {type(model).__name__}, which embeds no texts, but vectors are compared; load an encoder"
        )
    encode = getattr(model, f"encode_{role}", model.encode)
    row = {text: number for number, text in enumerate(dict.fromkeys(text for column in columns for text in column))}
    vectors = encode(list(row), on_truncate="ignore")
    return [vectors[[row[text] for text in column]] for column in columns]


def predict(model: object, first: Sequence[str], second: Sequence[str]) -> FloatArray:
    """(N,) or (N, L): the scores that a scorer gives to pairs."""
    if not isinstance(model, Scorer):
        raise BadInput(f"got a {type(model).__name__}, which has no predict, but pairs are scored; give a scorer")
    pairs = list(zip(first, second, strict=True))
    row = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    return np.asarray(model.predict(list(row), on_truncate="ignore"))[[row[pair] for pair in pairs]]


def predict_one(model: object, first: Sequence[str], second: Sequence[str]) -> FloatArray:
    """(N,): the scores of a scorer, which must give a single one for each pair."""
    scores = predict(model, first, second)
    if scores.ndim > 1:
        raise BadInput(f"the model gives {scores.shape[1]} scores a pair, but one is needed; give one of one label")
    return scores


def pair_scores(
    model: object, first: Sequence[str], second: Sequence[str], *, search: bool = False
) -> dict[Similarity | None, FloatArray]:
    """Compare the two texts of each pair.

    Args:
        model: An encoder or a scorer.
        first: First text of each pair.
        second: Second text of each pair.
        search: Embed the first texts as queries and the second ones as documents.

    Returns:
        (N,) scores, higher for more similar texts: under every similarity function for an encoder, under None for a
        scorer.
    """
    if not isinstance(model, Encoder):
        return {None: predict_one(model, first, second)}
    if search:
        columns = embed(model, first, role="query") + embed(model, second, role="document")
    else:
        columns = embed(model, first, second)
    a, b = (torch.as_tensor(vectors).float() for vectors in columns)
    return {similarity: pairwise(a, b, similarity).numpy() for similarity in SIMILARITIES}
