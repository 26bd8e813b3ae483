"""Defines the rules that make the result of a text independent of its batch and of the number of threads.

Floating-point addition is not associative, so two kernels that add the same numbers in different orders give different
bits. Libraries choose a kernel, and its order, by the shape of the whole input, by memory addresses and by the number
of threads. Under the rules below, the choice depends on the text alone:

1. One core, or few. Every call of a function runs on a single core (:mod:`sbert.nn.threads`). Several cores work on
   several batches, or on blocks of rows or heads of one batch (:mod:`sbert.nn.blocks`), so a result does not depend on
   their number. A single batch of :class:`sbert.nn.bert.Bert` may use all threads of the caller, if there are no more
   than :func:`safe_threads` allows for the narrowest product.
2. No padding. Texts of one length attend together, others separately (:mod:`sbert.nn.attention`).
3. Enough rows. A matrix product with fewer than about 12 rows uses another kernel. Rows are repeated until there are
   MIN_ROWS of them. This holds for MKL if ``MKL_CBWR`` is ``AUTO,STRICT``, which ``import sbert`` sets, and for oneDNN
   (:mod:`sbert.nn.products`).
4. At least two columns. With one column, the library computes a product of a matrix and a vector, whose order of
   addition depends on the address of the row.
5. Aligned blocks. MKL rounds differently at addresses that are not multiples of 16 bytes, so the number of rows or
   copies is chosen such that every block begins at such a multiple.
6. Full vectors. Attention computes LANES exponentials at once and the remaining ones with another function. Keys are
   over-read up to a multiple of LANES, and a mask gives the keys of other texts a weight of exactly zero. Likewise,
   activations such as SiLU and the tanh form of GELU compute two vectors of values at once, so the number of rows is
   rounded up to a multiple of WHOLE_ROWS unless every row fills such vectors by itself.

``tests/nn/test_stable.py`` checks each rule, and ``tests/models/test_invariance.py`` their joint effect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from sbert.types import Group

MIN_ROWS = 16
"""Number of rows from which the result of a row no longer depends on the number of rows. Measured: 12."""
LANES = 16 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 8
"""Number of exponentials that the attention kernel computes at once."""
WHOLE_ROWS = 32
"""Number of values that an activation computes at once at most: so many rows of any width fill whole vectors."""
SPARE_ROWS = LANES - 1
"""Number of rows that must follow the last text, so that its keys can be over-read."""
_ALIGNED_FLOATS = 4  # 16 bytes
# Width of a product, and the number of threads that leave its bits as they are with one thread: a third of the number
# from which MKL was measured to sum in another order (12 threads for 128 columns, 36 for 384, 96 for 768).
_SAFE_THREADS = ((768, 32), (384, 12), (128, 4))


def safe_threads(width: int) -> int:
    """Return how many threads may share a matrix product of this width without changing its bits.

    >>> safe_threads(384), safe_threads(2)
    (12, 1)
    """
    return next((threads for least, threads in _SAFE_THREADS if width >= least), 1)


def repeats(rows: int, least: int = MIN_ROWS) -> int:
    """Return how often ``rows`` rows must be repeated to become at least ``least``.

    >>> repeats(5), repeats(16), repeats(0)
    (4, 1, 1)
    """
    return math.ceil(least / rows) if rows else 1


def fill(rows: Tensor, least: int = MIN_ROWS) -> Tensor:
    """Repeat ``rows`` until there are at least ``least``: (N, ...) -> (>= least, ...)."""
    return rows.repeat(repeats(len(rows), least), *[1] * (rows.dim() - 1))


def pad(rows: Tensor, count: int) -> Tensor:
    """Append rows of zeros: (N, ...) -> (count, ...)."""
    return F.pad(rows, (0, 0) * (rows.dim() - 1) + (0, count - len(rows)))


def aligned_rows(rows: int) -> int:
    """Round up to a number of rows that fill whole vectors and of which every block begins at an aligned address.

    >>> aligned_rows(1), aligned_rows(64)
    (32, 64)
    """
    return rows + -rows % WHOLE_ROWS


def whole_texts(texts: int, length: int) -> int:
    """Round up to a number of texts of one length whose rows fill whole vectors.

    >>> whole_texts(3, 5), whole_texts(33, 5), whole_texts(3, 16)
    (32, 64, 4)
    """
    return texts + -texts % (WHOLE_ROWS // math.gcd(WHOLE_ROWS, length))


def aligned_copies(heads: int) -> int:
    """Return how many copies of a text make the attention scores of every text begin at an aligned address.

    >>> aligned_copies(12), aligned_copies(6), aligned_copies(1)
    (1, 2, 4)
    """
    return _ALIGNED_FLOATS // math.gcd(_ALIGNED_FLOATS, heads)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Apply a linear map of any width: (N, K), (L, K), (L,) -> (N, L)."""
    return F.linear(x, fill(weight, 2), None if bias is None else fill(bias, 2))[:, : len(weight)]


def over_read(rows: Tensor, groups: Sequence[Group]) -> list[Tensor]:
    """View each text together with the rows that follow it: (T + SPARE_ROWS, ...) -> (n, L rounded up, ...) per group.

    The rows must be finite: a weight of zero times NaN is NaN.
    """
    pieces = []
    start = 0
    for texts, length in groups:
        rounded = length + -length % LANES
        last = start + (texts - 1) * length
        pieces.append(rows[start : last + rounded].unfold(0, rounded, length).movedim(-1, 1))
        start = last + length
    return pieces


def own_keys_mask(length: int, keys: Tensor) -> Tensor:
    """Return what to add to attention scores so that only the first ``length`` keys count: (1, L rounded up)."""
    mask = keys.new_zeros(1, keys.shape[2])
    mask[:, length:] = -torch.inf
    return mask
