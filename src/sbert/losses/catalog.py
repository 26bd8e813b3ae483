"""Makes losses by the names that run files and the command line use, and checks which data and models they suit.

Knows the number of columns and the kinds of labels and models, but no data. A loss has the options of its signature.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args, get_origin

from sbert.errors import BadInput, BadOption, check_option, shown
from sbert.losses.compose import Loss, matryoshka
from sbert.losses.inputs import above_zero, count
from sbert.losses.objectives import OBJECTIVES, Objective, optional
from sbert.losses.poly import poly_scores
from sbert.types import LabelKind, ModelKind

_LABELS: dict[LabelKind, str] = {
    "none": "no label",
    "class": "a class",
    "score": "a score from 0 to 1",
    "binary": "a label of 0 or 1",
    "vector": "a teacher's vector",
    "scores": "a teacher's scores",
}


def make(
    name: str,
    options: Mapping[str, object],
    *,
    dim: int,
    labels: Sequence[str] = (),
    dims: Sequence[int] | None = None,
    kind: ModelKind = "bi",
) -> Loss:
    """Make a loss by its name, ready to call.

    Args:
        name: A key of ``OBJECTIVES``.
        options: Options of the loss by name, such as margin or scale. The text "none" stands for None.
        dim: The embedding size D.
        labels: The names of the classes in the order of their ids; needed for softmax only.
        dims: Embedding sizes to train at once, see :func:`~sbert.losses.compose.matryoshka`.
        kind: The kind of model to train.

    >>> make("triplet", {"margin": 2}, dim=384).keywords
    {'margin': 2.0}
    """
    objective = _find(name, kind)
    chosen = _read_options(objective, options)
    if isinstance(objective.loss, type):
        loss: Loss = objective.loss(dim, labels, **chosen)
    else:
        loss = partial(objective.loss if kind == "bi" else objective.of_scores or objective.loss, **chosen)
    if kind == "poly" and "cross" in objective.kinds:
        loss = poly_scores(loss)
    if dims is None:
        return loss
    if kind != "bi":
        raise BadInput(
            f"the matryoshka dims are {shown(list(dims))}, but only a bi-encoder's vectors have sizes; drop them"
        )
    nested = matryoshka(loss, dims)
    _check_sizes(objective, dims, dim)
    return nested


def accepted_shapes(name: str) -> str:
    """Describe the columns and labels that an objective needs, for use in a sentence.

    >>> accepted_shapes("cosine")
    'two text columns and a score from 0 to 1: sentence1, sentence2, score'
    """
    objective = OBJECTIVES[_known(name)]
    return f"{count(*objective.texts)} and {_LABELS[objective.label]}: {objective.columns}"


def check_shape(name: str, text_columns: int, label_kind: LabelKind | None, kind: ModelKind = "bi") -> None:
    """Raise BadInput unless the objective can train this kind of model on these text columns and labels."""
    label: LabelKind = label_kind or "none"
    check_option("label_kind", label, _LABELS)
    others = suitable(text_columns, label, kind)
    if not _find(name, kind, others).reads(text_columns, label):
        got = shape(text_columns, label)
        hint = f"; what was got suits {', '.join(others)}" if others else ""
        raise BadInput(f"{name} got {got}, but reads {accepted_shapes(name)}{hint}")


def shape(text_columns: int, label_kind: LabelKind) -> str:
    """Describe a number of text columns and a kind of label in words.

    >>> shape(2, "class")
    'two text columns and a class'
    """
    return f"{count(text_columns)} and {_LABELS[label_kind]}"


def suitable(text_columns: int, label_kind: LabelKind, kind: ModelKind = "bi") -> list[str]:
    """List the objectives that can train this kind of model on these text columns and labels.

    >>> suitable(2, "class", "cross")
    ['cross-entropy']
    """
    return [each.name for each in OBJECTIVES.values() if kind in each.kinds and each.reads(text_columns, label_kind)]


def default(label_kind: LabelKind, kind: ModelKind) -> str | None:
    """Return the name of the default objective, or None if there is no default.

    >>> default("class", "cross"), default("class", "bi")
    ('cross-entropy', None)
    """
    return next((each.name for each in OBJECTIVES.values() if (kind, label_kind) in each.default_for), None)


def objective_of(loss: object) -> Objective | None:
    """Return the objective that a loss belongs to, whatever its options; None for a loss of the caller's own.

    >>> objective_of(make("info-nce", {"scale": 30.0}, dim=384, dims=[384, 64])).roles
    ('anchor', 'positive', 'negative')
    """
    while isinstance(loss, partial):  # options, and the wrappers matryoshka and poly_scores
        loss = loss.keywords.get("loss", loss.func)
    return next((each for each in OBJECTIVES.values() if loss in each.forms or type(loss) in each.forms), None)


def _known(name: str) -> str:
    check_option("objective", name, OBJECTIVES)
    return name


def _find(name: str, kind: ModelKind, others: Sequence[str] = ()) -> Objective:
    objective = OBJECTIVES[_known(name)]
    if kind not in objective.kinds:
        theirs = " and ".join(f"{each}-encoders" for each in objective.kinds)
        others = others or [each.name for each in OBJECTIVES.values() if kind in each.kinds]
        raise BadInput(f"{name} is for {theirs}; for a {kind}-encoder choose {', '.join(others)}")
    return objective


def _read_options(objective: Objective, options: Mapping[str, object]) -> dict[str, Any]:
    """Check the options against the signature of the loss and convert their values."""
    known = objective.options
    for option in options:
        if not known:
            raise BadInput(f"{objective.name} got the option {shown(option)}, but takes none; leave it out")
        if option not in known:
            raise BadOption(f"an option of {objective.name}", option, known)
    kinds = {option: parameter.annotation for option, parameter in optional(objective.loss).items()}
    return {option: _read(f"{objective.name}.{option}", kinds[option], value) for option, value in options.items()}


def _read(name: str, kind: Any, value: object) -> object:
    """Convert ``value`` to the type that the annotation ``kind`` asks for."""
    if type(None) in get_args(kind):
        return None if value in (None, "none") else _number(name, value)
    if kind is float:
        return _number(name, value)
    if kind is bool:
        if not isinstance(value, bool):
            raise BadInput(f"{name} is {shown(value)}, but must be true or false")
        return value
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise BadOption(name, value, get_args(kind))
        return value
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise BadInput(f"{name} is {shown(value)}, but must be a list of names")
    return tuple(value)


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadInput(f"{name} is {shown(value)}, but must be a finite number")
    if not name.endswith(".margin"):  # only a margin may be 0
        above_zero(name, value)
    return float(value)


def _check_sizes(objective: Objective, dims: Sequence[int], dim: int) -> None:
    if objective.label == "vector":
        raise BadInput(f"{objective.name} copies vectors of one size, so it takes no matryoshka dims; leave them out")
    if any(size > dim for size in dims):
        raise BadInput(
            f"the matryoshka dims are {shown(list(dims))}, but the embedding size is {dim}; drop the larger ones"
        )
