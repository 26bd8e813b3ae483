"""Reads and writes the folder of a cross-encoder, which is a sequence classifier of transformers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn

from sbert.disk.files import real, write_json
from sbert.errors import BadModel, listed, shown
from sbert.hub.card import write_cross_card
from sbert.hub.files import read_object, reads_folder, whole_model
from sbert.hub.kind import CROSS, MODULES, SETTINGS, kind_of, listed_modules, versions, write_modules, wrong_kind
from sbert.hub.modules import by_path, path_of
from sbert.hub.parts import CrossParts
from sbert.hub.schema import FLAG, TABLE, checked, choice, number
from sbert.hub.tensors import SAFETENSORS, Stored, fill, weights_path, write_tensors
from sbert.hub.transformer import read_transformer, write_transformer
from sbert.hub.vocabulary import read_tokenizer, write_tokenizer
from sbert.nn.classify import Classifier, usual_scale
from sbert.nn.heads import ACTIVATIONS
from sbert.nn.transformer import Transformer
from sbert.types import Scale

_TASK = "sequence-classification"


@dataclass(frozen=True, slots=True)
class _Form:
    """An architecture's own classification head, and the names of its tensors."""

    name: str
    """The class in transformers is called this, followed by ForSequenceClassification."""
    body: str
    """Prefix of the names of the encoder's tensors."""
    dense: str
    projection: str
    activation: str
    drop_first: bool
    norm: str = ""
    """Name of the layer normalisation after the activation, if there is one."""
    activation_key: str = ""
    """The setting that names the activation, if there is one."""


_FORMS = {
    "bert": _Form("Bert", "bert.", "bert.pooler.dense", "classifier", "tanh", False),
    "albert": _Form("Albert", "albert.", "albert.pooler", "classifier", "tanh", False),
    "distilbert": _Form("DistilBert", "distilbert.", "pre_classifier", "classifier", "relu", False),
    "roberta": _Form("Roberta", "roberta.", "classifier.dense", "classifier.out_proj", "tanh", True),
    "xlm-roberta": _Form("XLMRoberta", "roberta.", "classifier.dense", "classifier.out_proj", "tanh", True),
    "camembert": _Form("Camembert", "roberta.", "classifier.dense", "classifier.out_proj", "tanh", True),
    "mpnet": _Form("MPNet", "mpnet.", "classifier.dense", "classifier.out_proj", "tanh", True),
    "modernbert": _Form(
        *("ModernBert", "model.", "head.dense", "classifier", "gelu", False, "head.norm", "classifier_activation")
    ),
    "deberta-v2": _Form(
        *("DebertaV2", "deberta.", "pooler.dense", "classifier", "gelu", False, "", "pooler_hidden_act")
    ),
    "electra": _Form("Electra", "electra.", "classifier.dense", "classifier.out_proj", "gelu", True),
}
_DROPOUTS = (
    *("classifier_dropout", "seq_classif_dropout", "classifier_dropout_prob", "cls_dropout", "hidden_dropout_prob"),
)
_HEAD = {"id2label": TABLE.otherwise(None), **{key: number(0, 1).otherwise(None) for key in _DROPOUTS}}
_MODERN_HEAD = {
    "classifier_bias": FLAG.otherwise(False),
    "classifier_pooling": choice(("cls", "mean")).otherwise("cls"),
    "norm_eps": number(0, 1).otherwise(1e-5),
    "norm_bias": FLAG.otherwise(False),
}
_NEW_HEAD = {"initializer_range": number(0, 1_000).otherwise(0.02)}
_SCALES: dict[Scale, type[nn.Module]] = {
    **{"sigmoid": nn.Sigmoid, "identity": nn.Identity, "softmax": nn.Softmax},
    "tanh": nn.Tanh,
}
_OLD_SCALE = "sbert_ce_default_activation_function"  # where sentence-transformers stored it before version 4


