"""The parts of a run, by its file and its data: model, loss and evaluator of the kind that is to be trained."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING

import torch

from sbert import evaluate, hub, losses
from sbert.data import Columns
from sbert.errors import BadInput, BadOption
from sbert.losses import OBJECTIVES, Loss, Objective
from sbert.models.backbone import Backbone
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.inference import best_device
from sbert.models.load import Model
from sbert.models.poly import PolyEncoder
from sbert.nn.heads import output_size
from sbert.types import Evaluator, ModelKind

if TYPE_CHECKING:
    from sbert.train.run.file import LossPart, ModelPart

logger = logging.getLogger(__name__)

_CANDIDATES = 20
"""Among so many a poly-encoder is to find the answer, where the dev file has questions and answers."""


def kind(part: ModelPart) -> ModelKind:
    """What is to be trained: what was asked for, or what the folder holds; a bare encoder becomes a bi-encoder."""
    return part.kind or hub.known_kind(hub.resolve(part.name)) or "bi"


def objective(part: LossPart, datasets: Sequence[Columns], kind: ModelKind) -> Objective:
    """The entry of the catalog that ``part`` names, proven to fit the data and the kind of model."""
    name = part.name or _usual(datasets[0], kind)
    for columns in datasets:
        try:
            losses.check_shape(name, len(columns.texts), columns.label_kind, kind)
        except BadOption:
            raise
        except BadInput as error:
            raise BadInput(f"{columns.name}: {error}") from None
    return OBJECTIVES[name]


def _usual(columns: Columns, kind: ModelKind) -> str:
    if name := losses.default(columns.label_kind, kind):
        return name
    fitting = losses.suitable(len(columns.texts), columns.label_kind, kind)
    if not fitting:
        got = losses.shape(len(columns.texts), columns.label_kind)
        raise BadInput(f"{columns.name} has {got}, from which no loss of a {kind}-encoder learns; take other data")
    raise BadInput(
        f"the loss has no name, but a {kind}-encoder needs one, such as {', '.join(fitting)}, which {columns.name} "
        "suits; set loss.name, or --loss"
    )


def classes(objective: Objective, datasets: Sequence[Columns]) -> tuple[str, ...]:
    """The names that all data sets have for the classes; none where the objective reads no classes."""
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


def model(part: ModelPart, kind: ModelKind, labels: tuple[str, ...], seed: int) -> Model:
    """The model to train; a head that it does not have yet is made for ``labels``, from ``seed``."""
    if kind == "poly":
        return _poly(part, seed)
    return _cross(part, labels, seed) if kind == "cross" else _bi(part)


def tell_new_head(part: ModelPart, model: Model) -> None:
    """Say so where a cross-encoder begins with a head that nobody has trained."""
    if isinstance(model, CrossEncoder) and hub.known_kind(hub.resolve(part.name)) != "cross":
        logger.info("the cross-encoder starts with a new head: %s", ", ".join(model.labels))


def _bi(part: ModelPart) -> BiEncoder:
    model = BiEncoder.from_pretrained(part.name, max_seq_length=part.max_seq_length)
    pooling = (part.pooling,) if isinstance(part.pooling, str) else part.pooling
    if pooling is None or pooling == model.pooling:
        return model
    if len(model.heads):
        raise BadInput(
            f"model.pooling is {', '.join(pooling)}, but {part.name or 'the embedded model'} has layers after its own "
            f"pooling ({', '.join(model.pooling)}), which were made for that; leave model.pooling out"
        )
    return BiEncoder(Backbone(model.tokenizer, model.transformer), pooling).to(model.device)


def _cross(part: ModelPart, labels: tuple[str, ...], seed: int) -> CrossEncoder:
    if part.pooling is not None:
        raise BadInput("model.pooling is for bi-encoders, but a cross-encoder is to be trained; leave it out")
    folder = hub.resolve(part.name)
    held = hub.known_kind(folder)
    if held == "cross":
        return _with_labels(CrossEncoder.from_pretrained(folder, max_seq_length=part.max_seq_length), labels)
    made = CrossEncoder(Backbone.from_pretrained(folder, part.max_seq_length), labels or ("score",), seed=seed)
    return made.to(best_device())


def _poly(part: ModelPart, seed: int) -> PolyEncoder:
    if part.pooling is not None:
        raise BadInput("model.pooling is for bi-encoders, but a poly-encoder is to be trained; leave it out")
    return PolyEncoder.from_pretrained(
        part.name,
        num_codes=part.num_codes,
        codes=part.codes,
        towers=part.towers,
        max_seq_length=part.max_seq_length,
        seed=seed,
    )


def _with_labels(model: CrossEncoder, labels: tuple[str, ...]) -> CrossEncoder:
    """``model`` if it gives what the loss reads: a score, or a number for each of the data's classes."""
    own = model.labels
    if not labels and len(own) > 1:
        raise BadInput(
            f"the model has the labels {', '.join(own)}, but the loss learns one score from the data; take data with "
            "these classes, or start from a bare encoder"
        )
    if not labels or own == labels:
        return model
    if len(own) != len(labels) or any(name != f"LABEL_{number}" for number, name in enumerate(own)):
        raise BadInput(
            f"the model has the labels {', '.join(own)}, but the data has the classes {', '.join(labels)}; make them "
            "agree with data.label_map, or start from a bare encoder"
        )
    model.labels = labels
    return model


