"""Builds the trainer that a run file describes: reads the data and creates the loss, the evaluator and the model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import torch

from sbert import evaluate, hub, losses
from sbert.data import Columns
from sbert.data.labels import are_numbers
from sbert.data.readers import Default, read
from sbert.errors import BadInput, BadOption, counted, listed
from sbert.hub.bundled import DEFAULT
from sbert.losses import OBJECTIVES, Objective
from sbert.models.backbone import Backbone
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.load import Model
from sbert.models.poly import PolyEncoder
from sbert.train import checkpoint
from sbert.train.callbacks import Callback
from sbert.train.run.file import Alternatives, DataPart, LossPart, ModelPart, RunFile
from sbert.train.trainer import Trainer
from sbert.types import Evaluator, ModelKind

logger = logging.getLogger(__name__)

_CANDIDATES = 20
"""Number of documents among which a poly-encoder must find the answer, if the dev file has questions and answers."""


def assemble(run: RunFile, callbacks: Sequence[Callback] = ()) -> Trainer:
    """Build the trainer that ``run`` describes. Reads files and loads the model, but writes nothing."""
    # Two entries can lead to the same file, if it replaces both.
    paths = dict.fromkeys(_find(file, run.data.folder) for file in run.data.train)
    datasets = [_read(path, run.data, run.data.split, run.data.limit) for path in paths]
    known = hub.known_kind(hub.resolve(run.model.name))
    kind = run.model.kind or known or "bi"
    objective = _objective(run.loss, datasets, kind, run.data)
    classes = _classes(objective, datasets)
    evaluator = None
    if run.data.dev is not None:
        path = _find(run.data.dev, run.data.folder)
        dev = _read(path, run.data, run.data.dev_split)
        if datasets[0].label_kind == "score" and dev.label_kind == "class" and _other_kind(dev, run.data):
            # The same scores as in training, of which none in this file happens to have a decimal point.
            dev = _read(path, replace(run.data, label_kind="score"), run.data.dev_split)
        evaluator = _evaluator(dev, datasets, kind, classes)
    model = _model(run.model, kind, classes, run.train.seed)
    # The size of the network's output, even if the model truncates its embeddings.
    dim = model.full_dimension if isinstance(model, BiEncoder) else 0
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.train.seed)  # of the weights of the loss
        loss = losses.make(objective.name, run.loss.options, dim=dim, labels=classes, dims=run.loss.dims, kind=kind)
    names = {"model": run.model.name or DEFAULT.partition("/")[2], "loss": objective.name}
    names["dev"] = "" if evaluator is None else dev.name
    trainer = Trainer(
        model, run.train, train=datasets, loss=loss, evaluator=evaluator, callbacks=callbacks, names=names
    )
    has_new_head = kind == "cross" and known != "cross"
    if has_new_head and not checkpoint.steps(trainer.checkpoints):  # a resumed run has its weights in the checkpoint
        logger.info("the cross-encoder starts with a new head: %s", ", ".join(classes or ("score",)))
    for columns in datasets:
        if len(columns.label_names) > 2 and (choice := _other_kind(columns, run.data)):
            logger.info("%s: the labels are read as classes; %s", columns.name, choice)
    return trainer


# Data


def _find(file: Alternatives, folder: str | None) -> Path:
    names = (file,) if isinstance(file, str) else file
    root = Path(folder or ".").expanduser()
    for name in names:
        path = root / Path(name).expanduser()
        if path.is_file():
            return path
    wanted = f"no file {names[0]!r}" if len(names) == 1 else f"none of {', '.join(map(repr, names))}"
    place = "the current folder" if folder is None else f"the folder {folder!r}"
    raise BadInput(f"there is {wanted} in {place}; put it there, or name its folder with data.folder")


def _read(path: Path, part: DataPart, split: str | Default | None, limit: int | None = None) -> Columns:
    return read(
        path,
        split=split,
        columns=part.columns,
        label=part.label,
        label_map=part.label_map,
        label_kind=part.label_kind,
        score_range=part.score_range,
        limit=limit,
    )


def _other_kind(columns: Columns, part: DataPart) -> str:
    """Say how to choose the kind of labels that are numbers, whose kind was inferred; empty for all other labels."""
    if part.label_kind is not None or part.label_map is not None:
        return ""
    if columns.label_kind == "score":
        return "if the labels are classes, add --set data.label_kind=class"
    if columns.label_names and are_numbers(columns.label_names):
        return f"if {listed(columns.label_names)} are scores, add --set data.label_kind=score"
    return ""


# Loss


def _objective(part: LossPart, datasets: Sequence[Columns], kind: ModelKind, data: DataPart) -> Objective:
    """The objective that ``part`` names, or the default one; raise BadInput if it does not fit the data."""
    name = part.name or _default_objective(datasets[0], kind)
    losses.check_name("objective", name, kind)
    for columns in datasets:
        try:
            losses.check_shape(name, len(columns.texts), columns.label_kind, kind)
        except BadOption:
            raise
        except BadInput as error:
            swapped = {columns.label_kind, OBJECTIVES[name].label} == {"class", "score"}
            choice = _other_kind(columns, data) if swapped else ""
            raise BadInput(f"{columns.name}: {error}{choice and f'; {choice}'}") from None
    return OBJECTIVES[name]


def _default_objective(columns: Columns, kind: ModelKind) -> str:
    if name := losses.default(columns.label_kind, kind):
        return name
    suitable = losses.suitable(len(columns.texts), columns.label_kind, kind)
    if not suitable:
        got = losses.shape(len(columns.texts), columns.label_kind)
        raise BadInput(f"{columns.name} has {got}, but no loss of a {kind}-encoder uses that; choose other data")
    raise BadInput(
        f"the loss has no name, but a {kind}-encoder needs one, such as {', '.join(suitable)}, which {columns.name} "
        "suits; set loss.name, or --loss"
    )


def _classes(objective: Objective, datasets: Sequence[Columns]) -> tuple[str, ...]:
    """The names of the classes, which must be the same in all data sets; none if the objective uses no classes."""
    if objective.label != "class":
        return ()
    first, *others = datasets
    for other in others:
        if other.label_names != first.label_names:
            raise BadInput(
                f"{first.name} has the classes {', '.join(first.label_names)}, but {other.name} has "
                f"{', '.join(other.label_names)}; make them agree with data.label_map"
            )
    return first.label_names


# Evaluator


def _evaluator(
    dev: Columns, datasets: Sequence[Columns], kind: ModelKind, classes: tuple[str, ...]
) -> Evaluator | None:
    """The evaluator that fits the dev data and the model; None, with a warning, if there is none."""
    evaluator = _fitting_evaluator(dev, kind, classes)
    if evaluator is None:
        others = {"bi": "triplets", "cross": "pairs with the model's classes", "poly": "two or more unlabelled pairs"}
        logger.warning(
            "%s contains neither pairs with scores nor %s, so nothing is evaluated and the last weights are the "
            "result; name another file with data.dev",
            *(dev.name, others[kind]),
        )
        return None
    if shared := dev.overlap(*datasets):
        logger.warning(
            "%s of the %s of %s are also training rows, so the scores are too high; use another file or split",
            *(f"{shared:,}", counted(len(dev), "row"), dev.name),
        )
    return evaluator


def _fitting_evaluator(dev: Columns, kind: ModelKind, classes: tuple[str, ...]) -> Evaluator | None:
    texts = list(dev.texts.values())
    if kind == "bi" and dev.labels is None and len(texts) >= 3:
        return evaluate.Triplets(texts[0], texts[1], texts[2])
    if len(texts) != 2:
        return None
    if dev.labels is None:
        return _reranking(texts[0], texts[1]) if kind == "poly" else None
    if dev.label_kind in ("score", "binary") and (kind == "bi" or not classes):
        return evaluate.Similarity(texts[0], texts[1], dev.labels)
    if dev.label_kind == "class" and kind != "bi" and set(dev.label_names) <= set(classes):
        names = [dev.label_names[number] for number in dev.labels.tolist()]
        return evaluate.PairClassification(texts[0], texts[1], names)
    return None


def _reranking(queries: Sequence[str], documents: Sequence[str]) -> Evaluator | None:
    """Rank the answer of every question among the answers of the next rows."""
    samples = []
    for row, (query, answer) in enumerate(zip(queries, documents, strict=True)):
        others = dict.fromkeys(islice(cycle(documents), row + 1, row + _CANDIDATES))
        negatives = [document for document in others if document != answer]
        if negatives:
            samples.append(evaluate.Sample(query, answer, negatives))
    return evaluate.Rerank(samples) if samples else None


# Model


def _model(part: ModelPart, kind: ModelKind, classes: tuple[str, ...], seed: int) -> Model:
    """The model to train; a new head has one output per class, or one, and its weights follow from ``seed``."""
    model = _model_of_kind(part, kind, classes, seed)
    if part.unicode_form is not None:
        model.tokenizer = model.tokenizer.with_unicode_form(part.unicode_form)
    return model


def _model_of_kind(
    part: ModelPart, kind: ModelKind, classes: tuple[str, ...], seed: int
) -> BiEncoder | CrossEncoder | PolyEncoder:
    if kind == "bi":
        return _bi_encoder(part)
    if part.pooling is not None:
        raise BadInput(f"model.pooling is for bi-encoders, but a {kind}-encoder will be trained; leave it out")
    if kind == "cross":
        return _cross_encoder(part, classes, seed)
    return PolyEncoder.from_pretrained(
        part.name,
        num_codes=part.num_codes,
        codes=part.codes,
        towers=part.towers,
        device=part.device,
        max_seq_length=part.max_seq_length,
        seed=seed,
    )


def _bi_encoder(part: ModelPart) -> BiEncoder:
    model = BiEncoder.from_pretrained(part.name, device=part.device, max_seq_length=part.max_seq_length)
    pooling = (part.pooling,) if isinstance(part.pooling, str) else part.pooling
    if pooling is None or pooling == model.pooling:
        return model
    if len(model.heads):
        raise BadInput(
            f"model.pooling is {', '.join(pooling)}, but {part.name or 'the default model'} has layers after its own "
            f"pooling ({', '.join(model.pooling)}), which were made for that; leave model.pooling out"
        )
    return BiEncoder(Backbone(model.tokenizer, model.transformer), pooling).to(model.device)


def _cross_encoder(part: ModelPart, classes: tuple[str, ...], seed: int) -> CrossEncoder:
    folder = hub.resolve(part.name)
    if hub.known_kind(folder) != "cross":
        new = CrossEncoder(Backbone.from_pretrained(folder), classes or ("score",), seed=seed)
        return new.ready(part.device, part.max_seq_length)
    model = CrossEncoder.from_pretrained(folder, device=part.device, max_seq_length=part.max_seq_length)
    labels, unnamed = model.labels, tuple(f"LABEL_{number}" for number in range(len(classes)))
    if not classes and len(labels) > 1:
        raise BadInput(
            f"the model has the labels {', '.join(labels)}, but the loss learns one score from the data; use data "
            "with these classes, or start from a plain encoder"
        )
    if classes and labels not in (classes, unnamed):
        raise BadInput(
            f"the model has the labels {', '.join(labels)}, but the data has the classes {', '.join(classes)}; make "
            "them agree with data.label_map, or start from a plain encoder"
        )
    model.labels = classes or labels
    return model
