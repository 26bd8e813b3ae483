"""Defines a lane: one function of one model that is applied to rows of tokens. Works on tokens and tensors only."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from sbert.models.inference import run
from sbert.models.model import TextModel
from sbert.nn.threads import on_cores
from sbert.text import Tokens, batches
from sbert.types import Batch, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """A function that computes one result for each row of a batch.

    The result of a row does not depend on the other rows of its batch, so rows of several requests share batches.
    """

    name: str
    """Identifies the function within a server."""
    model: TextModel
    forward: Callable[[Batch], Tensor]
    by_token: bool = False
    """Whether the function returns one result per token, concatenated. Such results are too large for the cache."""

    def compute(self, tokens: Tokens, all_cores: bool) -> list[FloatArray]:
        """Return the result of every row.

        Args:
            tokens: The rows of one batch.
            all_cores: Whether the batch may use all cores, because no other batch is running. The bits are the same.
        """
        total = max(1, int(tokens.lengths.sum()))
        results: list[FloatArray] = [np.empty(0, np.float32)] * len(tokens.lengths)
        if all_cores:
            with closing(run(self.model, self.forward, tokens, total)) as found:
                for rows, batch, result in found:
                    self._divide(rows, batch, result, results)
            return results
        with closing(on_cores(1, lambda item: self.forward(item[1]), batches(tokens, total))) as computed:
            for (rows, batch), result in computed:
                self._divide(rows, batch, result, results)
        return results

    def _divide(self, rows: IntArray, batch: Batch, result: Tensor, results: list[FloatArray]) -> None:
        """Copy the result of each row, so that it does not keep the whole batch in memory."""
        array: FloatArray = result.float().cpu().numpy()
        parts = np.split(array, np.cumsum(batch.lengths)[:-1]) if self.by_token else list(array)
        for row, part in zip(rows.tolist(), parts, strict=True):
            copy = np.array(part)
            copy.setflags(write=False)
            results[row] = copy
