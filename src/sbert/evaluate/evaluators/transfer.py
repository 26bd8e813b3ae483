"""Transfer: how well a logistic regression on a model's vectors classifies texts, by SentEval's protocol.

The strength of the regulariser is chosen from SentEval's grids with the training texts alone, and the classifier is
then fitted to all of them. A set without test texts is cross-validated, with that choice in every fold; a set with
development texts uses them for the choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sbert.errors import BadInput, shown
from sbert.evaluate.evaluators.evaluator import ScoreEvaluator, check_lengths, checksum
from sbert.evaluate.evaluators.protocol import embed
from sbert.evaluate.metrics.prediction import accuracy, f1
from sbert.evaluate.score import Score
from sbert.types import Array, Encoder, FloatArray, IntArray

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

SEED = 1111
FOLDS = 10
NARROW = tuple(2.0**exponent for exponent in range(-2, 4))
"""SentEval's values of scikit-learn's C for sets without test texts, and for sets with development texts."""
WIDE = tuple(2.0**exponent for exponent in range(-1, 6))
"""SentEval's values of C for sets with test texts only."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTexts:
    """Texts, or pairs of texts, with a label each."""

    texts: tuple[list[str], ...]
    """One column of texts, or two columns for pairs."""
    labels: list[str]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, places: IntArray) -> LabelledTexts:
        """Return the texts at these places, in this order."""
        texts = tuple([column[place] for place in places] for column in self.texts)
        return LabelledTexts(texts, [self.labels[place] for place in places])


class Transfer(ScoreEvaluator[Encoder]):
    """Accuracy of a logistic regression on a model's vectors, by SentEval's protocol.

    Args:
        train: Texts to train the classifier on. Without ``test`` they are cross-validated.
        dev: Texts to choose the regulariser with. Defaults to cross-validation on ``train``.
        test: Texts to test on.
        folds: Number of folds for the inner and outer cross-validation. SentEval has 10.
        train_limit: Maximum number of training texts, drawn at random. Defaults to all.

    >>> from sbert import BiEncoder
    >>> train = LabelledTexts((["A cat sleeps.", "기차가 늦는다.", "A cat naps.", "기차가 왔다."],), ["a", "b"] * 2)
    >>> test = LabelledTexts((["A cat dozes.", "기차가 늦었다."],), ["a", "b"])
    >>> Transfer(train, test=test, folds=2)(BiEncoder.from_pretrained())
    {'accuracy': 100.0}
    """

    primary_metric = "accuracy"
    metric = staticmethod(accuracy)

    def __init__(
        self,
        train: LabelledTexts,
        dev: LabelledTexts | None = None,
        test: LabelledTexts | None = None,
        *,
        folds: int = FOLDS,
        train_limit: int | None = None,
    ) -> None:
        if dev is not None and test is None:
            raise BadInput("there are development texts but no test texts; give both, or training texts alone")
        for part in (part for part in (train, dev, test) if part is not None):
            check_lengths(
                **{f"texts_{number}": column for number, column in enumerate(part.texts)}, labels=part.labels
            )
        total, notes = len(train), []
        if dev is None and folds != FOLDS:
            notes.append(f"{folds} folds instead of {FOLDS}")
        if train_limit is not None and train_limit < total:
            train = train.take(np.sort(np.random.default_rng(SEED).permutation(total)[:train_limit]))
            notes.append(f"{train_limit} of {total} training rows")
        if len(set(train.labels)) == 1:
            label = shown(train.labels[0])
            raise BadInput(f"all training texts have the label {label}, but a classifier needs at least two labels")
        self.train, self.dev, self.test, self.folds, self.note = train, dev, test, folds, ", ".join(notes)
        self.gold = np.array((train if test is None else test).labels)

    def __repr__(self) -> str:
        parts = [part for part in (self.train, self.dev, self.test) if part is not None]
        mark = checksum(*(text for part in parts for column in (*part.texts, part.labels) for text in [*column, "|"]))
        return f"Transfer({' + '.join(str(len(part)) for part in parts)} texts, {self.folds} folds, checksum {mark})"

    def scores(self, model: Encoder) -> list[Score]:
        """Accuracy and, for pairs, the F1 of the label "1"."""
        train, labels = features(model, self.train), np.array(self.train.labels)
        if self.test is None:
            predicted = classify_by_folds(train, labels, self.folds)
        elif self.dev is None:
            predicted = classify(train, labels, features(model, self.test), self.folds, WIDE)
        else:
            dev, dev_labels = features(model, self.dev), np.array(self.dev.labels)
            predicted = classify_with_dev(train, labels, dev, dev_labels, features(model, self.test))
        scores = [Score.measured("accuracy", accuracy, predicted, self.gold, note=self.note)]
        if len(self.train.texts) > 1:
            scores.append(Score.measured("f1", f1, predicted == "1", self.gold == "1", note=self.note))
        return scores


