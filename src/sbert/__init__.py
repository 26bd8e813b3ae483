"""Sentence-BERT: sentences in, meaning-vectors out.

The public names are loaded when first used: ``import sbert`` itself loads neither torch nor transformers.

>>> import sbert
>>> sbert.BiEncoder.from_pretrained().encode("안녕하세요").shape
(384,)
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sbert import evaluate as evaluate
    from sbert import explore as explore
    from sbert import losses as losses
    from sbert.data import Columns as Columns
    from sbert.errors import SbertError as SbertError
    from sbert.models.backbone import Backbone as Backbone
    from sbert.models.bi import BiEncoder as BiEncoder
    from sbert.models.cross import CrossEncoder as CrossEncoder
    from sbert.models.load import load as load
    from sbert.models.poly import PolyEncoder as PolyEncoder
    from sbert.models.words import WordEncoder as WordEncoder
    from sbert.nn.heads import Dense as Dense
    from sbert.nn.heads import Dropout as Dropout
    from sbert.nn.heads import LayerNorm as LayerNorm
    from sbert.nn.heads import Normalize as Normalize
    from sbert.search.exact import most_similar_pairs as most_similar_pairs
    from sbert.search.exact import semantic_search as semantic_search
    from sbert.search.searcher import Searcher as Searcher
    from sbert.train.config import TrainConfig as TrainConfig
    from sbert.train.trainer import Trainer as Trainer
    from sbert.types import Hit as Hit
    from sbert.types import Pair as Pair

__version__ = "0.1.0"

# MKL, with which torch multiplies on most processors, otherwise sums a product in an order that depends on its number
# of rows and threads. It reads this before its first product, and it costs no time that could be measured.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

_HOME = {
    "Backbone": "sbert.models.backbone",
    "BiEncoder": "sbert.models.bi",
    "Columns": "sbert.data",
    "CrossEncoder": "sbert.models.cross",
    "Dense": "sbert.nn.heads",
    "Dropout": "sbert.nn.heads",
    "Hit": "sbert.types",
    "LayerNorm": "sbert.nn.heads",
    "Normalize": "sbert.nn.heads",
    "Pair": "sbert.types",
    "PolyEncoder": "sbert.models.poly",
    "SbertError": "sbert.errors",
    "Searcher": "sbert.search.searcher",
    "TrainConfig": "sbert.train.config",
    "Trainer": "sbert.train.trainer",
    "WordEncoder": "sbert.models.words",
    "load": "sbert.models.load",
    "most_similar_pairs": "sbert.search.exact",
    "semantic_search": "sbert.search.exact",
}

_ROOMS = ("evaluate", "explore", "losses")

__all__ = sorted([*_HOME, *_ROOMS])


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"sbert.{name}")
    if name not in _HOME:
        from sbert.porting import unknown_name

        raise unknown_name("sbert", name, "sentence_transformers")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
