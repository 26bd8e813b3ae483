"""Loads whichever kind of model a folder holds."""

from __future__ import annotations

from pathlib import Path

import torch

from sbert import hub
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.poly import PolyEncoder
from sbert.models.words import WordEncoder
from sbert.porting import explained
from sbert.types import ModelKind

TransformerModel = BiEncoder | CrossEncoder | PolyEncoder
Model = TransformerModel | WordEncoder

CLASSES: dict[ModelKind, type[TransformerModel]] = {
    "bi": BiEncoder,
    "cross": CrossEncoder,
    "poly": PolyEncoder,
}


@explained
def load(
    name: str | Path | None = None,
    *,
    device: str | torch.device | None = None,
    max_seq_length: int | None = None,
) -> Model:
    """Load a model of any kind.

    Args:
        name: A folder, the folder of a training run, an installed model package, or a hub name. Defaults to
            all-MiniLM-L6-v2. A plain encoder becomes a :class:`BiEncoder`.
        device: Where to run. Defaults to the first accelerator, or the CPU if there is none.
        max_seq_length: Number of tokens at which texts, or pairs of texts, are truncated. Defaults to the model's
            own number.

    >>> type(load()).__name__
    'BiEncoder'
    """
    folder = hub.resolve(name)
    return class_of(folder).from_pretrained(folder, device=device, max_seq_length=max_seq_length)


def class_of(folder: Path) -> type[Model]:
    """Return the class of the model that a folder holds, without reading its weights."""
    return WordEncoder if hub.holds_words(folder) else CLASSES[hub.known_kind(folder) or "bi"]
