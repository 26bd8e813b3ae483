"""SentEval: how well a logistic regression on frozen vectors does seven tasks.

The protocol is SentEval's own, in its scikit-learn form: the regulariser is chosen on the training rows alone, from
SentEval's grids, and the classifier is then fitted on all of them. MR, CR, SUBJ and MPQA have no test rows, so that is
done once for each of ten folds; TREC and MRPC have some, and SST has rows to choose on as well.
Knows vectors and labels; texts only to embed them. The data sets are in ``senteval.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.suites.report import Score
from sbert.evaluate.suites.task import Options
from sbert.types import Array, Encoder, FloatArray, IntArray

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

SEED = 1111
NARROW = tuple(2.0**exponent for exponent in range(-2, 4))
"""SentEval's values of scikit-learn's C for sets without test rows, and for sets with development rows."""
WIDE = tuple(2.0**exponent for exponent in range(-1, 6))
"""The same for sets with test rows only."""


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Rows of one or two texts with a label each."""

    texts: tuple[list[str], ...]
    labels: list[str]

    def take(self, places: IntArray) -> Labelled:
        """These rows, in this order."""
        texts = tuple([column[place] for place in places] for column in self.texts)
        return Labelled(texts, [self.labels[place] for place in places])


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSplits:
    """A set to classify; without test rows it is cross-validated."""

    train: Labelled
    dev: Labelled | None = None
    test: Labelled | None = None


def features(model: Encoder, rows: Labelled) -> FloatArray:
    """(N, D) the vectors of texts; (N, 2 D) of pairs, |u - v| and u * v."""
    vectors = [model.encode(texts, on_truncate="ignore") for texts in rows.texts]
    if len(vectors) == 1:
        return np.asarray(vectors[0], np.float32)
    u, v = vectors
    return np.concatenate([np.abs(u - v), u * v], axis=1, dtype=np.float32)


def classify_by_folds(vectors: FloatArray, labels: Array, folds: int = 10) -> Array:
    """(N,) what each row is taken for by a classifier that never saw it."""
    predicted = np.empty_like(labels)
    for train, test in stratified(labels, folds):
        predicted[test] = classify(vectors[train], labels[train], vectors[test], folds)
    return predicted


def classify(
    train: FloatArray, labels: Array, test: FloatArray, folds: int = 10, strengths: Sequence[float] = NARROW
) -> Array:
    """Labels of the test rows; the regulariser is chosen by cross-validation on the training rows."""
    scores = [_accuracies(train[a], labels[a], train[b], labels[b], strengths) for a, b in stratified(labels, folds)]
    predicted: Array = _fit(train, labels, _best(strengths, np.mean(scores, axis=0))).predict(test)
    return predicted


def classify_with_dev(train: FloatArray, labels: Array, dev: FloatArray, dev_labels: Array, test: FloatArray) -> Array:
    """Labels of the test rows; the regulariser is chosen on the development rows, which are not trained on."""
    scores = _accuracies(train, labels, dev, dev_labels, NARROW)
    predicted: Array = _fit(train, labels, _best(NARROW, scores)).predict(test)
    return predicted


def stratified(labels: Array, folds: int) -> Iterator[tuple[IntArray, IntArray]]:
    """The rows to fit on and to test on, fold by fold, each with every label's share."""
    from sklearn.model_selection import StratifiedKFold

    fewest = int(np.unique(labels, return_counts=True)[1].min())
    if not 2 <= folds <= fewest:
        raise BadInput(f"folds is {folds}, but must lie between 2 and {fewest}, the size of the smallest class")
    yield from StratifiedKFold(folds, shuffle=True, random_state=SEED).split(labels, labels)


def score(task: str, data: LabelledSplits, model: Encoder, options: Options) -> list[Score]:
    """Accuracy, and F1 for pairs, under SentEval's protocol or the part of it that the options allow."""
    train, note = _cut(data.train, options, cross_validated=data.dev is None)
    vectors, labels = features(model, train), np.array(train.labels)
    if data.test is None:
        predicted, gold = classify_by_folds(vectors, labels, options.folds), labels
    elif data.dev is None:
        predicted = classify(vectors, labels, features(model, data.test), options.folds, WIDE)
        gold = np.array(data.test.labels)
    else:
        dev, test = features(model, data.dev), features(model, data.test)
        predicted = classify_with_dev(vectors, labels, dev, np.array(data.dev.labels), test)
        gold = np.array(data.test.labels)
    accuracy = Score(task, "accuracy", 100 * float((predicted == gold).mean()), len(gold), note, predicted, gold)
    return [accuracy] if len(train.texts) == 1 else [accuracy, _f1(accuracy)]


def _accuracies(
    train: FloatArray, labels: Array, test: FloatArray, test_labels: Array, strengths: Sequence[float]
) -> FloatArray:
    """(S,) one accuracy for each strength, each fit starting where the one before ended."""
    model = _regression(strengths[0], tolerance=1e-5)
    return np.array([model.set_params(C=c).fit(train, labels).score(test, test_labels) for c in strengths])


def _fit(train: FloatArray, labels: Array, strength: float) -> LogisticRegression:
    """The classifier that is tested: fitted until no prediction changes any more."""
    return _regression(strength, tolerance=1e-8).fit(train.astype(np.float64), labels)


def _regression(strength: float, tolerance: float) -> LogisticRegression:
    """With scikit-learn's own tolerance, 1e-4, several predictions in a thousand are not settled yet."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, tol=tolerance, max_iter=10_000, warm_start=True)


def _best(strengths: Sequence[float], accuracies: FloatArray) -> float:
    """The first of the best, in hundredths of a percent, as SentEval rounds them."""
    return strengths[int(np.argmax(np.round(100 * accuracies, 2)))]


def _cut(rows: Labelled, options: Options, cross_validated: bool) -> tuple[Labelled, str]:
    """The rows to train on, and what of the protocol is left out."""
    total, notes = len(rows.labels), []
    if cross_validated and options.folds != 10:
        notes.append(f"{options.folds} folds instead of 10")
    if options.rows is not None and options.rows < total:
        rows = rows.take(np.sort(np.random.default_rng(SEED).permutation(total)[: options.rows]))
        notes.append(f"{options.rows} of {total} training rows")
    return rows, ", ".join(notes)


def _f1(accuracy: Score) -> Score:
    """Of the label "1", from the same predictions."""
    from sklearn.metrics import f1_score

    value = 100 * float(f1_score(accuracy.gold, accuracy.predicted, pos_label="1"))
    return replace(accuracy, metric="f1", value=value)
