"""Exact search over arrays of vectors, and ``Searcher``, which retrieves and re-ranks texts. Reads no files."""

from sbert.search.exact import most_similar_pairs, semantic_search

__all__ = ["most_similar_pairs", "semantic_search"]
