"""The transformer and its weights, as files. No code and no pickle from a model folder is ever run.

BERT and its relatives are read here, by translating between the names in their checkpoints and ours. Every other
encoder is read by :mod:`sbert.hub.foreign` through transformers, which takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sbert.disk.files import write_json
from sbert.hub import lora
from sbert.hub.files import read_object, reading, refusal
from sbert.hub.kind import ADAPTER
from sbert.hub.limits import DEEPEST, WIDEST
from sbert.hub.schema import FLAG, TEXT, checked, number, whole
from sbert.hub.tensors import SAFETENSORS, Stored, fill, weights_path, write_tensors
from sbert.nn.bert import ACTIVATIONS, Bert, BertSizes
from sbert.nn.transformer import Facts, Transformer


@dataclass(frozen=True, slots=True)
class _Kind:
    """One value of ``model_type``, and the names of the tensors in its checkpoints."""

    architecture: str
    """The name of the class in transformers."""
    after_padding: bool
    """Whether positions start after the padding's id."""
    outside: Mapping[str, str]
    layer: str
    """What precedes the names in ``inside``; the number of the layer is filled in."""
    inside: Mapping[str, tuple[str, ...]]


_OUTSIDE = {
    "words": "embeddings.word_embeddings",
    "places": "embeddings.position_embeddings",
    "segments": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
    "projection": "embeddings_project",
    "pooler": "pooler.dense",
}
_INSIDE = {
    "attention_out": ("attention.output.dense",),
    "attention_norm": ("attention.output.LayerNorm",),
    "qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "widen": ("intermediate.dense",),
    "narrow": ("output.dense",),
    "output_norm": ("output.LayerNorm",),
}
_ALBERT = _Kind(
    "AlbertModel",
    after_padding=False,
    outside=_OUTSIDE | {"projection": "encoder.embedding_hidden_mapping_in", "pooler": "pooler"},
    layer="encoder.albert_layer_groups.0.albert_layers.{}.",
    inside={
        "attention_out": ("attention.dense",),
        "attention_norm": ("attention.LayerNorm",),
        "qkv": ("attention.query", "attention.key", "attention.value"),
        "widen": ("ffn",),
        "narrow": ("ffn_output",),
        "output_norm": ("full_layer_layer_norm",),
    },
)
_like_bert = partial(_Kind, outside=_OUTSIDE, layer="encoder.layer.{}.", inside=_INSIDE)
_KINDS = {
    "bert": _like_bert("BertModel", after_padding=False),
    "electra": _like_bert("ElectraModel", after_padding=False),
    "roberta": _like_bert("RobertaModel", after_padding=True),
    "xlm-roberta": _like_bert("XLMRobertaModel", after_padding=True),
    "camembert": _like_bert("CamembertModel", after_padding=True),
    "albert": _ALBERT,
}
_PREFIXES = ("albert.", "bert.", "electra.", "roberta.")  # in checkpoints of models with a head
_NOT_CARRIED = ("auto_map", "torch_dtype", "attn_implementation")
_KIND = {"model_type": TEXT.otherwise(None)}
_UNUSUAL = {
    "hidden_act": TEXT.otherwise("gelu"),
    "position_embedding_type": TEXT.otherwise("absolute"),
    "is_decoder": FLAG.otherwise(False),
    "add_cross_attention": FLAG.otherwise(False),
}
_SIZES = {
    "vocab_size": whole(1),
    "hidden_size": whole(1, WIDEST),
    "num_hidden_layers": whole(1, DEEPEST),
    "num_attention_heads": whole(1, WIDEST),
    "intermediate_size": whole(2, WIDEST),  # a product with one column is rounded by the place of its row
    "max_position_embeddings": whole(1),
    "type_vocab_size": whole(1, WIDEST),
    "layer_norm_eps": number(0, 1),
}
_OPTIONS = {
    "embedding_size": whole(1, WIDEST).otherwise(None),
    "pad_token_id": whole(0).otherwise(None),
    "hidden_act": TEXT.otherwise("gelu"),
    "hidden_dropout_prob": number(0, 1).otherwise(0.1),
    "attention_probs_dropout_prob": number(0, 1).otherwise(0.1),
}
# What ALBERT assumes where these are missing differs from the defaults above, so such a model goes to transformers.
_SAID_BY_ALBERT = ("embedding_size", "hidden_act", "hidden_dropout_prob", "attention_probs_dropout_prob")
_ALBERT_LAYERS = {"num_hidden_groups": whole(0).otherwise(1), "inner_group_num": whole(0).otherwise(1)}


def read_transformer(folder: Path, legacy_weights: bool = False) -> Transformer:
    """Return the encoder in ``folder``, in float32."""
    if (folder / ADAPTER).is_file():
        return _read_merged(folder, legacy_weights)
    path = folder / "config.json"
    settings = read_object(path)
    kind = checked(settings, _KIND, path)["model_type"]
    weights = weights_path(folder, legacy_weights)
    if kind in _KINDS and _is_usual(settings, path) and (kind != "albert" or _is_usual_albert(settings, path)):
        return _read_bert(settings, path, weights)
    from sbert.hub.foreign import read_foreign

    with reading(folder):
        return read_foreign(str(kind), settings, weights)


def _read_merged(folder: Path, legacy_weights: bool) -> Transformer:
    """Return the base model of the LoRA adapter in ``folder`` with the adapter added to its weights."""
    transformer = read_transformer(lora.base_of(folder), legacy_weights)
    with torch.no_grad():
        lora.merge(folder, partial(_weight_of, transformer))
    return transformer


