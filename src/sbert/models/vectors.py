"""Defines what models with one vector per text share: scores of pairs and rankings by the similarity of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from sbert.errors import BadInput
from sbert.models.model import TextModel
from sbert.models.postprocess import best
from sbert.nn.similarity import all_pairs, pairwise
from sbert.text import check_texts
from sbert.types import Array, FloatArray, Hit, Output


class VectorModel(TextModel):
    """The base class of :class:`~sbert.BiEncoder` and :class:`~sbert.WordEncoder`."""

    encode: Callable[..., Any]
    encode_query: Callable[..., Any]
    encode_document: Callable[..., Any]

    def items(self, columns: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """Return the columns unchanged: in training every text is embedded by itself."""
        return columns

    def similarity(self, a: Array | Tensor, b: Array | Tensor) -> FloatArray:
        """Compare every row of ``a`` with every row of ``b``: (N, D), (M, D) -> (N, M). Higher is more similar."""
        return self._clamped(all_pairs(_as_tensor(a), _as_tensor(b), self.similarity_fn_name))

    def similarity_pairwise(self, a: Array | Tensor, b: Array | Tensor) -> FloatArray:
        """Compare row i of ``a`` with row i of ``b``: (N, D), (N, D) -> (N,). Higher is more similar."""
        return self._clamped(pairwise(_as_tensor(a), _as_tensor(b), self.similarity_fn_name))

    def _clamped(self, scores: Tensor) -> FloatArray:
        """Keep cosines between -1 and 1: rounding gives up to 1.0000004, of which the arccosine is NaN."""
        return (scores.clamp(-1.0, 1.0) if self.similarity_fn_name == "cosine" else scores).numpy()

    def score_pairs(self, pairs: Sequence[Sequence[str]], output: Output = "score") -> FloatArray:
        """Compare the vectors of the two texts of each pair; a text that occurs several times is embedded once."""
        self.pair_scale(output)
        places = {text: place for place, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
        vectors = self.encode(list(places), on_truncate="ignore")
        first, second = ([places[pair[side]] for pair in pairs] for side in (0, 1))
        return self.similarity_pairwise(vectors[first], vectors[second])

    def rank(
        self, query: str, documents: Iterable[str], top_k: int | None = None, *, show_progress_bar: bool = False
    ) -> list[Hit]:
        """Sort documents by the similarity of their vectors to that of a query; the earlier document wins a tie.

        Args:
            query: The text to compare every document with.
            documents: The texts to sort. The id of a hit is the position of its document here.
            top_k: Maximum number of hits. Defaults to all documents.
            show_progress_bar: Whether to show a progress bar.
        """
        texts = check_texts(documents)
        vectors = self.encode_document(texts, show_progress_bar=show_progress_bar)
        scores = self.similarity(self.encode_query([query]), vectors)[0]
        return best(scores, scores, texts, top_k)


def _as_tensor(vectors: Array | Tensor) -> Tensor:
    try:
        return torch.as_tensor(vectors).detach().cpu().float()
    except (TypeError, ValueError, RuntimeError):
        raise BadInput(
            f"got a {type(vectors).__name__} that is no array of numbers, but vectors are compared; encode texts first"
        ) from None
