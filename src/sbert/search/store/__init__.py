"""Stores that keep documents and their vectors: one SQLite file, or a PostgreSQL database."""

from sbert.search.store.document import Document
from sbert.search.store.postgres import PostgresStore
from sbert.search.store.sqlite import SqliteStore
from sbert.search.store.store import Known, Match, Store, StoreFacts, is_postgres

__all__ = ["Document", "Known", "Match", "PostgresStore", "SqliteStore", "Store", "StoreFacts", "is_postgres"]
