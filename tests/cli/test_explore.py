"""``sbert cluster``, ``dedupe``, ``keywords``, ``topics``, ``map`` and ``mine``: texts in, tables and pages out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commandline import failure, sbert

from sbert.data.writers import write_records

QUESTIONS = [
    "카드 결제가 안 돼요",
    "카드 결제가 안 돼요 ",
    "환불은 언제 되나요?",
    "How do I reset my password?",
    "I forgot my password.",
    "부산까지 기차로 얼마나 걸려요?",
    "",
    '=HYPERLINK("x") <script>alert(1)</script>',
]


def write(rows, name):
    Path(name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


@pytest.fixture
def texts(folder):
    rows = [{"번호": row, "text": text, "날짜": f"2024-0{1 + row % 2}-03"} for row, text in enumerate(QUESTIONS)]
    write(rows, "질문.jsonl")
    return "질문.jsonl"


def rows_of(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def test_clusters_are_shown_and_written(texts, bi):
    result = sbert(
        "cluster", texts, "-k", 3, "-o", "묶음.jsonl", "--plot", "지도.html", "--stability", 2, "-m", bi, "--json"
    )
    found = json.loads(result.stdout)
    assert (found["texts"], found["without"], len(found["clusters"])) == (8, 0, 3)
    written = rows_of("묶음.jsonl")
    assert [row["번호"] for row in written] == list(range(8))
    sizes = [sum(row["cluster"] == number for row in written) for number in range(3)]
    assert sizes == [one["size"] for one in found["clusters"]]
    assert -1 <= found["stability"] <= 1
    page = Path("지도.html").read_text("utf-8")
    assert "<script>alert" not in page
    shown = sbert("cluster", texts, "-k", 3, "-m", bi)
    assert "8 texts in 3 clusters" in shown.stderr


def test_two_runs_write_the_same(texts, bi):
    for out in ("1", "2"):
        sbert("topics", texts, "-m", bi, "-o", f"{out}.jsonl", "--plot", f"{out}.html", "--save", f"{out}.json")
    for suffix in ("jsonl", "html", "json"):
        assert Path(f"1.{suffix}").read_bytes() == Path(f"2.{suffix}").read_bytes()


def test_duplicates_are_removed_and_listed(texts, bi):
    arguments = ("dedupe", texts, "--threshold", 0.9999, "-o", "남은.jsonl", "--groups", "무리.tsv", "-m", bi)
    found = json.loads(sbert(*arguments, "--json").stdout)
    assert found["exact"] == 1
    assert {"kept": 0, "rows": [1], "scores": [1.0], "exact": [True], "text": QUESTIONS[0]} in found["groups"]
    assert len(rows_of("남은.jsonl")) == found["kept"]
    header, first, *_ = Path("무리.tsv").read_text("utf-8").splitlines()
    assert header.split("\t") == ["row", "kept_row", "score", "exact", "text", "kept_text"]
    assert first.split("\t")[:2] == ["1", "0"]
    assert "1 equal" in sbert(*arguments).stderr


def test_texts_that_are_also_in_another_file_are_named(texts, bi):
    Path("시험.txt").write_text("카드  결제가 안 돼요\nsomething else entirely\n", "utf-8")
    arguments = ("dedupe", "시험.txt", "--against", texts, "--threshold", 0.99999, "-m", bi)
    found = json.loads(sbert(*arguments, "-o", "깨끗.jsonl", "--groups", "겹침.tsv", "--json").stdout)
    assert [(one["row"], one["other_row"], one["exact"]) for one in found["overlap"]] == [(0, 0, True)]
    assert [row["text"] for row in rows_of("깨끗.jsonl")] == ["something else entirely"]
    assert "1 of 2 texts are also in 질문.jsonl: 1 equal, 0 similar" in sbert(*arguments).stderr


def test_keywords_of_every_text_and_of_all_together(texts, bi):
    found = json.loads(sbert("keywords", texts, "--top", 2, "-m", bi, "--json").stdout)
    assert [len(one["keywords"]) for one in found][6] == 0
    assert all(word["phrase"] in one["text"].lower() for one in found[3:5] for word in one["keywords"])
    sbert("keywords", texts, "-o", "핵심어.jsonl", "-m", bi)
    assert all(isinstance(row["keywords"], list) for row in rows_of("핵심어.jsonl"))
    sbert("keywords", texts, "-o", "핵심어.csv", "-m", bi)
    together = json.loads(sbert("keywords", texts, "--together", "-m", bi, "--json").stdout)
    assert {"password", "카드"} <= {one["phrase"] for one in together} | {"카드"}


def test_topics_are_named_counted_saved_and_assigned(texts, bi):
    arguments = (
        "topics",
        texts,
        "--count",
        2,
        "--time",
        "날짜",
        "--save",
        "주제.json",
        "--report",
        "주제.html",
        "-m",
        bi,
    )
    found = json.loads(sbert(*arguments, "-o", "배정.tsv", "--json").stdout)
    assert len(found["topics"]) == 2
    assert found["without"] == 0
    assert sorted(found["over_time"]) == ["2024-01", "2024-02"]
    assert sum(map(sum, found["over_time"].values())) == 8
    report = Path("주제.html").read_text("utf-8")
    assert "<script>" not in report
    assert "2 topics of 8 texts" in report
    assert len(Path("배정.tsv").read_text("utf-8").splitlines()) == 9
    again = json.loads(sbert("topics", texts, "--assign", "주제.json", "-m", bi, "--json").stdout)
    assert [one["size"] for one in again["topics"]] == [one["size"] for one in found["topics"]]
    assert "every text has a topic" in sbert("topics", texts, "--count", 2, "-m", bi).stderr


def test_a_map_is_coloured_by_a_field_and_written_as_parquet(texts, bi):
    sbert("map", texts, "-o", "지도.html", "--colour", "날짜", "--parquet", "지도.parquet", "-m", bi)
    table = pq.read_table("지도.parquet").to_pydict()
    assert table["text"] == QUESTIONS
    assert set(table["group"]) == {"2024-01-03", "2024-02-03"}
    assert all(-1 <= value <= 1 for value in table["projection_x"] + table["projection_y"])
    payload = json.loads(re.search(r'id="data">(.*?)</script>', Path("지도.html").read_text("utf-8"), re.DOTALL)[1])
    assert payload["names"] == ["2024-01-03", "2024-02-03"]
    assert payload["texts"][7] == QUESTIONS[7]
    for colour in ("none", "cluster", "topic"):
        sbert("map", texts, "-o", "지도.html", "--colour", colour, "-m", bi)


def test_a_store_is_explored_without_embedding_again(texts, bi):
    sbert("index", texts, "--store", "faq.db", "--id", "번호", "-m", bi)
    stored = json.loads(sbert("cluster", "faq.db", "-k", 3, "--json").stdout)
    assert stored == json.loads(sbert("cluster", texts, "-k", 3, "-m", bi, "--json").stdout)
    sbert("dedupe", "faq.db", "-o", "남은.jsonl")
    assert rows_of("남은.jsonl")[0]["id"] == 0
    assert "--column and --format are for files" in failure("cluster", "faq.db", "--column", "text", code=2)


def test_hard_negatives_become_triplets(folder, bi):
    rows = [{"anchor": f"질문 {row}", "positive": f"대답 {row}"} for row in range(12)]
    write(rows, "짝.jsonl")
    arguments = ("mine", "짝.jsonl", "-o", "셋.tsv", "--margin", -2, "--most-score", 2, "--count", 2, "-m", bi)
    facts = json.loads(sbert(*arguments, "--json").stdout)
    assert (facts["triplets"], facts["pairs"], facts["without"]) == (24, 12, 0)
    header, *lines = Path("셋.tsv").read_text("utf-8").splitlines()
    assert header.split("\t") == ["anchor", "positive", "negative"]
    for line in lines:
        anchor, positive, negative = line.split("\t")
        assert positive == anchor.replace("질문", "대답") != negative
    assert "no text is a hard negative" in failure("mine", "짝.jsonl", "-o", "없음.tsv", "--margin", 3, "-m", bi)
    assert not Path("없음.tsv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cluster", "-k", "many"), "-k is 'many', but must be auto or a whole number of at least 1"),
        (("cluster", "--method", "magic"), "--method is 'magic', but must be one of"),
        (
            ("cluster", "--method", "hdbscan", "--stability", "3"),
            "--stability is for kmeans and compares at least",
        ),
        (("keywords", "--choice", "x"), "--choice is 'x', but must be one of"),
        (("keywords", "--together", "-o", "x.tsv"), "--together finds no keywords of single rows"),
        (("dedupe", "--keep", "x"), "--keep is 'x', but must be one of"),
        (("topics", "--assign", "x.json", "--count", "3"), "--assign uses topics that exist"),
        (("map", "-o", "map.png"), "the output 'map.png' must end in .html, .htm"),
    ],
)
def test_wrong_usage_is_one_sentence(texts, arguments, message):
    verb, *rest = arguments
    assert message in failure(verb, texts, *rest, code=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cluster", "-k", "99"), "k is 99, but there are only 7 different vectors; choose a smaller number"),
        (("map", "--colour", "색"), "질문.jsonl has no field '색'; its fields are 번호, text, 날짜"),
        (("topics", "--assign", "none.json"), "none.json cannot be read"),
    ],
)
def test_bad_input_is_one_sentence(texts, bi, arguments, message):
    verb, *rest = arguments
    assert message in failure(verb, texts, *rest, "-m", bi)


def test_no_output_replaces_an_input_or_another_output(texts, bi):
    Path("둘.jsonl").write_text('{"text": "환불"}\n', "utf-8")
    replaced = "is the input, which it would replace; name another one"
    assert replaced in failure("dedupe", texts, "--against", "둘.jsonl", "-o", "둘.jsonl", "-m", bi)
    write([{"anchor": "질문", "positive": "답"}], "짝.jsonl")
    assert replaced in failure("mine", "짝.jsonl", "--corpus", "둘.jsonl", "-o", "둘.jsonl", "-m", bi)
    assert "both name 'x.tsv'; name two files" in failure("dedupe", texts, "-o", "x.tsv", "--groups", "x.tsv", code=2)
    same = ("--report", "x.html", "--plot", "./x.html")
    assert "both name 'x.html'; name two files" in failure("topics", texts, *same, code=2)


def test_what_an_output_cannot_hold_is_refused_before_any_work(folder, bi):
    write([{"text": "칸\t나눔"}, {"text": "줄\n바꿈"}], "칸.jsonl")
    for verb in ("cluster", "keywords", "topics"):
        assert "has a tab or a line break, which tsv cannot hold" in failure(
            verb, "칸.jsonl", "-o", "x.tsv", "-m", "no"
        )
    Path("반쪽.jsonl").write_text('{"text": "글", "x": "\\ud800"}\n', "utf-8")
    assert "holds a lone surrogate" in failure("cluster", "반쪽.jsonl", "-o", "x.csv", "-m", "no")
    write([{"text": "글", "cluster": "금"}], "이름.jsonl")
    assert "has a field 'cluster' already" in failure("cluster", "이름.jsonl", "-o", "x.csv", "-m", "no")
    assert not list(folder.glob("x.*"))


def test_a_table_without_rows_is_a_table(texts, bi):
    Path("하나.txt").write_text("글\n", "utf-8")
    for suffix in ("tsv", "csv", "jsonl", "parquet"):
        sbert("dedupe", "하나.txt", "--groups", f"무리.{suffix}", "-m", bi)
    assert Path("무리.tsv").read_text("utf-8").split("\t")[0] == "row"
    assert pq.read_table("무리.parquet").column_names == ["row", "kept_row", "score", "exact", "text", "kept_text"]
    assert pq.read_table("무리.parquet").num_rows == 0


def test_standard_output_has_rows_only(texts, bi):
    for verb in ("cluster", "dedupe", "keywords", "topics"):
        lines = sbert(verb, texts, "-o", "-", "-m", bi).stdout.splitlines()
        assert all("text" in json.loads(line) for line in lines)
        assert "both write to standard output" in failure(verb, texts, "-o", "-", "--json", code=2)


def test_vectors_of_another_model_are_refused(texts, bi, tiny_folder):
    other = str(tiny_folder("roberta"))
    sbert("index", texts, "--store", "faq.db", "--id", "번호", "-m", other)
    sbert("topics", texts, "--count", 2, "--save", "주제.json", "-m", other)
    message = failure("topics", texts, "--assign", "주제.json", "-m", bi)
    assert "주제.json come from a model with the fingerprint" in message
    assert "fingerprint" in failure("dedupe", texts, "--against", "faq.db", "-m", bi)


def test_types_that_change_late_fit_into_one_parquet_table(folder):
    records = [{"n": 1 if row < 4100 else 1.5, "m": None if row < 4100 else "글"} for row in range(5000)]
    write_records(Path("x.parquet"), records, ["n", "m"])
    assert pq.read_table("x.parquet").to_pylist() == records


def test_dates_that_are_none_are_told(texts, bi):
    rows = [
        {"text": f"글 {row}", "d": value} for row, value in enumerate(["2024-05-03", None, "", 20240503, "2023-01"])
    ]
    write(rows, "날짜.jsonl")
    result = sbert("topics", "날짜.jsonl", "--count", 1, "--time", "d", "-m", bi)
    assert "3 have no date such as 2024-05-03" in result.stderr


def test_an_empty_file_is_one_sentence(folder, bi):
    Path("빈.txt").write_text("", "utf-8")
    for verb in ("cluster", "dedupe", "keywords", "topics", "map"):
        assert failure(verb, "빈.txt", "-m", bi).startswith("error: ")


def test_numbers_out_of_all_proportion_are_one_sentence(texts, bi):
    huge = "1" + "0" * 30
    assert "must be auto or a whole number" in failure("cluster", texts, "-k", "9" * 5000, "-m", bi, code=2)
    assert "but must be at most 1000" in failure("cluster", texts, "--stability", huge, "-m", bi, code=2)
    assert "but must be at most" in failure("keywords", texts, "--top", huge, "-m", bi, code=2)
    Path("쌍.tsv").write_text("a\tb\n비\t눈\n", "utf-8")
    for option in ("--margin", "--most-score"):
        assert "is nan, but must be a number" in failure(
            "mine", "쌍.tsv", "-o", "t.tsv", option, "nan", "-m", bi, code=2
        )


@pytest.mark.parametrize("value", [float("nan"), 1e39])
def test_embeddings_that_are_no_numbers_are_refused_with_their_row(folder, bi, value):
    write([{"text": "비", "embedding": [1.0] * 32}, {"text": "눈", "embedding": [value] * 32}], "비.jsonl")
    for verb in (("keywords", "--together"), ("cluster",), ("map",)):
        message = failure(verb[0], "비.jsonl", *verb[1:], "-m", bi)
        assert "비.jsonl, line 2: the embedding holds NaN, infinity or a number beyond float32" in message


def test_pages_hold_names_that_are_no_unicode(texts, bi):
    name = "\udcff.jsonl"
    Path(name).write_bytes(Path(texts).read_bytes())
    sbert("map", name, "--title", "</title>\udcff<script>", "-m", bi)
    sbert("topics", name, "--report", "topics.html", "-m", bi)
    for page in ("map.html", "topics.html"):
        assert "\\udcff" in Path(page).read_text("utf-8")
    assert "</title>\\udcff" not in Path("map.html").read_text("utf-8")
