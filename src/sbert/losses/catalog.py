"""The losses by the names that run files and the command line use: what each reads, and how it is made.

Knows numbers of columns and kinds of labels, no data. The options of a loss are those of its signature.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args, get_origin

from sbert.errors import BadInput, BadOption, check_option
from sbert.losses.compose import Loss, matryoshka
from sbert.losses.contrastive import contrastive, online_contrastive
from sbert.losses.distill import embedding_mse, kl, margin_mse
from sbert.losses.inputs import above_zero, count
from sbert.losses.pairs import angle, cosent, cosine_mse
from sbert.losses.ranking import info_nce
from sbert.losses.softmax import SoftmaxClassifier
from sbert.losses.triplets import batch_all, batch_hard, batch_semi_hard, triplet
from sbert.types import LabelKind

_LABELS: dict[LabelKind, str] = {
    "none": "no label",
    "class": "a class",
    "score": "a score from 0 to 1",
    "binary": "a label of 0 or 1",
    "vector": "a teacher's vector",
    "scores": "a teacher's scores",
}


@dataclass(frozen=True, slots=True)
class Objective:
    """One loss, as people choose it."""

    name: str
    """As run files and the command line say it."""
    loss: Callable[..., Any]
    """The function, or the class of a loss with weights: it is made with ``dim`` and ``labels``."""
    texts: tuple[int, int | None]
    """The least and the most text columns; None: any number."""
    label: LabelKind
    """The kind of label it learns from."""
    columns: str
    """The columns in order, by their usual names."""
    meaning: str
    """One line for people."""

    @property
    def options(self) -> dict[str, Any]:
        """The options it takes, with their defaults."""
        return {name: parameter.default for name, parameter in _optional(self.loss).items()}

    def reads(self, text_columns: int, label: LabelKind) -> bool:
        """Whether it can learn from so many text columns and such a label; 0 or 1 is also a score from 0 to 1."""
        least, most = self.texts
        fits = label == self.label or (label == "binary" and self.label == "score")
        return fits and least <= text_columns and (most is None or text_columns <= most)


_ALL = (
    Objective(
        "softmax",
        SoftmaxClassifier,
        (2, 2),
        "class",
        "sentence1, sentence2, label",
        "name the relation of two texts; the paper's objective for NLI",
    ),
    Objective(
        "cosine",
        cosine_mse,
        (2, 2),
        "score",
        "sentence1, sentence2, score",
        "make the cosine equal to the score; the paper's objective for STS",
    ),
    Objective(
        "triplet",
        triplet,
        (3, 3),
        "none",
        "anchor, positive, negative",
        "bring the anchor nearer to the positive than to the negative; the paper's objective for triplets",
    ),
    Objective(
        "info-nce",
        info_nce,
        (2, None),
        "none",
        "anchor, positive[, negative, ...]",
        "rank the positive above everything else in the batch",
    ),
    Objective(
        "cosent",
        cosent,
        (2, 2),
        "score",
        "sentence1, sentence2, score",
        "order the cosines as the scores are ordered",
    ),
    Objective(
        "angle",
        angle,
        (2, 2),
        "score",
        "sentence1, sentence2, score",
        "order the angles in complex space as the scores are ordered",
    ),
    Objective(
        "contrastive",
        contrastive,
        (2, 2),
        "binary",
        "sentence1, sentence2, label",
        "pull alike pairs together, push unlike ones apart",
    ),
    Objective(
        "online-contrastive",
        online_contrastive,
        (2, 2),
        "binary",
        "sentence1, sentence2, label",
        "contrastive, from the hard pairs of a batch alone",
    ),
    Objective(
        "batch-hard",
        batch_hard,
        (1, 1),
        "class",
        "text, label",
        "triplets found in the batch: the farthest positive, the nearest negative",
    ),
    Objective(
        "batch-semi-hard",
        batch_semi_hard,
        (1, 1),
        "class",
        "text, label",
        "triplets found in the batch: the nearest negative beyond each positive",
    ),
    Objective(
        "batch-all",
        batch_all,
        (1, 1),
        "class",
        "text, label",
        "triplets found in the batch: all of them that are still violated",
    ),
    Objective(
        "embedding-mse",
        embedding_mse,
        (1, None),
        "vector",
        "text[, translation, ...], vector",
        "copy a teacher's vectors",
    ),
    Objective(
        "margin-mse",
        margin_mse,
        (3, None),
        "scores",
        "query, positive, negative[, negative, ...], scores",
        "copy by how much a teacher prefers the positive",
    ),
    Objective(
        "kl",
        kl,
        (3, None),
        "scores",
        "query, document, document[, document, ...], scores",
        "copy how a teacher shares its preference among candidates",
    ),
)
OBJECTIVES: dict[str, Objective] = {objective.name: objective for objective in _ALL}


def make(
    name: str,
    options: Mapping[str, object],
    *,
    dim: int,
    labels: Sequence[str] = (),
    dims: Sequence[int] | None = None,
) -> Loss:
    """The loss that a run file names, ready to call.

    Args:
        name: One of ``OBJECTIVES``.
        options: By name, as read from a file: margin, scale, ... Where None is allowed, "none" says it too.
        dim: The embedding size D.
        labels: The names of the classes, by number; only softmax reads them.
        dims: Sizes to learn at once, see :func:`~sbert.losses.compose.matryoshka`.

    >>> make("triplet", {"margin": 2}, dim=384).keywords
    {'margin': 2.0}
    """
    objective = _find(name)
    chosen = _read_options(objective, options)
    if isinstance(objective.loss, type):
        loss: Loss = objective.loss(dim, labels, **chosen)
    else:
        loss = partial(objective.loss, **chosen)
    if dims is None:
        return loss
    nested = matryoshka(loss, dims)
    _check_sizes(objective, dims, dim)
    return nested


def accepted_shapes(name: str) -> str:
    """What the objective reads, as part of a sentence.

    >>> accepted_shapes("cosine")
    'two text columns and a score from 0 to 1: sentence1, sentence2, score'
    """
    objective = _find(name)
    return f"{count(*objective.texts)} and {_LABELS[objective.label]}: {objective.columns}"


def check_shape(name: str, text_columns: int, label_kind: LabelKind | None) -> None:
    """Raise BadInput unless the objective can learn from so many text columns and such a label; None is "none"."""
    kind: LabelKind = label_kind or "none"
    check_option("label_kind", kind, _LABELS)
    if not _find(name).reads(text_columns, kind):
        got = f"{count(text_columns)} and {_LABELS[kind]}"
        others = [other.name for other in OBJECTIVES.values() if other.reads(text_columns, kind)]
        hint = f"; what was got suits {', '.join(others)}" if others else ""
        raise BadInput(f"{name} got {got}, but reads {accepted_shapes(name)}{hint}")


def _find(name: str) -> Objective:
    check_option("objective", name, OBJECTIVES)
    return OBJECTIVES[name]


def _read_options(objective: Objective, options: Mapping[str, object]) -> dict[str, Any]:
    """The options with their values checked against the loss's signature."""
    known = objective.options
    for option in options:
        if not known:
            raise BadInput(f"{objective.name} got the option {option!r}, but takes none; leave it out")
        if option not in known:
            raise BadOption(f"an option of {objective.name}", option, known)
    kinds = {option: parameter.annotation for option, parameter in _optional(objective.loss).items()}
    return {option: _read(f"{objective.name}.{option}", kinds[option], value) for option, value in options.items()}


