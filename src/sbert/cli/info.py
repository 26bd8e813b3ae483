"""``sbert info``: what a model is made of and how it runs here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sbert.cli import show
from sbert.cli.options import Json, ModelArgument

if TYPE_CHECKING:
    from pathlib import Path

    from sbert.models.bi import BiEncoder

_PACKED = "packed: tokens of many texts end to end, nothing padded"
_BY_LENGTH = (
    "equal lengths together: packed, this architecture gives other vectors than its own forward; "
    "slower, with the same guarantees"
)


def info(
    name: ModelArgument = None,
    json: Json = False,
) -> None:
    """Show what a model is made of and how it runs here."""
    from sbert import hub
    from sbert.models.bi import BiEncoder

    folder = hub.resolve(name)
    facts = _facts(BiEncoder.from_pretrained(folder), name or "the embedded model", folder)
    if json:
        show.as_json(facts)
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for key, value in facts.items():
        grid.add_row(Text(key.replace("_", " "), style="bold"), Text(_words(value)))
    show.console().print(grid)


def _facts(encoder: BiEncoder, name: str, folder: Path) -> dict[str, Any]:
    body = encoder.transformer.facts
    return {
        "name": name,
        "folder": str(folder),
        "architecture": body.architecture,
        "layers": body.depth,
        "parameters": sum(weights.numel() for weights in encoder.parameters()),
        "hidden_size": body.hidden_size,
        "dimension": encoder.embedding_dimension,
        "pooling": list(encoder.pooling),
        "heads": [type(head).__name__ for head in encoder.heads],
        "max_length": encoder.max_seq_length,
        "similarity": encoder.similarity_fn_name,
        "prompts": encoder.prompts,
        "default_prompt": encoder.default_prompt_name,
        "vocabulary": encoder.tokenizer.backend.get_vocab_size(),
        "calibrated": encoder.ranges is not None,
        "reference_vectors": encoder.reference is not None,
        "runs": _PACKED if encoder.transformer.packed else _BY_LENGTH,
        "device": str(encoder.device),
    }


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return "\n".join(f"{key}: {text!r}" for key, text in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)
