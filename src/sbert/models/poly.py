"""The poly-encoder: a query as several vectors, a document as one; between the bi-encoder and the cross-encoder."""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor, nn

from sbert import hub
from sbert.errors import BadInput, check_count, check_option
from sbert.models.backbone import Backbone, describe_transformer
from sbert.models.bi import BiEncoder
from sbert.models.inference import run
from sbert.models.model import TextModel
from sbert.models.postprocess import best, check_numbers
from sbert.nn import poly
from sbert.nn.heads import Normalize
from sbert.nn.transformer import Transformer
from sbert.text import Tokenizer, Tokens, check_pairs, check_texts
from sbert.types import Batch, Codes, FloatArray, Hit, OnTruncate, OnTruncateWhole, Output, Role, Similarity, Towers

SEED = 42
"""Of new codes."""
NUM_CODES = 64
"""M unless given."""
_QUERIES = 1024
"""Whose codes are held at a time: each has as many vectors as there are codes."""
_LARGEST = 1e17
"""So that no dot product leaves float32."""


class PolyEncoder(TextModel):
    """A bi-encoder for documents, and codes that read queries: Humeau et al. (2020).

    Documents are known beforehand: their vectors can be kept in any index, compared by dot product. A query's codes
    are computed once, and every document's vector then finds among them what suits it best.

    Args:
        documents: gives the documents' vectors, as long as a hidden state of the query's transformer.
        num_codes: M, vectors of a query.
        codes: "learned" ones, which attend over the query's tokens, or the "first" M tokens themselves.
        queries: the transformer that reads queries; that of the documents unless given.
        seed: of the learned codes.

    >>> model = PolyEncoder.from_pretrained("all-MiniLM-L6-v2")  # new codes, still to be trained
    >>> codes, vectors = model.encode_query(["비가 와요?"]), model.encode_document(["It rains.", "네, 비가 와요."])
    >>> codes.shape, vectors.shape, model.score(codes, vectors).shape
    ((1, 64, 384), (2, 384), (1, 2))
    """

    similarity_fn_name: Similarity = "dot"

    def __init__(
        self,
        documents: BiEncoder,
        num_codes: int = NUM_CODES,
        *,
        codes: Codes = "learned",
        queries: Transformer | None = None,
        seed: int = SEED,
    ) -> None:
        super().__init__()
        check_option("codes", codes, get_args(Codes))
        check_count("num_codes", num_codes)
        self.documents = documents
        self.num_codes = num_codes
        self.tower = queries
        """The queries' own transformer; None where they share that of the documents."""
        size = self._transformer.facts.hidden_size
        if documents.embedding_dimension != size:
            raise BadInput(
                f"the documents' vectors have {documents.embedding_dimension} dimensions and the queries' codes "
                f"{size}, but both need the same; use one pooling, and no Dense layer of another size"
            )
        # About as long as a row of a new linear layer: at first, every code reads about the mean of the tokens.
        drawn = torch.randn(num_codes, size, generator=torch.Generator().manual_seed(seed)) / math.sqrt(size)
        self.codes = nn.Parameter(drawn.to(documents.device)) if codes == "learned" else None
        self.eval()

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path | None = None,
        *,
        num_codes: int | None = None,
        codes: Codes | None = None,
        towers: Towers | None = None,
        device: str | torch.device | None = None,
        max_seq_length: int | None = None,
        seed: int = SEED,
    ) -> PolyEncoder:
        """Load a poly-encoder, or give a bi-encoder or a bare encoder new codes.

        Args:
            name: a folder, an installed model package, or a hub name; nothing means the embedded default.
            num_codes: M of new codes, 64 unless given.
            codes: new ones are "learned" unless given; or the "first" tokens.
            towers: whether a new poly-encoder reads queries and documents with one transformer ("shared", unless
                given) or begins with two equal ones ("separate").
            device: where to run; the first accelerator if there is one, else the CPU.
            max_seq_length: cut texts at so many tokens instead of the model's own number.
            seed: of new codes.
        """
        folder = hub.resolve(name)
        parts, stored = hub.read_poly(folder)
        documents = BiEncoder.from_parts(parts).ready("cpu", max_seq_length)
        if stored is None:
            check_option("towers", towers or "shared", get_args(Towers))
            own = copy.deepcopy(documents.transformer) if towers == "separate" else None
            count = NUM_CODES if num_codes is None else num_codes
            model = cls(_by_dot_product(documents), count, codes=codes or "learned", queries=own, seed=seed)
        else:
            _check_stored(folder, stored, num_codes, codes, towers)
            model = cls(documents, stored.num_codes, codes=stored.kind, queries=stored.queries)
            model.codes = None if stored.codes is None else nn.Parameter(stored.codes)
        return model.ready(device, None)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of queries and documents."""
        return self.documents.tokenizer

    @tokenizer.setter
    def tokenizer(self, tokenizer: Tokenizer) -> None:
        self.documents.tokenizer = tokenizer

    @property
    def _positions(self) -> int | None:
        return self.documents._positions

    @property
    def _transformer(self) -> Transformer:
        """What reads queries."""
        return self.documents.transformer if self.tower is None else self.tower

    def items(self, columns: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """Return the columns unchanged: in training the first holds queries and the others hold documents."""
        if len(columns) < 2:
            raise BadInput("got one text column, but a poly-encoder reads queries and documents; pass two or more")
        return columns

    def reader(self, column: int) -> Callable[[Batch], Tensor]:
        """Return this model for the first column, the queries, and the bi-encoder for the columns of documents."""
        return self if column == 0 else self.documents

    def tokenize(self, texts: Sequence[str]) -> Tokens:
        """Convert queries or documents to token ids."""
        return self.documents.tokenize(texts)

    def forward(self, batch: Batch) -> Tensor:
        """Read queries: (T,) token ids -> (B, M, H) codes, in the order of the batch."""
        hidden = self._transformer(batch)
        if self.codes is None:
            return poly.first_tokens(hidden, batch.groups, self.num_codes)
        return poly.attend(hidden, batch.groups, self.codes)

    def encode_query(
        self,
        sentences: str | Iterable[str],
        *,
        batch_tokens: int = 2048,
        show_progress_bar: bool = False,
        on_truncate: OnTruncate = "warn",
    ) -> FloatArray:
        """Codes of queries: (N, M, H), or (M, H) for a single string. They depend on their text alone.

        Args:
            sentences: a query, or any iterable of queries; each takes M times the memory of a vector.
            batch_tokens: tokens in one pass; changes speed and memory only.
            show_progress_bar: show tokens done and time left.
            on_truncate: what to do about queries longer than the model reads: ``warn`` in one line, ``raise`` or
                ``ignore``.
        """
        check_option("on_truncate", on_truncate, get_args(OnTruncateWhole))
        texts = [sentences] if isinstance(sentences, str) else check_texts(sentences)
        tokens = self.documents.tokenize(texts, self.documents.prompt_for("query"))
        tokens.truncation.report(on_truncate)
        size = self._transformer.facts.hidden_size
        codes = np.empty((len(texts), self.num_codes, size), np.float32)
        work = run(self, self.forward, tokens, batch_tokens, show_progress_bar=show_progress_bar)
        for rows, _, result in work:
            codes[rows] = result.float().cpu().numpy()
        check_numbers(codes, texts)
        return codes[0] if isinstance(sentences, str) else codes

    def encode_document(
        self,
        sentences: str | Iterable[str],
        *,
        batch_tokens: int = 2048,
        show_progress_bar: bool = False,
        on_truncate: OnTruncate = "warn",
    ) -> FloatArray:
        """Vectors of documents, (N, H), to be kept in any index: those of the bi-encoder :attr:`documents`."""
        return self.documents.encode_document(
            sentences, batch_tokens=batch_tokens, show_progress_bar=show_progress_bar, on_truncate=on_truncate
        )

    def score(self, codes: FloatArray, vectors: FloatArray) -> FloatArray:
        """Codes (N, M, H) and vectors (K, H) -> (N, K); (M, H) -> (K,). Higher is better, on no fixed scale.

        A score depends on its query and its document alone, to the bit.
        """
        codes, vectors = np.asarray(codes), np.asarray(vectors)
        many = codes if codes.ndim == 3 else codes[None]
        size = self._transformer.facts.hidden_size
        if vectors.ndim != 2 or many.ndim != 3 or {many.shape[-1], vectors.shape[-1]} != {size}:
            raise BadInput(
                f"got codes of shape {codes.shape} and vectors of shape {vectors.shape}, but needs (N, M, {size}) and "
                f"(K, {size}); take them from encode_query and encode_document"
            )
        _check_finite("codes", many)
        _check_codes(many)
        _check_finite("vectors", vectors)
        queries, documents = (torch.from_numpy(np.asarray(x, np.float32)).to(self.device) for x in (many, vectors))
        scores: FloatArray = poly.stable_scores(queries, documents).cpu().numpy()
        return scores if codes.ndim == 3 else scores[0]

    def predict(
        self,
        pairs: Iterable[Sequence[str]],
        *,
        show_progress_bar: bool = False,
        on_truncate: OnTruncate = "warn",
    ) -> FloatArray:
        """The scores of pairs of query and document: (N,). A text that stands there twice is read once."""
        rows = check_pairs(pairs)
        places = {text: place for place, text in enumerate(dict.fromkeys(document for _, document in rows))}
        asked: dict[str, list[int]] = defaultdict(list)
        for row, (query, _) in enumerate(rows):
            asked[query].append(row)
        vectors = self.encode_document(list(places), show_progress_bar=show_progress_bar, on_truncate=on_truncate)
        scores, queries = np.empty(len(rows), np.float32), list(asked)
        for start in range(0, len(queries), _QUERIES):
            some = queries[start : start + _QUERIES]
            for query, codes in zip(some, self.encode_query(some, on_truncate=on_truncate), strict=True):
                scores[asked[query]] = self.score(codes, vectors[[places[rows[row][1]] for row in asked[query]]])
        return scores

    def score_pairs(self, pairs: Sequence[Sequence[str]], output: Output = "score") -> FloatArray:
        """Score pairs like :meth:`predict`, without a warning about truncation."""
        self.pair_scale(output)
        return self.predict(pairs, on_truncate="ignore")

    def _tokenize_pairs(self, columns: Sequence[Sequence[str]]) -> Iterator[Tokens]:
        roles: tuple[Role, ...] = ("query", "document")
        for role, texts in zip(roles, columns, strict=True):
            yield self.documents.tokenize(texts, self.documents.prompt_for(role))

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
        scores = self.predict([(query, text) for text in texts], show_progress_bar=show_progress_bar)
        return best(scores, scores, texts, top_k)

    def _properties(self) -> dict[str, Any]:
        return describe_transformer(
            self.tokenizer,
            self.documents.transformer,
            codes=self.num_codes,
            codes_are="the first tokens" if self.codes is None else "learned",
            towers="shared" if self.tower is None else "separate",
            **self.documents.vector_properties(),
        )

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a folder that loads here, and whose documents load as a bi-encoder in sentence-transformers too."""
        learned = None if self.codes is None else self.codes.detach()
        parts = hub.PolyParts(self.num_codes, learned, self.tower)
        hub.write_poly(self.documents.parts(), parts, Path(folder))


