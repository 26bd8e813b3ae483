"""Defines what every model can do: report its limits, score pairs of texts, rank documents and describe itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from sbert.errors import BadInput
from sbert.models.backbone import check_max_length
from sbert.models.inference import run, using_device
from sbert.models.postprocess import best
from sbert.porting import explained_class, unknown_name
from sbert.text import PieceTokenizer, Tokenizer, Tokens, Truncation, WordTokenizer, check_texts
from sbert.types import Batch, FloatArray, Hit, Output, Similarity

if TYPE_CHECKING:
    from typing_extensions import Self


@explained_class
class TextModel(nn.Module, ABC):
    """The base class of :class:`~sbert.BiEncoder`, ``CrossEncoder``, ``PolyEncoder`` and ``WordEncoder``."""

    tokenizer: Tokenizer | WordTokenizer | PieceTokenizer
    similarity_fn_name: Similarity
    """The measure that compares two vectors of this model."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            raise unknown_name(type(self).__name__, name) from None

    @property
    def device(self) -> torch.device:
        """The device that holds the weights."""
        return next(self.parameters()).device

    @property
    def max_seq_length(self) -> int:
        """Number of tokens at which texts, or pairs of texts, are truncated."""
        return self.tokenizer.max_length

    @max_seq_length.setter
    def max_seq_length(self, tokens: int) -> None:
        check_max_length(tokens, self._positions)
        self.tokenizer = self.tokenizer.with_max_length(tokens)

    @property
    def _positions(self) -> int | None:
        """Number of positions of the network; None if it has no limit."""
        return None

    def ready(self, device: str | torch.device | None, max_seq_length: int | None = None) -> Self:
        """Set the maximum length and move the model to its device. These are the last steps of loading.

        Args:
            device: Defaults to the first accelerator, or the CPU if there is none.
            max_seq_length: Defaults to the model's own maximum length.
        """
        if max_seq_length is not None:
            self.max_seq_length = max_seq_length
        with using_device(device) as place:
            return self.to(place)

    @abstractmethod
    def items(self, columns: Sequence[Sequence[str]]) -> Sequence[Sequence[Any]]:
        """Convert the text columns of training rows to columns of what the network reads."""

    @abstractmethod
    def tokenize(self, items: Sequence[Any], /) -> Tokens:
        """Convert items to token ids."""

    def reader(self, column: int) -> Callable[[Batch], Tensor]:
        """Return the network that reads column ``column`` in training."""
        return self

    def _run(
        self,
        tokens: Tokens,
        size: tuple[int, ...],
        batch_tokens: int,
        batch_size: int | None = None,
        show_progress_bar: bool = False,
    ) -> FloatArray:
        """Run every row of tokens through the network: (rows, *size) float32."""
        results = np.empty((len(tokens.lengths), *size), np.float32)
        with closing(run(self, self.forward, tokens, batch_tokens, batch_size, show_progress_bar)) as batches:
            for rows, _, result in batches:
                results[rows] = result.float().cpu().numpy()
        return results

    @abstractmethod
    def score_pairs(self, pairs: Sequence[Sequence[str]], output: Output = "score") -> FloatArray:
        """Score pairs of texts without a warning about truncation; see :meth:`pair_truncation` for that.

        Returns:
            (N,), or (N, L) for a model with L > 1 labels. :meth:`pair_scale` names the scale of the scores.
        """

    def pair_scale(self, output: Output = "score") -> str:
        """Name the scale of :meth:`score_pairs`: a similarity measure, or the activation of a cross-encoder."""
        if output != "score":
            raise BadInput(
                f"output is {output!r}, but this {type(self).__name__} gives its {self.similarity_fn_name} only"
            )
        return self.similarity_fn_name

    def pair_truncation(self, windows: Iterable[Sequence[Sequence[str]]]) -> Truncation:
        """Count what :meth:`score_pairs` truncates, without running the network.

        Args:
            windows: Lists of rows; a row is a text and one or more texts to score it with.
        """
        columns = (list(zip(*window, strict=True)) for window in windows)
        parts = [tokens.truncation for texts in columns for tokens in self._tokenize_pairs(texts)]
        nothing = Truncation(0, 0, self.max_seq_length, 0, 0, 0, unit="pairs")
        return Truncation.total(parts or [nothing])

    def _tokenize_pairs(self, columns: Sequence[Sequence[str]]) -> Iterator[Tokens]:
        """Tokenize columns of texts as :meth:`score_pairs` does, prompts included."""
        return map(self.tokenize, self.items(columns))

    def rank(
        self, query: str, documents: Iterable[str], top_k: int | None = None, *, show_progress_bar: bool = False
    ) -> list[Hit]:
        """Sort documents by their score with a query, best first; the earlier document wins a tie.

        Args:
            query: The text to score every document with.
            documents: The texts to sort. The id of a hit is the position of its document here.
            top_k: Maximum number of hits. Defaults to all documents.
            show_progress_bar: Whether to show a progress bar.
        """
        texts = check_texts(documents)
        keys, scores = self._score_documents(query, texts, show_progress_bar)
        return best(keys, scores, texts, top_k)

    @abstractmethod
    def _score_documents(
        self, query: str, documents: Sequence[str], show_progress_bar: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sort keys of the documents, (N,), and their scores, (N,)."""

    def describe(self) -> dict[str, Any]:
        """Collect the properties of the model that ``sbert info`` shows."""
        return {
            "kind": type(self).__name__,
            "parameters": sum(weights.numel() for weights in self.parameters()),
            "max_length": self.max_seq_length,
            **self._properties(),
            "device": str(self.device),
        }

    @abstractmethod
    def _properties(self) -> dict[str, Any]:
        """Return the part of :meth:`describe` that depends on the class."""

    @abstractmethod
    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model to a folder, completely or not at all."""
