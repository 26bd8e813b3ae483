"""FOLDER <-> PARTS: the only room that knows file names, legacy keys or the network."""

from sbert.hub.files import tidy
from sbert.hub.find import resolve
from sbert.hub.layout import read, read_backbone, write
from sbert.hub.parts import Parts
from sbert.hub.reference import REFERENCE_TEXTS, Reference, largest_difference

__all__ = [
    "REFERENCE_TEXTS",
    "Parts",
    "Reference",
    "largest_difference",
    "read",
    "read_backbone",
    "resolve",
    "tidy",
    "write",
]
