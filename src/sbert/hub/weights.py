"""The transformer and its weights, as files. No code and no pickle from a model folder is ever run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR
from pathlib import Path

import torch
from transformers import AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import logging

from sbert.errors import BadModel
from sbert.hub.files import read_object
from sbert.hub.modules import damaged, weights_path
from sbert.nn.transformer import PackedTransformer


def read_transformer(folder: Path, legacy_weights: bool = False) -> PackedTransformer:
    """The encoder in ``folder``, in float32."""
    config = _read_config(folder)
    path = weights_path(folder, legacy_weights)
    try:
        with quiet():
            model, report = AutoModel.from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                use_safetensors="safetensors" in path.name,
                weights_only=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except Exception as error:  # a library of many authors: anything may come out of a damaged file
        raise damaged(path, error) from error
    _check_complete(model, report["missing_keys"], path)
    try:
        with quiet():  # some models complain of being tried
            return PackedTransformer(model)
    except Exception as error:
        raise BadModel(
            f"{folder} holds {type(model).__name__}, which does not run as a text encoder ({error}); "
            "name an encoder such as BERT"
        ) from error


def _read_config(folder: Path) -> PreTrainedConfig:
    path = folder / "config.json"
    if (folder / "adapter_config.json").is_file():
        raise BadModel(f"{folder} holds an adapter, but a whole model is needed; merge it into its base model first")
    stored = read_object(path)
    code = stored.pop("auto_map", None)
    kind = str(stored.get("model_type"))
    if kind not in CONFIG_MAPPING:
        why = "needs code from its folder, which is never run" if code else "is unknown to transformers"
        raise BadModel(f"{path} has model_type {kind!r}, which {why}; name another model")
    config: PreTrainedConfig = CONFIG_MAPPING[kind].from_dict(stored)
    return config


def _check_complete(model: PreTrainedModel, missing: set[str], path: Path) -> None:
    """Every tensor must have come from the file, except the pooler, which we do not use: then it has none."""
    needed = sorted(name for name in missing if not name.startswith("pooler."))
    if needed:
        some = ", ".join(needed[:3]) + (", ..." if len(needed) > 3 else "")
        raise BadModel(f"{path} lacks {len(needed)} tensors ({some}); download or save the model again")
    if missing:
        model.pooler = None  # type: ignore[assignment]


def write_transformer(transformer: PackedTransformer, folder: Path) -> None:
    """Store config.json and model.safetensors."""
    with quiet():
        transformer.model.save_pretrained(folder)


@contextmanager
def quiet() -> Iterator[None]:
    """Transformers without progress bars and reports; its settings are global, so they are put back."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(ERROR)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