def _by_dot_product(model: BiEncoder) -> BiEncoder:
    """``model`` without its last normalisation: the poly-encoder's scores are dot products, lengths included."""
    return BiEncoder(
        Backbone(model.tokenizer, model.transformer),
        model.pooling,
        [head for head in model.heads if not isinstance(head, Normalize)],
        include_prompt=model.include_prompt,
        prompts=model.prompts,
        default_prompt_name=model.default_prompt_name,
        similarity="dot",
    )


def _check_stored(
    folder: Path, stored: hub.PolyParts, num_codes: int | None, codes: Codes | None, towers: Towers | None
) -> None:
    has = {"num_codes": stored.num_codes, "codes": stored.kind, "towers": stored.towers}
    for name, asked in {"num_codes": num_codes, "codes": codes, "towers": towers}.items():
        if asked not in (None, has[name]):
            raise BadInput(f"{name} is {asked!r}, but {folder} holds a poly-encoder with {has[name]!r}; leave it out")


def _check_finite(name: str, rows: FloatArray) -> None:
    usable = (np.abs(rows) <= _LARGEST).all(axis=tuple(range(1, rows.ndim)))  # (N,)
    if not usable.all():
        raise BadInput(
            f"row {usable.argmin()} of {name} holds NaN, infinity or values beyond 1e17; repair it or leave it out"
        )


def _check_codes(codes: FloatArray) -> None:
    """A code of zeros stands for none, where a query has fewer tokens than codes."""
    found = codes.any(axis=(1, 2))  # (N,)
    if not found.all():
        raise BadInput(
            f"row {found.argmin()} of codes has no code other than zeros, but a query needs at least one; take them "
            "from encode_query"
        )
