"""The verbs that read texts together: predict, rank, distill, with every kind of model, and as real processes."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from commandline import failure, process, sbert

from sbert import BiEncoder, CrossEncoder, PolyEncoder, WordEncoder, load
from sbert.cli import predict as predict_verb
from sbert.data import read
from sbert.train import label

PAIRS = [("비가 온다.", "비가 내린다."), ("A man eats.", ""), ("고양이", 'The "cat", sleeps.'), ("", "")]
NAMES = ["모순", "함의", "중립"]
# The process interrupts itself, as a user would, while the teacher reads its third window.
INTERRUPTED = """
import os, signal, sys
from sbert.cli.main import main
from sbert.models.cross import CrossEncoder
from sbert.train import label
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with SIGINT ignored
label.WINDOW = 4
plain, calls = CrossEncoder.predict, []
def predict(self, pairs, **options):
    calls.append(len(pairs))
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return plain(self, pairs, **options)
CrossEncoder.predict = predict
main()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"번호": row, "sentence1": a, "sentence2": b} for row, (a, b) in enumerate(PAIRS)]
    Path("쌍.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return tmp_path


@pytest.fixture
def bi(tiny_folder) -> str:
    return str(tiny_folder("bert"))


@pytest.fixture
def cross(tiny_classifier) -> str:
    return str(tiny_classifier("bert", 1))


@pytest.fixture
def poly(tiny_folder, folder) -> str:
    PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=5).save_pretrained("폴리")
    return "폴리"


@pytest.fixture
def classes(tiny_classifier, folder) -> str:
    CrossEncoder.from_pretrained(tiny_classifier("bert", 3), labels=NAMES).save_pretrained("관계")
    return "관계"


