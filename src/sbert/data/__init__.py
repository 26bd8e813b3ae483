"""FILES -> COLUMNS: texts and labels from files as they are published, and the batches of rows to train on.

The names are loaded when first used: the command line reads its files here and should answer --help without numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sbert.data.columns import Columns as Columns
    from sbert.data.readers import read as read
    from sbert.data.sampling import Cursor as Cursor
    from sbert.data.sampling import Sampler as Sampler
    from sbert.data.sampling import batches as batches
    from sbert.data.sampling import mixed as mixed

_HOME = {
    "Columns": "columns",
    "Cursor": "sampling",
    "Sampler": "sampling",
    "batches": "sampling",
    "mixed": "sampling",
    "read": "readers",
}

__all__ = ["Columns", "Cursor", "Sampler", "batches", "mixed", "read"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
