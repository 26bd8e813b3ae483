"""Runs a transformers encoder over a packed batch. Knows tensors only: no strings, no files.

A model earns the packed route: when it is wrapped, a probe of mixed lengths goes through its own forward and
through the packed one. Where they differ (MPNet and DeBERTa-v2 compute position biases over the whole row), or
where the model knows no pluggable attention, equal lengths go through its own forward together instead:
slower, but with the same guarantee.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from sbert.nn import attention
from sbert.types import Batch, Group

# From this many rows on, a row of a matrix product no longer depends on how many other rows there are: smaller
# products take other kernels, which round otherwise. Measured from 12 rows on; 16 leaves a margin.
MIN_ROWS = 16
_PROBE_TOLERANCE = 1e-5


class PackedTransformer(nn.Module):
    """A transformers encoder whose tokens lie end to end.

    Args:
        model: an encoder whose forward returns ``last_hidden_state``; the wrapper owns it from here on.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model.eval()
        self.hidden_size: int = model.config.hidden_size
        self.first_position, self.max_length = _positions(model)
        self.packed = self._probe()

    def forward(self, batch: Batch) -> Tensor:
        """Hidden states of the last layer, (T, H), in the order of the batch."""
        route = self._packed if self.packed else self._by_length
        repeats = math.ceil(MIN_ROWS / max(len(batch.input_ids), 1))
        ids = torch.from_numpy(batch.input_ids).to(self.model.device)  # (T,)
        hidden = route(ids.repeat(repeats), batch.groups * repeats)
        return hidden[: len(ids)]

    def _packed(self, ids: Tensor, groups: tuple[Group, ...]) -> Tensor:
        runs = [torch.arange(group.length, device=ids.device).repeat(group.texts) for group in groups]
        positions = torch.cat(runs) + self.first_position
        output = self.model(input_ids=ids[None], position_ids=positions[None], groups=groups)
        hidden: Tensor = output.last_hidden_state
        return hidden[0]

    def _by_length(self, ids: Tensor, groups: tuple[Group, ...]) -> Tensor:
        pieces = []
        for texts, group in zip(ids.split([g.texts * g.length for g in groups]), groups, strict=True):
            repeats = math.ceil(MIN_ROWS / len(texts))
            hidden = self.model(input_ids=texts.view(group).repeat(repeats, 1)).last_hidden_state
            pieces.append(hidden.flatten(0, 1)[: len(texts)])
        return torch.cat(pieces)

    @torch.inference_mode()
    def _probe(self) -> bool:
        """Whether the packed route gives what the model's own forward gives, on texts of mixed lengths."""
        usual = self.model.config._attn_implementation
        window = getattr(self.model.config, "sliding_window", None) or 8
        groups = (Group(1, min(2 * window + 1, self.max_length)), Group(2, 7), Group(1, 3))
        tokens = sum(group.texts * group.length for group in groups)
        ids = torch.arange(tokens, device=self.model.device) * 37 % self.model.config.vocab_size
        ids[ids == self.model.config.pad_token_id] = 0 if self.model.config.pad_token_id else 1
        expected = self._by_length(ids, groups)
        try:
            attention.register()
            self.model.set_attn_implementation(attention.PACKED)
            got = self._packed(ids, groups)
        except (TypeError, ValueError, RuntimeError):
            got = torch.full_like(expected, torch.nan)
        scale = max(1.0, float(expected.abs().max()))
        if float((got - expected).abs().max()) <= _PROBE_TOLERANCE * scale:
            return True
        self.model.set_attn_implementation(usual)
        return False


def _positions(model: PreTrainedModel) -> tuple[int, int]:
    """The id of a text's first position, and how many positions there are.

    RoBERTa and its kin number positions from ``padding_idx + 1``; rotary models have no table at all.
    """
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            first = 0 if module.padding_idx is None else module.padding_idx + 1
            return first, module.num_embeddings - first
    return 0, int(getattr(model.config, "max_position_embeddings", 512))
