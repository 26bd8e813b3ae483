"""Whichever kind of model a folder holds, ready to use. Knows one class for each kind."""

from __future__ import annotations

from pathlib import Path

import torch

from sbert import hub
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.poly import PolyEncoder
from sbert.models.words import WordEncoder
from sbert.types import ModelKind

TransformerModel = BiEncoder | CrossEncoder | PolyEncoder
Model = TransformerModel | WordEncoder

CLASSES: dict[ModelKind, type[TransformerModel]] = {
    "bi": BiEncoder,
    "cross": CrossEncoder,
    "poly": PolyEncoder,
}


def load(
    name: str | Path | None = None,
    *,
    device: str | torch.device | None = None,
    max_seq_length: int | None = None,
) -> Model:
    """The model of a folder, a run's folder, an installed model package or a hub name, of whichever kind it is.

    Args:
        name: nothing means the embedded default; a bare encoder becomes a :class:`BiEncoder`.
        device: where to run; the first accelerator if there is one, else the CPU.
        max_seq_length: cut texts, or pairs of them, at so many tokens instead of the model's own number.

    >>> type(load()).__name__
    'BiEncoder'
    """
    folder = hub.resolve(name)
    cls = WordEncoder if hub.holds_words(folder) else CLASSES[hub.known_kind(folder) or "bi"]
    return cls.from_pretrained(folder, device=device, max_seq_length=max_seq_length)