def loss(part: LossPart, name: str, model: Model, kind: ModelKind, labels: tuple[str, ...], seed: int) -> Loss:
    """The loss, ready to call; weights of its own follow from the seed, like everything else."""
    # Of a bi-encoder what comes out of the network, whatever part of it the model's users see.
    dim = 0
    if isinstance(model, BiEncoder):
        dim = output_size(model.heads, len(model.pooling) * model.transformer.facts.hidden_size)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return losses.make(name, part.options, dim=dim, labels=labels, dims=part.dims, kind=kind)


def evaluator(dev: Columns, kind: ModelKind, labels: tuple[str, ...]) -> Evaluator | None:
    """What fits the dev data and the model; None, with a warning, where nothing does."""
    found = _of_encoder(dev) if kind == "bi" else _of_scorer(dev, labels, answers=kind == "poly")
    if found is None:
        others = {"bi": "triplets", "cross": "pairs with classes", "poly": "at least two pairs without labels"}
        wanted = f"pairs with scores nor {others[kind]}"
        logger.warning(
            "%s holds neither %s%s, so nothing is measured and the last weights are the result; name another file "
            "with data.dev",
            dev.name,
            wanted,
            " that the model learns" if kind == "cross" else "",
        )
    return found


def _of_encoder(dev: Columns) -> Evaluator | None:
    """Pairs with scores are compared with cosines, triplets must be in the right order."""
    texts = list(dev.texts.values())
    if dev.labels is not None and dev.label_kind in ("score", "binary") and len(texts) == 2:
        return evaluate.Similarity(texts[0], texts[1], dev.labels)
    if dev.label_kind == "none" and len(texts) >= 3:
        return evaluate.Triplets(texts[0], texts[1], texts[2])
    return None


def _of_scorer(dev: Columns, labels: tuple[str, ...], answers: bool) -> Evaluator | None:
    """Scores are compared with the model's, classes must be its own, and ``answers`` be found among others."""
    first, second, *more = [*dev.texts.values(), (), ()]
    if any(more) or not second:
        return None
    if dev.labels is None:
        return _among_others(first, second) if answers else None
    if not labels and dev.label_kind in ("score", "binary"):
        return evaluate.Similarity(first, second, dev.labels)
    if labels and dev.label_kind == "class" and set(dev.label_names) <= set(labels):
        return evaluate.PairClassification(first, second, [dev.label_names[number] for number in dev.labels.tolist()])
    return None


def _among_others(queries: Sequence[str], documents: Sequence[str]) -> Evaluator | None:
    """Each answer among those of the next rows."""
    samples = []
    for row, (query, own) in enumerate(zip(queries, documents, strict=True)):
        others = dict.fromkeys(islice(cycle(documents), row + 1, row + _CANDIDATES))
        negatives = [document for document in others if document != own]
        if negatives:
            samples.append(evaluate.Sample(query, own, negatives))
    return evaluate.Rerank(samples) if samples else None
