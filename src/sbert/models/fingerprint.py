"""Identifies a model by everything that its vectors depend on."""

from __future__ import annotations

import hashlib

import torch

from sbert.disk.digest import digest
from sbert.models.vectors import VectorModel
from sbert.text import WordTokenizer
from sbert.types import Precision


def fingerprint(model: VectorModel, precision: Precision = "float32") -> str:
    """Return the first 16 digits of a digest of the weights, the vocabulary and the settings of a model.

    The calibrated ranges belong to it for the precisions that depend on them, int8 and uint8.

    >>> from sbert import BiEncoder
    >>> fingerprint(BiEncoder.from_pretrained()) == fingerprint(BiEncoder.from_pretrained())
    True
    """
    found = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        found.update(name.encode())
        found.update(tensor.detach().cpu().flatten().view(torch.uint8).numpy().tobytes())
    tokenizer = model.tokenizer
    words = tokenizer.words if isinstance(tokenizer, WordTokenizer) else tokenizer.backend.to_str()
    settings = {name: value for name, value in model.describe().items() if name not in ("device", "reference_vectors")}
    found.update(digest([words, sorted(settings.items(), key=str)]).encode())
    if precision in ("int8", "uint8") and (ranges := getattr(model, "ranges", None)) is not None:
        found.update(ranges.tobytes())
    return found.hexdigest()[:16]
