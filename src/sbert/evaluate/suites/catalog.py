"""The paper's evaluations by name: a model and a folder of data in, a report out. Knows what belongs together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from sbert.disk.progress import Progress
from sbert.errors import check_option
from sbert.evaluate.suites import arguments, nli, sections, senteval, sts
from sbert.evaluate.suites import retrieval as retrieval_sets
from sbert.evaluate.suites.report import Missing, Report, Score
from sbert.evaluate.suites.sources import DataFolder
from sbert.evaluate.suites.task import Aggregation, Memory, Model, Options, Task, kind_of
from sbert.types import Scorer


@dataclass(frozen=True, slots=True)
class Suite:
    """Tasks that are reported together."""

    name: str
    tasks: tuple[Task[Any], ...]

    def only(self, *names: str) -> Suite:
        """The same suite with these tasks alone."""
        for name in names:
            check_option("task", name, [task.name for task in self.tasks])
        return Suite(self.name, tuple(task for task in self.tasks if task.name in names))

    def run(
        self,
        model: Model,
        data_folder: str | Path,
        *,
        aggregation: Aggregation = "all",
        folds: int = 10,
        rows: int | None = None,
        reranker: Scorer | None = None,
        show_progress_bar: bool = False,
    ) -> Report:
        """Measure a model on every task whose data are there and that is for its kind; say what is missing.

        Args:
            model: whatever has ``encode`` (each distinct text is embedded once), or ``predict``.
            data_folder: the files, under the names that their publishers use or as tables, in any sub-folder.
            aggregation: of a year of STS: "all", the paper's, "mean" or "wmean".
            folds: of SentEval's cross-validation; fewer are quicker and noted.
            rows: at most so many rows to train each of SentEval's classifiers on; noted too.
            reranker: re-orders what the model retrieved, and both are reported.
            show_progress_bar: show tasks done and time left.
        """
        check_option("aggregation", aggregation, get_args(Aggregation))
        kind = kind_of(model)
        folder, options = DataFolder(data_folder), Options(aggregation, folds, rows, reranker)
        measured = model if isinstance(model, Scorer) else Memory(model)
        scores: list[Score] = []
        missing: list[Missing] = []
        with Progress(len(self.tasks), "tasks", show_progress_bar, equal=False) as progress:
            for task in self.tasks:
                outcome = task.run(measured, kind, folder, options)
                if isinstance(outcome, Missing):
                    missing.append(outcome)
                else:
                    scores += outcome
                progress.add(1, task.name)
        return Report(self.name, tuple(scores), tuple(missing))


def _suite(name: str, *tasks: Task[Any]) -> tuple[str, Suite]:
    return name, Suite(name, tasks)


SUITES = dict(
    (
        _suite("sts", *sts.ENGLISH),
        _suite("korean", *sts.KOREAN, *nli.KOREAN),
        _suite("nli", *nli.ENGLISH),
        _suite("senteval", *senteval.TASKS),
        _suite("arguments", *arguments.TASKS),
        _suite("sections", *sections.TASKS),
        _suite("retrieval", *retrieval_sets.TASKS),
    )
)


def download(suite: str, data_folder: str | Path) -> list[Path]:
    """Fetch what the hub has of a suite and the folder has not; the paths of the new files.

    Args:
        suite: one of SUITES.
        data_folder: where to, as REPOSITORY/SPLIT; made where it does not exist.
    """
    from sbert.hub.datasets import fetch_split  # which brings torch

    check_option("suite", suite, SUITES)
    target = Path(data_folder)
    target.mkdir(parents=True, exist_ok=True)
    folder = DataFolder(target)
    fetched = []
    for task in SUITES[suite].tasks:
        if any(folder.find(source) for source in task.sources):
            continue
        for source in task.sources:
            if source.hub is not None:
                fetched.append(fetch_split(*source.hub, target / source.hub.name))
    return fetched
