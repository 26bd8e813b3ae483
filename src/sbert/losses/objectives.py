"""The table of losses that can be chosen by name, as run files and the command line do.

The table says which numbers of columns, kinds of labels and kinds of models each loss is for. A loss has the options
of its signature.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args, get_origin

from sbert.errors import BadInput, check_option, shown
from sbert.losses import distill, margins, pairs, ranking, scores
from sbert.losses.compose import matryoshka, poly_scores
from sbert.losses.inputs import Loss, above_zero, count
from sbert.porting import renamed
from sbert.types import LabelKind, ModelKind, Sampling

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
    """A loss under the name by which users choose it, with everything that must be known to apply it."""

    name: str
    """The name in run files and on the command line."""
    loss: Callable[..., Any]
    """The function, or the class of a loss with weights, which is called with ``dim`` and ``labels``."""
    texts: tuple[int, int | None]
    """The minimum and maximum number of text columns; None means any number."""
    label: LabelKind
    """The kind of label it learns from."""
    roles: tuple[str, ...]
    """What each text column is to the loss; the last role applies to all columns that follow."""
    kinds: tuple[ModelKind, ...] = ("bi",)
    """The kinds of models it can train."""
    of_scores: Callable[..., Any] | None = None
    """The function for models that score pairs, where ``loss`` reads embeddings."""
    in_batch_negatives: bool = False
    """Whether the texts of the other rows in a batch serve as negatives."""
    sampler: Sampling | None = None
    """The sampler that it needs; None if any will do."""

    @property
    def options(self) -> dict[str, Any]:
        """The options it takes, with their defaults."""
        return {name: parameter.default for name, parameter in _parameters(self.loss).items()}

    @property
    def columns(self) -> str:
        """The text columns and the label in order, such as "anchor, positive[, negative, ...]"."""
        least, most = self.texts
        more = f"[, {self.role(least)}, ...]" if most is None else ""
        label = "label" if self.label in ("class", "binary") else self.label
        return ", ".join(map(self.role, range(least))) + more + (f", {label}" if label != "none" else "")

    def role(self, column: int) -> str:
        """What the text column with this number is to the loss."""
        return self.roles[min(column, len(self.roles) - 1)]

    def reads(self, text_columns: int, label: LabelKind) -> bool:
        """Whether it can learn from this number of text columns and this kind of label.

        A label of 0 or 1 is also a score from 0 to 1.
        """
        least, most = self.texts
        fits = label == self.label or (label == "binary" and self.label == "score")
        return fits and least <= text_columns and (most is None or text_columns <= most)


_PAIR = ("sentence1", "sentence2")
_TRIPLET = ("anchor", "positive", "negative")
_RANKED = ("query", "document")
_JUDGED = ("query", "positive", "negative")
_ANSWERED = ("query", "document", "negative")
_ALL: tuple[ModelKind, ...] = ("bi", "cross", "poly")
_SCORING: tuple[ModelKind, ...] = ("cross", "poly")
_TABLE = (
    Objective("softmax", pairs.SoftmaxClassifier, (2, 2), "class", _PAIR),
    Objective("cosine", pairs.cosine_mse, (2, 2), "score", _PAIR),
    Objective("triplet", margins.triplet, (3, 3), "none", _TRIPLET),
    Objective("info-nce", ranking.info_nce, (2, None), "none", _TRIPLET, in_batch_negatives=True),
    Objective("cosent", pairs.cosent, (2, 2), "score", _PAIR, _ALL, scores.cosent_scores),
    Objective("angle", pairs.angle, (2, 2), "score", _PAIR),
    Objective("contrastive", margins.contrastive, (2, 2), "binary", _PAIR),
    Objective("online-contrastive", margins.online_contrastive, (2, 2), "binary", _PAIR),
    Objective("batch-hard", margins.batch_hard, (1, 1), "class", ("text",), sampler="by-label"),
    Objective("batch-semi-hard", margins.batch_semi_hard, (1, 1), "class", ("text",), sampler="by-label"),
    Objective("batch-all", margins.batch_all, (1, 1), "class", ("text",), sampler="by-label"),
    Objective("embedding-mse", distill.embedding_mse, (1, None), "vector", ("text", "translation")),
    Objective("margin-mse", distill.margin_mse, (3, None), "scores", _JUDGED, _ALL, distill.margin_mse_scores),
    Objective("kl", distill.kl, (3, None), "scores", _RANKED),
    Objective("mse", scores.mse, (2, 2), "score", _PAIR, _SCORING),
    Objective("bce", scores.bce, (2, 2), "score", _PAIR, _SCORING),
    Objective("cross-entropy", scores.cross_entropy, (2, 2), "class", _PAIR, ("cross",)),
    Objective("rank-net", scores.rank_net, (3, None), "scores", _RANKED, _SCORING),
    Objective("list-net", scores.list_net, (3, None), "scores", _RANKED, _SCORING),
    Objective("lambda", scores.lambda_rank, (3, None), "scores", _RANKED, _SCORING),
    Objective("poly-nce", ranking.poly_nce, (2, None), "none", _ANSWERED, ("poly",), in_batch_negatives=True),
)
OBJECTIVES: dict[str, Objective] = {objective.name: objective for objective in _TABLE}
DEFAULTS: dict[tuple[ModelKind, LabelKind], str] = {
    ("cross", "class"): "cross-entropy",
    ("cross", "score"): "mse",
    ("cross", "binary"): "mse",
    ("poly", "none"): "poly-nce",
    ("poly", "score"): "cosent",
    ("poly", "binary"): "bce",
}
"""The default objective of a kind of model and a kind of label, where there is one."""


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
    return loss if dims is None else _nested(objective, loss, dims, dim, kind)


def accepted_shapes(name: str) -> str:
    """Describe the columns and labels that an objective needs, for use in a sentence.

    >>> accepted_shapes("cosine")
    'two text columns and a score from 0 to 1: sentence1, sentence2, score'
    """
    check_option("objective", name, OBJECTIVES)
    objective = OBJECTIVES[name]
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
    return [each.name for each in _TABLE if kind in each.kinds and each.reads(text_columns, label_kind)]


def default(label_kind: LabelKind, kind: ModelKind) -> str | None:
    """Return the name of the default objective, or None if there is no default.

    >>> default("class", "cross"), default("class", "bi")
    ('cross-entropy', None)
    """
    return DEFAULTS.get((kind, label_kind))


def objective_of(loss: object) -> Objective | None:
    """Return the objective that a loss belongs to, whatever its options; None for a loss of the caller's own.

    >>> objective_of(make("info-nce", {"scale": 30.0}, dim=384, dims=[384, 64])).roles
    ('anchor', 'positive', 'negative')
    """
    while isinstance(loss, partial):  # options, and the wrappers matryoshka and poly_scores
        loss = loss.keywords.get("loss", loss.func)
    function = type(loss) if isinstance(loss, pairs.SoftmaxClassifier) else loss
    return next((each for each in _TABLE if function in (each.loss, each.of_scores or each.loss)), None)


def check_name(option: str, name: str, kind: ModelKind = "bi") -> None:
    """Raise BadInput unless there is an objective of this name. A loss of sentence-transformers is translated.

    >>> check_name("loss", "TripletLoss")
    Traceback (most recent call last):
    sbert.errors.BadInput: loss is 'TripletLoss', a name of sentence-transformers; here it is: triplet, --loss \
