"""Writes the README of a model from the templates in the folder ``cards``, which quote the parts of the model."""

from __future__ import annotations

from html import escape
from pathlib import Path

from sbert.hub.parts import CrossParts, Parts, PolyParts
from sbert.nn.heads import output_size
from sbert.text.display import json_text, one_line

_TEMPLATES = Path(__file__).parent / "cards"


def write_card(parts: Parts, folder: Path, name: str) -> None:
    """Write the README of a bi-encoder whose folder will be called ``name``."""
    dimension = output_size(parts.heads, parts.transformer.facts.hidden_size * len(parts.pooling))
    dimension = min(dimension, parts.truncate_dim or dimension)
    heads = ", ".join(type(head).__name__ for head in parts.heads) or "nothing"
    prompts = ", ".join(f"{one_line(key)}: {json_text(text)}" for key, text in parts.prompts.items())
    prompts = _escaped(prompts) or "none"
    pooling = ", ".join(parts.pooling)
    _write(folder, "bi.md", name, parts=parts, dimension=dimension, pooling=pooling, heads=heads, prompts=prompts)


def write_cross_card(parts: CrossParts, folder: Path, name: str) -> None:
    """Write the README of a cross-encoder whose folder will be called ``name``."""
    outputs = "one score" if len(parts.labels) == 1 else f"one score for each of {len(parts.labels)} labels"
    labels = _escaped(", ".join(map(one_line, parts.labels)))
    _write(folder, "cross.md", name, parts=parts, outputs=outputs, labels=labels)


def write_poly_card(documents: Parts, parts: PolyParts, folder: Path, name: str) -> None:
    """Write the README of a poly-encoder whose folder will be called ``name``."""
    kind = "learned" if parts.kind == "learned" else "the query's first tokens"
    towers = "for queries and documents" if parts.towers == "shared" else "one for queries and one for documents"
    pooling = ", ".join(documents.pooling)
    _write(folder, "poly.md", name, documents=documents, parts=parts, kind=kind, towers=towers, pooling=pooling)


def _escaped(text: str) -> str:
    """Escape a text for a cell of a table in Markdown, so that it is neither markup nor a control character."""
    return escape(text, quote=False).replace("|", "\\|")


def _write(folder: Path, template: str, name: str, **facts: object) -> None:
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    card = text.format(name=_escaped(one_line(name)), path=json_text(name), **facts)
    (folder / "README.md").write_text(card, encoding="utf-8")
