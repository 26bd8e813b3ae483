"""The way from parts to vectors, without the classes that users hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from sbert.hub import Parts
from sbert.nn import heads
from sbert.nn.pooling import pool
from sbert.text import batches
from sbert.types import FloatArray


@pytest.fixture(scope="session")
def encode() -> Callable[..., FloatArray]:
    """``encode(parts, texts, prompt="")``."""

    @torch.no_grad()  # and not in inference mode, in which our layers round otherwise than transformers'
    def run(parts: Parts, texts: Sequence[str], prompt: str = "") -> FloatArray:
        tokens = parts.tokenizer(list(texts), prompt)
        skip = 0 if parts.include_prompt else tokens.prompt_length
        vectors: dict[int, FloatArray] = {}
        for rows, batch in batches(tokens, 2048):
            pooled = pool(parts.transformer(batch), batch.groups, parts.pooling, skip)
            vectors |= dict(zip(rows.tolist(), heads.apply(parts.heads, pooled).numpy(), strict=True))
        return np.stack([vectors[row] for row in range(len(texts))])

    return run


@pytest.fixture
def no_bars():
    """Transformers without progress bars, so that whatever is left on stderr is a complaint."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    yield
    logging.enable_progress_bar()
