"""The word encoder: word vectors, an optional BiLSTM and pooling, the usual sentence encoder before BERT."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sbert import hub
from sbert.errors import BadInput, shown
from sbert.models.postprocess import check_numbers, merge_windows, normalize
from sbert.models.vectors import VectorModel
from sbert.nn import heads as heads_
from sbert.nn.pooling import as_poolings, pool
from sbert.nn.words import BiLSTM, WordEmbeddings
from sbert.porting import explained_class
from sbert.text import PieceTokenizer, Tokens, WordTokenizer, check_texts
from sbert.types import Batch, FloatArray, OnTruncate, Pooling, Similarity


@explained_class
class WordEncoder(VectorModel):
    """Word vectors, an optional BiLSTM, and pooling.

    Args:
        tokenizer: The words, or the subword tokenizer, in the order of the rows of ``embeddings``.
        embeddings: The vectors of the words.
        lstm: Reads the word vectors of a text in order. Without it they are pooled directly.
        pooling: One or several ways to turn the words of a text into one vector; the results of several are
            concatenated.
        heads: Modules to apply after pooling: ``Dense``, ``LayerNorm``, ``Dropout`` or ``Normalize``.

    >>> table = torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 0.0]])  # row 0: texts without a known word
    >>> model = WordEncoder(WordTokenizer(["고양이", "cat"]), WordEmbeddings(table))
    >>> model.encode(["고양이 cat", "Cat!", "개"]).tolist()
    [[2.0, 1.0], [3.0, 0.0], [0.0, 0.0]]
    """

    similarity_fn_name: Similarity = "cosine"

    def __init__(
        self,
        tokenizer: WordTokenizer | PieceTokenizer,
        embeddings: WordEmbeddings,
        lstm: BiLSTM | None = None,
        pooling: Pooling | Sequence[Pooling] = "mean",
        heads: Sequence[nn.Module] = (),
    ) -> None:
        super().__init__()
        if not isinstance(tokenizer, WordTokenizer | PieceTokenizer):
            raise BadInput(
                f"WordEncoder got {shown(tokenizer)}, but is built on a WordTokenizer; load a saved model with "
                "WordEncoder.from_pretrained, or word vectors with WordEncoder.from_vectors"
            )
        self.pooling = as_poolings(pooling)
        rows = embeddings.table.num_embeddings
        if rows != len(tokenizer) + 1:
            raise BadInput(
                f"got {len(tokenizer)} words and {rows} vectors, but needs a zero vector and then one for each word"
            )
        self.tokenizer: WordTokenizer | PieceTokenizer = tokenizer
        self.embeddings, self.lstm = embeddings, lstm
        self.heads = nn.ModuleList(heads)
        heads_.check_sizes(self.heads, self._pooled_dimension)
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
        """Build a new encoder on published word vectors.

        Args:
            path: A text file of GloVe, word2vec or fastText, plain or gzipped, or a folder with ``vectors_f16.npy``
                and ``vocab.txt.gz``. Texts are lowercased if all words of the file are lowercase.
            lstm_size: Number of units of a new BiLSTM in each direction, not trained yet. Defaults to no BiLSTM.
            pooling: How the words of a text, or their hidden states, become one vector.
            trainable: Whether training changes the word vectors.
            max_words: Number of words to read; the files list frequent words first. Defaults to all.
            without: Words to treat as unknown, such as stop words.
            seed: Random seed of the weights of a new BiLSTM.
            device: Where to run. Defaults to the first accelerator, or the CPU if there is none.
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
        return model.ready(device)

    @classmethod
    def from_pretrained(
        cls, name: str | Path, *, device: str | torch.device | None = None, max_seq_length: int | None = None
    ) -> WordEncoder:
        """Load a model that :meth:`save_pretrained` wrote, a StaticEmbedding model or a model2vec model.

        Args:
            name: The folder of the model, or of the training run that made it; or a hub name.
            device: Where to run. Defaults to the first accelerator, or the CPU if there is none.
            max_seq_length: Number of known words at which texts are truncated. Defaults to the model's own number.
        """
        parts = hub.read_words(hub.resolve(name))
        model = cls(parts.tokenizer, parts.embeddings, parts.lstm, parts.pooling, parts.heads)
        return model.ready(device, max_seq_length)

    @property
    def embedding_dimension(self) -> int:
        """D, the size of a vector from :meth:`encode`."""
        return heads_.output_size(self.heads, self._pooled_dimension)

    @property
    def _pooled_dimension(self) -> int:
        return len(self.pooling) * (self.embeddings if self.lstm is None else self.lstm).size

    def tokenize(self, texts: Sequence[str]) -> Tokens:
        """Convert texts to the row numbers of their words."""
        return self.tokenizer(texts)

    def forward(self, batch: Batch) -> Tensor:
        """Embed a batch: (T,) word numbers -> (B, D), in the order of the batch."""
        hidden = self.embeddings(torch.from_numpy(batch.input_ids).to(self.device))
        if self.lstm is not None:
            hidden = self.lstm(hidden, batch.groups)
        return heads_.apply(self.heads, pool(hidden, batch.groups, self.pooling))

    def encode(
        self,
        sentences: str | Iterable[str],
        *,
        batch_tokens: int = 16384,
        normalize_embeddings: bool = False,
        show_progress_bar: bool = False,
        on_truncate: OnTruncate = "warn",
    ) -> FloatArray:
        """Embed texts: (N, D), or (D,) for a single string. A text without a known word gets the zero vector.

        A vector depends only on its text: not on the other texts, the batch size or the number of threads.

        Args:
            sentences: A text, or any iterable of texts.
            batch_tokens: Number of words in a batch; affects only speed and memory.
            normalize_embeddings: Whether to scale every vector to length one.
            show_progress_bar: Whether to show a progress bar.
            on_truncate: What to do about texts with more known words than the maximum length: ``warn`` in one line,
                ``raise``, ``ignore``, or ``chunk`` (embed them as the length-weighted mean of their windows).
        """
        texts = [sentences] if isinstance(sentences, str) else check_texts(sentences)
        tokens = self.tokenizer(texts, windows=on_truncate == "chunk")
        tokens.truncation.report(on_truncate)
        vectors = self._run(tokens, (self.embedding_dimension,), batch_tokens, show_progress_bar=show_progress_bar)
        ends_normalized = len(self.heads) > 0 and isinstance(self.heads[-1], heads_.Normalize)
        vectors = merge_windows(vectors, tokens, unit_length=ends_normalized)
        check_numbers(vectors, texts)
        finished = normalize(vectors) if normalize_embeddings else vectors
        return finished[0] if isinstance(sentences, str) else finished

    encode_query = encode_document = encode
    """Queries and documents are embedded like any other text."""

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
        """Write the words, their vectors and the weights to a folder, completely or not at all."""
        parts = hub.WordParts(self.tokenizer, self.embeddings, self.lstm, self.pooling, tuple(self.heads))
        hub.write_words(parts, Path(folder))