def _weight_of(transformer: Transformer, layer: str) -> Tensor | None:
    """Return the weights of a linear layer by its name in checkpoints, as a view that can be changed."""
    if not isinstance(transformer, Bert):
        body: Any = transformer.model
        named = layer.removeprefix(f"{body.base_model_prefix}.")
        weights: dict[str, Tensor] = dict(body.named_parameters())
        return weights.get(f"{named}.weight")
    kind, wanted = _KINDS[transformer.settings["model_type"]], f"{_plain(layer)}.weight"
    for ours, tensor in transformer.state_dict().items():
        names = _their_names(kind, ours)
        if wanted in names:
            part: Tensor = tensor.chunk(len(names))[names.index(wanted)]
            return part
    return None


def write_transformer(transformer: Transformer, folder: Path) -> None:
    """Write config.json and model.safetensors, under the names that other libraries use."""
    if not isinstance(transformer, Bert):
        from sbert.hub.foreign import write_foreign

        write_foreign(transformer, folder)
        return
    tensors: dict[str, Tensor] = {}
    for ours, tensor in transformer.state_dict().items():
        names = _their_names(_KINDS[transformer.settings["model_type"]], ours)
        tensors |= dict(zip(names, tensor.chunk(len(names)), strict=True))
    write_json(folder / "config.json", transformer.settings)
    write_tensors(tensors, folder / SAFETENSORS)


def lacks_pooler(transformer: Transformer) -> bool:
    """Return whether the weights come without the pooler that the architecture has."""
    if isinstance(transformer, Bert):
        return transformer.pooler is None and transformer.facts.architecture != "ElectraModel"  # which never has one
    return getattr(transformer.model, "pooler", ...) is None


def _is_usual(settings: dict[str, Any], path: Path) -> bool:
    """Return whether the settings of a BERT ask for nothing that :class:`sbert.nn.bert.Bert` lacks."""
    if any(settings.get(key) is None for key in _SIZES) or settings.get("quantization_config"):
        return False
    activation, positions, decoder, cross_attention = checked(settings, _UNUSUAL, path).values()
    return activation in ACTIVATIONS and positions == "absolute" and not decoder and not cross_attention


def _is_usual_albert(settings: dict[str, Any], path: Path) -> bool:
    """Return whether a single layer is shared by all passes, and nothing is left to ALBERT's own defaults."""
    single = set(checked(settings, _ALBERT_LAYERS, path).values()) == {1}
    return single and all(settings.get(key) is not None for key in _SAID_BY_ALBERT)


def _read_bert(settings: dict[str, Any], path: Path, weights: Path) -> Bert:
    kind = _KINDS[settings["model_type"]]
    stored = Stored(weights, _plain)
    sizes = _sizes(settings, path, kind, pooler=f"{kind.outside['pooler']}.weight" in stored.shapes)
    carried = {key: value for key, value in settings.items() if key not in _NOT_CARRIED and not key.startswith("_")}
    carried |= {"architectures": [sizes.facts.architecture], "dtype": "float32"}
    with torch.device("meta"):  # neither memory nor random weights
        model = Bert(sizes, carried)
    fill(model, stored, partial(_their_names, kind), besides=stored.shapes)
    return model.requires_grad_().eval()


def _plain(name: str) -> str:
    """Return the name of a tensor as today's checkpoints of bare encoders have it."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _their_names(kind: _Kind, ours: str) -> list[str]:
    """Return the tensors of a checkpoint that form one of ours: query, key and value are a single matrix here."""
    module, _, part = ours.rpartition(".")
    if module in kind.outside:
        return [f"{kind.outside[module]}.{part}"]
    _, number, inner = module.split(".")
    return [f"{kind.layer.format(number)}{name}.{part}" for name in kind.inside[inner]]


def _sizes(settings: dict[str, Any], path: Path, kind: _Kind, pooler: bool) -> BertSizes:
    said = checked(settings, _SIZES | _OPTIONS, path)
    hidden, heads = said["hidden_size"], said["num_attention_heads"]
    if hidden % heads:
        raise refusal(path, f"has hidden_size {hidden}, which its num_attention_heads, {heads}, do not divide")
    padding = int(kind.after_padding) if said["pad_token_id"] is None else said["pad_token_id"]
    first = padding + 1 if kind.after_padding else 0
    positions = said["max_position_embeddings"]
    if positions <= first or padding >= said["vocab_size"]:
        raise refusal(path, f"has pad_token_id {padding}, which leaves no positions or is not in the vocabulary")
    facts = Facts(
        architecture=kind.architecture,
        hidden_size=hidden,
        depth=said["num_hidden_layers"],
        vocabulary_size=said["vocab_size"],
        max_length=positions - first,
        first_position=first,
        segments=said["type_vocab_size"],
        pad_token_id=padding,
    )
    return BertSizes(
        facts=facts,
        embedding_size=said["embedding_size"] or hidden,
        heads=heads,
        intermediate_size=said["intermediate_size"],
        activation=said["hidden_act"],
        norm_epsilon=said["layer_norm_eps"],
        hidden_dropout=said["hidden_dropout_prob"],
        attention_dropout=said["attention_probs_dropout_prob"],
        pooler=pooler,
        shared_layer=kind is _ALBERT,
    )
