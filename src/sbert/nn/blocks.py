"""Divides the large functions of a forward pass among several cores, with the same bits. Works on tensors only.

In a batch without padding, every function but attention processes each token separately, and attention processes each
head separately. Blocks of tokens or heads can therefore be computed by different cores, each with the function that
would compute the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from sbert.nn import products
from sbert.nn.stable import WHOLE_ROWS
from sbert.nn.threads import on_cores

SMALLEST_BLOCK = 64
"""Number of tokens from which a block is worth a core of its own."""
# The arguments of each function that have one row per token.
_BY_ROWS: dict[Callable[..., Any], tuple[int, ...]] = {
    F.linear: (0,),
    F.gelu: (0,),
    F.layer_norm: (0,),
    torch.addmm: (1,),
    Tensor.addmm_: (0, 1),
    torch.ops.aten.gelu_: (0,),
    **products.BY_ROWS,
}
_IN_PLACE = (Tensor.addmm_, torch.ops.aten.gelu_)


class Blocks(TorchFunctionMode):
    """A context in which large functions run on up to ``cores`` cores. For inference only."""

    def __init__(self, cores: int) -> None:
        super().__init__()
        self.cores = cores

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call ``function``, in blocks where that gives the same bits."""
        kwargs = dict(kwargs or {})
        if function in _BY_ROWS:
            return self._by_rows(function, list(args), kwargs)
        if function is F.scaled_dot_product_attention:
            return self._by_heads(list(args), kwargs)
        return function(*args, **kwargs)

    def _by_rows(self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
        places = _BY_ROWS[function]
        whole = args[places[0]]
        blocks = _blocks(whole.shape[:-1].numel(), self.cores)
        if len(blocks) < 2:
            return function(*args, **kwargs)
        target = whole if function in _IN_PLACE else kwargs.pop("out", None)

        def compute(block: tuple[int, int]) -> Tensor:
            rows = slice(*block)
            some = [arg.flatten(0, -2)[rows] if place in places else arg for place, arg in enumerate(args)]
            into = {"out": target[rows]} if target is not None and target is not whole else {}
            result: Tensor = function(*some, **kwargs, **into)
            return result

        results = dict(on_cores(self.cores, compute, blocks))
        if target is not None:
            return target
        return torch.cat([results[block] for block in blocks]).unflatten(0, whole.shape[:-1])

    def _by_heads(self, args: list[Any], kwargs: dict[str, Any]) -> Tensor:
        """(n, heads, L, size) -> (n, heads, L, size)."""
        attend = F.scaled_dot_product_attention
        query, key, value, *rest = args
        texts, heads, length, _ = query.shape
        mask = kwargs.get("attn_mask", rest[0] if rest else None)
        several_masks = mask is not None and mask.dim() > 2
        if several_masks or texts * length < 2 * SMALLEST_BLOCK:
            return attend(*args, **kwargs)

        def compute(block: tuple[int, int]) -> Tensor:
            some = slice(*block)
            return attend(query[:, some], key[:, some], value[:, some], *rest, **kwargs)

        cuts = torch.linspace(0, heads, min(self.cores, heads) + 1).int().tolist()
        blocks = list(pairwise(cuts))
        results = dict(on_cores(self.cores, compute, blocks))
        return torch.cat([results[block] for block in blocks], dim=1)


def _blocks(rows: int, cores: int) -> list[tuple[int, int]]:
    """Divide ``rows`` into at most ``cores`` blocks that begin at multiples of WHOLE_ROWS.

    >>> _blocks(200, cores=3)
    [(0, 64), (64, 128), (128, 200)]
    """
    count = max(1, min(cores, rows // SMALLEST_BLOCK))
    cuts = [rows * block // count // WHOLE_ROWS * WHOLE_ROWS for block in range(count)]
    return list(pairwise([*cuts, rows]))
