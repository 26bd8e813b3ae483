"""The transformer and its weights, as files. No code and no pickle from a model folder is ever run.

BERT and its relatives are read by :mod:`sbert.hub.bert`. Every other encoder is read through transformers, which
takes seconds to import and is therefore imported only then.
"""

from __future__ import annotations

from pathlib import Path

from sbert.hub import bert
from sbert.hub.files import read_object, reading
from sbert.hub.kind import check_no_adapter
from sbert.hub.schema import checked, text
from sbert.hub.tensors import weights_path
from sbert.nn.bert import Bert
from sbert.nn.transformer import Transformer


def read_transformer(folder: Path, legacy_weights: bool = False) -> Transformer:
    """Return the encoder in ``folder``, in float32."""
    check_no_adapter(folder)
    path = folder / "config.json"
    settings = read_object(path)
    kind = checked(settings, {"model_type": text(None)}, path)["model_type"]
    weights = weights_path(folder, legacy_weights)
    if bert.is_bert(kind, settings, path):
        return bert.read_bert(settings, path, weights)
    from sbert.hub import foreign

    with reading(folder):
        return foreign.read_foreign(str(kind), settings, weights)


def write_transformer(transformer: Transformer, folder: Path) -> None:
    """Write config.json and model.safetensors."""
    if isinstance(transformer, Bert):
        bert.write_bert(transformer, folder)
        return
    from sbert.hub import foreign

    foreign.write_foreign(transformer, folder)


def lacks_pooler(transformer: Transformer) -> bool:
    """Return whether the weights come without the pooler that the architecture has."""
    if isinstance(transformer, Bert):
        return transformer.pooler is None and transformer.facts.architecture != "ElectraModel"  # which never has one
    return getattr(transformer.model, "pooler", ...) is None
