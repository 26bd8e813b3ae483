"""``sbert embed``, ``sbert verify``, and ``sbert index`` with what they wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commandline import failure, process, sbert

from sbert import BiEncoder, Searcher

TEXTS = ["비가 온다.", "고양이가 잔다.", "A man eats.", "비가 내린다."]


@pytest.fixture
def rows(folder) -> str:
    lines = [
        json.dumps({"번호": row, "text": text, "lang": "ko"}, ensure_ascii=False) for row, text in enumerate(TEXTS)
    ]
    Path("글.jsonl").write_text("\n".join([*lines, "", "no JSON"]) + "\n", encoding="utf-8")
    return "글.jsonl"


def test_embed_verify_and_index(rows, bi):
    done = sbert("embed", rows, "-o", "out", "-m", bi, "--id", "번호", "--keep", "lang", "--rows-per-shard", 3)
    assert done.stderr.splitlines()[-1].startswith("4 rows x 32 float32 in 2 shards, ")
    assert "warning: 1 row without a text: see " in done.stderr
    facts = json.loads(
        sbert(
            "embed", rows, "-o", "out", "-m", bi, "--id", "번호", "--keep", "lang", "--rows-per-shard", 3, "--json"
        ).stdout
    )
    assert (facts["rows"], facts["rejected"], facts["shards"], facts["output"]) == (4, 1, 2, "out")
    assert "4 rows in 2 shards are complete; 4 of 4 vectors equal bit for bit" in sbert("verify", "out").stderr
    assert json.loads(sbert("verify", "out", "--json").stdout)["problems"] == []
    before = sbert("index", "out", "--store", "글.db").stderr
    assert "4 new, 0 changed, 0 unchanged; 0 texts embedded" in before
    assert "0 new, 0 changed, 4 unchanged; 0 texts embedded" in sbert("index", "out", "--store", "글.db").stderr
    (hit,) = Searcher.open("글.db").search("비가 온다.", 1).hits
    assert (hit.id, hit.text, hit.metadata) == (0, "비가 온다.", {"lang": "ko"})
    Path("out/part-00001.parquet").write_bytes(b"")
    assert "part-00001.parquet has changed since it was written" in failure("verify", "out")


def test_shards_that_a_store_cannot_hold(rows, bi):
    sbert("embed", rows, "-o", "half", "-m", bi, "--precision", "binary")
    assert "have the precision binary, but a store needs" in failure("index", "half", "--store", "글.db")
    sbert("embed", rows, "-o", "asked", "-m", bi, "--prompt", "query: ")
    assert "are not those that a store would hold" in failure("index", "asked", "--store", "글.db")
    assert "is a folder of sbert embed, which is indexed alone" in failure(
        "index", "asked", "--store", "글.db", "--id", "x", code=2
    )
    assert not Path("글.db").exists()


def test_wrong_usage_and_refusals(rows, bi):
    assert "--precision is 'float', but must be one of" in failure(
        "embed", rows, "-o", "out", "--precision", "float", code=2
    )
    assert "--engine is 'dask', but must be one of" in failure("embed", rows, "-o", "out", "--engine", "dask", code=2)
    assert "there is no file 'x.txt'" in failure("embed", "x.txt", "-o", "out")
    assert "holds files but no job of sbert embed ('글.jsonl'" in failure("verify", ".")
    sbert("embed", rows, "-o", "out", "-m", bi)
    line = failure("embed", rows, "-o", "out", "-m", bi, "--normalize")
    assert line.startswith(
        "error: out holds another job: its normalize_embeddings is False, not True; name another folder"
    )
    sbert("embed", rows, "-o", "out", "-m", bi, "--normalize", "--force")
    assert not Path("out/plan.json").exists()


def test_standard_input_and_int8(folder, bi):
    given = "\n".join(TEXTS) + "\n"
    done = process("embed", "-", "-o", "out", "-m", bi, "--workers", 2, "--rows-per-shard", 1, stdin=given)
    assert done.returncode == 0, done.stderr
    again = process("embed", "-", "-o", "out", "-m", bi, "--rows-per-shard", 1, stdin=given)
    assert "all 4 shards were finished before" in again.stderr
    assert {path.name for path in Path("out").iterdir() if path.suffix != ".parquet"} == {"manifest.json", "run.lock"}
    model = BiEncoder.from_pretrained(bi)
    model.calibrate(TEXTS)
    model.save_pretrained("맞춤")
    Path("글.txt").write_text(given, encoding="utf-8")
    sbert("embed", "글.txt", "-o", "int8", "-m", "맞춤", "--precision", "int8")
    assert (
        pq.read_table("int8/part-00000.parquet")["embedding"].to_pylist()
        == model.encode(TEXTS, precision="int8").tolist()
    )
    assert "value ranges" in failure("embed", "글.txt", "-o", "x", "-m", bi, "--precision", "int8")
