"""Indexes that find the nearest vectors, exactly or approximately. They work on vectors and integer keys only."""

from sbert.search.index.exact import ExactIndex
from sbert.search.index.faiss import FaissIndex
from sbert.search.index.folder import IndexFacts
from sbert.search.index.index import Index, Neighbours, merged
from sbert.search.index.kinds import Kind

__all__ = ["ExactIndex", "FaissIndex", "Index", "IndexFacts", "Kind", "Neighbours", "merged"]