@reads_folder
def read_cross(folder: Path, new_labels: int = 1, seed: int = 0) -> CrossParts:
    """Return the parts of the cross-encoder in ``folder``.

    Args:
        folder: A model folder. A plain encoder gets a new head.
        new_labels: Number of labels of a new head.
        seed: Random seed of a new head.
    """
    kind = kind_of(folder)
    if kind is not None and kind != CROSS:
        besides = ", or put a new head on its body with CrossEncoder(Backbone.from_pretrained(...))"
        raise wrong_kind(folder, kind, f"a {CROSS} or a plain encoder is", besides)
    settings, noted = read_object(folder / "config.json"), read_object(folder / SETTINGS, optional=True)
    _check_plain(folder, noted)
    transformer = read_transformer(folder)
    tokenizer = read_tokenizer(folder, transformer, task=_TASK)
    if kind is None:
        head, settings = new_head(transformer, new_labels, seed), {}  # the encoder's labels are not the new head's
    else:
        head = _read_head(settings, transformer.facts.hidden_size, folder)
        _take_pooler(transformer)
    labels = _read_labels(settings, head, folder / "config.json")
    scale = _read_scale(settings, noted, folder) or usual_scale(len(labels))
    return CrossParts(tokenizer, transformer, head, labels, scale)


def new_head(transformer: Transformer, labels: int, seed: int) -> Classifier:
    """Return a new head of the architecture's own form for a body without one.

    The body's pooler becomes part of the head if the form has one, and is dropped otherwise, as transformers does.
    """
    body: Any = transformer
    settings = body.settings if hasattr(body, "settings") else body.model.config.to_dict()
    form, path = _form(settings, "the encoder"), Path("config.json")
    head = _head(form, settings, path, transformer.facts.hidden_size, labels)
    head.draw(checked(settings, _NEW_HEAD, path)["initializer_range"], seed)
    pooler = _take_pooler(transformer)
    if pooler is not None and form.dense.startswith(form.body):
        head.dense.load_state_dict(pooler.state_dict())
    return head.eval()


def write_cross(parts: CrossParts, folder: Path) -> None:
    """Save a cross-encoder whole or not at all. Replaces a model, but no other folder."""
    with whole_model(folder) as draft:
        write_transformer(parts.transformer, draft)
        _add_head(parts, draft)
        write_tokenizer(parts.tokenizer, parts.transformer, draft, {"transformer_task": _TASK})
        write_modules(draft)
        noted = {"model_type": CROSS, "__version__": versions(), "prompts": {}, "default_prompt_name": None}
        write_json(draft / SETTINGS, noted | {"activation_fn": path_of(_SCALES[parts.scale])})
        write_cross_card(parts, draft, real(folder).name)


def _add_head(parts: CrossParts, folder: Path) -> None:
    """Turn the encoder in ``folder`` into a classifier: add the tensors of the head, the labels and the scale."""
    path, weights, new = folder / "config.json", folder / SAFETENSORS, folder / "whole.safetensors"
    settings = read_object(path)
    form = _form(settings, folder)
    body = {form.body + name: tensor for name, tensor in load_file(weights).items()}
    head = {theirs: parts.head.state_dict()[ours] for ours, theirs in _names(form, parts.head).items()}
    write_tensors(body | head, new)
    new.replace(weights)  # not overwritten, because the old file is mapped to memory
    for key in (_OLD_SCALE, "num_labels", "problem_type"):
        settings.pop(key, None)
    settings |= {
        "architectures": [f"{form.name}ForSequenceClassification"],
        "id2label": {str(number): name for number, name in enumerate(parts.labels)},
        "label2id": {name: number for number, name in enumerate(parts.labels)},
        "sentence_transformers": {"activation_fn": path_of(_SCALES[parts.scale])},
    }
    write_json(path, settings)


