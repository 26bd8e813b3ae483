"""Collects the parts of a bi-encoder that are saved, and compares a loaded one with its stored reference vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sbert import hub
from sbert.errors import SelfCheckFailed
from sbert.types import Array

if TYPE_CHECKING:
    from sbert.models.bi import BiEncoder

# Rounding differs between kinds of processors, but never by this much.
_TOLERANCE = 1e-4


def parts_of(model: BiEncoder) -> hub.Parts:
    """Collect everything that is saved, with new reference vectors."""
    model.check_settings()
    model.reference = hub.Reference(hub.REFERENCE_TEXTS, _vectors(model, hub.REFERENCE_TEXTS))
    return hub.Parts(
        tokenizer=model.tokenizer,
        transformer=model.transformer,
        pooling=model.pooling,
        include_prompt=model.include_prompt,
        heads=tuple(model.heads),
        prompts=model.prompts,
        default_prompt_name=model.default_prompt_name,
        similarity=model.similarity_fn_name,
        ranges=model.ranges,
        reference=model.reference,
        truncate_dim=model.truncate_dim,
    )


def check_reference(model: BiEncoder) -> float:
    """Return the largest difference to the stored vectors; raise SelfCheckFailed if rounding cannot explain it."""
    if model.reference is None:
        raise SelfCheckFailed("this model carries no reference vectors; save it with sbert first")
    difference = hub.largest_difference(model.reference, _vectors(model, model.reference.texts))
    if not difference <= _TOLERANCE:
        raise SelfCheckFailed(
            f"the vectors differ by {difference:.2g} from those stored with the model, but rounding explains at "
            f"most {_TOLERANCE:g}; the folder was changed or is read wrongly: fetch it again"
        )
    return difference


def _vectors(model: BiEncoder, texts: Sequence[str]) -> Array:
    return model.encode(texts, prompt="", truncate_dim=model.full_dimension, on_truncate="ignore")
