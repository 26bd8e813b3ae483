"""Opens a store together with the model that its vectors come from."""

from __future__ import annotations

from pathlib import Path

from sbert.disk.files import check_writable, real
from sbert.errors import BadInput, shown
from sbert.hub.find import is_here
from sbert.models.fingerprint import fingerprint
from sbert.models.load import load
from sbert.models.vectors import VectorModel
from sbert.search.packing import StoredPrecision
from sbert.search.store import PostgresStore, SqliteStore, Store, StoreFacts, is_postgres
from sbert.text.terms import has_morphemes

DEFAULT_MODEL = "all-MiniLM-L6-v2"


def open_store(
    location: str | Path,
    model: VectorModel | str | Path | None = None,
    precision: StoredPrecision = "float32",
    device: str | None = None,
    show_progress_bar: bool = False,
) -> tuple[Store, VectorModel]:
    """Open a store or create one, and load its model.

    Args:
        location: An SQLite file, or the address of a PostgreSQL database.
        model: A model or its name. Defaults to the model that the store was created with, or to the default model.
        precision: The precision of the vectors in a new store.
        device: Where to run a model that is loaded.
        show_progress_bar: Whether to show a progress bar while an index is built.
    """
    store = _opened(location, show_progress_bar)
    if store is None and not is_postgres(location):
        check_writable(Path(location))
    name = _name(model) if model is not None or store is None else store.facts.model
    if model is None and store is not None and name and not is_here(name):
        # Whoever made the store chose the name; only the user may send this machine to the network.
        raise BadInput(
            f"the vectors in {store.address!r} come from the model {shown(name)}, which is not on this machine; name "
            "the model, which is then downloaded if it is on the hub"
        )
    loaded = model if isinstance(model, VectorModel) else load(name or None, device=device)
    if not isinstance(loaded, VectorModel):
        raise BadInput(f"{name} is a {type(loaded).__name__}, but a store keeps the vectors of a bi-encoder; name one")
    found = fingerprint(loaded)
    if store is None:
        facts = StoreFacts(
            name, found, _dimension(loaded), loaded.similarity_fn_name, precision, morphemes=has_morphemes()
        )
        if is_postgres(location):
            store = PostgresStore(str(location), facts)
        else:
            store = SqliteStore(location, facts, show_progress_bar=show_progress_bar)
    if store.facts.fingerprint != found:
        raise BadInput(
            f"the vectors in {store.address!r} come from {store.facts.model or 'a model'} with the "
            f"fingerprint {store.facts.fingerprint}, but the model given has {found}; name that model, or a new store"
        )
    return store, loaded


def existing_store(location: str | Path, show_progress_bar: bool = False) -> Store:
    """Open a store that exists, without its model."""
    if is_postgres(location):
        return PostgresStore(str(location))
    return SqliteStore(location, show_progress_bar=show_progress_bar)


def _opened(location: str | Path, show_progress_bar: bool) -> Store | None:
    """Open a store if there is one."""
    there = PostgresStore.exists(str(location)) if is_postgres(location) else real(Path(location)).exists()
    return existing_store(location, show_progress_bar) if there else None


def _name(model: VectorModel | str | Path | None) -> str:
    """Return the name under which a model can be loaded again; empty for a model that was passed itself."""
    if model is None:
        return DEFAULT_MODEL
    if isinstance(model, VectorModel):
        return ""
    return str(Path(model).resolve()) if Path(model).exists() else str(model)


def _dimension(model: VectorModel) -> int:
    return int(model.encode(["."]).shape[1])
