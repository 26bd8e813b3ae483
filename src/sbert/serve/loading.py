"""Loads and checks the models and the store of a server before it accepts requests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sbert.errors import BadInput, BadModel
from sbert.models.bi import BiEncoder
from sbert.models.fingerprint import fingerprint
from sbert.models.load import TransformerModel, load
from sbert.models.poly import PolyEncoder
from sbert.models.words import WordEncoder
from sbert.search.opening import DEFAULT_MODEL, existing_store, open_store
from sbert.search.store import Store, is_postgres


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """Models by their names, and the location of the store.

    Each process opens the store itself, because processes must not share a connection.
    """

    models: dict[str, TransformerModel]
    reranker: str | None = None
    """The name of the model that sorts the hits of searches."""
    store: str | None = None
    store_model: str | None = None
    """The name of the model that computes the vectors of the store."""
    fingerprints: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    """The names by which the models were loaded."""
    documents: int = 0
    """Number of documents in the store when the server starts."""

    def open_store(self) -> Store | None:
        """Open the store with its model, which must be the one that computed its vectors."""
        if self.store is None or self.store_model is None:
            return None
        return open_store(self.store, _retriever(self.models[self.store_model]))[0]


def load_all(
    models: Sequence[str] = (), rerank: str | None = None, store: str | None = None, device: str | None = None
) -> Loaded:
    """Load models and check the store.

    Args:
        models: Names of models. Defaults to the model of the store, or to all-MiniLM-L6-v2.
        rerank: Name of the model that sorts hits.
        store: An SQLite file or the address of a PostgreSQL database; it is created if there is none.
        device: Device of torch to run the models on.
    """
    names = list(models) or [_model_of(store) or DEFAULT_MODEL]
    loaded: dict[str, TransformerModel] = {}
    for name in dict.fromkeys([*names, *([rerank] if rerank else [])]):
        loaded[_free_name(name, loaded)] = _loaded(name, device)
    sources = dict(zip(loaded, dict.fromkeys([*names, *([rerank] if rerank else [])]), strict=True))
    called = {source: name for name, source in sources.items()}
    prints = {name: _fingerprint(model) for name, model in loaded.items()}
    kept = None if store is None else _store_model(store, loaded)
    found = Loaded(loaded, called[rerank] if rerank else None, store, kept, prints, sources)
    if (opened := found.open_store()) is None:
        return found
    try:
        return replace(found, documents=opened.count())
    finally:
        opened.close()


def _loaded(name: str, device: str | None) -> TransformerModel:
    model = load(name, device=device)
    if isinstance(model, WordEncoder):
        raise BadInput(
            f"{name} is a WordEncoder, but only transformers are served; name a bi-, cross- or poly-encoder"
        )
    return model


def _free_name(name: str, taken: dict[str, TransformerModel]) -> str:
    """Return the name of a model in requests: the name of its folder, or its name on the hub."""
    short = Path(name).resolve().name if Path(name).exists() else name
    if short in taken:
        raise BadInput(f"two models are named {short!r}, but requests identify models by name; rename a folder")
    return short


def _retriever(model: TransformerModel) -> BiEncoder | None:
    return model.documents if isinstance(model, PolyEncoder) else model if isinstance(model, BiEncoder) else None


def _model_of(store: str | None) -> str | None:
    """Return the name of the model that a store was made with, if there is a store."""
    if store is None or not (is_postgres(store) or Path(store).exists()):
        return None
    opened = existing_store(store)
    try:
        return opened.facts.model or None
    finally:
        opened.close()


def _store_model(store: str, loaded: dict[str, TransformerModel]) -> str:
    """Return the name of the first model that fits the store."""
    problem: Exception | None = None
    for name, model in loaded.items():
        if (retriever := _retriever(model)) is None:
            continue
        try:
            open_store(store, retriever)[0].close()
        except (BadInput, BadModel) as error:
            problem = problem or error
        else:
            return name
    raise problem or BadInput(
        f"the store {store!r} needs a bi-encoder or a poly-encoder, but only other models were given"
    )


def _fingerprint(model: TransformerModel) -> str:
    retriever = _retriever(model)
    if retriever is not None:
        return fingerprint(retriever)
    found = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        found.update(name.encode())
        found.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()[:16]
