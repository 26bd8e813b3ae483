"""The bi-encoder: turns each text by itself into one vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
import torch
from torch import Tensor, nn

from sbert import hub
from sbert.errors import check_option
from sbert.models import storage
from sbert.models.backbone import Backbone, check_backbone
from sbert.models.encoding import encode_counted, learn_ranges
from sbert.models.inference import run
from sbert.models.postprocess import check_dimensions
from sbert.models.prompts import check_prompts, choose_prompt
from sbert.models.vectors import VectorModel
from sbert.nn import heads as heads_
from sbert.nn.pooling import as_poolings, pool
from sbert.porting import explained_class
from sbert.text import Tokenizer, Tokens, check_texts
from sbert.types import Array, Batch, EncodeOptions, FloatArray, OnTruncate, Pooling, Precision, Role, Similarity

if TYPE_CHECKING:
    from typing_extensions import Unpack


@explained_class
class BiEncoder(VectorModel):
    """Sentence-BERT: a transformer, pooling, and optional heads.

    Args:
        backbone: The tokenizer and the transformer.
        pooling: One or several ways to turn the hidden states of a text into one vector; the results of several are
            concatenated.
        heads: Modules to apply after pooling: ``Dense``, ``LayerNorm``, ``Dropout`` or ``Normalize``.
        include_prompt: Whether pooling includes the tokens of the prompt.
        prompts: Texts that can be put before every text, by name.
        default_prompt_name: The prompt to use if none is named.
        similarity: The measure that compares two vectors of this model.
        truncate_dim: Number of leading dimensions to keep (Matryoshka models). Defaults to all.

    >>> model = BiEncoder.from_pretrained()
    >>> E = model.encode(["A man is eating.", "Someone has a meal.", "고양이가 잔다."])
    >>> E.shape
    (3, 384)
    >>> similarities = model.similarity(E, E)
    >>> bool(similarities[0, 1] > similarities[0, 2])
    True
    """

    def __init__(
        self,
        backbone: Backbone,
        pooling: Pooling | Sequence[Pooling] = "mean",
        heads: Sequence[nn.Module] = (),
        *,
        include_prompt: bool = True,
        prompts: Mapping[str, str] | None = None,
        default_prompt_name: str | None = None,
        similarity: Similarity = "cosine",
        truncate_dim: int | None = None,
    ) -> None:
        super().__init__()
        check_backbone("BiEncoder", backbone)
        self.pooling = as_poolings(pooling)
        self.tokenizer: Tokenizer = backbone.tokenizer
        self.transformer = backbone.transformer
        self.heads = nn.ModuleList(heads)
        heads_.check_sizes(self.heads, self._pooled_dimension)
        self.include_prompt = include_prompt
        self.prompts = dict(prompts or {})
        self.default_prompt_name = default_prompt_name
        self.similarity_fn_name = similarity
        if truncate_dim is not None:
            check_dimensions(truncate_dim, self.full_dimension)
        self.truncate_dim = truncate_dim
        self.ranges: FloatArray | None = None
        self.reference: hub.Reference | None = None
        self.eval()
        self.check_settings()

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path | None = None,
        *,
        device: str | torch.device | None = None,
        max_seq_length: int | None = None,
        truncate_dim: int | None = None,
        revision: str | None = None,
        self_check: bool = False,
        legacy_weights: bool = False,
    ) -> BiEncoder:
        """Load a model.

        Args:
            name: A folder, an installed model package, or a hub name. Defaults to all-MiniLM-L6-v2. A plain
                transformers encoder gets mean pooling.
            device: Where to run. Defaults to the first accelerator, or the CPU if there is none.
            max_seq_length: Number of tokens at which texts are truncated. Defaults to the model's own number.
            truncate_dim: Number of leading dimensions to keep. Defaults to the model's own number.
            revision: Branch, tag or commit of a hub repository.
            self_check: Whether to compare the model with its stored vectors and raise an error if they differ.
            legacy_weights: Whether to accept ``pytorch_model.bin`` (read without running any code from it).
        """
        parts = hub.read(hub.resolve(name, revision, legacy_weights=legacy_weights), legacy_weights=legacy_weights)
        if truncate_dim is not None:
            parts = replace(parts, truncate_dim=truncate_dim)
        model = cls.from_parts(parts).ready(device, max_seq_length)
        if self_check:
            model.self_check()
        return model

    @classmethod
    def from_parts(cls, parts: hub.Parts) -> BiEncoder:
        """Build a model from what was read from its folder."""
        model = cls(
            Backbone(parts.tokenizer, parts.transformer),
            parts.pooling,
            parts.heads,
            include_prompt=parts.include_prompt,
            prompts=parts.prompts,
            default_prompt_name=parts.default_prompt_name,
            similarity=parts.similarity,
            truncate_dim=parts.truncate_dim,
        )
        model.ranges, model.reference = parts.ranges, parts.reference
        return model

    @property
    def embedding_dimension(self) -> int:
        """D, the size of a vector from :meth:`encode`."""
        return self.full_dimension if self.truncate_dim is None else self.truncate_dim

    @property
    def full_dimension(self) -> int:
        """The size of a vector before ``truncate_dim`` applies."""
        return heads_.output_size(self.heads, self._pooled_dimension)

    @property
    def _pooled_dimension(self) -> int:
        return len(self.pooling) * self.transformer.facts.hidden_size

    @property
    def _positions(self) -> int:
        return self.transformer.facts.max_length

    def prompt_for(self, task: Role | None = None) -> str:
        """Return the prompt that is used for a query, a document or any other text unless the caller names one."""
        return choose_prompt(self.prompts, task if task in self.prompts else self.default_prompt_name, None)

    def tokenize(self, texts: Sequence[str], prompt: str = "") -> Tokens:
        """Convert texts to token ids."""
        return self.tokenizer(texts, prompt)

    def _tokenize_pairs(self, columns: Sequence[Sequence[str]]) -> Iterator[Tokens]:
        return (self.tokenize(texts, self.prompt_for()) for texts in columns)

    def forward(self, batch: Batch) -> Tensor:
        """Embed a batch: (T,) token ids -> (B, D), in the order of the batch."""
        skip = 0 if self.include_prompt else batch.prompt_length
        if self.pooling == ("cls",) and not skip:
            return heads_.apply(self.heads, self.transformer.first(batch))
        pooled = pool(self.transformer(batch), batch.groups, self.pooling, skip)
        return heads_.apply(self.heads, pooled)

    @overload
    def encode(
        self, sentences: str | Iterable[str], *, convert_to_tensor: Literal[True], **options: Unpack[EncodeOptions]
    ) -> Tensor: ...
    @overload
    def encode(
        self,
        sentences: str | Iterable[str],
        *,
        convert_to_tensor: Literal[False] = False,
        **options: Unpack[EncodeOptions],
    ) -> Array: ...
    def encode(
        self,
        sentences: str | Iterable[str],
        *,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_tokens: int = 2048,
        batch_size: int | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        precision: Precision = "float32",
        convert_to_tensor: bool = False,
        show_progress_bar: bool = False,
        on_truncate: OnTruncate = "warn",
        workers: int = 1,
    ) -> Array | Tensor:
        """Embed texts: (N, D), or (D,) for a single string.

        A vector depends only on its text: not on the other texts, the batch size or the number of threads.

        Args:
            sentences: A text, or any iterable of texts.
            prompt_name: Name of the model's prompt to put before every text.
            prompt: The prompt itself; takes precedence over ``prompt_name``.
            batch_tokens: Number of tokens in a batch; affects only speed and memory.
            batch_size: Maximum number of texts in a batch.
            normalize_embeddings: Whether to scale every vector to length one.
            truncate_dim: Number of leading dimensions to keep.
            precision: ``float32``, ``float16``, ``int8``, ``uint8``, ``binary`` or ``ubinary``.
            convert_to_tensor: Whether to return a torch tensor on the model's device instead of an array.
            show_progress_bar: Whether to show a progress bar.
            on_truncate: What to do about texts that are longer than the maximum length: ``warn`` in one line,
                ``raise``, ``ignore``, or ``chunk`` (embed them as the length-weighted mean of their windows).
            workers: Number of processes among which the texts and the cores are divided; each needs seconds to start.
        """
        options = EncodeOptions(
            prompt_name=prompt_name,
            prompt=prompt,
            batch_tokens=batch_tokens,
            batch_size=batch_size,
            normalize_embeddings=normalize_embeddings,
            truncate_dim=truncate_dim,
            precision=precision,
            show_progress_bar=show_progress_bar,
            on_truncate=on_truncate,
            workers=workers,
        )
        texts = [sentences] if isinstance(sentences, str) else check_texts(sentences)
        vectors, _ = encode_counted(self, texts, options)
        output = vectors[0] if isinstance(sentences, str) else vectors
        return torch.from_numpy(output).to(self.device) if convert_to_tensor else output

    def embed_tokens(
        self, tokens: Tokens, batch_tokens: int = 2048, batch_size: int | None = None, show_progress_bar: bool = False
    ) -> FloatArray:
        """Embed rows of tokens, without anything that :meth:`encode` does afterwards: (rows, D)."""
        return self._run(tokens, (self.full_dimension,), batch_tokens, batch_size, show_progress_bar)

    def encode_query(self, sentences: str | Iterable[str], **options: Unpack[EncodeOptions]) -> Array:
        """Embed texts like :meth:`encode`, by default with the model's ``query`` prompt if it has one."""
        return self.encode(sentences, **self._with_prompt("query", options))

    def encode_document(self, sentences: str | Iterable[str], **options: Unpack[EncodeOptions]) -> Array:
        """Embed texts like :meth:`encode`, by default with the model's ``document`` prompt if it has one."""
        return self.encode(sentences, **self._with_prompt("document", options))

    def _with_prompt(self, task: Role, options: EncodeOptions) -> EncodeOptions:
        named = options.get("prompt_name") is not None or options.get("prompt") is not None
        return options if named else {**options, "prompt": self.prompt_for(task)}

    def encode_tokens(self, sentences: Iterable[str], *, batch_tokens: int = 2048) -> list[FloatArray]:
        """Return the last hidden states of every text, special tokens included: N arrays (tokens, H)."""
        texts = check_texts(sentences)
        tokens = self.tokenizer(texts)
        tokens.truncation.report("warn")
        states: list[FloatArray] = [np.empty((0, 0))] * len(texts)
        for rows, batch, hidden in run(self, self.transformer, tokens, batch_tokens):
            for row, piece in zip(rows, hidden.float().cpu().split(batch.lengths), strict=True):
                states[row] = piece.numpy()
        return states

    def calibrate(self, sentences: Iterable[str], **options: Unpack[EncodeOptions]) -> None:
        """Learn the range of each dimension from a sample of your corpus, for the precisions int8 and uint8.

        The ranges are saved with the model and apply to vectors with the same options and at most as many dimensions.
        """
        self.ranges = learn_ranges(self, sentences, options)

    def _properties(self) -> dict[str, Any]:
        return Backbone(self.tokenizer, self.transformer).describe(**self.vector_properties())

    def vector_properties(self) -> dict[str, Any]:
        """Return the part of :meth:`describe` that depends on pooling, heads and prompts."""
        return {
            "dimension": self.embedding_dimension,
            "pooling": list(self.pooling),
            "heads": [type(head).__name__ for head in self.heads],
            "similarity": self.similarity_fn_name,
            "prompts": self.prompts,
            "default_prompt": self.default_prompt_name,
            "calibrated": self.ranges is not None,
            "reference_vectors": self.reference is not None,
        }

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a folder that sbert and sentence-transformers can load, completely or not at all."""
        hub.write(storage.parts_of(self), Path(folder))

    def self_check(self) -> float:
        """Return the largest difference from the vectors in its folder; raise SelfCheckFailed beyond rounding."""
        return storage.check_reference(self)

    def check_settings(self) -> None:
        """Check the attributes that users may set, so that a wrong value is refused before it is saved."""
        check_option("similarity", self.similarity_fn_name, get_args(Similarity))
        check_prompts(self.prompts, self.default_prompt_name)