def table(path: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# predict


def test_scores_to_standard_output(folder, cross):
    result = sbert("predict", cross, "쌍.jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    expected = load(cross).predict(PAIRS)
    assert np.array_equal(np.array([row["prediction"] for row in rows], np.float32), expected)
    assert [(row["번호"], row["sentence1"], row["sentence2"]) for row in rows] == [
        (number, *pair) for number, pair in enumerate(PAIRS)
    ]
    assert {row["scale"] for row in rows} == {"sigmoid"}
    assert "4 pairs in" in result.stderr


@pytest.mark.parametrize("window", [1, 3, 1024])
def test_every_format_holds_the_same(folder, cross, monkeypatch, window):
    monkeypatch.setattr(predict_verb, "_WINDOW", window)
    expected = load(cross).predict(PAIRS).tolist()
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
        assert [(row["sentence1"], row["sentence2"]) for row in rows] == PAIRS
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


def test_classes_have_their_names(folder, classes):
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
    expected = load(classes).predict_proba(PAIRS)
    assert np.array_equal(np.array([[row[name] for name in NAMES] for row in rows], np.float32), expected)
    assert [row["prediction"] for row in rows] == [NAMES[place] for place in expected.argmax(axis=1)]
    raw = sbert("predict", classes, "쌍.jsonl", "--as", "logit").stdout.splitlines()
    assert json.loads(raw[0])["scale"] == "identity"
    assert "classes 모순, 함의, 중립 -> a.csv" in sbert("predict", classes, "쌍.jsonl", "--output", "a.csv").stderr


def test_a_bi_encoder_gives_its_similarity(folder, bi):
    encoder = BiEncoder.from_pretrained(bi)
    rows = [json.loads(line) for line in sbert("predict", bi, "쌍.jsonl").stdout.splitlines()]
    first, second = (encoder.encode([pair[side] for pair in PAIRS]) for side in (0, 1))
    assert np.array_equal(
        np.array([row["prediction"] for row in rows], np.float32), encoder.similarity_pairwise(first, second)
    )
    assert {row["scale"] for row in rows} == {"cosine"}
    assert "output is 'logit', but this BiEncoder has its cosine alone; leave --as out" in failure(
        "predict", bi, "쌍.jsonl", "--as", "logit"
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
        assert f"반쪽.jsonl, row 1: {sentence}" in failure("encode", "반쪽.jsonl", "-o", out, "-m", bi)


def test_long_pairs_are_counted_once(folder, cross, monkeypatch):
    monkeypatch.setattr(predict_verb, "_WINDOW", 2)
    Path("긴.tsv").write_text("text\ttext2\n" + 5 * f"{'긴 글 ' * 99}\t짧은 글\n", "utf-8")
    assert "warning: 5 of 5 pairs truncated at 128 tokens" in sbert("predict", cross, "긴.tsv", "-o", "a.csv").stderr
    assert "5 of 5 pairs truncated" in failure("predict", cross, "긴.tsv", "-o", "b.csv", "--on-truncate", "raise")
    assert not Path("b.csv").exists()


# rank


def test_a_poly_encoder_gives_its_scores(folder, poly):
    rows = [json.loads(line) for line in sbert("predict", poly, "쌍.jsonl").stdout.splitlines()]
    assert [row["prediction"] for row in rows] == pytest.approx(load(poly).predict(PAIRS).tolist(), rel=1e-6)
    assert {row["scale"] for row in rows} == {"dot"}
    line = failure("predict", poly, "쌍.jsonl", "--as", "logit")
    assert "but this PolyEncoder has its dot alone; leave --as out" in line
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
    found = json.loads(sbert("rank", cross, "비가 오나요?", "글.txt", "-k", 3, "--json").stdout)
    expected = load(cross).rank("비가 오나요?", texts, 3)
    assert [(hit["row"], hit["score"], hit["text"]) for hit in found] == [tuple(hit) for hit in expected]
    found = json.loads(sbert("rank", poly, "비가 오나요?", "글.txt", "-k", 3, "--json").stdout)
    assert [hit["row"] for hit in found] == [hit.id for hit in load(poly).rank("비가 오나요?", texts, 3)]
    searched = sbert("search", "글.txt", "비가 오나요?", "-m", bi, "-k", 3).stdout
    assert sbert("rank", bi, "비가 오나요?", "글.txt", "-k", 3).stdout == searched
    assert "rank needs a model of one label" in failure("rank", classes, "비", "글.txt")
    assert sbert("rank", cross, "비", "글.txt", "-k", 2).stdout.splitlines()[0].split() == [
        "rank",
        "score",
        "row",
        "text",
    ]


def test_processes_speak_korean_and_end_with_codes(folder, cross):
    done = process("rank", cross, "비가 오나요?", "-", "-k", "1", "--json", stdin="네, 옵니다.\n고양이\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["text"] in ("네, 옵니다.", "고양이")
    done = process("predict", cross, "없음.jsonl")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "error: there is no file '없음.jsonl'\n")
    assert process("predict", cross).returncode == 2


# distill


@pytest.fixture
def corpus(folder, sentences) -> list[str]:
    texts = [text for text in sentences if 2 < len(text) < 60 and "\n" not in text][:20]
    Path("글.txt").write_text("\n".join([*texts, texts[0], ""]) + "\n", "utf-8")
    return texts


def test_pairs_are_labelled_for_the_cosine_loss(folder, cross):
    result = sbert("distill", cross, "쌍.jsonl", "-o", "은.tsv")
    assert "4 rows in" in result.stderr
    columns = read("은.tsv")
    assert list(zip(*columns.texts.values(), strict=True)) == PAIRS
    np.testing.assert_allclose(columns.labels, load(cross).predict_proba(PAIRS), atol=1e-6)
    assert sorted(os.listdir()) == ["쌍.jsonl", "은.tsv"]


def test_single_texts_are_paired_with_their_nearest(corpus, cross, bi):
    summary = json.loads(
        sbert("distill", cross, "글.txt", "-o", "은.tsv", "--retriever", bi, "--neighbours", 2, "--json").stdout
    )
    columns = read("은.tsv")
    pairs = list(zip(*columns.texts.values(), strict=True))
    vectors = BiEncoder.from_pretrained(bi).encode(corpus, normalize_embeddings=True)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -2)
    near = {frozenset((row, int(other))) for row, line in enumerate(cosines) for other in np.argsort(-line)[:2]}
    assert {frozenset(map(corpus.index, pair)) for pair in pairs} == near
    assert len(pairs) == len(near) == summary["rows"]
    np.testing.assert_allclose(columns.labels, load(cross).predict_proba(pairs), atol=1e-6)


def test_triples_are_labelled_for_margins(folder, cross):
    Path("셋.tsv").write_text("anchor\tpositive\tnegative\n비\t눈\t해\nA\tB\t고양이\n", "utf-8")
    assert "whose scores are a list, but .tsv has no lists; write .jsonl or .parquet" in failure(
        "distill", cross, "셋.tsv", "-o", "은.tsv"
    )
    for name in ("은.jsonl", "은.parquet"):
        sbert("distill", cross, "셋.tsv", "-o", name)
        columns = read(name)
        assert (list(columns.texts), columns.label_kind) == (["query", "positive", "negative"], "scores")
        expected = load(cross).predict([("비", "눈"), ("비", "해"), ("A", "B"), ("A", "고양이")]).reshape(2, 2)
        np.testing.assert_allclose(columns.labels, expected, atol=1e-7)


def test_a_student_learns_from_what_was_labelled(corpus, cross, bi, monkeypatch):
    monkeypatch.delenv("SBERT_DATA", raising=False)
    sbert("distill", cross, "글.txt", "-o", "은.csv", "--retriever", bi)
    run = ["--data", "은.csv", "--loss", "cosine", "-m", bi, "-o", "runs/학생", "--json"]
    assert json.loads(sbert("train", *run).stdout)["steps"] > 1
    assert isinstance(load("runs/학생"), BiEncoder)
    Path("셋.tsv").write_text("query\tpositive\tnegative\n비\t눈\t해\nA\tB\t고양이\n", "utf-8")
    sbert("distill", cross, "셋.tsv", "-o", "은.jsonl")
    for kind in (["-m", bi], ["-m", bi, "--kind", "cross"]):
        out = f"runs/{len(kind)}"
        sbert("train", "--data", "은.jsonl", "--loss", "margin-mse", "-o", out, *kind)
        assert isinstance(load(out), CrossEncoder if "cross" in kind else BiEncoder)


def test_teachers_that_cannot_teach(folder, bi, classes):
    line = failure("distill", bi, "쌍.jsonl", "-o", "은.tsv")
    assert "a teacher is a trained cross-encoder; name one" in line
    assert "has the labels 모순, 함의, 중립, but a teacher gives one score" in failure(
        "distill", classes, "쌍.jsonl", "-o", "은.tsv"
    )
    assert not Path("은.tsv.parts").exists()


def test_a_file_where_the_work_would_be_kept(folder, cross):
    Path("은.tsv.parts").touch()
    line = failure("distill", cross, "쌍.jsonl", "-o", "은.tsv")
    assert "은.tsv.parts is a file, but a folder is needed there; remove it, or name another output" in line


def test_one_text_makes_no_pair(folder, cross):
    Path("하나.txt").write_text("비\n비\n\n", "utf-8")
    assert "하나.txt has 1 different text, but a pair needs two" in failure(
        "distill", cross, "하나.txt", "-o", "은.tsv"
    )
    assert not Path("은.tsv").exists()


@pytest.mark.skipif(os.name != "posix", reason="no such signals")
def test_what_is_labelled_is_kept(corpus, cross, bi, monkeypatch):
    command = ["distill", cross, "글.txt", "-o", "은.tsv", "--retriever", bi, "--neighbours", "1"]
    done = process(*command, start=["-c", INTERRUPTED])
    assert done.returncode == 130, done.stderr
    assert done.stderr == (
        "interrupted; what is labelled is kept in 은.tsv.parts, and the same command goes on from there\n"
    )
    assert not Path("은.tsv").exists()
    kept = sorted(path.name for path in Path("은.tsv.parts").glob("*.npy"))
    assert kept == ["pairs.npy", "scores-000000.npy", "scores-000001.npy"]
    monkeypatch.setattr(label, "WINDOW", 4)
    assert "keeps the work of another command, of which neighbours differ" in failure(*command[:-1], "2")
    read_anew = []
    plain = CrossEncoder.predict
    monkeypatch.setattr(
        CrossEncoder, "predict", lambda self, pairs, **more: read_anew.extend(pairs) or plain(self, pairs, **more)
    )
    sbert(*command)
    assert not Path("은.tsv.parts").exists()
    sbert(*command[:4], "다시.tsv", *command[5:])
    lines = Path("은.tsv").read_text("utf-8").splitlines()
    assert lines == Path("다시.tsv").read_text("utf-8").splitlines()
    assert len(read_anew) == 2 * (len(lines) - 1) - 8  # the second time all, the first time all but two windows


def test_nothing_is_written_over_what_is_read(folder, cross):
    before = Path("쌍.jsonl").read_bytes()
    for verb in ("predict", "distill"):
        assert "'쌍.jsonl' is the input, which it would replace" in failure(verb, cross, "쌍.jsonl", "-o", "쌍.jsonl")
    assert Path("쌍.jsonl").read_bytes() == before
    assert "'-' is standard input, which can be read only once" in failure("predict", cross, "-", "-o", "a.tsv")
    assert "'.' is a folder, but a file is needed here" in failure("predict", cross, ".", "-o", "a.tsv")


def test_a_wrong_retriever_leaves_nothing_behind(corpus, cross):
    assert "there is no folder ./없음" in failure("distill", cross, "글.txt", "-o", "은.tsv", "--retriever", "./없음")
    line = failure("distill", cross, "글.txt", "-o", "은.tsv", "--retriever", cross)
    assert "holds a CrossEncoder, but a bi-encoder (SentenceTransformer) is expected" in line
    assert line.endswith(", or name another model\n")
    assert not Path("은.tsv.parts").exists()


# a model with damaged weights


def refused(*arguments: object) -> None:
    line = failure(*arguments)
    assert line.startswith("error: the model gives NaN for ")
    assert line.endswith("; its weights are damaged, fetch or train it again\n")


@pytest.mark.parametrize("kind", ["bi", "cross", "classes", "poly"])
def test_a_damaged_model_is_refused_and_nothing_written(folder, kind, request, damaged):
    model = damaged(request.getfixturevalue(kind))
    Path("글.txt").write_text("비가 온다.\n눈이 온다.\n", "utf-8")
    Path("옛.tsv").write_text("옛것", "utf-8")
    before = sorted(os.listdir())
    refused("predict", model, "쌍.jsonl")
    refused("predict", model, "쌍.jsonl", "-o", "옛.tsv")
    if kind != "classes":
        refused("rank", model, "비가 오나요?", "글.txt")
    if kind == "bi":
        refused("encode", "글.txt", "-m", model, "-o", "벡터.npy")
    assert sorted(os.listdir()) == before
    assert Path("옛.tsv").read_text("utf-8") == "옛것"


def test_a_damaged_teacher_or_retriever_labels_nothing(folder, cross, bi, damaged):
    Path("글.txt").write_text("비가 온다.\n눈이 온다.\n", "utf-8")
    Path("옛.tsv").write_text("옛것", "utf-8")
    refused("distill", damaged(cross), "쌍.jsonl", "-o", "옛.tsv")
    refused("distill", cross, "글.txt", "-o", "옛.tsv", "--retriever", damaged(bi))
    assert Path("옛.tsv").read_text("utf-8") == "옛것"
    assert not Path("옛.tsv.parts").exists()


@pytest.fixture
def words(folder) -> str:
    Path("벡터.txt").write_text("비 1 0\ncat 0 1\n눈 1 1\n", encoding="utf-8")
    WordEncoder.from_vectors("벡터.txt").save_pretrained("낱말")
    return "낱말"


def test_a_word_encoder_scores_and_ranks(words):
    Path("쌍.tsv").write_text("sentence1\tsentence2\n비\tcat\n비\t눈\n", encoding="utf-8")
    rows = [json.loads(line) for line in sbert("predict", words, "쌍.tsv").stdout.splitlines()]
    assert [row["prediction"] for row in rows] == pytest.approx([0, 0.5**0.5])
    assert {row["scale"] for row in rows} == {"cosine"}
    assert "this WordEncoder has its cosine alone" in failure("predict", words, "쌍.tsv", "--as", "logit")
    Path("글.txt").write_text("cat\n눈\n비\n", encoding="utf-8")
    hits = json.loads(sbert("rank", words, "비", "글.txt", "--json").stdout)
    assert [hit["text"] for hit in hits] == ["비", "눈", "cat"]


def test_info_of_a_word_encoder(words):
    facts = json.loads(sbert("info", words, "--json").stdout)
    assert (facts["kind"], facts["vocabulary"], facts["dimension"], facts["lstm_size"]) == ("WordEncoder", 3, 2, None)
    assert "architecture" not in facts
    assert "WordEncoder" in sbert("info", words).stdout


def test_the_same_column_twice_is_wrong_usage(folder, cross):
    for verb in (["predict", cross], ["distill", cross, "-o", "은.tsv"]):
        line = failure(*verb, "쌍.jsonl", "--columns", "sentence1, sentence1", code=2)
        assert "--columns names 'sentence1' twice" in line


def test_the_doctor_and_a_word_encoder(words):
    report = json.loads(sbert("doctor", words, "--json").stdout)
    findings = {finding["name"]: finding["sentence"] for finding in report["findings"]}
    assert list(findings) == ["software", "machine", "model", "stability"]
    assert findings["stability"].startswith("40 of 40 texts identical")


def test_two_word_encoders_compared(words):
    Path("글.txt").write_text("cat\n눈\n비\n", encoding="utf-8")
    found = json.loads(sbert("compare", words, words, "--texts", "글.txt", "--json").stdout)
    assert found["drift"]["cosine"]["mean"] == pytest.approx(1)
