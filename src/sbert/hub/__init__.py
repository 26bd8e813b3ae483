"""Reads model folders into parts and writes parts into folders. No other room knows file names or the network."""

from sbert.hub.cross import new_head, read_cross, write_cross
from sbert.hub.find import resolve
from sbert.hub.kind import holds_words, known_kind
from sbert.hub.layout import read, read_backbone, write
from sbert.hub.parts import CrossParts, Parts, PolyParts, WordParts
from sbert.hub.poly import read_poly, write_poly
from sbert.hub.reference import REFERENCE_TEXTS, Reference, largest_difference
from sbert.hub.words import read_vectors, read_words, write_words

__all__ = [
    "REFERENCE_TEXTS",
    "CrossParts",
    "Parts",
    "PolyParts",
    "Reference",
    "WordParts",
    "holds_words",
    "known_kind",
    "largest_difference",
    "new_head",
    "read",
    "read_backbone",
    "read_cross",
    "read_poly",
    "read_vectors",
    "read_words",
    "resolve",
    "write",
    "write_cross",
    "write_poly",
    "write_words",
]
