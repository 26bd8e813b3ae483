"""``SentenceTransformer``, with a :class:`~sbert.BiEncoder` or a :class:`~sbert.WordEncoder` inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, get_args

import torch
from torch import Tensor

from sbert import hub
from sbert.adapters.sentence_transformers.model import Model
from sbert.adapters.sentence_transformers.same import move, prompted, same
from sbert.adapters.sentence_transformers.util import SimilarityFunction, quantize_embeddings, to_tensor
from sbert.errors import BadInput, check_count, check_option
from sbert.hub.find import Access
from sbert.models.bi import BiEncoder
from sbert.models.load import class_of
from sbert.models.postprocess import finish
from sbert.models.words import WordEncoder
from sbert.nn.similarity import all_pairs, pairwise
from sbert.porting import unknown_name
from sbert.types import Array, Precision, Similarity


class SentenceTransformer(Model):
    """A model with one vector per text, under the names of sentence-transformers.

    Attributes:
        native: The model of sbert, for features that sentence-transformers does not have.
        prompts: Texts to put before every text, by name.
        default_prompt_name: The name of the default prompt.
        truncate_dim: Number of leading dimensions to keep.

    >>> model = SentenceTransformer("all-MiniLM-L6-v2")
    >>> model.encode("안녕하세요", convert_to_tensor=True).shape, model.get_embedding_dimension()
    (torch.Size([384]), 384)
    """

    SUPPORTED_SIMILARITY_FN_NAMES = get_args(Similarity)

    @same("SentenceTransformer")
    def __init__(
        self,
        model_name_or_path: str | None = None,
        *,
        modules: None = None,
        device: str | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        cache_folder: str | None = None,
        trust_remote_code: bool = False,
        revision: str | None = None,
        local_files_only: bool = False,
        token: bool | str | None = None,
        use_auth_token: bool | str | None = None,
        model_kwargs: dict[str, Any] | None = None,
        processor_kwargs: dict[str, Any] | None = None,
        config_kwargs: dict[str, Any] | None = None,
        model_card_data: None = None,
        backend: str = "torch",
        similarity_fn_name: Similarity | SimilarityFunction | None = None,
        truncate_dim: int | None = None,
    ) -> None:
        if model_name_or_path is None:
            raise BadInput("SentenceTransformer got no name; give the name or the folder of a model")
        access = Access(token if token is not None else use_auth_token, cache_folder, local_files_only)
        folder = hub.resolve(model_name_or_path, revision, access=access)
        native = class_of(folder).from_pretrained(folder, device=device)
        if not isinstance(native, BiEncoder | WordEncoder):
            raise BadInput(f"{model_name_or_path} is a {type(native).__name__}; load it with CrossEncoder(name)")
        self.native: BiEncoder | WordEncoder = native
        self.prompts = {"query": "", "document": "", **getattr(native, "prompts", {}), **(prompts or {})}
        self.default_prompt_name = default_prompt_name or getattr(native, "default_prompt_name", None)
        self._prompt(None, self.default_prompt_name)
        self.truncate_dim = truncate_dim if truncate_dim is not None else getattr(native, "truncate_dim", None)
        if similarity_fn_name is not None:
            self.similarity_fn_name = similarity_fn_name

    def __getattr__(self, name: str) -> Any:
        raise unknown_name("SentenceTransformer", name, "SentenceTransformer.members", "SentenceTransformer")

    # Encoding

    @same("SentenceTransformer.encode")
    def encode(
        self,
        inputs: str | Sequence[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str | None = "sentence_embedding",
        precision: Precision = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | list[str | torch.device] | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        pool: Mapping[str, Any] | None = None,
        chunk_size: int | None = None,
    ) -> Any:
        """Embed texts, as ``SentenceTransformer.encode`` does."""
        check_count("batch_size", batch_size)
        check_option("output_value", str(output_value), ("sentence_embedding", "token_embeddings"))
        move(self.native, device)
        texts = [inputs] if isinstance(inputs, str) else list(inputs)
        prompt = self._prompt(prompt, prompt_name or self.default_prompt_name)
        if output_value == "token_embeddings":
            states = self._token_states(texts, prompt)
            return states[0] if isinstance(inputs, str) else states
        size = self.truncate_dim if truncate_dim is None else truncate_dim
        vectors = self._vectors(texts, prompt, batch_size, bool(show_progress_bar))
        vectors = finish(
            vectors, None if size is None else min(size, vectors.shape[1]), normalize_embeddings, "float32", None
        )
        if precision != "float32":
            vectors = quantize_embeddings(vectors, precision)
        if isinstance(inputs, str):
            vectors = vectors[0]
        if convert_to_tensor:
            return torch.from_numpy(vectors).to(self.device)
        return vectors if convert_to_numpy else list(torch.from_numpy(vectors).to(self.device))

    encode_query = prompted(encode, ("query",))
    encode_document = prompted(encode, ("document", "passage", "corpus"))

    def _prompt(self, prompt: str | None, name: str | None) -> str:
        if prompt is None and name is not None:
            check_option("prompt_name", name, sorted(self.prompts))
            prompt = self.prompts[name]
        return prompt or ""

    def _vectors(self, texts: Sequence[str], prompt: str, batch_size: int, show: bool) -> Array:
        """Return the vectors with all their dimensions: (N, D) float32."""
        if isinstance(self.native, BiEncoder):
            return self.native.encode(
                texts,
                prompt=prompt,
                batch_size=batch_size,
                truncate_dim=self.native.full_dimension,
                show_progress_bar=show,
            )
        return self.native.encode([prompt + text for text in texts] if prompt else texts, show_progress_bar=show)

    def _token_states(self, texts: Sequence[str], prompt: str) -> list[Tensor]:
        if not isinstance(self.native, BiEncoder):
            raise BadInput(
                "output_value is 'token_embeddings', but word encoders give one vector per text; leave it out"
            )
        states = self.native.encode_tokens([prompt + text for text in texts] if prompt else texts)
        return [torch.from_numpy(array).to(self.device) for array in states]

    @same("SentenceTransformer.encode_multi_process")
    def encode_multi_process(
        self,
        sentences: list[str],
        pool: Mapping[str, Any],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        chunk_size: int | None = None,
        show_progress_bar: bool | None = None,
        precision: Precision = "float32",
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
    ) -> Array:
        """Embed texts in this process, in which every core works on its own batch."""
        given = {name: value for name, value in locals().items() if name not in ("self", "sentences")}
        vectors: Array = self.encode(sentences, **given)
        return vectors

    # Comparing

    @property
    def similarity_fn_name(self) -> Similarity:
        """The measure that compares two vectors."""
        return self.native.similarity_fn_name

    @similarity_fn_name.setter
    def similarity_fn_name(self, name: Similarity | SimilarityFunction) -> None:
        value: Any = getattr(name, "value", name)
        check_option("similarity_fn_name", value, self.SUPPORTED_SIMILARITY_FN_NAMES)
        self.native.similarity_fn_name = value

    @same("SentenceTransformer.similarity")
    def similarity(self, embeddings1: Any, embeddings2: Any) -> Tensor:
        """Compare every vector of the first with every vector of the second."""
        return all_pairs(to_tensor(embeddings1), to_tensor(embeddings2), self.similarity_fn_name)

    @same("SentenceTransformer.similarity_pairwise")
    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Tensor:
        """Compare vector i of the first with vector i of the second."""
        return pairwise(to_tensor(embeddings1), to_tensor(embeddings2), self.similarity_fn_name)

    @contextmanager
    def truncate_embeddings(self, truncate_dim: int | None) -> Iterator[None]:
        """Truncate all vectors within the block."""
        before = self.truncate_dim
        self.truncate_dim = truncate_dim
        try:
            yield
        finally:
            self.truncate_dim = before

    truncate_sentence_embeddings = truncate_embeddings

    # The model itself

    def _update_native(self) -> None:
        native = self.native
        if isinstance(native, BiEncoder):
            native.prompts = {name: prompt for name, prompt in self.prompts.items() if prompt}
            default = self.default_prompt_name
            native.default_prompt_name = default if default in native.prompts else None
            native.truncate_dim = self.truncate_dim

    @staticmethod
    def load(input_path: str) -> SentenceTransformer:
        """Load a model from its folder."""
        return SentenceTransformer(input_path)

    def set_pooling_include_prompt(self, include_prompt: bool) -> None:
        """Set whether pooling includes the tokens of the prompt."""
        self.native.include_prompt = include_prompt

    def get_embedding_dimension(self) -> int:
        """Return the size of a vector."""
        whole: int = getattr(self.native, "full_dimension", self.native.embedding_dimension)
        return min(whole, self.truncate_dim or whole)

    get_sentence_embedding_dimension = get_embedding_dimension
