"""``sbert info``: what a model is made of and how it runs here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sbert.cli import show
from sbert.cli.options import Json, ModelArgument

if TYPE_CHECKING:
    from pathlib import Path

    from sbert.models.bi import BiEncoder
    from sbert.models.cross import CrossEncoder
    from sbert.models.load import Model, TransformerModel
    from sbert.models.poly import PolyEncoder
    from sbert.models.words import WordEncoder

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
    from sbert.models.load import load

    folder = hub.resolve(name)
    facts = _facts(load(folder), name or "the embedded model", folder)
    if json:
        show.as_json(facts)
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for key, value in facts.items():
        grid.add_row(Text(key.replace("_", " "), style="bold"), Text(_words(value)))
    show.console().print(grid)


def _facts(model: Model, name: str, folder: Path) -> dict[str, Any]:
    from sbert.models.words import WordEncoder

    return {
        "name": name,
        "kind": type(model).__name__,
        "folder": str(folder),
        "parameters": sum(weights.numel() for weights in model.parameters()),
        "max_length": model.max_seq_length,
        **(_of_words(model) if isinstance(model, WordEncoder) else _of_transformer(model)),
        "device": str(model.device),
    }


def _of_words(model: WordEncoder) -> dict[str, Any]:
    return {
        "vocabulary": len(model.tokenizer),
        "lower_case": model.tokenizer.lower_case,
        "lstm_size": None if model.lstm is None else model.lstm.lstm.hidden_size,
        "dimension": model.embedding_dimension,
        "pooling": list(model.pooling),
        "similarity": model.similarity_fn_name,
    }


def _of_transformer(model: TransformerModel) -> dict[str, Any]:
    from sbert.models.poly import PolyEncoder

    transformer = model.documents.transformer if isinstance(model, PolyEncoder) else model.transformer
    body = transformer.facts
    return {
        "architecture": body.architecture,
        "layers": body.depth,
        "hidden_size": body.hidden_size,
        "vocabulary": model.tokenizer.backend.get_vocab_size(),
        **_of_its_kind(model),
        "runs": _PACKED if transformer.packed else _BY_LENGTH,
    }


def _of_its_kind(model: TransformerModel) -> dict[str, Any]:
    from sbert.models.bi import BiEncoder
    from sbert.models.cross import CrossEncoder

    if isinstance(model, BiEncoder):
        return _of_bi(model)
    return _of_cross(model) if isinstance(model, CrossEncoder) else _of_poly(model)


def _of_bi(model: BiEncoder) -> dict[str, Any]:
    return {
        "dimension": model.embedding_dimension,
        "pooling": list(model.pooling),
        "heads": [type(head).__name__ for head in model.heads],
        "similarity": model.similarity_fn_name,
        "prompts": model.prompts,
        "default_prompt": model.default_prompt_name,
        "calibrated": model.ranges is not None,
        "reference_vectors": model.reference is not None,
    }


def _of_cross(model: CrossEncoder) -> dict[str, Any]:
    return {"labels": list(model.labels), "scale": model.scale}


def _of_poly(model: PolyEncoder) -> dict[str, Any]:
    return {
        "codes": model.num_codes,
        "codes_are": "the first tokens" if model.codes is None else "learned",
        "towers": "shared" if model.tower is None else "separate",
        **_of_bi(model.documents),
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
