"""Every other text encoder as files, through transformers. Only what is listed here reaches that library.

A configuration can ask transformers for code from the hub (``attn_implementation``, ``auto_map``) or for another
model (a pretrained backbone). Therefore only text encoders are built, only from the keys that their own configuration
classes declare, and without a network.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import constants
from transformers import AutoModel, AutoTokenizer, PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES
from transformers.utils import logging

from sbert.errors import BadModel, shown
from sbert.hub.files import reading
from sbert.hub.limits import DEEPEST, LARGEST_BUFFERS
from sbert.hub.schema import LARGEST, TEXT, read_settings
from sbert.hub.tensors import Stored, lacks, misfit
from sbert.nn.foreign import Foreign
from sbert.nn.transformer import Transformer

ENCODERS = {
    *("albert", "bert", "big_bird", "camembert", "convbert", "data2vec-text", "deberta", "deberta-v2", "distilbert"),
    *("electra", "ernie", "eurobert", "flaubert", "fnet", "gte", "ibert", "jina_embeddings_v3", "luke"),
    *("megatron-bert", "mobilebert", "modernbert", "mpnet", "nomic_bert", "rembert", "roberta"),
    *("roberta-prelayernorm", "roc_bert", "roformer", "squeezebert", "xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet"),
    *("xmod", "gemma", "gemma2", "gemma3_text", "gpt2", "gpt_neox", "llama", "mistral", "olmo2", "opt", "phi", "phi3"),
    *("qwen2", "qwen3"),
}
"""The values of ``model_type`` that are built."""
_OLD_KEYS = {  # which configuration classes understand without declaring them
    *("global_attn_every_n_layers", "pooler_hidden_size", "sliding_window_pattern", "partial_rotary_factor"),
    *("rope_theta", "rope_scaling", "global_rope_theta", "local_rope_theta", "rope_local_base_freq"),
    *("rotary_emb_base", "rotary_pct"),
}
_UNSUPPORTED = ("quantization_config", "per_layer_config")
_REPEATS = {"num_hidden_layers", "n_layers", "n_layer", "num_hidden_groups", "inner_group_num"}
"""Keys that say how often a part of a model is built; their product is the number of layers."""
_ISOLATION = threading.RLock()


def read_foreign(kind: str, settings: dict[str, Any], path: Path) -> Foreign:
    """Return the encoder with the weights in ``path``.

    Args:
        kind: The ``model_type`` in ``settings``.
        settings: The contents of config.json.
        path: The file of weights beside it, or their index.
    """
    with _isolated():
        config = _config(kind, settings, path.parent / "config.json")
        _check_sizes(config, Stored(path))
        with reading(path):
            model, report = AutoModel.from_pretrained(
                path.parent,
                config=config,
                dtype=torch.float32,
                use_safetensors="safetensors" in path.name,
                weights_only=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        missing = report["missing_keys"]
        if needed := sorted(name for name in missing if not name.startswith("pooler.")):
            raise lacks(path, needed)
        if missing:  # only the pooler, which is not used
            model.pooler = None
        try:
            return Foreign(model)  # some models complain when they are tried
        except Exception as error:
            raise BadModel(
                f"{path.parent} holds {type(model).__name__}, which does not run as a text encoder "
                f"({shown(str(error))}); name an encoder such as BERT"
            ) from error


def read_old_tokenizer(folder: Path) -> Any:
    """Return the ``tokenizers`` tokenizer that transformers makes of older files: vocab.txt, sentencepiece."""
    path = folder / "tokenizer_config.json"
    name = read_settings(path, {"tokenizer_class": TEXT.otherwise(None)}, optional=True)["tokenizer_class"]
    known = {TOKENIZER_MAPPING_NAMES.get(kind) for kind in ENCODERS} | {"PreTrainedTokenizer", "TokenizersBackend"}
    if name is not None and name.removesuffix("Fast") not in {str(each).removesuffix("Fast") for each in known}:
        raise BadModel(f"{path} has tokenizer_class {shown(name)}, which is not known here; name another model")
    with _isolated():
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, tokenizer_type=_tokenizer_type(folder, name)
        )
    backend = tokenizer.backend_tokenizer
    if len(backend.get_vocab()) <= len(backend.get_added_tokens_decoder()):
        raise BadModel(f"{folder} has no vocabulary; download or save the model again")
    return backend


def _tokenizer_type(folder: Path, tokenizer_class: str | None) -> str | None:
    """Return the architecture whose tokenizer the files are for, or None if transformers chooses it.

    ALBERT has a sentencepiece tokenizer. Models in Korean and Chinese have the vocabulary of BERT's instead, and some
    do not name the class of their tokenizer.
    """
    kind = read_settings(folder / "config.json", {"model_type": TEXT.otherwise(None)}, optional=True)["model_type"]
    words = (folder / "vocab.txt").is_file() and not (folder / "spiece.model").is_file()
    return "bert" if kind == "albert" and words and tokenizer_class is None else None


def _config(kind: str, settings: dict[str, Any], path: Path) -> PreTrainedConfig:
    if kind not in ENCODERS or kind not in CONFIG_MAPPING:
        own_code = "needs code from its folder, which is never run"
        why = own_code if "auto_map" in settings else "is no known text encoder"
        raise BadModel(f"{path} has model_type {shown(kind)}, which {why}; name another model")
    for key in _UNSUPPORTED:
        if settings.get(key) is not None:
            raise BadModel(f"{path} has {key}, which is not supported; name a model with plain weights")
    cls: Any = CONFIG_MAPPING[kind]
    shared = {field.name for field in dataclasses.fields(PreTrainedConfig)}
    declared = {field.name for field in dataclasses.fields(cls)} - shared
    allowed = declared | set(cls.attribute_map) | _OLD_KEYS
    kept = {key: value for key, value in settings.items() if key in allowed}
    _check_numbers(kept, path)
    with reading(path):
        config: PreTrainedConfig = cls.from_dict(kept)
    return config


def _check_numbers(settings: dict[str, Any], path: Path) -> None:
    """Raise BadModel for numbers that no encoder has, before a loop or an allocation depends on them."""
    for key, value in settings.items():
        for number in _numbers(value):
            if not -LARGEST <= number <= LARGEST:
                raise BadModel(f"{path} has {key} {shown(number)}, which no encoder has; download the model again")
    counts = [sum(map(abs, _numbers(value))) for key, value in settings.items() if key in _REPEATS]
    if math.prod(max(1, int(count)) for count in counts) > DEEPEST:
        raise BadModel(f"{path} asks for more than {DEEPEST:,} layers; download the model again")


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, int | float):
        yield value if value == value else math.inf  # NaN compares with nothing
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _numbers(part)


def _check_sizes(config: PreTrainedConfig, stored: Stored) -> None:
    """Raise BadModel if the encoder has more weights than its file, before memory is allocated for them."""
    with reading(stored.path), torch.device("meta"):
        model = AutoModel.from_config(config)
    needed = sum(tensor.numel() for name, tensor in model.named_parameters() if not name.startswith("pooler."))
    held = sum(math.prod(shape) for shape in stored.shapes.values())
    computed = sum(tensor.numel() for tensor in model.buffers())
    if needed > held or computed > LARGEST_BUFFERS + held:
        raise misfit(stored.path, f"it holds {held:,} numbers, but the encoder has {needed:,} weights")


def write_foreign(transformer: Transformer, folder: Path) -> None:
    """Write config.json and model.safetensors."""
    assert isinstance(transformer, Foreign)
    with _isolated():
        transformer.model.save_pretrained(folder)


@contextmanager
def _isolated() -> Iterator[None]:
    """Run transformers without output and without a network.

    Its settings are global, so one thread at a time changes them and restores them afterwards. A download in another
    thread finds the hub offline in the meantime.
    """
    with _ISOLATION:
        verbosity, bars, offline = logging.get_verbosity(), logging.is_progress_bar_enabled(), constants.HF_HUB_OFFLINE
        logging.set_verbosity(ERROR)
        logging.disable_progress_bar()
        constants.HF_HUB_OFFLINE = True
        try:
            yield
        finally:
            constants.HF_HUB_OFFLINE = offline
            logging.set_verbosity(verbosity)
            if bars:
                logging.enable_progress_bar()
