"""VECTORS -> HITS: exact search over arrays, and Searcher, which knows models only by what they can do. No files."""

from sbert.search.exact import most_similar_pairs, semantic_search

__all__ = ["most_similar_pairs", "semantic_search"]
