"""The transformer and its weights, as files. No code and no pickle from a model folder is ever run.

BERT and its kin are read by :mod:`sbert.hub.bert`; everything else goes through transformers, which takes seconds to
import, so it is imported only then.
"""

from __future__ import annotations

from pathlib import Path

from sbert.errors import BadModel
from sbert.hub import bert
from sbert.hub.files import read_object
from sbert.hub.modules import weights_path
from sbert.nn.bert import Bert
from sbert.nn.transformer import Transformer


def read_transformer(folder: Path, legacy_weights: bool = False) -> Transformer:
    """The encoder in ``folder``, in float32."""
    if (folder / "adapter_config.json").is_file():
        raise BadModel(f"{folder} holds an adapter, but a whole model is needed; merge it into its base model first")
    settings = read_object(folder / "config.json")
    path = weights_path(folder, legacy_weights)
    if path.name == "model.safetensors" and bert.is_bert(settings):
        return bert.read_bert(settings, path)
    from sbert.hub import foreign

    return foreign.read_foreign(settings, path)


def write_transformer(transformer: Transformer, folder: Path) -> None:
    """Store config.json and model.safetensors."""
    if isinstance(transformer, Bert):
        bert.write_bert(transformer, folder)
        return
    from sbert.hub import foreign

    foreign.write_foreign(transformer, folder)


def lacks_pooler(transformer: Transformer) -> bool:
    """Whether the weights come without the pooler that the architecture has."""
    if isinstance(transformer, Bert):
        return transformer.pooler is None and transformer.facts.architecture != "ElectraModel"  # which never has one
    return getattr(transformer.model, "pooler", ...) is None
