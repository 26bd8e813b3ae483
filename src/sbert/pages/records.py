"""The plain records that other packages hand over to the pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sbert.types import FloatArray

Points = Sequence[tuple[float, float]]
Metrics = Sequence[Mapping[str, float]]
"""Records with a "step"; those of a training step have a "loss", those of an evaluation have scores."""


class Table(NamedTuple):
    """A table of texts."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    """Cells may hold several lines."""
    align: str
    """One letter per column: "l" for text, "r" for numbers."""


class Bar(NamedTuple):
    """One row of a bar chart."""

    label: str
    value: float
    low: float | None = None
    """Lower end of the 95 % confidence interval."""
    high: float | None = None
    other: float | None = None
    """A published value to compare with, drawn as a diamond."""


class Plot(NamedTuple):
    """Predictions against gold labels."""

    name: str
    points: Points
    """(gold, predicted)."""


class Suite(NamedTuple):
    """The scores of one model on one suite."""

    name: str
    average: str
    """The mean score and the number of tasks in it, such as "71.50 over 3 of 5 tasks"."""
    bars: Sequence[Bar]
    table: Table
    plots: Sequence[Plot]
    missing: Sequence[tuple[str, str]]
    """Tasks and the reasons why they were not measured."""


class Drift(NamedTuple):
    """How far the vectors of two models differ for the same texts."""

    sentences: Sequence[str]
    histogram: tuple[Sequence[int], float, float] | None
    """Counts of cosines and the ends of their range; None if the models have different dimensions."""
    moved: Table
    """The texts that moved furthest."""


class TextMap(NamedTuple):
    """Texts on a plane."""

    title: str
    points: FloatArray
    """(N, 2) between -1 and 1."""
    texts: Sequence[str]
    groups: Sequence[int]
    """The number of each text's group; -1 for none."""
    names: Sequence[str]
    """The names of the groups."""


class TopicRow(NamedTuple):
    """One topic: its name, its number of texts, its words and some of its texts."""

    name: str
    size: int
    words: str
    examples: Sequence[str]


class TopicPage(NamedTuple):
    """The topics of a collection."""

    source: str
    texts: int
    without: int
    """Number of texts without a topic."""
    topics: Sequence[TopicRow]
    merges: Sequence[tuple[str, str, float]]
    """The topics that are joined first, the most similar first, and the cosine of their centres."""
    over_time: Mapping[str, Sequence[int]] | None
    """The number of texts of each topic in each period."""


class Comparison(NamedTuple):
    """The scores and the vectors of two models."""

    first: str
    second: str
    scores: Table
    differences: Sequence[Bar]
    """The first model's scores minus the second's."""
    missing: Sequence[tuple[str, str]]
    """Tasks and the reasons why they were not measured."""
    drift: Drift | None
    data: Sequence[str] = ()
    """The files and folders that the models read."""


class PaperTable(NamedTuple):
    """One table of the paper, measured again."""

    title: str
    summary: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Bar | None]]]
    """The name of each row and its cells; the published value of a cell is its ``other``."""
    notes: Sequence[str]
    """What differs from the paper."""
    plots: Sequence[Plot]
    without_difference: Collection[str] = ()
    """Rows that are not comparable with the paper's."""
    logarithmic: bool = False
    """Whether the charts have a logarithmic axis, instead of one from 0 to 100."""


class Run(NamedTuple):
    """A training run, finished or not."""

    name: str
    steps: int
    """Number of steps of the whole run."""
    data: Sequence[tuple[str, int]]
    """The name and the number of rows of each data set."""
    settings: Mapping[str, Any]
    metrics: Metrics
    step: int
    """Number of steps so far."""
    best_step: int
    """The step after which the model had its best score; 0 if there is none."""
    model: str
    loss: str
    dev: str
    """Name of the data to evaluate on; empty if there is none."""


class Demo(NamedTuple):
    """What ``sbert demo`` found."""

    template: str
    """Name of the template in the language of the corpus."""
    model: str
    speed: str
    pairs: Table
    answers: Sequence[tuple[str, Table]]
    """Queries and the sentences found for them."""
    korean: tuple[str, Table] | None
    """A query in Korean and the sentences found for it, in a corpus of another language."""
    costs: Table
    """For this corpus and for a larger one: sentences, pairs, time with vectors, time with a cross-encoder, ratio."""
    notes: Mapping[str, str]
    """Remarks on the "pairs", the "queries", the "korean" query and the "cost"."""
    sentences: Sequence[tuple[str, str]]
    """The topic and the text of every sentence."""
    points: Points
    """The place of every sentence on the map."""
    topics: Sequence[str]
    means: Sequence[Sequence[float]]
    """The mean cosine of the sentences of every topic with those of every other."""
    same_topic: float
    """Share of the sentences whose most similar sentence has the same topic."""
    same_by_chance: float
