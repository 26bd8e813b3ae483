"""Korean paraphrases: questions of the same intent, and pairs of questions. Defines their file names and columns."""

from __future__ import annotations

from collections import defaultdict

from sbert.data import Columns
from sbert.data.rows import Row
from sbert.errors import BadInput, shown
from sbert.evaluate.evaluators.retrieval import Retrieval
from sbert.evaluate.suites.retrieval import FIGURES
from sbert.evaluate.suites.sources import own
from sbert.evaluate.suites.task import Options, Task, evaluator_of

_PARAKQC, _QUESTION_PAIRS = "ParaKQC, Cho et al. 2020", "Question_pair, songys"


def _intents(rows: list[Row]) -> dict[str, tuple[str, str]]:
    """Read the intent and the text of each question, by its number."""
    return {str(number): (str(row.field("intent")), row.text("text")) for number, row in enumerate(rows)}


def _find_paraphrases(questions: dict[str, tuple[str, str]], options: Options) -> Retrieval:
    """Make the evaluator in which every question has to find the others of its intent among all questions."""
    same: dict[str, set[str]] = defaultdict(set)
    for number, (intent, _) in questions.items():
        same[intent].add(number)
    texts = {number: text for number, (_, text) in questions.items()}
    relevant = {number: same[intent] - {number} for number, (intent, _) in questions.items()}
    return Retrieval(texts, texts, relevant, figures=FIGURES, reranker=options.reranker, skip_own_id=True)


def _question_pairs(rows: list[Row]) -> Columns:
    """Read pairs of questions, whose label is 0 if they mean the same and 1 if they do not."""
    for row in rows:
        if str(row.field("label")) not in ("0", "1"):
            raise BadInput(f"{row.where}: the label is {shown(row.field('label'))}, but must be 0 or 1")
    texts = {column: [row.text(column) for row in rows] for column in ("text", "text2")}
    return Columns.of(texts, [1 - int(row.field("label")) for row in rows], label_kind="binary")


TASKS = (
    Task("parakqc", (own("parakqc_ko", _PARAKQC, _intents),), _find_paraphrases, ("encoder",), prefix="cosine_"),
    Task(
        "question_pairs_test",
        (own("kor_question_pair", _QUESTION_PAIRS, _question_pairs, "test"),),
        evaluator_of,
        ("encoder", "scorer"),
        ("cosine_ap", "cosine_accuracy", "average_precision", "accuracy"),
    ),
)
