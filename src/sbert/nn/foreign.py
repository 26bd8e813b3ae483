"""Any transformers encoder over a packed batch, with no model code of ours. Knows tensors only: no strings, no files.

A model earns the packed route: when it is wrapped, a probe of mixed lengths goes through its own forward and
through the packed one. Where they differ (MPNet and DeBERTa-v2 compute position biases over the whole row), or
where the model knows no pluggable attention, equal lengths go through its own forward together instead:
slower, but with the same guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, PreTrainedModel

from sbert.nn.attention import attend
from sbert.nn.transformer import MIN_ROWS, Facts, Transformer
from sbert.types import Group

PACKED = "sbert_packed"
_PROBE_TOLERANCE = 1e-5
_LARGEST_WINDOW = 512
"""Tokens of the widest attention window whose edges the probe reaches."""


class Foreign(Transformer):
    """A transformers encoder whose tokens lie end to end.

    Args:
        model: an encoder whose forward returns ``last_hidden_state``; the wrapper owns it from here on.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model.eval()
        self.facts = _facts(model)
        self.packed = self._probe()

    def hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """(T,) token ids of texts of these lengths, and of pairs each token's segment -> (T, H)."""
        return self._together(ids, groups, types) if self.packed else self._by_length(ids, groups, types)

    def _together(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        positions = self.positions(groups, ids.device)
        segments = {} if types is None else {"token_type_ids": types[None]}
        output = self.model(input_ids=ids[None], position_ids=positions[None], groups=groups, **segments)
        hidden: Tensor = output.last_hidden_state
        return hidden[0]

    def _by_length(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        pieces = []
        # MKL rounds otherwise where a product is stored at an address that is no multiple of 16 bytes. With four
        # heads, or eight, or twelve, every text's attention scores begin at one; else only every second or fourth do.
        copies = 4 // math.gcd(4, getattr(self.model.config, "num_attention_heads", 1))
        inputs = {"input_ids": ids} | ({} if types is None else {"token_type_ids": types})
        start = 0
        for group in groups:
            tokens = group.texts * group.length
            repeats = math.ceil(MIN_ROWS / tokens)
            rows = {
                name: values[start : start + tokens].view(group).repeat_interleave(copies, 0).repeat(repeats, 1)
                for name, values in inputs.items()
            }
            hidden = self.model(**rows).last_hidden_state[::copies]
            pieces.append(hidden.flatten(0, 1)[:tokens])
            start += tokens
        return torch.cat(pieces)

    @torch.inference_mode()
    def _probe(self) -> bool:
        """Whether the packed route gives what the model's own forward gives, on texts of mixed lengths."""
        config = self.model.config
        usual = config._attn_implementation
        window = min(getattr(config, "sliding_window", None) or 8, _LARGEST_WINDOW)
        groups = (Group(1, min(2 * window + 1, self.facts.max_length)), Group(2, 7), Group(1, 3))
        tokens = sum(group.texts * group.length for group in groups)
        ids = torch.arange(tokens, device=self.model.device) * 37 % config.vocab_size
        ids[ids == config.pad_token_id] = 0 if config.pad_token_id else 1
        expected = self._by_length(ids, groups)
        try:
            AttentionInterface.register(PACKED, packed_attention)
            self.model.set_attn_implementation(PACKED)
            got = self._together(ids, groups)
        except (TypeError, ValueError, RuntimeError):
            got = torch.full_like(expected, torch.nan)
        scale = max(1.0, float(expected.abs().max()))
        if float((got - expected).abs().max()) <= _PROBE_TOLERANCE * scale:
            return True
        self.model.set_attn_implementation(usual)
        return False


def packed_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    groups: Sequence[Group] = (),
    **unused: object,
) -> tuple[Tensor, None]:
    """Attention as transformers calls it: (1, heads, T, size) in, (1, T, heads, size) out."""
    q, k, v = (x[0].transpose(0, 1) for x in (query, key, value))
    return attend(q, k, v, groups, scale=scaling, dropout=dropout, window=sliding_window)[None], None


def _facts(model: PreTrainedModel) -> Facts:
    config = model.config
    first, positions = _positions(model)
    return Facts(
        architecture=type(model).__name__,
        hidden_size=config.hidden_size,
        depth=config.num_hidden_layers,
        vocabulary_size=config.vocab_size,
        max_length=positions,
        first_position=first,
        segments=getattr(config, "type_vocab_size", 0),
        pad_token_id=config.pad_token_id,
    )


def _positions(model: PreTrainedModel) -> tuple[int, int]:
    """The id of a text's first position, and how many positions there are; rotary models have no table at all."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            first = 0 if module.padding_idx is None else module.padding_idx + 1
            return first, module.num_embeddings - first
    return 0, int(getattr(model.config, "max_position_embeddings", 512))
