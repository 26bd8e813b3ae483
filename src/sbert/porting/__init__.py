"""Answers for users of sentence-transformers: the counterparts of its names and arguments in sbert."""

from sbert.porting.explain import explained, explained_class, renamed, unknown_name
from sbert.porting.table import Answer, answer, sections

__all__ = ["Answer", "answer", "explained", "explained_class", "renamed", "sections", "unknown_name"]
