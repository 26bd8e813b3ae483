"""How large the files and settings of a model folder may be. Every limit is far above the models that are published.

A folder that exceeds one is refused before memory is allocated for it. To read a larger model, set the environment
variable SBERT_LIMIT_FACTOR to a whole number, by which all limits are multiplied; it is read once, when ``sbert.hub``
is imported.
"""

from __future__ import annotations

import os
import re

from sbert.errors import BadInput, shown


def _factor() -> int:
    asked = os.environ.get("SBERT_LIMIT_FACTOR", "1")
    if not re.fullmatch(r"[1-9][0-9]{0,5}", asked):
        raise BadInput(
            f"the environment variable SBERT_LIMIT_FACTOR is {shown(asked)}, but must be a number from 1 to 999999"
        )
    return int(asked)


_FACTOR = _factor()
WIDEST = _FACTOR << 20
"""The largest size of a vector or a hidden state."""
DEEPEST = 1_000 * _FACTOR
"""The largest number of layers."""
MOST_CODES = _FACTOR << 16
"""The largest number of codes of a poly-encoder."""
MOST_MODULES = 100 * _FACTOR
"""The largest number of modules that modules.json lists."""
MOST_GROWTH = 4_000 * _FACTOR
"""Characters that the normalization of a tokenizer may make of one; ALBERT's may make 1,296."""
MOST_PROMPTS = 1_000 * _FACTOR
"""The largest number of prompts of a bi-encoder."""
MOST_STEPS = 100 * _FACTOR
"""The largest number of normalizers, of pre-tokenizers and of post-processors of a tokenizer."""
LARGEST_BUFFERS = _FACTOR << 24
"""Numbers that an encoder may compute at the start instead of reading them from its file."""
LARGEST_CHARSMAP = _FACTOR << 22
"""Characters of the largest precompiled_charsmap, a table in the normalizer of sentencepiece, as base64."""
LARGEST_FILE = _FACTOR << 26
"""Bytes of the largest JSON file or sentencepiece model."""
LARGEST_VOCABULARY = _FACTOR << 30
"""Bytes of the largest tokenizer.json or list of words."""
LONGEST_LINE = _FACTOR << 24
"""Bytes of the longest line in a file of word vectors."""
