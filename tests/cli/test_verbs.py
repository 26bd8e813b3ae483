"""Every verb from its arguments to what it prints and writes, with a tiny model; every failure is one line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from commandline import failure, sbert

from sbert.models.bi import BiEncoder
from sbert.models.fingerprint import fingerprint
from sbert.search import most_similar_pairs, semantic_search


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def model(tiny_folder) -> str:
    return str(tiny_folder("bert"))


@pytest.fixture
def encoder(model) -> BiEncoder:
    return BiEncoder.from_pretrained(model)


@pytest.fixture
def texts(sentences) -> list[str]:
    return [text for text in sentences if "\n" not in text]


@pytest.fixture
def file(folder, texts) -> str:
    Path("문장.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return "문장.txt"


def test_encode_npy(file, model, encoder, texts):
    result = sbert("encode", file, "-o", "벡터.npy", "-m", model)
    assert np.array_equal(np.load("벡터.npy"), encoder.encode(texts))
    assert result.stdout == ""
    assert f"{len(texts)} x 32 float32" in result.stderr
    assert sorted(os.listdir()) == ["문장.txt", "벡터.npy"]


def test_encode_options_reach_the_model(file, model, encoder, texts):
    options = ["--normalize", "--truncate-dim", 8, "--precision", "float16", "--prompt", "질문: "]
    more = ["--batch-tokens", 100, "--on-truncate", "chunk", "--max-seq-length", 20]
    sbert("encode", file, "-o", "a.npy", "-m", model, *options, *more)
    encoder.max_seq_length = 20
    expected = encoder.encode(
        texts,
        normalize_embeddings=True,
        truncate_dim=8,
        precision="float16",
        prompt="질문: ",
        on_truncate="chunk",
    )
    assert np.array_equal(np.load("a.npy"), expected)
    assert expected.shape == (len(texts), 8)


def test_encode_prompt_name(file, encoder, texts):
    encoder.prompts = {"질문": "무엇을 찾나요: "}
    encoder.save_pretrained("모형")
    sbert("encode", file, "-o", "a.npy", "-m", "모형", "--prompt-name", "질문")
    assert np.array_equal(np.load("a.npy"), encoder.encode(texts, prompt="무엇을 찾나요: "))
    assert not np.array_equal(np.load("a.npy"), encoder.encode(texts))
    assert "'질문'" in failure("encode", file, "-o", "a.npy", "-m", "모형", "--prompt-name", "질뭉", code=2)


def test_encode_json_summary(file, model, texts):
    summary = json.loads(sbert("encode", file, "-o", "a.npy", "-m", model, "--json").stdout)
    assert summary["rows"] == len(texts)
    assert summary["dimension"] == 32
    assert summary["output"] == "a.npy"
    assert summary["seconds"] > 0


def test_encode_beside_the_fields(folder, model, encoder):
    Path("a.csv").write_text("번호,본문\n1,고양이가 잔다\n2,A dog runs.\n", encoding="utf-8")
    expected = encoder.encode(["고양이가 잔다", "A dog runs."])
    sbert("encode", "a.csv", "-o", "a.parquet", "--column", "본문", "-m", model)
    table = pq.read_table("a.parquet")
    assert table.column_names == ["번호", "본문", "embedding_model", "embedding"]
    assert np.array_equal(np.array(table["embedding"].to_pylist(), np.float32), expected)
    sbert("encode", "a.csv", "-o", "a.jsonl", "--column", "본문", "-m", model)
    first = json.loads(Path("a.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert np.array_equal(np.array(first.pop("embedding"), np.float32), expected[0])
    assert first.pop("embedding_model") == f"{model} {fingerprint(encoder)}"
    assert first == {"번호": "1", "본문": "고양이가 잔다"}


def test_encode_standard_input_to_standard_output(folder, model, encoder):
    result = sbert("encode", "-", "-o", "-", "-m", model, stdin="고양이\n개\n")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["text"] for record in records] == ["고양이", "개"]
    vectors = np.array([record["embedding"] for record in records], np.float32)
    assert np.array_equal(vectors, encoder.encode(["고양이", "개"]))
    result = sbert("encode", "-", "-o", "-", "-m", model, "--format", "jsonl", "--json", stdin='{"글": "개"}\n')
    assert json.loads(result.stdout)["글"] == "개"
    assert json.loads(result.stderr)["rows"] == 1


def test_encode_int8_needs_ranges_and_learns_them_from_the_input(file, model, encoder, texts):
    assert "--calibrate" in failure("encode", file, "-o", "a.npy", "-m", model, "--precision", "int8")
    result = sbert("encode", file, "-o", "a.npy", "-m", model, "--precision", "int8", "--calibrate")
    assert f"ranges learned from this input ({len(texts)} texts)" in result.stderr
    encoder.calibrate(texts)
    assert np.array_equal(np.load("a.npy"), encoder.encode(texts, precision="int8"))
    encoder.save_pretrained("모형")
    sbert("encode", file, "-o", "b.npy", "-m", "모형", "--precision", "int8")
    assert np.array_equal(np.load("a.npy"), np.load("b.npy"))


def test_truncation_is_said_once(file, model):
    result = sbert("encode", file, "-o", "a.npy", "-m", model, "--max-seq-length", 8)
    lines = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
    assert len(lines) == 1
    assert "texts truncated at 8 tokens" in lines[0]
    options = ["--precision", "uint8", "--calibrate", "--on-truncate", "ignore", "--max-seq-length", 8]
    assert "warning" not in sbert("encode", file, "-o", "a.npy", "-m", model, *options).stderr


def test_similarity_of_two_texts(folder, model, encoder):
    a, b = encoder.encode(["고양이가 잔다", "개가 달린다"])
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert float(sbert("similarity", "고양이가 잔다", "개가 달린다", "-m", model).stdout) == pytest.approx(
        cosine, abs=1e-4
    )
    result = sbert("similarity", "고양이가 잔다", "개가 달린다", "-m", model, "--measure", "manhattan", "--json")
    scores = json.loads(result.stdout)
    assert scores["measure"] == "manhattan"
    assert scores["score"] == pytest.approx(-abs(a - b).sum(), rel=1e-5)


def test_similarity_of_a_file(file, model, encoder, texts):
    result = json.loads(sbert("similarity", file, "-m", model, "--json").stdout)
    vectors = encoder.encode(texts)
    assert result["texts"] == texts
    assert np.allclose(result["scores"], encoder.similarity(vectors, vectors))


def test_similarity_prints_every_number(folder, model):
    Path("a.txt").write_text("\n".join(f"문장 {row}" for row in range(30)), encoding="utf-8")
    lines = sbert("similarity", "a.txt", "-m", model).stdout.splitlines()
    assert len(lines) == 31
    for row, line in enumerate(lines[1:]):
        assert line.split()[0] == str(row)
        assert line.split()[row + 1] == "1.00"
        assert len(line.split()) == 33
        assert line.rstrip().endswith(f"문장 {row}")


def test_search(file, model, encoder, texts):
    expected = semantic_search(encoder.encode("고양이"), encoder.encode(texts), k=3)[0]
    found = json.loads(sbert("search", file, "고양이", "-k", 3, "-m", model, "--json").stdout)
    assert [(hit["row"], hit["score"], hit["text"]) for hit in found] == [
        (hit.id, hit.score, texts[int(hit.id)]) for hit in expected
    ]
    table = sbert("search", file, "고양이", "-k", 3, "-m", model).stdout.splitlines()
    assert table[0].split() == ["rank", "score", "row", "text"]
    assert table[1].split()[:3] == ["1", f"{expected[0].score:.4f}", str(expected[0].id)]
    assert len(table) == 4


def test_search_uses_the_prompts_of_the_model(file, encoder, texts):
    encoder.prompts = {"query": "질문: ", "document": "글: "}
    encoder.save_pretrained("모형")
    expected = semantic_search(encoder.encode_query("고양이"), encoder.encode_document(texts), k=4)[0]
    found = json.loads(sbert("search", file, "고양이", "-k", 4, "-m", "모형", "--json").stdout)
    assert [hit["score"] for hit in found] == [hit.score for hit in expected]


def test_pairs(file, model, encoder, texts):
    expected = most_similar_pairs(encoder.encode(texts), k=4)
    found = json.loads(sbert("pairs", file, "--top", 4, "-m", model, "--json").stdout)
    assert [(*pair["rows"], pair["score"]) for pair in found] == [tuple(pair) for pair in expected]
    assert found[0]["texts"] == [texts[row] for row in found[0]["rows"]]
    threshold = expected[3].score
    above = json.loads(sbert("pairs", file, "--threshold", threshold, "-m", model, "--json").stdout)
    assert len(above) == len(most_similar_pairs(encoder.encode(texts), k=20, threshold=threshold)) < 20
    table = sbert("pairs", file, "--top", 4, "-m", model).stdout.splitlines()
    assert len(table) == 1 + 2 * 4
    result = sbert("pairs", file, "--threshold", 2, "-m", model)
    assert result.stdout == ""
    assert result.stderr.endswith("no pair scores 2 or more\n")


def test_tables_show_text_as_it_is_on_one_line(folder, model):
    lines = ["[bold]대괄호[/bold] :smile:", "아주 " * 200, "a\x1b[31mb\tc\u2028d"]
    Path("a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in lines), encoding="utf-8")
    table = sbert("search", "a.jsonl", "대괄호", "-m", model).stdout
    assert "[bold]대괄호[/bold] :smile:" in table
    assert "a [31mb c d" in table
    assert "\x1b" not in table
    assert "…" in table
    assert len(table.splitlines()) == 4


@pytest.mark.parametrize(("architecture", "runs"), [("bert", "packed"), ("mpnet", "equal lengths")])
def test_info(tiny_folder, architecture, runs):
    folder = tiny_folder(architecture)
    facts = json.loads(sbert("info", folder, "--json").stdout)
    assert facts["folder"] == facts["name"] == str(folder)
    assert facts["dimension"] == facts["hidden_size"] == 32
    assert facts["max_length"] == 128
    assert facts["layers"] == 2
    assert facts["pooling"] == ["mean"]
    assert facts["similarity"] == "cosine"
    assert facts["heads"] == []
    assert (facts["calibrated"], facts["reference_vectors"]) == (False, False)
    assert facts["runs"].startswith(runs)
    from transformers import AutoModel, AutoTokenizer

    assert facts["vocabulary"] == len(AutoTokenizer.from_pretrained(folder))
    assert facts["parameters"] == AutoModel.from_pretrained(folder).num_parameters()
    shown = sbert("info", folder).stdout
    assert f"{facts['parameters']:,}" in shown
    assert facts["architecture"] in shown


def test_info_names_the_default_model():
    assert json.loads(sbert("info", "--json").stdout)["name"] == "all-MiniLM-L6-v2"


def test_info_of_a_model_that_has_everything(folder, encoder, texts):
    encoder.prompts = {"질문": "찾기: "}
    encoder.calibrate(texts)
    encoder.save_pretrained("모형")
    facts = json.loads(sbert("info", "모형", "--json").stdout)
    assert facts["prompts"] == {"질문": "찾기: "}
    assert (facts["calibrated"], facts["reference_vectors"]) == (True, True)
    assert "질문: '찾기: '" in sbert("info", "모형").stdout


def test_info_of_a_cross_encoder(tiny_classifier):
    facts = json.loads(sbert("info", tiny_classifier("bert", 3), "--json").stdout)
    assert (facts["kind"], facts["labels"], facts["scale"]) == (
        "CrossEncoder",
        ["LABEL_0", "LABEL_1", "LABEL_2"],
        "identity",
    )
    assert "dimension" not in facts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encode", "없음.txt", "-o", "a.npy"], "no file '없음.txt'"),
        (["encode", "문장.txt", "-o", "없음/a.npy"], "create the folder first"),
        (["encode", "문장.txt", "-o", "a.npy", "--column", "제목"], "'text'"),
        (
            ["encode", "문장.txt", "-o", "a.npy", "--max-seq-length", "8", "--on-truncate", "raise"],
            "--on-truncate chunk or",
        ),
        (["similarity", "없음.jsonl.gz"], "no file '없음.jsonl.gz'"),
        (["similarity", "없음", "--format", "txt"], "no file '없음'"),
        (["search", "무엇", "문장.txt"], "'무엇'; check the name; the order is sbert search FILE QUERY"),
        (["search", "벡터.npy", "무엇"], "there is no file '벡터.npy'"),
        (["pairs", "없음.txt"], "no file '없음.txt'"),
    ],
)
def test_a_failure_is_one_line_and_leaves_nothing(file, model, arguments, message):
    assert message in failure(*arguments, "-m", model)
    assert os.listdir() == [file]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encode", "문장.txt", "-o", "a.npy", "--precision", "int4"], "'float32', 'float16', 'int8'"),
        (["encode", "문장.txt", "-o", "a.npy", "--precision", "flot32"], "did you mean 'float32'?"),
        (["encode", "문장.txt", "-o", "a.npy", "--on-truncate", "cut"], "'warn', 'raise', 'ignore', 'chunk'"),
        (["encode", "문장.txt", "-o", "a.npy", "--format", "xml"], "'txt', 'tsv', 'csv', 'jsonl', 'json', 'parquet'"),
        (["encode", "문장.txt", "-o", "a.xls"], "must end in .npy, .parquet, .jsonl"),
        (["encode", "문장.txt", "-o", "a.npy", "--calibrate"], "int8 and uint8"),
        (["similarity", "하나", "둘", "--plot", "a.png"], "--plot"),
        (["similarity", "문장.txt", "--plot", "a.gif"], "must end in .png"),
        (["similarity", "문장.txt", "--measure", "cosin"], "did you mean 'cosine'?"),
        (["search", "문장.txt", "무엇", "--format", "xml"], "--format is 'xml'"),
        (["search", "문장.txt", "무엇", "--device", "foo"], "--device is 'foo', but must be cpu, cuda, cuda:N or mps"),
        (["encode", "문장.txt", "-o", "a.npy", "--truncate-dim", "99"], "--truncate-dim is 99, but the model gives"),
        (["encode", "문장.txt", "-o", "a.npy", "--max-seq-length", "999"], "--max-seq-length is 999, but this model"),
        (["encode", "문장.txt", "-o", "a.npy", "--max-seq-length", "1"], "--max-seq-length is 1, but the tokenizer"),
        (["encode", "문장.txt", "-o", "a.npy", "--prompt-name", "query"], "--prompt-name is 'query', but the model"),
        (["similarity", "하나의 글"], "got '하나의 글' alone, which is not a file, but two texts or a file"),
        (["similarity", "Dr. Smith eats lunch"], "got 'Dr. Smith eats lunch' alone"),
        (["similarity", "3.5킬로미터"], "got '3.5킬로미터' alone"),
        (["similarity", "긴 글 " * 100], "긴 글…' alone, which is not a file"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_wrong_usage(file, model, arguments, message):
    assert message in failure(*arguments, "-m", model, code=2)
    assert os.listdir() == [file]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encode", "문장.txt", "-o", "a.npy", "--batch-tokens", 0], "--batch-tokens is 0, but must be at least 1"),
        (["encode", "문장.txt", "-o", "a.npy", "--truncate-dim", -1], "--truncate-dim is -1, but must be at least 1"),
        (["search", "문장.txt", "무엇", "-k", 0], "-k is 0, but must be at least 1"),
        (["rank", "모형", "문장.txt", "무엇", "-k", "셋"], "-k is '셋', but must be a whole number"),
        (["pairs", "문장.txt", "--threshold", "높이"], "--threshold is '높이', but must be a number"),
        (["train", "--warmup-ratio", 2], "--warmup-ratio is 2, but must be at most 1"),
        (["search", "문장.txt", " "], "the query is empty, but must be a text"),
        (["similarity", "비", "눈", "--device", "gpu"], "--device is 'gpu', but must be cpu"),
        (["doctor", "--device", "gpu"], "--device is 'gpu', but must be cpu"),
        (["rank", "모형", "문장.txt"], "QUERY is missing; the order is sbert rank MODEL FILE QUERY"),
        (["search", "문장.txt", "무엇", "또"], "(또); the order is sbert search FILE QUERY"),
        (["encode", "문장.txt"], "--output is missing; sbert encode --help lists the options"),
        (["search", "문장.txt", "무엇", "--jsn"], "no such option: --jsn; sbert search --help lists the options"),
        (["search", "문장.txt", "무엇", "-k"], "option '-k' requires an argument"),
        (["serch"], "no such command 'serch'; did you mean 'search', 'serve'?"),
        (["--data-limit", "-5", "info"], "--data-limit is -5, but must be at least 1"),
    ],
)
def test_wrong_usage_is_one_line(file, arguments, message):
    assert message in failure(*arguments, code=2)
    assert os.listdir() == [file]


def test_vectors_without_texts_cannot_be_searched(file, model):
    sbert("encode", file, "-o", "벡터.npy", "-m", model)
    assert "write .parquet or .jsonl with sbert encode" in failure("search", "벡터.npy", "무엇", "-m", model)


def test_no_such_model(file):
    assert "./없음" in failure("encode", file, "-o", "a.npy", "-m", "./없음")
    assert "./없음" in failure("info", "./없음")


def test_undecodable_bytes_on_standard_input(folder, model):
    message = failure("encode", "-", "-o", "a.npy", "-m", model, stdin="하나\n".encode() + "둘".encode("cp949"))
    assert "standard input, line 2: byte 1 (0xb5) is not UTF-8; it looks like CP949" in message


def test_nothing_is_written_over_what_is_read(folder, model):
    Path("글.jsonl").write_text('{"text": "하나"}\n', encoding="utf-8")
    Path("링크.npy").symlink_to("글.jsonl")
    for out in ("글.jsonl", "링크.npy"):
        assert f"'{out}' is the input, which it would replace" in failure("encode", "글.jsonl", "-o", out, "-m", model)
    Path("글.png").write_text("하나\n둘\n", encoding="utf-8")
    plot = ["similarity", "글.png", "--format", "txt", "--plot", "글.png", "-m", model]
    assert "'글.png' is the input, which it would replace" in failure(*plot)
    assert Path("글.jsonl").read_text(encoding="utf-8") == '{"text": "하나"}\n'
    assert Path("글.png").read_text(encoding="utf-8") == "하나\n둘\n"


def test_an_embedding_that_is_there_already(folder, model):
    Path("a.jsonl").write_text('{"text": "하나", "embedding": 1}\n', encoding="utf-8")
    assert "'embedding' already" in failure("encode", "a.jsonl", "-o", "b.jsonl", "-m", model)
    Path("a.jsonl").write_text('{"text": "하나", "embedding_model": 1}\n', encoding="utf-8")
    assert "'embedding_model' already" in failure("encode", "a.jsonl", "-o", "b.jsonl", "-m", model)
    sbert("encode", "a.jsonl", "-o", "b.npy", "-m", model)


def test_a_matrix_of_too_many_texts(folder, model):
    Path("a.txt").write_text("하나\n" * 2001, encoding="utf-8")
    assert "sbert pairs" in failure("similarity", "a.txt", "-m", model)


def test_what_was_not_foreseen_is_one_line_too(file, model, monkeypatch):
    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("여기서\n나누기")

    monkeypatch.setattr(BiEncoder, "encode", broken)
    message = failure("encode", file, "-o", "a.npy", "-m", model)
    assert message.startswith("error: ZeroDivisionError: 여기서 나누기")
    assert "SBERT_TRACEBACK=1" in message
    monkeypatch.setenv("SBERT_TRACEBACK", "1")
    result = sbert("encode", file, "-o", "a.npy", "-m", model, code=1)
    assert isinstance(result.exception, ZeroDivisionError)


def test_the_command_alone_shows_its_help():
    result = sbert(code=2)
    assert "Usage: sbert" in result.stdout
    assert result.stderr == ""


def test_version():
    import sbert as package

    assert sbert("--version").stdout == f"sbert {package.__version__}\n"