triplet, whose default margin is 1
    """
    places = ("losses", "cross_encoder.losses") if kind == "bi" else ("cross_encoder.losses", "losses")
    if isinstance(name, str) and (hint := next(filter(None, (renamed(place, name) for place in places)), "")):
        raise BadInput(f"{option} is {shown(name)}, a name of sentence-transformers{hint}")
    check_option(option, name, OBJECTIVES)


def _find(name: str, kind: ModelKind, others: Sequence[str] = ()) -> Objective:
    check_name("objective", name, kind)
    objective = OBJECTIVES[name]
    if kind not in objective.kinds:
        theirs = " and ".join(f"{each}-encoders" for each in objective.kinds)
        others = others or [each.name for each in _TABLE if kind in each.kinds]
        raise BadInput(f"{name} is for {theirs}; for a {kind}-encoder choose {', '.join(others)}")
    return objective


def _parameters(loss: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Find the parameters with defaults, besides the labels."""
    parameters = inspect.signature(loss, eval_str=True).parameters.items()
    return {name: each for name, each in parameters if each.default is not each.empty and name != "labels"}


def _read_options(objective: Objective, options: Mapping[str, object]) -> dict[str, Any]:
    """Check the options against the signature of the loss and convert their values."""
    known = _parameters(objective.loss)
    for option in options:
        if not known:
            raise BadInput(f"{objective.name} got the option {shown(option)}, but takes none; leave it out")
        check_option(f"an option of {objective.name}", option, known)
    return {
        option: _read(f"{objective.name}.{option}", known[option].annotation, value)
        for option, value in options.items()
    }


def _read(name: str, kind: Any, value: Any) -> object:
    """Convert ``value`` to the type that the annotation ``kind`` asks for."""
    if get_origin(kind) is Literal:
        check_option(name, value, get_args(kind))
        return value
    if kind is bool:
        if not isinstance(value, bool):
            raise BadInput(f"{name} is {shown(value)}, but must be true or false")
        return value
    if type(None) in get_args(kind) and value in (None, "none"):
        return None
    if kind is float or type(None) in get_args(kind):
        return _number(name, value)
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise BadInput(f"{name} is {shown(value)}, but must be a list of names")
    return tuple(value)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadInput(f"{name} is {shown(value)}, but must be a finite number")
    if not name.endswith(".margin"):  # only a margin may be 0
        above_zero(name, value)
    return float(value)


def _nested(objective: Objective, loss: Loss, dims: Sequence[int], dim: int, kind: ModelKind) -> Loss:
    """Make a matryoshka loss, if the objective and the model have a size that can be changed."""
    got = f"the matryoshka dims are {shown(list(dims))}"
    if kind != "bi":
        raise BadInput(f"{got}, but only a bi-encoder's vectors have sizes; drop them")
    nested = matryoshka(loss, dims)
    if objective.label == "vector":
        raise BadInput(f"{objective.name} copies vectors of one size, so it takes no matryoshka dims; leave them out")
    if max(dims) > dim:
        raise BadInput(f"{got}, but the embedding size is {dim}; drop the larger ones")
    return nested
