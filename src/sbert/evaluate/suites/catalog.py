"""The suites by name. Defines which tasks belong to each suite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbert.disk.progress import Progress
from sbert.errors import check_option
from sbert.evaluate.evaluators.similarity import Aggregation
from sbert.evaluate.score import Missing, Report, Score
from sbert.evaluate.suites import arguments, korean, nli, retrieval, sections, senteval, sts
from sbert.evaluate.suites.sources import DataFolder
from sbert.evaluate.suites.task import Model, Options, Task, cached
from sbert.hub.datasets import fetch_split
from sbert.types import Scorer


@dataclass(frozen=True, slots=True)
class Suite:
    """Tasks that are reported together."""

    name: str
    tasks: tuple[Task[Any], ...]

    def only(self, *names: str) -> Suite:
        """Return the suite with these tasks alone."""
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
        """Measure a model on every task that has data and is for its kind of model.

        Args:
            model: Anything with a method ``encode`` or ``predict``. Each distinct text is embedded once.
            data_folder: Folder with the files, under the names of their publishers or as tables, in any sub-folder.
            aggregation: How to aggregate over the subsets of an STS year: "all" (as in the paper), "mean" or "wmean".
            folds: Number of folds for SentEval's inner and outer cross-validation. The note of a score names a number
                other than 10.
            rows: Maximum number of texts to train SentEval's classifiers on. The note of a score names it.
            reranker: Scorer that re-ranks the documents that the model retrieved; both rankings are reported.
            show_progress_bar: Show the number of finished tasks and the remaining time.
        """
        folder, options = DataFolder(data_folder), Options(aggregation, folds, rows, reranker)
        measured = cached(model)
        scores: list[Score] = []
        missing: list[Missing] = []
        with Progress(len(self.tasks), "tasks", show_progress_bar, equal=False) as progress:
            for task in self.tasks:
                outcome = task.run(measured, folder, options)
                if isinstance(outcome, Missing):
                    missing.append(outcome)
                else:
                    scores += outcome
                progress.add(1, task.name)
        return Report(self.name, tuple(scores), tuple(missing))


SUITES = {
    suite.name: suite
    for suite in (
        Suite("sts", sts.ENGLISH),
        Suite("korean", (*sts.KOREAN, *nli.KOREAN, *korean.TASKS)),
        Suite("nli", nli.ENGLISH),
        Suite("senteval", senteval.TASKS),
        Suite("arguments", arguments.TASKS),
        Suite("sections", sections.TASKS),
        Suite("retrieval", retrieval.TASKS),
    )
}


def download(suite: str, data_folder: str | Path) -> list[Path]:
    """Download the data of a suite that the Hugging Face hub has and the folder does not.

    Args:
        suite: Name of one of the SUITES.
        data_folder: Folder to write to, as REPOSITORY/SPLIT; created if it does not exist.

    Returns:
        The paths of the new files.
    """
    check_option("suite", suite, SUITES)
    target = Path(data_folder)
    target.mkdir(parents=True, exist_ok=True)
    folder = DataFolder(target)
    return [
        fetch_split(*source.hub, target / source.files[0])
        for task in SUITES[suite].tasks
        if not any(folder.find(source) for source in task.sources)
        for source in task.sources
        if source.hub is not None
    ]