def features(model: Encoder, texts: LabelledTexts) -> FloatArray:
    """(N, D) the vectors of texts, or (N, 2 D) |u - v| and u * v of pairs."""
    vectors = embed(model, *texts.texts)
    if len(vectors) == 1:
        return np.asarray(vectors[0], np.float32)
    u, v = vectors
    return np.concatenate([np.abs(u - v), u * v], axis=1, dtype=np.float32)


def classify_by_folds(vectors: FloatArray, labels: Array, folds: int = FOLDS) -> Array:
    """(N,) the label that a classifier trained on the other folds gives to each row."""
    predicted = np.empty_like(labels)
    for train, test in stratified(labels, folds):
        predicted[test] = classify(vectors[train], labels[train], vectors[test], folds)
    return predicted


def classify(
    train: FloatArray, labels: Array, test: FloatArray, folds: int = FOLDS, strengths: Sequence[float] = NARROW
) -> Array:
    """Label the test rows; the regulariser is chosen by cross-validation on the training rows."""
    scores = [_accuracies(train[a], labels[a], train[b], labels[b], strengths) for a, b in stratified(labels, folds)]
    return _classify(train, labels, test, strengths, np.mean(scores, axis=0))


def classify_with_dev(train: FloatArray, labels: Array, dev: FloatArray, dev_labels: Array, test: FloatArray) -> Array:
    """Label the test rows; the regulariser is chosen with the development rows, which are not trained on."""
    return _classify(train, labels, test, NARROW, _accuracies(train, labels, dev, dev_labels, NARROW))


def stratified(labels: Array, folds: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the training and test rows of each fold; every fold has the same share of each label."""
    from sklearn.model_selection import StratifiedKFold

    fewest = int(np.unique(labels, return_counts=True)[1].min())
    if not 2 <= folds <= fewest:
        raise BadInput(f"folds is {folds}, but must lie between 2 and {fewest}, the size of the smallest class")
    yield from StratifiedKFold(folds, shuffle=True, random_state=SEED).split(labels, labels)


def _accuracies(
    train: FloatArray, labels: Array, test: FloatArray, test_labels: Array, strengths: Sequence[float]
) -> FloatArray:
    """(S,) the accuracy with each value of C; every fit starts from the solution of the one before."""
    model = _regression(strengths[0], tolerance=1e-5)
    return np.array([model.set_params(C=c).fit(train, labels).score(test, test_labels) for c in strengths])


def _classify(
    train: FloatArray, labels: Array, test: FloatArray, strengths: Sequence[float], accuracies: FloatArray
) -> Array:
    """Label the test rows with the first of the best strengths, fitted until the predictions no longer change."""
    best = int(np.argmax(np.round(100 * accuracies, 2)))  # SentEval rounds to hundredths of a percent
    predicted: Array = _regression(strengths[best], tolerance=1e-8).fit(train.astype(np.float64), labels).predict(test)
    return predicted


def _regression(strength: float, tolerance: float) -> LogisticRegression:
    """With scikit-learn's default tolerance of 1e-4, several predictions in a thousand are not final."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, tol=tolerance, max_iter=10_000, warm_start=True)
