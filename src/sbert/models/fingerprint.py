"""Identifies a model by everything that its vectors depend on."""

from __future__ import annotations

import hashlib

from sbert.disk.digest import digest
from sbert.models.vectors import VectorModel
from sbert.text import WordTokenizer


def fingerprint(model: VectorModel) -> str:
    """Return the first 16 digits of a digest of the weights, the vocabulary and the settings of a model.

    >>> from sbert import BiEncoder
    >>> fingerprint(BiEncoder.from_pretrained()) == fingerprint(BiEncoder.from_pretrained())
    True
    """
    found = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        found.update(name.encode())
        found.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    tokenizer = model.tokenizer
    words = tokenizer.words if isinstance(tokenizer, WordTokenizer) else tokenizer.backend.to_str()
    settings = {name: value for name, value in model.describe().items() if name not in ("device", "reference_vectors")}
    found.update(digest([words, sorted(settings.items(), key=str)]).encode())
    return found.hexdigest()[:16]
