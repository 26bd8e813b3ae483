"""What a model of any kind says of pairs of texts: its scores, or the similarity of its vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

from sbert.errors import BadInput
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.load import Model
from sbert.models.poly import PolyEncoder
from sbert.nn.similarity import pairwise
from sbert.text import Tokens, Truncation
from sbert.types import FloatArray, Output, Role


def score_pairs(
    model: Model,
    pairs: Sequence[Sequence[str]],
    output: Output = "score",
) -> FloatArray:
    """(N,) of pairs, or (N, L) where the model has L labels; see :func:`scale_of` for what the numbers are.

    Says nothing of pairs that are cut: see :func:`truncation`.
    """
    if isinstance(model, CrossEncoder):
        return model.predict(pairs, output=output, on_truncate="ignore")
    if isinstance(model, PolyEncoder):
        return model.predict(pairs, on_truncate="ignore")
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))  # each is read once
    vectors = model.encode(texts, on_truncate="ignore")
    places = {text: place for place, text in enumerate(texts)}
    first, second = ([places[pair[side]] for pair in pairs] for side in (0, 1))
    first_vectors, second_vectors = (torch.from_numpy(vectors[side]) for side in (first, second))
    return pairwise(first_vectors, second_vectors, model.similarity_fn_name).numpy()


def truncation(model: Model, windows: Iterable[Sequence[Sequence[str]]]) -> Truncation:
    """What is lost of pairs that come window by window, in one account; tokenises them, no more."""
    columns = (list(zip(*window, strict=True)) for window in windows)
    parts = [tokens.truncation for texts in columns for tokens in _as_scored(model, texts)]
    return Truncation(
        texts=sum(part.texts for part in parts),
        truncated=sum(part.truncated for part in parts),
        max_length=model.max_seq_length,
        tokens=sum(part.tokens for part in parts),
        lost=sum(part.lost for part in parts),
        longest=max((part.longest for part in parts), default=0),
        unit=parts[0].unit if parts else "pairs",
    )


def _as_scored(model: Model, columns: Sequence[Sequence[str]]) -> Iterator[Tokens]:
    """What :func:`score_pairs` reads of each column, or of each with the first: prompts take room, too."""
    if isinstance(model, PolyEncoder):
        roles: tuple[Role, ...] = ("query", "document")
        for role, texts in zip(roles, columns, strict=True):
            yield model.documents.tokenize(texts, model.documents.prompt_for(role))
    elif isinstance(model, BiEncoder):
        for texts in columns:
            yield model.tokenize(texts, model.prompt_for())
    else:
        tokenize: Callable[[Any], Tokens] = model.tokenize  # of texts or of pairs, as items are
        yield from map(tokenize, model.items(columns))


def scale_of(model: Model, output: Output = "score") -> str:
    """What scores are: "sigmoid", "identity" or "softmax" of a cross-encoder, the measure of others."""
    if isinstance(model, CrossEncoder):
        return model.scale_of(output)
    measure = "dot" if isinstance(model, PolyEncoder) else model.similarity_fn_name
    if output != "score":
        raise BadInput(f"output is {output!r}, but this {type(model).__name__} has its {measure} alone")
    return measure
