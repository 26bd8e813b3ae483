"""spaCy: the pipe ``sbert``, which gives documents and spans the vectors of a sentence encoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from sbert.adapters.embedding import document_vectors, vector_model
from sbert.types import FloatArray

_AT_ONCE = 256


class SbertPipe:
    """Sets ``doc.vector``, ``span.vector`` and their similarities.

    Args:
        model: The name or the folder of a model. Defaults to all-MiniLM-L6-v2.
        device: Device of torch to run the model on.
    """

    def __init__(self, model: str | None = None, device: str | None = None) -> None:
        self.name, self.device = model, device
        self.model = vector_model(model, device)

    def __call__(self, doc: Doc) -> Doc:
        """Set the vector of a document."""
        return next(iter(self.pipe([doc])))

    def pipe(self, stream: Iterable[Doc], batch_size: int = _AT_ONCE) -> Iterator[Doc]:
        """Set the vectors of documents, in batches."""
        docs = iter(stream)
        while part := list(islice(docs, batch_size)):
            vectors = document_vectors(self.model, [doc.text for doc in part])
            for doc, vector in zip(part, vectors, strict=True):
                self._attach(doc, vector)
                yield doc

    def _attach(self, doc: Doc, vector: FloatArray) -> None:
        def of_text(part: Any) -> FloatArray:
            vectors: FloatArray = document_vectors(self.model, [part.text])[0]
            return vectors

        def compare(first: Any, second: Any) -> float:
            return float(self.model.similarity(first.vector, second.vector)[0, 0])

        doc.user_hooks |= {"vector": lambda _: vector, "has_vector": lambda _: True, "similarity": compare}
        doc.user_span_hooks |= {"vector": of_text, "has_vector": lambda _: True, "similarity": compare}

    def __reduce__(self) -> tuple[type[SbertPipe], tuple[str | None, str | None]]:
        return SbertPipe, (self.name, self.device)


@Language.factory("sbert", default_config={"model": None, "device": None})
def make_pipe(nlp: Language, name: str, model: str | None, device: str | None) -> SbertPipe:
    """Build the pipe for ``nlp.add_pipe("sbert", config={"model": ...})``."""
    return SbertPipe(model, device)
