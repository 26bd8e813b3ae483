"""Answers for users of sentence-transformers: what each of their names and arguments is called here."""

from sbert.porting.explain import explained, explained_class, renamed, unknown_name
from sbert.porting.table import Answer, answer, sections

__all__ = ["Answer", "answer", "explained", "explained_class", "renamed", "sections", "unknown_name"]
