"""The bi-encoder: one text at a time in, one vector per text out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
import torch
from torch import Tensor, nn

from sbert import hub
from sbert.errors import BadInput, SelfCheckFailed, check_count, check_option, counted
from sbert.models.backbone import Backbone, describe_transformer
from sbert.models.inference import run
from sbert.models.postprocess import check_dimensions, check_numbers, finish, merge_windows
from sbert.models.vectors import VectorModel
from sbert.nn import heads as heads_
from sbert.nn.pooling import as_poolings, pool
from sbert.nn.quantize import ranges_of
from sbert.text import Tokenizer, Tokens, check_texts
from sbert.types import Array, Batch, EncodeOptions, FloatArray, OnTruncate, Pooling, Precision, Role, Similarity

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Rounding differs between kinds of processors, but never this much.
_SELF_CHECK_TOLERANCE = 1e-4


class BiEncoder(VectorModel):
    """Sentence-BERT: a transformer, pooling, and whatever heads follow.

    Args:
        backbone: tokenizer and transformer.
        pooling: one or several ways to make one vector of a text's tokens; several are concatenated.
        heads: modules after pooling: ``Dense``, ``LayerNorm``, ``Dropout``, ``Normalize``.
        include_prompt: whether pooling counts the prompt's tokens.
        prompts: texts to put before every text, by name.
        default_prompt_name: the prompt to use when none is named.
        similarity: how this model's vectors are meant to be compared.
        truncate_dim: keep only the first so many dimensions (Matryoshka models).

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
            check_dimensions(truncate_dim, self._full_dimension)
        self.truncate_dim = truncate_dim
        self.ranges: FloatArray | None = None
        self.reference: hub.Reference | None = None
        self.eval()
        self._check_settings()

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
            name: a folder, an installed model package, or a hub name; nothing means the embedded default.
                A plain transformers encoder gets mean pooling.
            device: where to run; the first accelerator if there is one, else the CPU.
            max_seq_length: cut texts at so many tokens instead of the model's own number.
            truncate_dim: keep only the first so many dimensions.
            revision: branch, tag or commit of a hub repository.
            self_check: compare with the vectors stored in the folder and refuse a model that differs.
            legacy_weights: accept ``pytorch_model.bin`` (read without running any code from it).
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
        return self._full_dimension if self.truncate_dim is None else self.truncate_dim

    @property
    def _full_dimension(self) -> int:
        return heads_.output_size(self.heads, self._pooled_dimension)

    @property
    def _pooled_dimension(self) -> int:
        return len(self.pooling) * self.transformer.facts.hidden_size

    @property
    def _positions(self) -> int:
        return self.transformer.facts.max_length

    def prompt_for(self, task: Role | None = None) -> str:
        """What is put before a query, a document or any other text where no prompt is asked for."""
        return self._prompt(task if task in self.prompts else None, None)

    def tokenize(self, texts: Sequence[str], prompt: str = "") -> Tokens:
        """The first of the three steps: texts -> token ids."""
        return self.tokenizer(texts, prompt)

    def _tokenize_pairs(self, columns: Sequence[Sequence[str]]) -> Iterator[Tokens]:
        return (self.tokenize(texts, self.prompt_for()) for texts in columns)

    def forward(self, batch: Batch) -> Tensor:
        """The second step: (T,) token ids -> (B, D) vectors, in the order of the batch."""
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
    ) -> Array | Tensor:
        """Vectors of texts: (N, D), or (D,) for a single string.

        A vector depends on its text alone: neither on the other texts nor on batch sizes or threads.

        Args:
            sentences: a text, or any iterable of texts.
            prompt_name: which of the model's prompts to put before every text.
            prompt: a prompt in so many words; wins over ``prompt_name``.
            batch_tokens: tokens in one pass; changes speed and memory only.
            batch_size: at most so many texts in one pass.
            normalize_embeddings: every vector to length one.
            truncate_dim: keep only the first so many dimensions.
            precision: ``float32``, ``float16``, ``int8``, ``uint8``, ``binary`` or ``ubinary``.
            convert_to_tensor: a torch tensor on the model's device instead of an array.
            show_progress_bar: show tokens done and time left.
            on_truncate: what to do about texts longer than the model reads: ``warn`` in one line, ``raise``,
                ``ignore``, or ``chunk``: embed them as the length-weighted mean of their windows.
        """
        texts = [sentences] if isinstance(sentences, str) else check_texts(sentences)
        prompt = self._prompt(prompt_name, prompt)
        if prompt and not self.include_prompt and on_truncate == "chunk":
            raise BadInput(
                "on_truncate='chunk' cannot go with a prompt that pooling leaves out: only the first window has it"
            )
        tokens = self.tokenizer(texts, prompt, windows=on_truncate == "chunk")
        tokens.truncation.report(on_truncate)
        vectors = np.empty((len(tokens.lengths), self._full_dimension), np.float32)
        for rows, _, result in run(self, self.forward, tokens, batch_tokens, batch_size, show_progress_bar):
            vectors[rows] = result.float().cpu().numpy()
        vectors = merge_windows(vectors, tokens, unit_length=self._gives_unit_vectors)
        check_numbers(vectors, texts)
        size = self.truncate_dim if truncate_dim is None else truncate_dim
        finished = finish(vectors, size, normalize_embeddings, precision, self.ranges)
        output = finished[0] if isinstance(sentences, str) else finished
        return torch.from_numpy(output).to(self.device) if convert_to_tensor else output

    def encode_query(self, sentences: str | Iterable[str], **options: Unpack[EncodeOptions]) -> Array:
        """:meth:`encode` with the model's ``query`` prompt, if it has one and no other is asked for."""
        return self.encode(sentences, **self._for_task("query", options))

    def encode_document(self, sentences: str | Iterable[str], **options: Unpack[EncodeOptions]) -> Array:
        """:meth:`encode` with the model's ``document`` prompt, if it has one and no other is asked for."""
        return self.encode(sentences, **self._for_task("document", options))

    def encode_stream(
        self, sentences: Iterable[str], *, window: int = 8192, **options: Unpack[EncodeOptions]
    ) -> Iterator[tuple[range, Array]]:
        """Vectors of any number of texts in constant memory: the row numbers and vectors of one window after another.

        Args:
            sentences: any iterable of texts; only ``window`` of them are held at a time.
            window: texts embedded together.
            options: as :meth:`encode`, but 1,024 tokens in one pass unless given: half the memory, a little slower.

        >>> model = BiEncoder.from_pretrained()
        >>> for rows, vectors in model.encode_stream((f"line {i}" for i in range(5)), window=3):
        ...     print(rows, vectors.shape)
        range(0, 3) (3, 384)
        range(3, 5) (2, 384)
        """
        check_count("window", window)
        options = {"batch_tokens": 1024, **options}
        quietly: EncodeOptions = {**options, "show_progress_bar": False}
        self.encode([], **quietly)  # so that a wrong option is an error now, not at the first window
        return self._windows(iter([sentences] if isinstance(sentences, str) else sentences), window, options)

    def _windows(self, texts: Iterator[str], window: int, options: EncodeOptions) -> Iterator[tuple[range, Array]]:
        start = 0
        while part := list(islice(texts, window)):
            yield range(start, start + len(part)), self.encode(part, **options)
            start += len(part)

    def encode_tokens(self, sentences: Iterable[str], *, batch_tokens: int = 2048) -> list[FloatArray]:
        """The last hidden states of every text's tokens, special tokens included: N arrays (tokens, H)."""
        texts = check_texts(sentences)
        tokens = self.tokenizer(texts)
        tokens.truncation.report("warn")
        states: list[FloatArray] = [np.empty((0, 0))] * len(texts)
        for rows, batch, hidden in run(self, self.transformer, tokens, batch_tokens):
            for row, piece in zip(rows, hidden.float().cpu().split(batch.lengths), strict=True):
                states[row] = piece.numpy()
        return states

    def calibrate(self, sentences: Iterable[str], **options: Unpack[EncodeOptions]) -> None:
        """Learn each dimension's range from a sample of your corpus, for ``precision="int8"`` and ``"uint8"``.

        The ranges are saved with the model, so that the same text always gets the same bytes. They hold for
        vectors made with these options, of as many dimensions or fewer.
        """
        texts = check_texts(sentences)
        if len(set(texts)) < 2:  # of a single one, every range would be a point
            raise BadInput(
                f"calibrate got {counted(len(set(texts)), 'different text')}, but needs a sample of the corpus: "
                "a few thousand are plenty"
            )
        as_floats: EncodeOptions = {**options, "precision": "float32"}
        self.ranges = ranges_of(self.encode(texts, **as_floats))

    def _properties(self) -> dict[str, Any]:
        return describe_transformer(self.tokenizer, self.transformer, **self.vector_properties())

    def vector_properties(self) -> dict[str, Any]:
        """The part of :meth:`describe` that follows from pooling, heads and prompts."""
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
        """Write a folder that loads here and, as it is, in sentence-transformers; whole or not at all."""
        hub.write(self.parts(), Path(folder))

    def parts(self) -> hub.Parts:
        """All that is saved, with new reference vectors."""
        self._check_settings()
        vectors = self.encode(hub.REFERENCE_TEXTS, prompt="", truncate_dim=self._full_dimension, on_truncate="ignore")
        self.reference = hub.Reference(hub.REFERENCE_TEXTS, vectors)
        return hub.Parts(
            tokenizer=self.tokenizer,
            transformer=self.transformer,
            pooling=self.pooling,
            include_prompt=self.include_prompt,
            heads=tuple(self.heads),
            prompts=self.prompts,
            default_prompt_name=self.default_prompt_name,
            similarity=self.similarity_fn_name,
            ranges=self.ranges,
            reference=self.reference,
            truncate_dim=self.truncate_dim,
        )

    def self_check(self) -> float:
        """The largest difference to the vectors stored with the model; raises where it is more than rounding."""
        if self.reference is None:
            raise SelfCheckFailed("this model carries no reference vectors; save it with sbert first")
        texts = self.reference.texts
        vectors = self.encode(texts, prompt="", truncate_dim=self._full_dimension, on_truncate="ignore")
        difference = hub.largest_difference(self.reference, vectors)
        if not difference <= _SELF_CHECK_TOLERANCE:
            raise SelfCheckFailed(
                f"the vectors differ by {difference:.2g} from those stored with the model, but rounding explains at "
                f"most {_SELF_CHECK_TOLERANCE:g}; the folder was changed or is read wrongly: fetch it again"
            )
        return difference

    @property
    def _gives_unit_vectors(self) -> bool:
        return len(self.heads) > 0 and isinstance(self.heads[-1], heads_.Normalize)

    def _check_settings(self) -> None:
        """What anybody may set, so that it is refused before it is saved, and not when it is first used."""
        check_option("similarity", self.similarity_fn_name, get_args(Similarity))
        for name in (None, *self.prompts):
            self._prompt(name, None)

    def _prompt(self, name: str | None, prompt: str | None) -> str:
        """``prompt`` in so many words, or else the one of this name, the default one, or none."""
        name = name or self.default_prompt_name
        if prompt is None and name is not None:
            if not self.prompts:
                raise BadInput(f"prompt_name is {name!r}, but the model has no prompts; give the words with prompt")
            check_option("prompt_name", name, sorted(self.prompts))
            prompt = self.prompts[name]
        if not isinstance(prompt, str | None):
            raise BadInput(f"a prompt is {type(prompt).__name__}, but must be text")
        return prompt or ""

    def _for_task(self, task: Role, options: EncodeOptions) -> EncodeOptions:
        named = options.get("prompt_name") is not None or options.get("prompt") is not None
        return options if named else {**options, "prompt": self.prompt_for(task)}
