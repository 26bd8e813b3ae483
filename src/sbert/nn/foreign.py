"""Runs any transformers encoder on a batch without padding. Works on tensors only.

When a model is wrapped, texts of different lengths are processed once by its own forward pass and once packed, which
means laid end to end in one row. If the results agree, the model runs packed. If they differ (MPNet and DeBERTa-v2
compute a position bias over the whole row), or if its attention cannot be replaced, texts of equal length are run
together through its own forward pass: slower, but with the same guarantees.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, PreTrainedModel

from sbert.nn.attention import attend
from sbert.nn.stable import aligned_copies, repeats, whole_texts
from sbert.nn.transformer import Facts, Transformer
from sbert.types import Group

PACKED = "sbert_packed"
_PROBE_TOLERANCE = 1e-5
_LARGEST_WINDOW = 512
"""Number of tokens of the widest attention window whose edges the probe tests."""


class Foreign(Transformer):
    """A transformers encoder as a :class:`Transformer`.

    Args:
        model: An encoder whose forward pass returns ``last_hidden_state``. Its attention may be replaced.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model.eval()
        self.facts = _facts(model)
        self.packed = self._probe()

    def hidden(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        """Compute the hidden states of all tokens: (T,) -> (T, H)."""
        return self._together(ids, groups, types) if self.packed else self._by_length(ids, groups, types)

    def _together(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        positions = self.positions(groups, ids.device)
        segments = {} if types is None else {"token_type_ids": types[None]}
        output = self.model(input_ids=ids[None], position_ids=positions[None], groups=groups, **segments)
        hidden: Tensor = output.last_hidden_state
        return hidden[0]

    def _by_length(self, ids: Tensor, groups: tuple[Group, ...], types: Tensor | None = None) -> Tensor:
        pieces = []
        copies = aligned_copies(getattr(self.model.config, "num_attention_heads", 1))
        inputs = {"input_ids": ids} | ({} if types is None else {"token_type_ids": types})
        start = 0
        for group in groups:
            tokens = group.texts * group.length
            some = {name: values[start : start + tokens].view(group) for name, values in inputs.items()}
            rows = {name: x.repeat_interleave(copies, 0).repeat(repeats(tokens), 1) for name, x in some.items()}
            if self.has_odd_widths:  # texts follow until the tokens fill whole vectors
                rows = {name: x[torch.arange(whole_texts(*x.shape)) % len(x)] for name, x in rows.items()}
            hidden = self.model(**rows).last_hidden_state[::copies]
            pieces.append(hidden.flatten(0, 1)[:tokens])
            start += tokens
        return torch.cat(pieces)

    @torch.inference_mode()
    def _probe(self) -> bool:
        """Return whether the packed forward pass agrees with the model's own on texts of different lengths."""
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
    """Attend within each text, with the signature of transformers: (1, heads, T, size) -> (1, T, heads, size)."""
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
    """Return the id of the first position and the number of positions. Rotary models have no table of them."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            first = 0 if module.padding_idx is None else module.padding_idx + 1
            return first, module.num_embeddings - first
    return 0, int(getattr(model.config, "max_position_embeddings", 512))
