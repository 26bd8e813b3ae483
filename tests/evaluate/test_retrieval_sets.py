"""Retrieval on test collections: measures against sentence-transformers and scikit-learn, and the files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
from sklearn.metrics import ndcg_score

from sbert.errors import BadInput
from sbert.evaluate import Retrieval
from sbert.evaluate.metrics.ranking import Figure, judge
from sbert.evaluate.suites.catalog import SUITES
from sbert.evaluate.suites.retrieval import FIGURES, collection_of, search
from sbert.evaluate.suites.sources import DataFolder
from sbert.evaluate.suites.task import Options

DOCUMENTS = {
    "d1": "날개 주위의 공기 흐름",
    "d2": "초음속 비행기의 날개",
    "d3": "도서관의 책 분류",
    "d4": "heat transfer in a boundary layer",
    "d5": "the boundary layer of a wing",
}
QUERIES = {"q1": "비행기의 날개", "q2": "boundary layer", "q3": "아무도 모르는 것"}
JUDGED = [("q1", "d2", 3.0), ("q1", "d1", 1.0), ("q1", "d3", 0.0), ("q2", "d5", 1.0), ("q2", "d4", 2.0)]


class Words:
    def __init__(self) -> None:
        self.words: dict[str, int] = {}

    def encode(self, sentences, *, on_truncate="warn"):
        assert on_truncate == "ignore"
        vectors = np.zeros((len(sentences), 64), np.float32)
        for row, text in enumerate(sentences):
            for word in text.split():
                vectors[row, self.words.setdefault(word, len(self.words))] += 1
        return vectors


class Grades:
    """A scorer that finds long documents best."""

    def predict(self, pairs, *, on_truncate="warn"):
        assert on_truncate == "ignore"
        return np.array([float(len(document)) for _, document in pairs])


def values(ranking: list[str], grades: dict[str, float]) -> dict[str, float]:
    judged = judge([ranking], [grades])
    return {name: Figure.parse(name).values(judged).item() for name in FIGURES}


def test_by_hand():
    found = values(["x", "b", "a", "y"], {"a": 3.0, "b": 1.0, "c": 1.0})
    ideal = 3 + 1 / np.log2(3) + 1 / np.log2(4)
    assert found["ndcg@10"] == pytest.approx(100 * (1 / np.log2(3) + 3 / np.log2(4)) / ideal)
    assert found["map@100"] == pytest.approx(100 * (1 / 2 + 2 / 3) / 3)
    assert found["mrr@10"] == pytest.approx(50)
    assert found["recall@100"] == pytest.approx(100 * 2 / 3)


def test_nothing_found():
    assert values([f"x{n}" for n in range(10)] + ["a"], {"a": 1.0}) == {
        "ndcg@10": 0.0,
        "map@100": pytest.approx(100 / 11),
        "mrr@10": 0.0,
        "recall@100": 100.0,
    }


@given(st.permutations(range(30)), st.dictionaries(st.integers(0, 29), st.integers(1, 4), min_size=1))
def test_measures_as_others_compute_them(order, relevant):
    grades = {str(document): float(grade) for document, grade in relevant.items()}
    ranking = [str(document) for document in order]
    found = values(ranking, grades)
    truth = [[grades.get(str(document), 0.0) for document in range(30)]]
    places = np.argsort(order)
    assert found["ndcg@10"] == pytest.approx(100 * ndcg_score(truth, [-places.astype(float)], k=10))
    theirs = InformationRetrievalEvaluator({"q": ""}, {name: "" for name in ranking}, {"q": set(grades)})
    hits = [[{"corpus_id": name, "score": 30.0 - place} for place, name in enumerate(ranking)]]
    expected = theirs.compute_metrics(hits)
    assert found["map@100"] == pytest.approx(100 * expected["map@k"][100])
    assert found["mrr@10"] == pytest.approx(100 * expected["mrr@k"][10])
    assert found["recall@100"] == 100.0


def evaluator() -> Retrieval:
    return search(collection_of(DOCUMENTS, QUERIES, JUDGED), Options())


def test_retrieve_and_rerank():
    collection = collection_of(DOCUMENTS, QUERIES, JUDGED)
    assert list(collection.queries) == ["q1", "q2"]  # nobody knows an answer to the third
    assert collection.relevant["q1"] == {"d2": 3.0, "d1": 1.0}
    ranking = evaluator().search(Words())
    assert ranking[0][0] == "d2"
    assert set(ranking[1][:2]) == {"d4", "d5"}
    again = evaluator().rerank(ranking, Grades())
    for before, after in zip(ranking, again, strict=True):
        assert after == sorted(before, key=lambda document: -len(DOCUMENTS[document]))
    with pytest.raises(BadInput, match="the model gives 2 scores a pair, but one is needed"):
        evaluator().rerank(ranking, type("Two", (), {"predict": lambda _, pairs, **__: np.zeros((len(pairs), 2))})())
    with pytest.raises(BadInput, match="query 'q1' is judged with document 'd9', but one of them does not exist"):
        collection_of(DOCUMENTS, QUERIES, [("q1", "d9", 1.0)])


def test_prompts_of_queries_and_documents_are_used():
    class Prompted(Words):
        def encode_query(self, sentences, *, on_truncate="warn"):
            return self.encode(["비행기" for _ in sentences], on_truncate=on_truncate)

        def encode_document(self, sentences, *, on_truncate="warn"):
            return self.encode(["비행기" if "책" in text else "배" for text in sentences], on_truncate=on_truncate)

    assert [documents[0] for documents in evaluator().search(Prompted())] == ["d3", "d3"]


def tables(folder) -> None:
    rows = {
        "corpus": ["id\ttitle\ttext", *(f"{name}\t{text[:4]}\t{text}" for name, text in DOCUMENTS.items())],
        "queries": ["id\ttext", *(f"{name}\t{text}" for name, text in QUERIES.items())],
        "qrels": ["query_id\tdoc_id\trelevance", *(f"{q}\t{d}\t{g:.0f}" for q, d, g in JUDGED)],
    }
    for part, lines in rows.items():
        (folder / f"ir_cisi_{part}.tsv").write_text("\n".join(lines), encoding="utf-8")


def smart(folder) -> None:
    numbers = {name: str(place) for place, name in enumerate(DOCUMENTS, 1)}
    documents = [f".I {numbers[name]}\n.T\n{text[:4]}\n.A\nnobody\n.W\n{text}\n" for name, text in DOCUMENTS.items()]
    (folder / "cran.all.1400").write_text("".join(documents), encoding="utf-8")
    # The numbers of the queries have gaps; they are judged by their places.
    queries = [f".I {7 * place:03}\n.W\n{text}\n" for place, text in enumerate(QUERIES.values(), 1)]
    (folder / "cran.qry").write_text("".join(queries), encoding="utf-8")
    codes = {3.0: "2", 2.0: "3", 1.0: "4", 0.0: "-1"}
    lines = [f"{query[1]} {numbers[document]} {codes[grade]}\n" for query, document, grade in JUDGED]
    (folder / "cranqrel").write_text("".join(lines), encoding="utf-8")


def test_both_layouts(tmp_path):
    tables(tmp_path)
    smart(tmp_path)
    report = SUITES["retrieval"].run(Words(), tmp_path)
    by_task = {
        task: {score.name: score.value for score in report.scores if score.task == task}
        for task in ("cranfield", "cisi")
    }
    assert list(by_task["cisi"]) == ["ndcg@10", "map@100", "mrr@10", "recall@100"]
    assert by_task["cranfield"] == pytest.approx(by_task["cisi"])
    assert all(score.items == 2 for score in report.scores)
    assert by_task["cisi"]["ndcg@10"] > 90
    assert by_task["cisi"]["recall@100"] == 100
    collection, _ = SUITES["retrieval"].tasks[0].read(DataFolder(tmp_path))
    assert list(collection.documents.values()) == list(DOCUMENTS.values())  # each begins with its title
    assert collection.relevant == {"1": {"2": 3.0, "1": 1.0}, "2": {"5": 1.0, "4": 2.0}}
    (first, *_) = report.scores
    assert first.predicted.mean() == pytest.approx(first.value)


def test_a_collection_whose_first_entry_has_no_number(tmp_path):
    smart(tmp_path)
    (tmp_path / "cran.all.1400").write_text(".T\n비\n", encoding="utf-8")
    reason = dict(SUITES["retrieval"].run(Words(), tmp_path).missing)["cranfield"]
    assert reason.endswith("starts with the field .T, but every entry must start with .I and its number")


def test_a_reranker_is_reported_beside(tmp_path):
    tables(tmp_path)
    report = SUITES["retrieval"].only("cisi").run(Words(), tmp_path, reranker=Grades())
    found = {score.name: score for score in report.scores}
    assert list(found)[4:] == ["reranked_ndcg@10", "reranked_map@100", "reranked_mrr@10", "reranked_recall@100"]
    assert found["reranked_ndcg@10"].note == "top 100 re-ranked"
    assert found["reranked_ndcg@10"].value < found["ndcg@10"].value
    assert found["reranked_recall@100"].value == found["recall@100"].value


def test_judgements_without_code(tmp_path):
    smart(tmp_path)
    for old, new in {"cran.all.1400": "CISI.ALL", "cran.qry": "CISI.QRY"}.items():
        (tmp_path / old).rename(tmp_path / new)
    (tmp_path / "CISI.REL").write_text("     1     2\t0\t0.000000\n     2     5\t0\t0.000000\n", encoding="utf-8")
    report = SUITES["retrieval"].only("cisi").run(Words(), tmp_path)
    assert {score.items for score in report.scores} == {2}
    (tmp_path / "CISI.REL").write_text("1 2 9\n", encoding="utf-8")
    ((_, reason),) = SUITES["retrieval"].only("cisi").run(Words(), tmp_path).missing
    assert "CISI.REL has the line '1 2 9', but a query, a document and a code of 1 to 4 are needed" in reason


def test_the_real_collections(shared_data):
    for name, (documents, queries) in {"cranfield": (1400, 225), "cisi": (1460, 76)}.items():
        (task,) = SUITES["retrieval"].only(name).tasks
        collection, _ = task.read(DataFolder(shared_data))
        assert (len(collection.documents), len(collection.queries)) == (documents, queries)
