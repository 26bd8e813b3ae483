"""Any other encoder, as files, through transformers. Its auto_map, code in a model folder, is ignored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import logging

from sbert.errors import BadModel
from sbert.hub.modules import damaged
from sbert.nn.foreign import Foreign
from sbert.nn.transformer import Transformer


def read_foreign(settings: dict[str, Any], path: Path) -> Foreign:
    """The encoder with the weights in ``path``."""
    config = _config(settings, path.parent)
    try:
        with quiet():
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
    except Exception as error:  # a library of many authors: anything may come out of a damaged file
        raise damaged(path, error) from error
    _check_complete(model, report["missing_keys"], path)
    try:
        with quiet():  # some models complain of being tried
            return Foreign(model)
    except Exception as error:
        raise BadModel(
            f"{path.parent} holds {type(model).__name__}, which does not run as a text encoder ({error}); "
            "name an encoder such as BERT"
        ) from error


def _config(settings: dict[str, Any], folder: Path) -> PreTrainedConfig:
    kind = str(settings.get("model_type"))
    if kind not in CONFIG_MAPPING:
        code = "auto_map" in settings
        why = "needs code from its folder, which is never run" if code else "is unknown to transformers"
        raise BadModel(f"{folder / 'config.json'} has model_type {kind!r}, which {why}; name another model")
    known = {key: value for key, value in settings.items() if key != "auto_map"}
    config: PreTrainedConfig = CONFIG_MAPPING[kind].from_dict(known)
    return config


def _check_complete(model: PreTrainedModel, missing: set[str], path: Path) -> None:
    """Every tensor must have come from the file, except the pooler, which we do not use: then it has none."""
    needed = sorted(name for name in missing if not name.startswith("pooler."))
    if needed:
        some = ", ".join(needed[:3]) + (", ..." if len(needed) > 3 else "")
        raise BadModel(f"{path} lacks {len(needed)} tensors ({some}); download or save the model again")
    if missing:
        model.pooler = None  # type: ignore[assignment]


def write_foreign(transformer: Transformer, folder: Path) -> None:
    """Store config.json and model.safetensors."""
    assert isinstance(transformer, Foreign)
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
