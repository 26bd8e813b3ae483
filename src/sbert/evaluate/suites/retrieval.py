"""Retrieval: the classic test collections. Defines their file names, columns and line formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sbert.data.files import read_lines
from sbert.data.rows import read_table
from sbert.errors import BadInput, shown
from sbert.evaluate.evaluators.retrieval import Retrieval
from sbert.evaluate.suites.sources import Source
from sbert.evaluate.suites.task import Options, Task

FIGURES = ("ndcg@10", "map@100", "mrr@10", "recall@100")


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """Documents, queries, and the relevance of documents to queries."""

    documents: dict[str, str]
    queries: dict[str, str]
    """Queries that have a relevant document."""
    relevant: dict[str, dict[str, float]]
    """Grades above 0, by query and document."""


def search(collection: Collection, options: Options) -> Retrieval:
    """Make the evaluator of the collection."""
    return Retrieval(
        collection.queries, collection.documents, collection.relevant, figures=FIGURES, reranker=options.reranker
    )


def collection_of(
    documents: dict[str, str], queries: dict[str, str], judgements: Iterable[tuple[str, str, float]]
) -> Collection:
    """Make a collection; queries without a relevant document are left out."""
    relevant: dict[str, dict[str, float]] = {}
    for query, document, grade in judgements:
        if query not in queries or document not in documents:
            raise BadInput(
                f"query {shown(query)} is judged with document {shown(document)}, but one of them does not exist"
            )
        if grade > 0:
            relevant.setdefault(query, {})[document] = grade
    return Collection(documents, {name: text for name, text in queries.items() if name in relevant}, relevant)


def _tables(paths: Sequence[Path]) -> Collection:
    """Read three tables with the columns id, title, text; id, text; and query_id, doc_id, relevance."""
    documents, queries, judgements = map(read_table, paths)
    return collection_of(
        {row.text("id"): _document(row.text("title"), row.text("text")) for row in documents},
        {row.text("id"): row.text("text") for row in queries},
        ((row.text("query_id"), row.text("doc_id"), row.decimal("relevance")) for row in judgements),
    )


def _document(title: str, text: str) -> str:
    """Join title and text; the texts of Cranfield already begin with the title."""
    return text if text.startswith(title) else f"{title} {text}"


def _smart(paths: Sequence[Path]) -> Collection:
    """Read files of the SMART system. Judgements refer to the places of queries: the numbers in cran.qry have gaps."""
    documents = {entry["I"]: _document(entry.get("T", ""), entry.get("W", "")) for entry in _entries(paths[0])}
    queries = {str(place): entry.get("W", "") for place, entry in enumerate(_entries(paths[1]), 1)}
    judged = (line.split() for line in read_lines(paths[2]) if line.strip())
    return collection_of(documents, queries, (_judgement(parts, paths[2]) for parts in judged))


def _judgement(parts: list[str], path: Path) -> tuple[str, str, float]:
    """Cranfield's codes run from 1, a complete answer, to 4, with -1 for no interest; CISI has no codes."""
    if len(parts) == 3 and parts[2] in ("1", "2", "3", "4", "-1"):
        return parts[0], parts[1], 0.0 if parts[2] == "-1" else 5.0 - int(parts[2])
    if len(parts) == 4:
        return parts[0], parts[1], 1.0
    raise BadInput(f"{path} has the line {' '.join(parts)!r}, but a query, a document and a code of 1 to 4 are needed")


def _entries(path: Path) -> Iterator[dict[str, str]]:
    """Yield entries that begin with ``.I number`` and have fields that begin with ``.T``, ``.W`` and so on."""
    entry: dict[str, str] = {}
    field = ""
    for line in read_lines(path):
        if line.startswith(".I "):
            if entry:
                yield entry
            entry, field = {"I": line[3:].strip()}, ""
        elif len(line.rstrip()) == 2 and line[0] == ".":
            field = line[1]
        elif field and not entry:
            raise BadInput(f"{path} starts with the field .{field}, but every entry must start with .I and its number")
        elif field:
            entry[field] = f"{entry.get(field, '')} {line.strip()}".strip()
    if entry:
        yield entry


def _task(name: str, *smart: str) -> Task[Collection]:
    publisher = "University of Glasgow, ir.dcs.gla.ac.uk/resources/test_collections"
    names = tuple(f"ir_{name}_{part}" for part in ("corpus", "queries", "qrels"))
    sources = Source(names, f"tables, from {publisher}", _tables), Source(smart, publisher, _smart)
    return Task(name, sources, search, ("encoder",), prefix="cosine_")


TASKS = (
    _task("cranfield", "cran.all.1400", "cran.qry", "cranqrel"),
    _task("cisi", "CISI.ALL", "CISI.QRY", "CISI.REL"),
)
