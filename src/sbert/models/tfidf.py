"""TF-IDF vectors, a baseline, computed by scikit-learn."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np

from sbert.errors import BadInput, check_option
from sbert.text import check_texts, split_words
from sbert.types import FloatArray, OnTruncate

Unit = Literal["word", "bigram"]


class TfIdf:
    """Unit vectors with one dimension for each word, or pair of letters, of the texts it is fitted on.

    The vectors are dense: 2,500 sentences with a vocabulary of 5,000 words take about 50 MB.

    Args:
        texts: The texts to fit on; usually those that are compared later.
        unit: What to count: each ``word``, or each ``bigram``, two adjacent letters of a word. Bigrams suit languages
            whose words have many forms, such as Korean.

    >>> model = TfIdf(["고양이가 잔다", "고양이는 논다", "비가 온다"], unit="bigram")
    >>> vectors = model.encode(["고양이를", "고양이도", "비"])
    >>> (vectors @ vectors.T).round(2).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(self, texts: Iterable[str], unit: Unit = "word") -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        check_option("unit", unit, get_args(Unit))
        self._vectorizer = TfidfVectorizer(
            analyzer=split_words if unit == "word" else "char_wb",
            preprocessor=None if unit == "word" else _plain,
            ngram_range=(1, 1) if unit == "word" else (2, 2),
            dtype=np.float32,
        )
        rows = check_texts(texts)
        try:
            self._vectorizer.fit(rows)
        except ValueError:  # the only possible reason is an empty vocabulary
            raise BadInput(f"got {len(rows)} texts without a word, but there must be some to learn from") from None

    @property
    def embedding_dimension(self) -> int:
        """D, the number of different words or bigrams."""
        return len(self._vectorizer.vocabulary_)

    def encode(self, sentences: str | Iterable[str], *, on_truncate: OnTruncate = "warn") -> FloatArray:
        """Embed texts: (N, D), or (D,) for a single string. Nothing is ever truncated."""
        check_option("on_truncate", on_truncate, get_args(OnTruncate))
        texts = [sentences] if isinstance(sentences, str) else check_texts(sentences)
        if not texts:
            return np.empty((0, self.embedding_dimension), np.float32)
        vectors: FloatArray = self._vectorizer.transform(texts).toarray()
        return vectors[0] if isinstance(sentences, str) else vectors


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text.lower())