def _optional(loss: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """What may be left out when ``loss`` is called or made, besides the labels."""
    parameters = inspect.signature(loss, eval_str=True).parameters.items()
    return {name: each for name, each in parameters if each.default is not each.empty and name != "labels"}


def _read(name: str, kind: Any, value: object) -> object:
    """``value`` as the annotation ``kind`` wants it."""
    if type(None) in get_args(kind):
        return None if value in (None, "none") else _number(name, value)
    if kind is float:
        return _number(name, value)
    if kind is bool:
        if not isinstance(value, bool):
            raise BadInput(f"{name} is {value!r}, but must be true or false")
        return value
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise BadOption(name, value, get_args(kind))
        return value
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise BadInput(f"{name} is {value!r}, but must be a list of names")
    return tuple(value)


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadInput(f"{name} is {value!r}, but must be a finite number")
    if not name.endswith(".margin"):  # a scale or a temperature; a margin may be 0
        above_zero(name, value)
    return float(value)


def _check_sizes(objective: Objective, dims: Sequence[int], dim: int) -> None:
    if objective.label == "vector":
        raise BadInput(f"{objective.name} copies vectors of one size, so it takes no matryoshka dims; leave them out")
    if any(size > dim for size in dims):
        raise BadInput(f"the matryoshka dims are {list(dims)}, but the embedding size is {dim}; drop the larger ones")
