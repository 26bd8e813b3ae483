"""The word encoder: word vectors, a BiLSTM where asked for, pooling. What sentence embeddings were before BERT."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sbert import hub
from sbert.errors import BadInput
from sbert.models.inference import run
from sbert.models.postprocess import check_numbers, merge_windows, normalize
from sbert.models.vectors import VectorModel
from sbert.nn.pooling import as_poolings, pool
from sbert.nn.words import BiLSTM, WordEmbeddings
from sbert.text import Tokens, WordTokenizer, check_texts
from sbert.types import Batch, FloatArray, OnTruncate, Pooling, Similarity


class WordEncoder(VectorModel):
    """Words to vectors, [a BiLSTM over them,] and pooling.

    Args:
        tokenizer: the words, in the order of the table.
        embeddings: their vectors.
        lstm: what reads the vectors in order; without it they are pooled as they are.
        pooling: one or several ways to make one vector of a text's words; several are concatenated.

    >>> table = torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 0.0]])  # row 0: no known word
    >>> model = WordEncoder(WordTokenizer(["고양이", "cat"]), WordEmbeddings(table))
    >>> model.encode(["고양이 cat", "Cat!", "개"]).tolist()
    [[2.0, 1.0], [3.0, 0.0], [0.0, 0.0]]
    """

    similarity_fn_name: Similarity = "cosine"
    """How its vectors are compared."""

    def __init__(
        self,
        tokenizer: WordTokenizer,
        embeddings: WordEmbeddings,
        lstm: BiLSTM | None = None,
        pooling: Pooling | Sequence[Pooling] = "mean",
    ) -> None:
        super().__init__()
        self.pooling = as_poolings(pooling)
        rows = embeddings.table.num_embeddings
        if rows != len(tokenizer) + 1:
            raise BadInput(f"got {len(tokenizer)} words and {rows} vectors, but needs one a word, and a zero before")
        self.tokenizer: WordTokenizer = tokenizer
        self.embeddings, self.lstm = embeddings, lstm
        self.eval()

    @classmethod
    def from_vectors(
        cls,
        path: str | Path,
        *,
        lstm_size: int | None = None,
        pooling: Pooling | Sequence[Pooling] = "mean",
        trainable: bool = False,
        max_words: int | None = None,
        without: Collection[str] = (),
        seed: int = 42,
        device: str | torch.device | None = None,
    ) -> WordEncoder:
        """A new encoder on published word vectors.

        Args:
            path: GloVe's, word2vec's or fastText's text file, plain or gzipped, or a folder of ``vectors_f16.npy``
                and ``vocab.txt.gz``. Words are looked up in lower case, unless the vectors have other words too.
            lstm_size: units of a new BiLSTM in each direction, still to be trained; none unless given.
            pooling: how words, or their states, become one vector.
            trainable: whether training changes the word vectors.
            max_words: read only so many; the files have the frequent ones first.
            without: words to treat as unknown, such as stop words.
            seed: of a new BiLSTM's weights.
            device: where to run; the first accelerator if there is one, else the CPU.
        """
        words, table = hub.read_vectors(path, max_words, without)
        embeddings = WordEmbeddings(table, trainable)
        lower_case = not any(word != word.lower() for word in words)
        lstm = None
        if lstm_size is not None:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                lstm = BiLSTM(embeddings.size, lstm_size)
        model = cls(WordTokenizer(words, lower_case=lower_case), embeddings, lstm, pooling)
        return model.ready(device, None)

    @classmethod
    def from_pretrained(
        cls, name: str | Path, *, device: str | torch.device | None = None, max_seq_length: int | None = None
    ) -> WordEncoder:
        """Load what :meth:`save_pretrained` wrote: a folder, or that of a training run.

        Args:
            name: the folder.
            device: where to run; the first accelerator if there is one, else the CPU.
            max_seq_length: cut texts at so many known words instead of the model's own number.
        """
        parts = hub.read_words(hub.resolve(name))
        model = cls(parts.tokenizer, parts.embeddings, parts.lstm, parts.pooling)
        return model.ready(device, max_seq_length)

    @property
    def embedding_dimension(self) -> int:
        """D, the size of a vector from :meth:`encode`."""
        return len(self.pooling) * (self.embeddings if self.lstm is None else self.lstm).size

    def tokenize(self, texts: Sequence[str]) -> Tokens:
        """The first of the three steps: texts -> word numbers."""
        return self.tokenizer(texts)

    def forward(self, batch: Batch) -> Tensor:
        """The second step: (T,) word numbers -> (B, D) vectors, in the order of the batch."""
        hidden = self.embeddings(torch.from_numpy(batch.input_ids).to(self.device))
        if self.lstm is not None:
            hidden = self.lstm(hidden, batch.groups)
        return pool(hidden, batch.groups, self.pooling)

    def encode(
        self,
        sentences: str | Iterable[str],
        *,
        batch_tokens: int = 16384,
        normalize_embeddings: bool = False,
        show_progress_bar: bool = False,
        on_truncate: OnTruncate = "warn",
    ) -> FloatArray:
        """Vectors of texts: (N, D), or (D,) for a single string; zero for a text without a known word.

        A vector depends on its text alone: neither on the other texts nor on batch sizes or threads.

        Args:
            sentences: a text, or any iterable of texts.
            batch_tokens: words in one pass; changes speed and memory only.
            normalize_embeddings: every vector to length one.
            show_progress_bar: show words done and time left.
            on_truncate: what to do about texts of more known words than are read: ``warn`` in one line, ``raise``,
                ``ignore``, or ``chunk``: embed them as the length-weighted mean of their windows.
        """
        texts = [sentences] if isinstance(sentences, str) else check_texts(sentences)
        tokens = self.tokenizer(texts, windows=on_truncate == "chunk")
        tokens.truncation.report(on_truncate)
        vectors = np.empty((len(tokens.lengths), self.embedding_dimension), np.float32)
        for rows, _, result in run(self, self.forward, tokens, batch_tokens, show_progress_bar=show_progress_bar):
            vectors[rows] = result.cpu().numpy()
        vectors = merge_windows(vectors, tokens, unit_length=False)
        check_numbers(vectors, texts)
        finished = normalize(vectors) if normalize_embeddings else vectors
        return finished[0] if isinstance(sentences, str) else finished

    encode_query = encode_document = encode
    """Queries are read like any other text."""

    def _properties(self) -> dict[str, Any]:
        return {
            "vocabulary": len(self.tokenizer),
            "lower_case": self.tokenizer.lower_case,
            "lstm_size": None if self.lstm is None else self.lstm.lstm.hidden_size,
            "dimension": self.embedding_dimension,
            "pooling": list(self.pooling),
            "similarity": self.similarity_fn_name,
        }

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the words, their vectors and the weights into a folder, whole or not at all."""
        parts = hub.WordParts(self.tokenizer, self.embeddings, self.lstm, self.pooling)
        hub.write_words(parts, Path(folder))
