"""``sbert paper`` as a real process: its files, what it says of missing data, and that a stopped run goes on."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from commandline import failure, process

PAIRS = [
    ("한 남자가 기타를 친다", "한 남자가 기타를 친다", 5.0),
    ("한 남자가 기타를 친다", "한 여자가 기타를 친다", 3.2),
    ("고양이가 돌담 위에 앉아 있다", "개가 풀밭을 달린다", 0.4),
    ("A train leaves Paris at noon", "A train leaves Paris in the evening", 2.8),
    ("The museum is closed", "The museum does not open", 4.6),
    ("the cat sleeps", "the dog barks", 1.0),
]
# The process interrupts itself, as a user would, when its second job is kept.
INTERRUPTED = """
import os, signal, sys
from sbert.cli.main import main
from sbert.paper.ledger import CellLedger
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with SIGINT ignored
plain, kept = CellLedger.add, []
def add(self, key, cells):
    plain(self, key, cells)
    kept.append(key)
    if len(kept) == 2:
        os.kill(os.getpid(), signal.SIGINT)
CellLedger.add = add
main()
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "자료"
    folder.mkdir()
    lines = ["split\tscore\tsentence1\tsentence2", *(f"test\t{c}\t{a}\t{b}" for a, b, c in PAIRS)]
    for name in ("stsb", "sick_r"):
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def test_a_device_that_is_not_there_is_told_before_any_work(tiny_folder, data, tmp_path):
    arguments = ["table1", "--data", data, "-o", tmp_path / "결과", "--backbone", tiny_folder("bert")]
    line = failure("paper", *arguments, "--device", "cuda:77", code=2)
    assert "--device is 'cuda:77', but torch cannot use it here" in line
    assert not (tmp_path / "결과").exists()


def test_a_stopped_run_goes_on_and_ends_with_every_file(tiny_folder, data, tmp_path):
    out = tmp_path / "결과"
    arguments = [
        "table1",
        "--data",
        str(data),
        "-o",
        str(out),
        "--backbone",
        str(tiny_folder("bert")),
        "--device",
        "cpu",
    ]
    stopped = process("paper", *arguments, start=["-c", INTERRUPTED])
    assert stopped.returncode == 130
    (total,) = map(int, re.findall(r"interrupted after 2 of (\d+) jobs", stopped.stderr))
    assert "the same command goes on" in stopped.stderr
    kept = (out / "cells.jsonl").read_bytes()
    assert kept.count(b"\n") == 2
    assert not (out / "table1.html").exists()

    done = process("paper", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert (out / "cells.jsonl").read_bytes().startswith(kept)
    said = json.loads(done.stdout)
    assert any("STS12" in reason or "sts12" in reason for reason in said["missing"])
    assert all(f"missing  {reason}" in done.stderr for reason in said["missing"])
    places = {(cell["row"], cell["column"]): cell for cell in said["cells"]}
    assert len(places) == total >= 6  # the Universal Sentence Encoder's are there where it is installed
    assert places["Avg. BERT embeddings", "STSb"]["paper"] == 46.35
    assert said["files"] == [str(out / f"table1.{suffix}") for suffix in ("html", "md", "csv")]
    with (out / "table1.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == [cell["value"] for cell in said["cells"]]
    assert "46.35" in (out / "table1.html").read_text("utf-8")

    again = process("paper", *arguments)
    assert again.returncode == 0
    assert (out / "cells.jsonl").read_bytes().count(b"\n") == total
    lines = [line.split() for line in again.stdout.splitlines()]
    place = next(number for number, line in enumerate(lines) if line[-3:] == ["Avg.", "BERT", "embeddings"])
    cell = places["Avg. BERT embeddings", "STSb"]
    assert lines[place][0] == f"{cell['value']:.2f}"
    assert lines[place + 1] == ["46.35", "58.40", "the", "paper"]
    assert "difference" not in lines[place + 2]  # the backbone is a tiny one, which the summary and the last line say
    assert "The rows on the backbone have no difference" in again.stdout
    assert again.stdout.splitlines()[-1].startswith("Budget quick, backbone ")


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["table9"], "TABLE is 'table9'", 2),
        (["--budget", "honst"], "did you mean 'honest'?", 2),
        (["--data", "없는 폴더"], "'없는 폴더'", 1),
        ([], "give --data DIR, or set SBERT_DATA", 2),
    ],
)
def test_what_is_wrong_is_one_line(data, tmp_path, arguments, said, code):
    named = [] if not arguments or "--data" in arguments else ["--data", str(data)]
    done = process("paper", *arguments, *named, "-o", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_empty_folder_is_an_error_that_names_what_is_missing(tmp_path):
    (tmp_path / "data").mkdir()
    done = process("paper", "table1", "--data", str(tmp_path / "data"), "-o", str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: nothing of table1 can be measured")
    assert not (tmp_path / "out").exists()
