"""What evaluators ask of models: vectors or scores, for every different text once. Knows no task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from sbert.errors import BadInput
from sbert.types import Array, Encoder, Evaluator, FloatArray, Scorer, Similarity

MEASURES: tuple[Similarity, ...] = get_args(Similarity)


def primary_metric(evaluator: Evaluator, model: object) -> str:
    """Which figure decides which model is best.

    A scorer gives one score, where vectors can be compared in several ways: so an evaluator that takes both may have
    a ``scorer_metric`` beside its ``primary_metric``.
    """
    name: str = evaluator.primary_metric
    return name if isinstance(model, Encoder) else getattr(evaluator, "scorer_metric", name)


def embed(model: object, *columns: Sequence[str], role: Literal["query", "document"] | None = None) -> list[Array]:
    """The vectors of each column's texts, (N, D) each; by the model's ``encode_query`` where it has one, and so on."""
    if isinstance(model, str) or not isinstance(model, Encoder):  # a model's name has an encode of its own
        raise BadInput(
            f"got a {type(model).__name__}, which embeds no texts, but vectors are compared; load an encoder"
        )
    encode = getattr(model, f"encode_{role}", model.encode)
    row = {text: number for number, text in enumerate(dict.fromkeys(text for column in columns for text in column))}
    vectors = encode(list(row), on_truncate="ignore")
    return [vectors[[row[text] for text in column]] for column in columns]


def predict(model: object, first: Sequence[str], second: Sequence[str]) -> FloatArray:
    """What a scorer says of each pair, (N,) or (N, L)."""
    if not isinstance(model, Scorer):
        raise BadInput(f"got a {type(model).__name__}, which has no predict, but pairs are scored; give a scorer")
    pairs = list(zip(first, second, strict=True))
    row = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    return np.asarray(model.predict(list(row), on_truncate="ignore"))[[row[pair] for pair in pairs]]


def pair_scores(
    model: object, first: Sequence[str], second: Sequence[str], *, search: bool = False
) -> dict[Similarity | None, FloatArray]:
    """How alike the texts of each pair are, (N,), higher is nearer: by each measure, or under None by a scorer.

    ``search`` embeds the first texts as queries and the second ones as documents.
    """
    if isinstance(model, Encoder):
        import torch

        from sbert.nn.similarity import pairwise

        columns = (
            [*embed(model, first, role="query"), *embed(model, second, role="document")]
            if search
            else embed(model, first, second)
        )
        a, b = (torch.as_tensor(vectors).float() for vectors in columns)
        return {measure: pairwise(a, b, measure).numpy() for measure in MEASURES}
    scores = predict(model, first, second)
    if scores.ndim > 1:
        raise BadInput(f"the model gives {scores.shape[1]} scores a pair, but one is needed; give one of one label")
    return {None: scores}
