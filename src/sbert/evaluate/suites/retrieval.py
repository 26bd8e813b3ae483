"""Retrieval on the classic test collections: an encoder finds, a scorer may re-order. Knows names and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sbert.errors import BadInput
from sbert.evaluate.metrics.ranking import judge, map_at, mrr_at, ndcg_at, recall_at
from sbert.evaluate.suites.report import Score
from sbert.evaluate.suites.sources import Source, column, lines, numbers, rows
from sbert.evaluate.suites.task import Options, Task
from sbert.search.exact import semantic_search
from sbert.types import Encoder, Scorer

DEPTH = 100
"""How many documents are retrieved for a query, and re-ranked."""
Ranking = dict[str, list[str]]
"""Ids of documents, best first, by the id of the query."""


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """Documents, queries, and how relevant which document is for which query."""

    documents: dict[str, str]
    queries: dict[str, str]
    """Only those with a relevant document."""
    relevant: dict[str, dict[str, float]]
    """By query and document, grades above 0."""


def retrieve(collection: Collection, model: Encoder, k: int = DEPTH) -> Ranking:
    """The ``k`` nearest documents by cosine, with the model's prompts for queries and documents where it has them."""
    embed_query = getattr(model, "encode_query", model.encode)
    embed_document = getattr(model, "encode_document", model.encode)
    queries = embed_query(list(collection.queries.values()), on_truncate="ignore")
    documents = embed_document(list(collection.documents.values()), on_truncate="ignore")
    ids = list(collection.documents)
    found = semantic_search(queries, documents, k)
    return {query: [ids[int(hit.id)] for hit in hits] for query, hits in zip(collection.queries, found, strict=True)}


def rerank(collection: Collection, ranking: Ranking, scorer: Scorer) -> Ranking:
    """The same documents in the order of a scorer; of those that score alike, the one that stood higher."""
    pairs = [
        (collection.queries[query], collection.documents[document])
        for query, documents in ranking.items()
        for document in documents
    ]
    scores = np.asarray(scorer.predict(pairs, on_truncate="ignore"))
    if scores.ndim != 1:
        raise BadInput(f"the re-ranker gave scores of shape {scores.shape}, but needs one score a pair")
    ends = np.cumsum([len(documents) for documents in ranking.values()])[:-1]
    return {
        query: [documents[place] for place in np.argsort(-part, kind="stable")]
        for (query, documents), part in zip(ranking.items(), np.split(scores, ends), strict=True)
    }


def ranking_scores(task: str, collection: Collection, ranking: Ranking, note: str = "") -> list[Score]:
    """nDCG@10 with graded relevance, MAP@100, MRR@10 and recall@100: means over the queries."""
    judged = judge(list(ranking.values()), [collection.relevant[query] for query in ranking])
    measured = {
        "ndcg@10": ndcg_at(judged, 10),
        "map@100": map_at(judged, DEPTH),
        "mrr@10": mrr_at(judged, 10),
        "recall@100": recall_at(judged, DEPTH),
    }
    return [Score(task, name, float(values.mean()), len(values), note, values) for name, values in measured.items()]


def score(task: str, collection: Collection, model: Encoder, options: Options) -> list[Score]:
    """What an encoder finds, and what a re-ranker makes of it where there is one."""
    ranking = retrieve(collection, model)
    scores = ranking_scores(task, collection, ranking)
    if options.reranker is None:
        return scores
    again = ranking_scores(task, collection, rerank(collection, ranking, options.reranker), f"top {DEPTH} re-ranked")
    return [*scores, *(replace(score, metric=f"reranked_{score.metric}") for score in again)]


def collection_of(
    documents: dict[str, str], queries: dict[str, str], judgements: Iterable[tuple[str, str, float]]
) -> Collection:
    """A collection whose queries all have an answer: those without a relevant document are left out."""
    relevant: dict[str, dict[str, float]] = {}
    for query, document, grade in judgements:
        if query not in queries or document not in documents:
            raise BadInput(f"query {query!r} is judged with document {document!r}, but one of them does not exist")
        if grade > 0:
            relevant.setdefault(query, {})[document] = grade
    return Collection(documents, {name: text for name, text in queries.items() if name in relevant}, relevant)


def _tables(paths: Sequence[Path]) -> Collection:
    """Three tables: id, title, text; id, text; query_id, doc_id, relevance."""
    documents, queries, judgements = map(rows, paths)
    titled = zip(column(documents, "title", paths[0]), column(documents, "text", paths[0]), strict=True)
    return collection_of(
        dict(zip(column(documents, "id", paths[0]), (_document(*parts) for parts in titled), strict=True)),
        dict(zip(column(queries, "id", paths[1]), column(queries, "text", paths[1]), strict=True)),
        zip(
            column(judgements, "query_id", paths[2]),
            column(judgements, "doc_id", paths[2]),
            numbers(judgements, "relevance", paths[2]),
            strict=True,
        ),
    )


def _document(title: str, text: str) -> str:
    """Cranfield's texts begin with the title already."""
    return text if text.startswith(title) else f"{title} {text}"


def _smart(paths: Sequence[Path]) -> Collection:
    """The files of the SMART system. Queries are judged by their place: the numbers in cran.qry have gaps."""
    documents = {entry["I"]: _document(entry.get("T", ""), entry.get("W", "")) for entry in _entries(paths[0])}
    queries = {str(place): entry.get("W", "") for place, entry in enumerate(_entries(paths[1]), 1)}
    judged = (line.split() for line in lines(paths[2]) if line.strip())
    return collection_of(documents, queries, (_judgement(parts, paths[2]) for parts in judged))


def _judgement(parts: list[str], path: Path) -> tuple[str, str, float]:
    """Cranfield's code 1 is a complete answer, 4 of minimum interest, -1 of none; CISI's judgements have no code."""
    if len(parts) == 3 and parts[2] in ("1", "2", "3", "4", "-1"):
        return parts[0], parts[1], 0.0 if parts[2] == "-1" else 5.0 - int(parts[2])
    if len(parts) == 4:
        return parts[0], parts[1], 1.0
    raise BadInput(f"{path} has the line {' '.join(parts)!r}, but a query, a document and a code of 1 to 4 are needed")


def _entries(path: Path) -> Iterator[dict[str, str]]:
    """Entries that begin with ``.I number`` and hold fields that begin with ``.T``, ``.W`` and so on."""
    entry: dict[str, str] = {}
    field = ""
    for line in lines(path):
        if line.startswith(".I "):
            if entry:
                yield entry
            entry, field = {"I": line[3:].strip()}, ""
        elif len(line.rstrip()) == 2 and line[0] == ".":
            field = line[1]
        elif field:
            entry[field] = f"{entry.get(field, '')} {line.strip()}".strip()
    if entry:
        yield entry


def _task(name: str, *smart: str) -> Task[Collection]:
    publisher = "University of Glasgow, ir.dcs.gla.ac.uk/resources/test_collections"
    names = tuple(f"ir_{name}_{part}" for part in ("corpus", "queries", "qrels"))
    sources = Source(names, f"tables, from {publisher}", _tables), Source(smart, publisher, _smart)
    return Task(name, sources, score, ("encoder",))


TASKS = (
    _task("cranfield", "cran.all.1400", "cran.qry", "cranqrel"),
    _task("cisi", "CISI.ALL", "CISI.QRY", "CISI.REL"),
)
