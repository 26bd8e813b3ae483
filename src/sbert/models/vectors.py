"""Defines what models with one vector per text share: scores of pairs and rankings by the similarity of vectors."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from sbert.errors import BadInput, check_count
from sbert.models.model import TextModel
from sbert.nn.similarity import all_pairs, pairwise
from sbert.porting import explained_class
from sbert.types import Array, EncodeOptions, FloatArray, Output

if TYPE_CHECKING:
    from typing_extensions import Unpack


class _KnownToHosts(ABCMeta):
    """Makes KeyBERT and BERTopic refuse a bare model, for which they would silently load another one.

    They look for names of libraries in ``str(type(model))``. What they find here leads them to a check that raises an
    error; ``sbert.adapters`` has the embedders that they take.
    """

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__qualname__}', which is not of sentence_transformers>"


@explained_class
class VectorModel(TextModel, metaclass=_KnownToHosts):
    """The base class of :class:`~sbert.BiEncoder` and :class:`~sbert.WordEncoder`."""

    encode: Callable[..., Any]
    encode_query: Callable[..., Any]
    encode_document: Callable[..., Any]

    def items(self, columns: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """Return the columns unchanged: in training, every text is embedded separately."""
        return columns

    def encode_stream(
        self, sentences: Iterable[str], *, window: int = 8192, **options: Unpack[EncodeOptions]
    ) -> Iterator[tuple[range, Array]]:
        """Embed any number of texts in constant memory, one window of texts after another.

        Args:
            sentences: Any iterable of texts; only ``window`` of them are in memory at a time.
            window: Number of texts to embed together.
            options: The options of :meth:`encode`. ``batch_tokens`` defaults to 1,024 here, which takes half the
                memory and is slightly slower.

        Yields:
            The row numbers of a window, and its vectors.

        >>> from sbert import BiEncoder
        >>> model = BiEncoder.from_pretrained()
        >>> for rows, vectors in model.encode_stream((f"line {i}" for i in range(5)), window=3):
        ...     print(rows, vectors.shape)
        range(0, 3) (3, 384)
        range(3, 5) (2, 384)
        """
        check_count("window", window)
        options = {"batch_tokens": 1024, **options}
        silent: EncodeOptions = {**options, "show_progress_bar": False}
        self.encode([], **silent)  # raises an error about a wrong option now, not at the first window
        return self._windows(iter([sentences] if isinstance(sentences, str) else sentences), window, options)

    def _windows(self, texts: Iterator[str], window: int, options: EncodeOptions) -> Iterator[tuple[range, Array]]:
        start = 0
        while part := list(islice(texts, window)):
            yield range(start, start + len(part)), self.encode(part, **options)
            start += len(part)

    def similarity(self, a: Array | Tensor, b: Array | Tensor) -> FloatArray:
        """Compare every row of ``a`` with every row of ``b``: (N, D), (M, D) -> (N, M). Higher is more similar."""
        return self._clamped(all_pairs(_as_tensor(a), _as_tensor(b), self.similarity_fn_name))

    def similarity_pairwise(self, a: Array | Tensor, b: Array | Tensor) -> FloatArray:
        """Compare row i of ``a`` with row i of ``b``: (N, D), (N, D) -> (N,). Higher is more similar."""
        return self._clamped(pairwise(_as_tensor(a), _as_tensor(b), self.similarity_fn_name))

    def _clamped(self, scores: Tensor) -> FloatArray:
        """Keep cosines between -1 and 1: rounding gives up to 1.0000004, whose arccosine is NaN."""
        return (scores.clamp(-1.0, 1.0) if self.similarity_fn_name == "cosine" else scores).numpy()

    def score_pairs(self, pairs: Sequence[Sequence[str]], output: Output = "score") -> FloatArray:
        """Compare the vectors of the two texts of each pair; a text that occurs several times is embedded once."""
        self.pair_scale(output)
        places = {text: place for place, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
        vectors = self.encode(list(places), on_truncate="ignore")
        first, second = ([places[pair[side]] for pair in pairs] for side in (0, 1))
        return self.similarity_pairwise(vectors[first], vectors[second])

    def _score_documents(
        self, query: str, documents: Sequence[str], show_progress_bar: bool
    ) -> tuple[FloatArray, FloatArray]:
        vectors = self.encode_document(documents, show_progress_bar=show_progress_bar)
        scores = self.similarity(self.encode_query([query]), vectors)[0]
        return scores, scores


def _as_tensor(vectors: Array | Tensor) -> Tensor:
    try:
        return torch.as_tensor(vectors).detach().cpu().float()
    except (TypeError, ValueError, RuntimeError):
        raise BadInput(
            f"got a {type(vectors).__name__} that is no array of numbers, but vectors are compared; encode texts first"
        ) from None
