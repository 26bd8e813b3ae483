"""Writes the README of a model from the templates in the folder ``cards``."""

from __future__ import annotations

import json
from pathlib import Path

from sbert.hub.parts import CrossParts, Parts, PolyParts
from sbert.nn.heads import output_size

_TEMPLATES = Path(__file__).parent / "cards"


def card(parts: Parts, name: str) -> str:
    """Return the README of a bi-encoder saved in a folder called ``name``."""
    dimension = output_size(parts.heads, parts.transformer.facts.hidden_size * len(parts.pooling))
    prompts = ", ".join(f"`{key}`: {json.dumps(text, ensure_ascii=False)}" for key, text in parts.prompts.items())
    return _filled(
        "bi.md",
        name,
        dimension=min(dimension, parts.truncate_dim or dimension),
        transformer=parts.transformer.facts.architecture,
        pooling=", ".join(parts.pooling),
        heads=", ".join(type(head).__name__ for head in parts.heads) or "nothing",
        length=parts.tokenizer.max_length,
        similarity=parts.similarity,
        prompts=prompts.replace("|", "\\|") or "none",
    )


def cross_card(parts: CrossParts, name: str) -> str:
    """Return the README of a cross-encoder saved in a folder called ``name``."""
    return _filled(
        "cross.md",
        name,
        outputs="one score" if len(parts.labels) == 1 else f"one score for each of {len(parts.labels)} labels",
        transformer=parts.transformer.facts.architecture,
        labels=", ".join(parts.labels).replace("|", "\\|"),
        scale=parts.scale,
        length=parts.tokenizer.max_length,
    )


def poly_card(documents: Parts, parts: PolyParts, name: str) -> str:
    """Return the README of a poly-encoder saved in a folder called ``name``."""
    return _filled(
        "poly.md",
        name,
        codes=parts.num_codes,
        kind="learned" if parts.kind == "learned" else "the query's first tokens",
        transformer=documents.transformer.facts.architecture,
        towers="for queries and documents" if parts.towers == "shared" else "one for queries and one for documents",
        pooling=", ".join(documents.pooling),
        dimension=documents.transformer.facts.hidden_size,
        length=documents.tokenizer.max_length,
    )


def _filled(template: str, name: str, **facts: object) -> str:
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    return text.format(name=name, path=json.dumps(name, ensure_ascii=False), **facts)
