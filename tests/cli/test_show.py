"""What is printed: columns keep their place in any script, and no text can control the terminal."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from commandline import failure, sbert

from sbert import BiEncoder, CrossEncoder
from sbert.cli import show
from sbert.types import Hit

HOSTILE = "\x1b[31m빨강\x9b2J\x85\x7f\x00"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
CLI = Path(show.__file__).parent


def printed(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Standard output and standard error, in which nothing controls the terminal and no line ends with a space."""
    captured = capsys.readouterr()
    for stream in captured:
        assert CONTROL.search(stream) is None
        assert re.search(r" $", stream, re.MULTILINE) is None
    return captured.out, captured.err


def test_wide_letters_are_not_wrapped(capsys):
    headings, rows = ["이름이 긴 열", "라벨", "text"], [["대한민국의 수도", "함의", "긴 글 " * 60], ["a", "b", "c"]]
    show.table(headings, rows)
    lines = printed(capsys)[0].splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("대한민국의 수도  함의  긴 글 긴 글")


def test_control_characters_are_escaped_everywhere(capsys):
    show.table(["n", "text"], [["1", HOSTILE], [HOSTILE, "짧은 글"]])
    show.line(HOSTILE)
    show.console().print(HOSTILE)
    shown = r"\x1b[31m빨강\x9b2J\x85\x7f\x00"
    assert printed(capsys)[0].count(shown) == 4
    show.note(HOSTILE, "red")
    assert printed(capsys)[1] == "\\x1b[31m빨강\\x9b2J \\x7f\\x00\n"  # 0x85 is a line break
    show.as_json({HOSTILE: [HOSTILE, 1]})
    out = printed(capsys)[0]
    assert json.loads(out) == {HOSTILE: [HOSTILE, 1]}
    assert "빨강" in out
    show.summary(Path("-"), {"labels": [HOSTILE]}, "", in_json=True)
    assert json.loads(printed(capsys)[1]) == {"labels": [HOSTILE]}


def test_short_fields_of_a_hit_get_columns(capsys):
    found = [Hit(3, 0.5, "하나"), Hit(0, 0.25, "둘")]
    fields = [{"번호": 7, "본문": "긴 글 " * 30}, {"번호": 8, "출처\n": None}]
    show.hits(found, fields, in_json=False)
    lines = [line.split() for line in printed(capsys)[0].splitlines()]
    assert lines == [
        ["rank", "score", "row", "번호", "출처", "text"],
        ["1", "0.5000", "3", "7", "하나"],
        ["2", "0.2500", "0", "8", "둘"],
    ]
    show.hits(found, fields, in_json=True)
    assert [hit["fields"] for hit in json.loads(printed(capsys)[0])] == fields
    show.hits(found, [{}, {}], in_json=True)
    assert json.loads(printed(capsys)[0]) == [
        {"score": 0.5, "row": 3, "text": "하나"},
        {"score": 0.25, "row": 0, "text": "둘"},
    ]


def test_labels_prompts_and_errors_cannot_control_the_terminal(folder, bi, tiny_classifier):
    model = CrossEncoder.from_pretrained(tiny_classifier("bert", 2), labels=[HOSTILE, "함의"])
    model.save_pretrained("관계")
    encoder = BiEncoder.from_pretrained(bi)
    encoder.prompts = {HOSTILE: "찾기: \x1b[0m"}
    encoder.save_pretrained("모형")
    results = [
        sbert("info", "관계"),
        sbert("info", "관계", "--json"),
        sbert("info", "모형"),
        sbert("info", "모형", "--json"),
    ]
    results.append(sbert("predict", "관계", "쌍.jsonl", "-o", "a.jsonl"))
    results.append(sbert("predict", "관계", "쌍.jsonl", "-o", "a.jsonl", "--json"))
    for result in results:
        assert CONTROL.search(result.output) is None
        assert "빨강" in result.output or "찾기" in result.output
    Path("글.jsonl").write_text(json.dumps({"text": "비", "text2": HOSTILE}) + "\n", "utf-8")
    line = sbert("predict", "관계", "글.jsonl").stdout
    assert CONTROL.search(line) is None
    assert json.loads(line)["text2"] == HOSTILE
    assert r"error: there is no file '\x1b[31m\x9b'" in failure("search", "\x1b[31m\x9b", "무엇", "-m", bi)
    Path("글.tsv").write_text(f"{HOSTILE}\t글\n비\t눈\n", "utf-8")
    assert r"\x1b[31m" in failure("search", "글.tsv", "무엇", "-m", bi)


def test_only_this_module_prints():
    allowed = {"show.py", "main.py", "__init__.py"}  # --version, and an interrupt before anything is imported
    for file in CLI.rglob("*.py"):
        calls = (node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call))
        if any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls):
            assert file.name in allowed, f"{file} prints; use show.line"
