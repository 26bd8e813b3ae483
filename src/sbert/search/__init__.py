"""Vectors in, hits out. Knows arrays only: no model, no strings, no files."""

from sbert.search.exact import most_similar_pairs, semantic_search

__all__ = ["most_similar_pairs", "semantic_search"]
