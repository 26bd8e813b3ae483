"""FILES -> COLUMNS: tables in and out in constant memory, and the batches of rows to train on."""

from sbert.data.columns import Columns
from sbert.data.readers import read
from sbert.data.sampling import Cursor, Sampler, batches, mixed

__all__ = ["Columns", "Cursor", "Sampler", "batches", "mixed", "read"]