def _check_plain(folder: Path, noted: dict[str, Any]) -> None:
    """Raise BadModel where sentence-transformers would do more than run the classifier."""
    path = folder / MODULES
    types = [name for name, _ in listed_modules(path)] if path.is_file() else []
    if types and [name.rpartition(".")[2] for name in types] != ["Transformer"]:
        raise BadModel(f"{path} lists {listed(types)}, but only a Transformer with its own head is supported")
    if noted.get("default_prompt_name"):
        raise BadModel(f"{folder / SETTINGS} has a default prompt, but pairs are read without prompts; remove it")


def _read_head(settings: dict[str, Any], size: int, folder: Path) -> Classifier:
    form = _form(settings, folder)
    stored = Stored(weights_path(folder))
    labels = (*stored.shapes.get(f"{form.projection}.weight", ()), 1)[0]
    with torch.device("meta"):  # no memory before the sizes have been compared with the stored tensors
        head = _head(form, settings, folder / "config.json", size, labels)
    names = _names(form, head)
    fill(head, stored, lambda ours: [names[ours]], besides=stored.shapes)
    return head.eval()


def _read_labels(settings: dict[str, Any], head: Classifier, path: Path) -> tuple[str, ...]:
    numbers = [str(number) for number in range(head.projection.out_features)]
    named = checked(settings, _HEAD, path)["id2label"] or {number: f"LABEL_{number}" for number in numbers}
    if set(named) != set(numbers):
        raise BadModel(f"{path} names the labels {listed(named)}, but the head gives {listed(numbers)}; make them fit")
    return tuple(str(named[number]) for number in numbers)


def _read_scale(settings: dict[str, Any], noted: dict[str, Any], folder: Path) -> Scale | None:
    """Return the scale of the scores, wherever a release of sentence-transformers stored it, or None."""
    inside = settings.get("sentence_transformers")
    places = (noted.get("activation_fn"), inside.get("activation_fn") if isinstance(inside, dict) else None)
    stored = next(filter(None, (*places, settings.get(_OLD_SCALE))), None)
    if stored is None:
        return None
    return by_path(stored, _SCALES, f"{folder} has the activation")


def _form(settings: dict[str, Any], what: object) -> _Form:
    kind = settings.get("model_type")
    if not isinstance(kind, str) or kind not in _FORMS:
        raise BadModel(f"{what} is of type {shown(kind)}, but cross-encoders are made of {', '.join(_FORMS)}")
    return _FORMS[kind]


def _head(form: _Form, settings: dict[str, Any], path: Path, size: int, labels: int) -> Classifier:
    said = checked(settings, _HEAD, path)
    dropout = next((said[key] for key in _DROPOUTS if said[key] is not None), 0.1)
    activation = settings.get(form.activation_key) or form.activation
    if activation not in ACTIVATIONS:
        raise BadModel(f"{path} has {form.activation_key} {shown(activation)}, but {', '.join(ACTIVATIONS)} are known")
    modern = checked(settings, _MODERN_HEAD, path) if form.norm else None
    norm = modern and nn.LayerNorm(size, eps=modern["norm_eps"], bias=modern["norm_bias"])
    return Classifier(
        *(size, labels),
        activation=activation,
        dropout=dropout,
        drop_first=form.drop_first,
        bias=modern is None or modern["classifier_bias"],
        norm=norm or None,
        reads_mean=modern is not None and modern["classifier_pooling"] == "mean",
    )


def _names(form: _Form, head: Classifier) -> dict[str, str]:
    """Return the tensors of a head: our name -> theirs."""
    layers = {"dense": form.dense, "projection": form.projection, "norm": form.norm}
    split = {ours: ours.rpartition(".") for ours in head.state_dict()}
    return {ours: f"{layers[layer]}.{part}" for ours, (layer, _, part) in split.items()}


def _take_pooler(transformer: Transformer) -> nn.Linear | None:
    """Remove the pooler from a transformer, and return its linear layer: a head takes its place."""
    body: Any = getattr(transformer, "model", transformer)
    pooler: Any = getattr(body, "pooler", None)
    if pooler is not None:
        body.pooler = None
    linear: nn.Linear | None = getattr(pooler, "dense", pooler)
    return linear
