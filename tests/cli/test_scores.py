"""The verbs that score: predict and rank, with every kind of model, and as real processes."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from commandline import failure, process, refused, sbert

from sbert import BiEncoder, load
from sbert.cli.verbs import predict as predict_verb

NAMES = ["모순", "함의", "중립"]


def table(path: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# predict


def test_scores_to_standard_output(folder, cross, pairs):
    result = sbert("predict", cross, "쌍.jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    expected = load(cross).predict(pairs)
    assert np.array_equal(np.array([row["prediction"] for row in rows], np.float32), expected)
    assert [(row["번호"], row["sentence1"], row["sentence2"]) for row in rows] == [
        (number, *pair) for number, pair in enumerate(pairs)
    ]
    assert {row["scale"] for row in rows} == {"sigmoid"}
    assert "4 pairs in" in result.stderr


@pytest.mark.parametrize("window", [1, 3, 1024])
def test_every_format_holds_the_same(folder, cross, monkeypatch, window, pairs):
    monkeypatch.setattr(predict_verb, "_WINDOW", window)
    expected = load(cross).predict(pairs).tolist()
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet"):
        sbert("predict", cross, "쌍.jsonl", "-o", name)
    lines = Path("a.tsv").read_text("utf-8").splitlines()
    assert lines[0] == "번호\tsentence1\tsentence2\tprediction\tscale"
    found = {
        "csv": table("a.csv"),
        "tsv": [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]],
        "jsonl": [json.loads(line) for line in Path("a.jsonl").read_text("utf-8").splitlines()],
        "parquet": pq.read_table("a.parquet").to_pylist(),
    }
    for rows in found.values():
        assert [(row["sentence1"], row["sentence2"]) for row in rows] == pairs
        assert [float(np.float32(row["prediction"])) for row in rows] == expected
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet"):  # what was written is read again
        renamed = f"b{Path(name).suffix}"
        assert "has a field 'prediction' already" in failure("predict", cross, name, "-o", renamed)
    assert sorted(os.listdir()) == ["a.csv", "a.jsonl", "a.parquet", "a.tsv", "쌍.jsonl"]


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([1, 0.75], [1.0, 0.75]),
        ([None, "나중에"], [None, "나중에"]),
        ([[], [0.5]], [[], [0.5]]),
        ([{"길이": 1}, {"넓이": 2}], [{"길이": 1, "넓이": None}, {"길이": None, "넓이": 2}]),
    ],
)
def test_a_type_that_shows_late_changes_no_value(folder, cross, classes, monkeypatch, values, kept):
    monkeypatch.setattr(predict_verb, "_WINDOW", 1)
    rows = [{"text": "비", "text2": "눈", "값": value} for value in values]
    Path("값.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    for model in (cross, classes):
        sbert("predict", model, "값.jsonl", "-o", "a.parquet")
        assert pq.read_table("a.parquet")["값"].to_pylist() == kept


@pytest.mark.parametrize("values", [[1, "하나"], [True, 1], [2**60 + 1, 0.5], [2**70], [{}]])
def test_types_that_no_column_holds_are_refused_before_the_work(folder, cross, bi, monkeypatch, values):
    monkeypatch.setattr(predict_verb, "_WINDOW", 1)
    monkeypatch.setattr(predict_verb, "_write", None)
    monkeypatch.setattr(BiEncoder, "encode", None)
    rows = [{"text": "비", "text2": "눈", "값": value} for value in values]
    Path("값.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    for verb in (["predict", cross, "값.jsonl"], ["encode", "값.jsonl", "-m", bi]):
        line = failure(*verb, "-o", "a.parquet")
        assert line.startswith("error: the fields make no table (")
        assert line.endswith("), but parquet needs one; write .jsonl instead\n")


def test_classes_have_their_names(folder, classes, pairs):
    summary = json.loads(
        sbert("predict", classes, "쌍.jsonl", "-o", "a.jsonl", "--as", "probability", "--json").stdout
    )
    assert {**summary, "seconds": 0} == {
        "output": "a.jsonl",
        "rows": 4,
        "labels": NAMES,
        "scale": "softmax",
        "seconds": 0,
    }
    rows = [json.loads(line) for line in Path("a.jsonl").read_text("utf-8").splitlines()]
    expected = load(classes).predict_proba(pairs)
    assert np.array_equal(np.array([[row[name] for name in NAMES] for row in rows], np.float32), expected)
    assert [row["prediction"] for row in rows] == [NAMES[place] for place in expected.argmax(axis=1)]
    raw = sbert("predict", classes, "쌍.jsonl", "--as", "logit").stdout.splitlines()
    assert json.loads(raw[0])["scale"] == "identity"
    assert "classes 모순, 함의, 중립 -> a.csv" in sbert("predict", classes, "쌍.jsonl", "--output", "a.csv").stderr


def test_a_bi_encoder_gives_its_similarity(folder, bi, pairs):
    encoder = BiEncoder.from_pretrained(bi)
    rows = [json.loads(line) for line in sbert("predict", bi, "쌍.jsonl").stdout.splitlines()]
    first, second = (encoder.encode([pair[side] for pair in pairs]) for side in (0, 1))
    assert np.array_equal(
        np.array([row["prediction"] for row in rows], np.float32), encoder.similarity_pairwise(first, second)
    )
    assert {row["scale"] for row in rows} == {"cosine"}
    assert "--as is 'logit', but this BiEncoder gives its cosine only; leave --as out" in failure(
        "predict", bi, "쌍.jsonl", "--as", "logit", code=2
    )


def test_columns_by_name(folder, cross):
    Path("질문.csv").write_text("질문,답,출처\n비가 오나요?,네,x\n눈이 오나요?,아니요,y\n", "utf-8")
    assert "none is known to hold texts" in failure("predict", cross, "질문.csv")
    sbert("predict", cross, "질문.csv", "--columns", "질문,답", "-o", "a.csv")
    expected = load(cross).predict([("비가 오나요?", "네"), ("눈이 오나요?", "아니요")])
    assert [float(np.float32(row["prediction"])) for row in table("a.csv")] == expected.tolist()
    assert "did you mean '질문'" in failure("predict", cross, "질문.csv", "--columns", "질문들,답")


def test_what_is_no_pair_is_refused_with_its_place(folder, cross):
    Path("셋.tsv").write_text("anchor\tpositive\tnegative\nA\tB\tC\n", "utf-8")
    line = failure("predict", cross, "셋.tsv")
    assert (
        "셋.tsv has 3 texts a row (anchor, positive, negative), but a pair has two; name them with --columns" in line
    )
    Path("섞임.jsonl").write_text(
        '{"query": "비", "positive": "눈"}\n{"query": "비", "positive": "눈", "negative": "해"}\n', "utf-8"
    )
    line = failure("predict", cross, "섞임.jsonl", "-o", "a.csv")
    assert "섞임.jsonl, line 2: three texts (query, positive, negative), but the rows before have two texts" in line
    Path("빈칸.jsonl").write_text('{"text": "비", "text2": "눈"}\n{"text": "비", "text2": null}\n', "utf-8")
    assert "빈칸.jsonl, line 2: field 'text2' is null" in failure("predict", cross, "빈칸.jsonl")
    Path("긴.tsv").write_text("text\ttext2\nA\tB\nA\tB\tC\n", "utf-8")
    assert "긴.tsv, line 3: 3 fields, but the header has 2" in failure("predict", cross, "긴.tsv")
    Path("한.txt").write_text("비\n", "utf-8")
    line = failure("predict", cross, "한.txt")
    assert "한.txt has one text a row, but a pair has two; give a tsv, csv or jsonl with two columns" in line
    Path("빔.jsonl").write_text("", "utf-8")
    assert "빔.jsonl is empty" in failure("predict", cross, "빔.jsonl")
    assert "없음.tsv" in failure("predict", cross, "없음.tsv")
    assert not Path("a.csv").exists()


def test_what_the_output_cannot_hold(folder, cross):
    Path("줄.jsonl").write_text('{"text": "비", "text2": "눈"}\n{"text": "하나\\n둘", "text2": "셋\\t넷"}\n', "utf-8")
    assert "줄.jsonl, line 2: a text has a tab or a line break" in failure("predict", cross, "줄.jsonl", "-o", "a.tsv")
    sbert("predict", cross, "줄.jsonl", "-o", "a.csv")
    assert table("a.csv")[1]["text"] == "하나\n둘"
    assert "must end in .tsv, .csv, .jsonl, .parquet" in failure("predict", cross, "줄.jsonl", "-o", "a.npy", code=2)
    assert "--as is 'scor'" in failure("predict", cross, "줄.jsonl", "--as", "scor", code=2)
    assert "--on-truncate is 'chunk'" in failure("predict", cross, "줄.jsonl", "--on-truncate", "chunk", code=2)
    assert not Path("a.tsv").exists()


def test_half_a_character_in_any_field_is_refused_before_the_work(folder, cross, bi, monkeypatch):
    monkeypatch.setattr(predict_verb, "_write", None)
    monkeypatch.setattr(BiEncoder, "encode", None)
    rows = [
        '{"text": "비", "text2": "눈", "출처": "\\ud83d\\ude00"}',
        '{"text": "비", "text2": "눈", "출처": ["\\ud83d"]}',
    ]
    Path("반쪽.jsonl").write_text("\n".join(rows), "utf-8")
    sentence = "field '출처' holds a lone surrogate, which is no Unicode character; repair or drop it"
    for out in ("-", "a.csv", "a.jsonl", "a.parquet"):
        assert f"반쪽.jsonl, line 2: {sentence}" in failure("predict", cross, "반쪽.jsonl", "-o", out)
    for out in ("-", "a.jsonl", "a.parquet"):
        assert f"반쪽.jsonl, line 2: {sentence}" in failure("encode", "반쪽.jsonl", "-o", out, "-m", bi)


def test_long_pairs_are_counted_once(folder, cross, monkeypatch):
    monkeypatch.setattr(predict_verb, "_WINDOW", 2)
    Path("긴.tsv").write_text("text\ttext2\n" + 5 * f"{'긴 글 ' * 99}\t짧은 글\n", "utf-8")
    assert "warning: 5 of 5 pairs truncated at 128 tokens" in sbert("predict", cross, "긴.tsv", "-o", "a.csv").stderr
    assert "5 of 5 pairs truncated" in failure("predict", cross, "긴.tsv", "-o", "b.csv", "--on-truncate", "raise")
    assert not Path("b.csv").exists()


# rank


def test_a_poly_encoder_gives_its_scores(folder, poly, pairs):
    rows = [json.loads(line) for line in sbert("predict", poly, "쌍.jsonl").stdout.splitlines()]
    assert [row["prediction"] for row in rows] == pytest.approx(load(poly).predict(pairs).tolist(), rel=1e-6)
    assert {row["scale"] for row in rows} == {"dot"}
    line = failure("predict", poly, "쌍.jsonl", "--as", "logit", code=2)
    assert "--as is 'logit', but this PolyEncoder gives its dot only; leave --as out" in line
    facts = json.loads(sbert("info", poly, "--json").stdout)
    assert (facts["kind"], facts["codes"], facts["codes_are"], facts["towers"]) == (
        "PolyEncoder",
        5,
        "learned",
        "shared",
    )


def test_rank_with_every_kind(folder, bi, cross, classes, poly, sentences):
    texts = [text for text in sentences if "\n" not in text]
    Path("글.txt").write_text("\n".join(texts) + "\n", "utf-8")
    found = json.loads(sbert("rank", cross, "글.txt", "비가 오나요?", "-k", 3, "--json").stdout)
    expected = load(cross).rank("비가 오나요?", texts, 3)
    assert [(hit["row"], hit["score"], hit["text"]) for hit in found] == [tuple(hit) for hit in expected]
    found = json.loads(sbert("rank", poly, "글.txt", "비가 오나요?", "-k", 3, "--json").stdout)
    assert [hit["row"] for hit in found] == [hit.id for hit in load(poly).rank("비가 오나요?", texts, 3)]
    searched = sbert("search", "글.txt", "비가 오나요?", "-m", bi, "-k", 3).stdout
    assert sbert("rank", bi, "글.txt", "비가 오나요?", "-k", 3).stdout == searched
    assert "rank needs a model of one label" in failure("rank", classes, "글.txt", "비")
    assert sbert("rank", cross, "글.txt", "비", "-k", 2).stdout.splitlines()[0].split() == [
        "rank",
        "score",
        "row",
        "text",
    ]


@pytest.mark.parametrize("out", ["벡터.jsonl", "벡터.parquet"])
def test_search_and_rank_use_the_vectors_that_encode_wrote(folder, bi, monkeypatch, out):
    rows = [{"번호": row, "text": text, "설명": "긴 " * 40} for row, text in enumerate(["비가 온다.", "눈", "A cat."])]
    Path("글.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    expected = json.loads(sbert("search", "글.jsonl", "비", "-m", bi, "--json").stdout)
    assert [hit["fields"] for hit in expected] == [
        {"번호": hit["row"], "설명": rows[hit["row"]]["설명"]} for hit in expected
    ]
    sbert("encode", "글.jsonl", "-o", out, "-m", bi)
    monkeypatch.setattr(
        BiEncoder, "encode_document", lambda *_, **__: pytest.fail("the documents were embedded again")
    )
    for verb in (["search", out, "비", "-m", bi], ["rank", bi, out, "비"]):
        found = sbert(*verb, "--json")
        assert json.loads(found.stdout) == expected
        assert found.stderr == "using 3 embeddings of the file\n"
        table = sbert(*verb).stdout.splitlines()
        assert table[0].split() == ["rank", "score", "row", "번호", "text"]


def test_pairs_use_the_vectors_that_encode_wrote(folder, bi, monkeypatch):
    Path("글.txt").write_text("비가 온다.\n눈\nA cat.\n비가 온다!\n", "utf-8")
    expected = json.loads(sbert("pairs", "글.txt", "-m", bi, "--json").stdout)
    sbert("encode", "글.txt", "-o", "벡터.parquet", "-m", bi)
    encode = BiEncoder.encode

    def only_an_empty_text(self, sentences, **options):
        assert sentences == [""], "the texts were embedded again"
        return encode(self, sentences, **options)

    monkeypatch.setattr(BiEncoder, "encode", only_an_empty_text)
    found = sbert("pairs", "벡터.parquet", "-m", bi, "--json")
    assert json.loads(found.stdout) == expected
    assert found.stderr == "using 4 embeddings of the file\n"


def test_vectors_of_another_model_are_refused_with_both_fingerprints(folder, bi):
    Path("글.txt").write_text("비가 온다.\n눈\n", "utf-8")
    for out in ("벡터.jsonl", "벡터.parquet"):
        sbert("encode", "글.txt", "-o", out, "-m", bi, "--max-seq-length", 16)
        for verb in (["search", out, "비"], ["pairs", out], ["rank", "all-MiniLM-L6-v2", out, "비"]):
            line = failure(*verb)
            assert re.search(
                r"embedding comes from '.* [0-9a-f]{16}', but the model given has the fingerprint [0-9a-f]{16};", line
            )
        assert "using 2 embeddings of the file\n" in sbert("search", out, "비", "-m", bi).stderr


def test_vectors_without_the_name_of_a_model_are_used_with_a_warning(folder, bi):
    row = {"text": "비", "embedding": [0.5] * 32}
    Path("글.jsonl").write_text(json.dumps(row), "utf-8")
    said = sbert("search", "글.jsonl", "비", "-m", bi).stderr
    assert said == "using 1 embedding of the file, which must come from the same model\n"


def test_vectors_that_cannot_be_searched(folder, bi):
    for embedding, message in (
        ("[0.5, 1.5]", "have 2 dimensions, but those of the model have 32"),
        ("[1, 2]", "does not hold equally many decimal numbers in each row"),
        ('"x"', "does not hold equally many decimal numbers in each row"),
    ):
        Path("글.jsonl").write_text(f'{{"text": "비", "embedding": {embedding}}}\n', "utf-8")
        assert message in failure("search", "글.jsonl", "비", "-m", bi)
    Path("글.jsonl").write_text('{"text": "비", "embedding": [0.5]}\n{"text": "비", "embedding": [0.5, 1]}\n', "utf-8")
    assert "equally many" in failure("search", "글.jsonl", "비", "-m", bi)
    Path("글.jsonl").write_text('{"text": "비", "embedding": [0.5]}\n{"text": "비"}\n', "utf-8")
    assert "글.jsonl, line 2: there is no field 'embedding'" in failure("search", "글.jsonl", "비", "-m", bi)


def test_rank_takes_the_file_after_the_query_too(folder, cross):
    Path("글.txt").write_text("비가 온다.\n눈이 온다.\n", "utf-8")
    expected = sbert("rank", cross, "글.txt", "비가 오나요?", "--json")
    assert expected.stderr == ""
    found = sbert("rank", cross, "비가 오나요?", "글.txt", "--json")
    assert found.stdout == expected.stdout
    assert found.stderr == "warning: 글.txt was given after the query; the order is sbert rank MODEL FILE QUERY\n"
    assert "no file '없음.txt'" in failure("rank", cross, "없음.txt", "비가 오나요?")


def test_processes_speak_korean_and_end_with_codes(folder, cross):
    done = process("rank", cross, "-", "비가 오나요?", "-k", "1", "--json", stdin="네, 옵니다.\n고양이\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["text"] in ("네, 옵니다.", "고양이")
    done = process("predict", cross, "없음.jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: there is no file '없음.jsonl'; check the name; the order is sbert predict MODEL PAIRS\n"
    )
    assert process("predict", cross).returncode == 2


def test_nothing_is_written_over_what_is_read(folder, cross):
    before = Path("쌍.jsonl").read_bytes()
    for verb in ("predict", "distill"):
        assert "'쌍.jsonl' is the input, which it would replace" in failure(verb, cross, "쌍.jsonl", "-o", "쌍.jsonl")
    assert Path("쌍.jsonl").read_bytes() == before
    assert "standard input has one text a row" in failure("predict", cross, "-", "-o", "a.tsv", stdin="비\n")
    assert "'.' is a folder, but a file is needed here" in failure("predict", cross, ".", "-o", "a.tsv")


def test_the_same_column_twice_is_wrong_usage(folder, cross):
    for verb in (["predict", cross], ["distill", cross, "-o", "은.tsv"]):
        line = failure(*verb, "쌍.jsonl", "--columns", "sentence1, sentence1", code=2)
        assert "--columns names 'sentence1' twice" in line


@pytest.mark.parametrize("kind", ["bi", "cross", "classes", "poly"])
def test_a_damaged_model_is_refused_and_nothing_written(folder, kind, request, damaged):
    model = damaged(request.getfixturevalue(kind))
    Path("글.txt").write_text("비가 온다.\n눈이 온다.\n", "utf-8")
    Path("옛.tsv").write_text("옛것", "utf-8")
    before = sorted(os.listdir())
    refused("predict", model, "쌍.jsonl")
    refused("predict", model, "쌍.jsonl", "-o", "옛.tsv")
    if kind != "classes":
        refused("rank", model, "글.txt", "비가 오나요?")
    if kind == "bi":
        refused("encode", "글.txt", "-m", model, "-o", "벡터.npy")
    assert sorted(os.listdir()) == before
    assert Path("옛.tsv").read_text("utf-8") == "옛것"
