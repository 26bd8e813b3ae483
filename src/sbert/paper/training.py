"""Models that are trained for the tables: trained once, and then loaded from the disk.

A trained model lies in ``OUT/models`` in a folder whose name contains a digest of everything it was trained with.
Training that was interrupted resumes from its last checkpoint.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from sbert import losses
from sbert.data import Columns
from sbert.disk.digest import digest
from sbert.disk.machine import versions
from sbert.evaluate.suites.task import Model, capability_of
from sbert.losses import Loss, SoftmaxClassifier
from sbert.losses.pairs import Part
from sbert.models.load import load
from sbert.paper.backbone import SEED
from sbert.paper.materials import Materials
from sbert.train.config import TrainConfig
from sbert.train.trainer import Trainer
from sbert.types import Pooling

CONCAT: tuple[Part, ...] = ("u", "v", "|u-v|")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one model is trained."""

    name: str
    new: Callable[[], Any]
    """Returns the untrained model."""
    start: str
    """Digests of what the untrained model is made of."""
    data: Columns
    loss: Callable[[Any], Loss]
    """Returns the loss for the model."""
    learning_rate: float
    batch_size: int = 16
    seed: int = SEED
    epochs: int = 1


def train(recipe: Recipe, materials: Materials) -> Path:
    """Return the folder of the trained model, after training it unless that was done before."""
    made_of = (
        *(recipe.name, recipe.data.fingerprint, recipe.start, materials.limits.lstm, recipe.learning_rate),
        *(recipe.batch_size, recipe.seed, recipe.epochs, versions()),
    )
    plain = re.sub(r"\W+", "-", recipe.name).strip("-")
    folder = materials.settings.out / "models" / f"{plain}-{digest(made_of)[:10]}"
    if not (folder / "model").is_dir():  # which is written last, and whole
        model = recipe.new().ready(materials.device)
        config = TrainConfig(
            output_dir=str(folder),
            epochs=recipe.epochs,
            batch_size=recipe.batch_size,
            learning_rate=recipe.learning_rate,
            seed=recipe.seed,
            checkpoint_steps=500,
            keep_checkpoints=1,
        )
        Trainer(model, config, train=recipe.data, loss=recipe.loss(model)).train(resume=True)
        shutil.rmtree(folder / "checkpoints")
    return folder


def trained(recipe: Recipe, materials: Materials) -> Model:
    """Return the trained model."""
    return load(train(recipe, materials), device=materials.device)


def softmax(labels: Sequence[str], concat: Sequence[Part]) -> Callable[[Any], Loss]:
    """Return a function from a model to the paper's classification objective, with weights drawn from the seed."""

    def objective(model: Any) -> SoftmaxClassifier:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            return SoftmaxClassifier(model.embedding_dimension, labels, concat)

    return objective


def on_backbone(
    materials: Materials, name: str, new: Callable[[], Any], data: Columns, loss: Callable[[Any], Loss]
) -> Recipe:
    """Return the recipe of a model that is trained from the backbone."""
    backbone = materials.backbone
    return Recipe(
        name=name, new=new, start=backbone.digest, data=data, loss=loss, learning_rate=backbone.learning_rate
    )


def sbert_nli(materials: Materials, pooling: Pooling = "mean", concat: Sequence[Part] = CONCAT) -> Recipe:
    """Return the recipe of Sentence-BERT on NLI."""
    name, new = f"sbert-nli-{pooling}-{'-'.join(concat)}", partial(materials.backbone.bi_encoder, pooling)
    return on_backbone(materials, name, new, materials.nli, softmax(materials.nli.label_names, concat))


def cross_nli(materials: Materials) -> Recipe:
    """Return the recipe of a cross-encoder on NLI."""
    new = partial(materials.backbone.cross_encoder, materials.nli.label_names)
    return on_backbone(materials, "bert-nli", new, materials.nli, lambda _: losses.cross_entropy)


def on_scores(
    materials: Materials, name: str, new: Callable[[], Any], start: str, pairs: Columns, seed: int = SEED
) -> Recipe:
    """Return the recipe of a model on pairs with scores from 0 to 1."""

    def loss(model: Any) -> Loss:
        return losses.mse if capability_of(model) == "scorer" else losses.cosine_mse

    recipe = on_backbone(materials, name, new, pairs, loss)
    return replace(recipe, start=start, seed=seed, epochs=materials.limits.epochs)
