"""What the paper's tables compare Sentence-BERT with, each row an ordinary encoder."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sbert import losses
from sbert.data import Columns
from sbert.errors import BadInput, check_option
from sbert.models.backbone import Backbone
from sbert.models.bi import BiEncoder
from sbert.models.tfidf import TfIdf, Unit
from sbert.models.universal import UniversalSentenceEncoder
from sbert.models.words import WordEncoder
from sbert.train.config import TrainConfig
from sbert.train.trainer import Trainer
from sbert.types import Encoder


def average_glove(vectors: str | Path) -> WordEncoder:
    """The mean of a text's word vectors, of GloVe or fastText, without English stop words and signs.

    With stop words Spearman on STSb is 15 points below the paper's, without them half a point.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return WordEncoder.from_vectors(vectors, without=ENGLISH_STOP_WORDS | set(string.punctuation))


def average_bert(name: str | Path) -> BiEncoder:
    """The mean of a bare encoder's token vectors."""
    return BiEncoder(Backbone.from_pretrained(name), "mean")


def bert_cls(name: str | Path) -> BiEncoder:
    """A bare encoder's first token."""
    return BiEncoder(Backbone.from_pretrained(name), "cls")


def infersent(vectors: str | Path, size: int = 2048, seed: int = 42) -> WordEncoder:
    """InferSent's network before its training: a BiLSTM on frozen word vectors, max pooling."""
    return WordEncoder.from_vectors(vectors, lstm_size=size, pooling="max", seed=seed)


def train_infersent(model: WordEncoder, nli: Columns, config: TrainConfig) -> WordEncoder:
    """Train :func:`infersent` as its authors did: classes of pairs from u, v, ``|u-v|`` and u*v."""
    if not nli.label_names:
        raise BadInput(f"the data set {nli.name} has no classes, but InferSent is trained with NLI; pass such pairs")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        loss = losses.SoftmaxClassifier(model.embedding_dimension, nli.label_names, ("u", "v", "|u-v|", "u*v"))
    Trainer(model, config, train=nli, loss=loss).train(resume=True)
    return model


def train_sections(model: WordEncoder, triplets: Columns, config: TrainConfig) -> WordEncoder:
    """Train :func:`infersent`'s network as Dor et al. did theirs: with the triplet loss."""
    Trainer(model, config, train=triplets, loss=losses.triplet).train(resume=True)
    return model


def tfidf(texts: Iterable[str], unit: Unit = "word") -> TfIdf:
    """Weighted counts of words, learned from the texts that are compared; ``unit="bigram"`` for Korean."""
    return TfIdf(texts, unit)


def universal() -> UniversalSentenceEncoder:
    """The Universal Sentence Encoder, of which the multilingual third version is at hand."""
    return UniversalSentenceEncoder()


@dataclass(frozen=True, slots=True)
class Baseline:
    """A row of the paper's tables."""

    rows: tuple[str, ...]
    """What the tables call it."""
    needs: str
    """What it is made of; empty: of nothing."""
    of: Callable[[Any], Encoder]


_VECTORS = "a file or folder of word vectors"
_TRAINED = "the folder of a trained one"
_ENCODER = "the name or folder of a bare encoder, such as bert-base-uncased"

BASELINES: dict[str, Baseline] = {
    "average-glove": Baseline(("Avg. GloVe embeddings", "mean-vectors"), _VECTORS, average_glove),
    "average-fasttext": Baseline(("Avg. fast-text embeddings",), _VECTORS, average_glove),
    "average-bert": Baseline(("Avg. BERT embeddings",), _ENCODER, average_bert),
    "bert-cls": Baseline(("BERT CLS-vector",), _ENCODER, bert_cls),
    "infersent": Baseline(("InferSent - GloVe", "InferSent"), _TRAINED, WordEncoder.from_pretrained),
    "sections-lstm": Baseline(("Dor et al.",), _TRAINED, WordEncoder.from_pretrained),
    "tfidf": Baseline(("tf-idf",), "the texts to compare", tfidf),
    "universal": Baseline(("Universal Sentence Encoder",), "", lambda _: universal()),
}


def make(name: str, source: str | Path | Iterable[str] | None = None) -> Encoder:
    """The baseline ``name`` of :data:`BASELINES`, made of ``source``.

    >>> make("tfidf", ["비가 온다", "비가 내린다"]).encode(["비가"]).shape
    (1, 3)
    """
    check_option("baseline", name, BASELINES)
    baseline = BASELINES[name]
    if baseline.needs and source is None:
        raise BadInput(f"{name} was given nothing, but is made of {baseline.needs}; pass it as source")
    return baseline.of(source)
