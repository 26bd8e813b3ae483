"""The poly-encoder: represents a query by several vectors and a document by one."""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import torch
from torch import Tensor, nn

from sbert import hub
from sbert.errors import BadInput, check_count, check_option, shown
from sbert.models import storage
from sbert.models.backbone import Backbone
from sbert.models.bi import BiEncoder
from sbert.models.model import TextModel
from sbert.models.postprocess import check_numbers
from sbert.models.scoring import score_codes
from sbert.nn import poly
from sbert.nn.heads import Normalize
from sbert.nn.transformer import Transformer
from sbert.porting import explained_class
from sbert.text import Tokenizer, Tokens, check_pairs, check_texts
from sbert.types import (
    Array,
    Batch,
    Codes,
    EncodeOptions,
    FloatArray,
    OnTruncate,
    OnTruncateWhole,
    Output,
    Role,
    Similarity,
    Towers,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

SEED = 42
"""The random seed of new codes."""
NUM_CODES = 64
"""The default number of codes."""
# Number of queries whose codes are in memory at a time: each query has as many vectors as there are codes.
_QUERIES = 1024


@explained_class
class PolyEncoder(TextModel):
    """A bi-encoder for documents, and codes that represent queries (Humeau et al., 2020).

    The vectors of documents can be computed in advance and stored in any index that compares by dot product. The
    codes of a query are computed once; the vector of each document then attends to them.

    Args:
        documents: The model that embeds documents. Its vectors must have as many dimensions as a hidden state of the
            transformer that reads queries.
        num_codes: M, the number of vectors of a query.
        codes: "learned" codes attend to the tokens of the query; "first" uses its first M tokens.
        queries: The transformer that reads queries. Defaults to that of the documents.
        seed: Random seed of the learned codes.

    >>> model = PolyEncoder.from_pretrained("all-MiniLM-L6-v2")  # with new codes, not trained yet
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
        if not isinstance(documents, BiEncoder):
            raise BadInput(
                f"PolyEncoder got {shown(documents)}, but is built on a BiEncoder; "
                "load a model by its name with PolyEncoder.from_pretrained"
            )
        check_option("codes", codes, get_args(Codes))
        check_count("num_codes", num_codes)
        self.documents = documents
        self.num_codes = num_codes
        self.tower = queries
        """The transformer of the queries; None if they share that of the documents."""
        size = self._transformer.facts.hidden_size
        if documents.embedding_dimension != size:
            raise BadInput(
                f"the documents' vectors have {documents.embedding_dimension} dimensions and the queries' codes "
                f"{size}, but both need the same; use one pooling, and no Dense layer of another size"
            )
        # The scale of a row of a new linear layer: before training, every code gives about the mean of the tokens.
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
        """Load a poly-encoder, or give new codes to a bi-encoder or a plain encoder.

        Args:
            name: A folder, an installed model package, or a hub name. Defaults to all-MiniLM-L6-v2.
            num_codes: M, the number of new codes. Defaults to 64.
            codes: Whether new codes are "learned" or the "first" tokens. Defaults to "learned".
            towers: Whether a new poly-encoder reads queries and documents with one transformer ("shared") or starts
                with two equal ones ("separate"). Defaults to "shared".
            device: Where to run. Defaults to the first accelerator, or the CPU if there is none.
            max_seq_length: Number of tokens at which texts are truncated. Defaults to the model's own number.
            seed: Random seed of new codes.
        """
        folder = hub.resolve(name)
        parts, stored = hub.read_poly(folder)
        documents = BiEncoder.from_parts(parts).ready("cpu", max_seq_length)
        if stored is None:
            check_option("towers", towers or "shared", get_args(Towers))
            own = copy.deepcopy(documents.transformer) if towers == "separate" else None
            count = NUM_CODES if num_codes is None else num_codes
            model = cls(_without_normalization(documents), count, codes=codes or "learned", queries=own, seed=seed)
        else:
            _check_stored(folder, stored, num_codes=num_codes, codes=codes, towers=towers)
            model = cls(documents, stored.num_codes, codes=stored.kind, queries=stored.queries)
            model.codes = None if stored.codes is None else nn.Parameter(stored.codes)
        return model.ready(device)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of queries and documents."""
        return self.documents.tokenizer

    @tokenizer.setter
    def tokenizer(self, tokenizer: Tokenizer) -> None:
        self.documents.tokenizer = tokenizer

    @property
    def _positions(self) -> int:
        return self.documents.transformer.facts.max_length

    @property
    def _transformer(self) -> Transformer:
        """The transformer that reads queries."""
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
        """Compute the codes of queries: (N, M, H), or (M, H) for a single string.

        The codes of a query depend only on its text.

        Args:
            sentences: A query, or any iterable of queries; each takes M times the memory of a vector.
            batch_tokens: Number of tokens in a batch; affects only speed and memory.
            show_progress_bar: Whether to show a progress bar.
            on_truncate: What to do about queries that are longer than the maximum length: ``warn`` in one line,
                ``raise`` or ``ignore``.
        """
        check_option("on_truncate", on_truncate, get_args(OnTruncateWhole))
        texts = [sentences] if isinstance(sentences, str) else check_texts(sentences)
        tokens = self.documents.tokenize(texts, self.documents.prompt_for("query"))
        tokens.truncation.report(on_truncate)
        size = (self.num_codes, self._transformer.facts.hidden_size)
        codes = self._run(tokens, size, batch_tokens, show_progress_bar=show_progress_bar)
        check_numbers(codes, texts)
        return codes[0] if isinstance(sentences, str) else codes

    def encode_document(self, sentences: str | Iterable[str], **options: Unpack[EncodeOptions]) -> Array:
        """Embed documents, (N, H), with the bi-encoder :attr:`documents`; the vectors can be stored in any index."""
        return self.documents.encode_document(sentences, **options)

    def score(self, codes: FloatArray, vectors: FloatArray) -> FloatArray:
        """Score queries with documents: codes (N, M, H) and vectors (K, H) -> (N, K), or (M, H) -> (K,).

        Higher is better; the scores have no fixed scale. A score depends only on its query and its document.
        """
        codes, vectors = np.asarray(codes), np.asarray(vectors)
        many = codes if codes.ndim == 3 else codes[None]
        scores = score_codes(many, vectors, self._transformer.facts.hidden_size, self.device)
        return scores if codes.ndim == 3 else scores[0]

    def predict(
        self,
        pairs: Iterable[Sequence[str]],
        *,
        show_progress_bar: bool = False,
        on_truncate: OnTruncate = "warn",
    ) -> FloatArray:
        """Score pairs of a query and a document: (N,). A text that occurs several times is read once."""
        rows = check_pairs(pairs)
        places = {text: place for place, text in enumerate(dict.fromkeys(document for _, document in rows))}
        rows_of: dict[str, list[int]] = defaultdict(list)
        for row, (query, _) in enumerate(rows):
            rows_of[query].append(row)
        vectors = self.encode_document(list(places), show_progress_bar=show_progress_bar, on_truncate=on_truncate)
        scores, queries = np.empty(len(rows), np.float32), list(rows_of)
        for start in range(0, len(queries), _QUERIES):
            some = queries[start : start + _QUERIES]
            for query, codes in zip(some, self.encode_query(some, on_truncate=on_truncate), strict=True):
                scores[rows_of[query]] = self.score(codes, vectors[[places[rows[row][1]] for row in rows_of[query]]])
        return scores

    def score_pairs(self, pairs: Sequence[Sequence[str]], output: Output = "score") -> FloatArray:
        """Score pairs like :meth:`predict`, without a warning about truncation."""
        self.pair_scale(output)
        return self.predict(pairs, on_truncate="ignore")

    def _tokenize_pairs(self, columns: Sequence[Sequence[str]]) -> Iterator[Tokens]:
        roles: tuple[Role, ...] = ("query", "document")
        for role, texts in zip(roles, columns, strict=True):
            yield self.documents.tokenize(texts, self.documents.prompt_for(role))

    def _score_documents(
        self, query: str, documents: Sequence[str], show_progress_bar: bool
    ) -> tuple[FloatArray, FloatArray]:
        scores = self.predict([(query, text) for text in documents], show_progress_bar=show_progress_bar)
        return scores, scores

    def _properties(self) -> dict[str, Any]:
        return Backbone(self.tokenizer, self.documents.transformer).describe(
            codes=self.num_codes,
            codes_are="the first tokens" if self.codes is None else "learned",
            towers="shared" if self.tower is None else "separate",
            **self.documents.vector_properties(),
        )

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a folder that sbert can load, and whose documents sentence-transformers loads as a bi-encoder."""
        learned = None if self.codes is None else self.codes.detach()
        parts = hub.PolyParts(self.num_codes, learned, self.tower)
        hub.write_poly(storage.parts_of(self.documents), parts, Path(folder))


def _without_normalization(model: BiEncoder) -> BiEncoder:
    """Drop the last normalization: a poly-encoder compares by dot product, which includes the length of vectors."""
    return BiEncoder(
        Backbone(model.tokenizer, model.transformer),
        model.pooling,
        [head for head in model.heads if not isinstance(head, Normalize)],
        include_prompt=model.include_prompt,
        prompts=model.prompts,
        default_prompt_name=model.default_prompt_name,
        similarity="dot",
    )


def _check_stored(folder: Path, stored: hub.PolyParts, **wanted: object) -> None:
    has = {"num_codes": stored.num_codes, "codes": stored.kind, "towers": stored.towers}
    for name, value in wanted.items():
        if value not in (None, has[name]):
            raise BadInput(
                f"{name} is {shown(value)}, but {folder} holds a poly-encoder with {has[name]!r}; leave it out"
            )
