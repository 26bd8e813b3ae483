"""``embed_files`` in one process: its rows, its vectors, bad rows, and jobs that go on or are refused."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sbert import BiEncoder
from sbert.bulk import Running, Settings, embed, embed_files, shard, verify_shards
from sbert.bulk.folder import LocalFolder, sealed, unsealed
from sbert.bulk.scan import Cutter
from sbert.errors import BadInput, CannotResume, NotWritten, RunInUse, TextTooLong

from .conftest import contents, rows_of, vectors_in, write_jsonl

TEXTS = [f"문장 {'길다 ' * (row % 5)}{row % 40}" for row in range(57)]


def write(path: str, texts: list[str]) -> None:
    """Write texts with their numbers in the format of the suffix."""
    name = Path(path)
    plain = name.with_suffix("") if name.suffix == ".gz" else name
    opened = gzip.open if name.suffix == ".gz" else open
    if plain.suffix == ".parquet":
        pq.write_table(pa.table({"번호": list(range(len(texts))), "글": texts}), path, row_group_size=10)
        return
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        if plain.suffix == ".txt":
            file.writelines(f"{text}\n" for text in texts)
        elif plain.suffix == ".jsonl":
            rows = ({"번호": row, "글": text} for row, text in enumerate(texts))
            file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        else:
            table = csv.writer(file, delimiter="\t" if plain.suffix == ".tsv" else ",", lineterminator="\n")
            table.writerows([("번호", "글"), *enumerate(texts)])


@pytest.mark.parametrize("name", ["글.parquet", "글.csv", "글.tsv.gz", "글.jsonl", "글.jsonl.gz", "글.txt"])
def test_every_format_gives_the_vectors_of_encode(folder, bi, name):
    breaks = ['두\n줄, "인용"', *TEXTS[1:]] if ".csv" in name else TEXTS
    write(name, breaks)
    done = embed_files(
        name, "out", model=bi, settings=Settings(column=None if ".txt" in name else "글", rows_per_shard=10)
    )
    assert (done.rows, len(done.shards), done.complete) == (57, 6, True)
    assert np.array_equal(vectors_in("out"), BiEncoder.from_pretrained(bi).encode(breaks))
    rows = rows_of("out")
    assert [row["id"] for row in rows] == list(range(57))
    assert [row["text" if ".txt" in name else "글"] for row in rows] == breaks
    left = {path.name for path in Path("out").iterdir()} - contents("out").keys()
    assert left == {"manifest.json", "run.lock"}


def test_several_files_ids_and_kept_fields(folder, bi):
    write_jsonl("a1.jsonl", [{"text": "하나", "key": "ㄱ", "n": 1}, {"text": "둘", "key": "ㄴ", "n": None}])
    write_jsonl("a2.jsonl", [{"n": 2.5, "key": "ㄷ", "text": "하나"}])
    Path("b.csv").write_text("text,key,n\n셋,ㄹ,x\n", encoding="utf-8")
    embed_files("a*.jsonl", "out", model=bi, settings=Settings(id="key", keep=("n",)))
    rows = rows_of("out")
    assert [(row["id"], row["text"], row["n"]) for row in rows] == [
        ("ㄱ", "하나", 1.0),
        ("ㄴ", "둘", None),
        ("ㄷ", "하나", 2.5),
    ]
    assert rows[0]["embedding"] == rows[2]["embedding"]
    with pytest.raises(BadInput, match=r"b\.csv has a field of another type than before"):
        embed_files(["a*.jsonl", "b.csv"], "other", model=bi, settings=Settings(id="key", keep=("n",)))
    Path("c.csv").write_text("글,key\n셋,ㄹ\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"c\.csv has no field 'text', but '글', 'key'; every file needs"):
        embed_files(["a1.jsonl", "c.csv"], "other", model=bi, settings=Settings(id="key"))
    with pytest.raises(BadInput, match="named twice"):
        embed_files(["a1.jsonl", "a*.jsonl"], "other", model=bi)


@pytest.mark.parametrize(
    ("precision", "dtype", "width"), [("float16", "float16", 32), ("binary", "int8", 4), ("ubinary", "uint8", 4)]
)
def test_precision(folder, bi, precision, dtype, width):
    write("글.txt", TEXTS)
    embed_files("글.txt", "out", model=bi, settings=Settings(precision=precision))
    assert pq.read_schema("out/part-00000.parquet").field("embedding").type.list_size == width
    assert np.array_equal(vectors_in("out", dtype), BiEncoder.from_pretrained(bi).encode(TEXTS, precision=precision))
    assert not verify_shards("out", 20).problems


def test_bad_rows_are_kept_aside_and_their_neighbours_are_embedded(folder, bi):
    Path("글.jsonl").write_bytes(
        '{"text": "하나"}\n{"text": "\\ud800"}\n'.encode()
        + b'{"text": "\xff"}\n{"text": 3}\n[]\n\nno\n{"x": 1}\n'
        + '{"text": "둘"}\n'.encode()
    )
    done = embed_files("글.jsonl", "out", model=bi, settings=Settings(rows_per_shard=1))
    assert (done.rows, done.rejected, len(done.shards)) == (2, 6, 2)
    assert [(row["id"], row["text"]) for row in rows_of("out")] == [(0, "하나"), (7, "둘")]
    rejected = [json.loads(line) for line in Path("out/rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["line"] for row in rejected] == [2, 3, 4, 5, 7, 8]
    assert "lone surrogate" in rejected[0]["reason"]
    assert "is int, but must be text" in rejected[2]["reason"]
    with pytest.raises(BadInput, match=r"line 2: .*lone surrogate; repair the row"):
        embed_files("글.jsonl", "strict", model=bi, settings=Settings(on_bad_row="fail"))
    Path("글.csv").write_bytes(b"text,n\nok,1\nbad\n\xff,2\n" + "끝,3\n".encode())
    assert (embed_files("글.csv", "c", model=bi).rejected, [row["text"] for row in rows_of("c")]) == (2, ["ok", "끝"])
    Path("글.csv").write_bytes(b'text\n"open\nrest\n')
    with pytest.raises(BadInput, match="unexpected end of data"):
        embed_files("글.csv", "d", model=bi)


@pytest.mark.parametrize("rows_per_shard", [1, 2, 9])
def test_rows_are_numbered_across_files_whose_last_rows_are_bad(folder, bi, rows_per_shard):
    Path("a.jsonl").write_text('{"text": "하나"}\nno\n{"text": "둘"}\nno\nno\n', encoding="utf-8")
    Path("b.jsonl").write_text('no\n{"text": "셋"}\n', encoding="utf-8")
    embed_files("?.jsonl", "out", model=bi, settings=Settings(rows_per_shard=rows_per_shard))
    assert [(row["id"], row["text"]) for row in rows_of("out")] == [(0, "하나"), (2, "둘"), (6, "셋")]


def test_equal_texts_are_embedded_once_per_shard_and_once_in_all_with_dedupe(folder, bi, monkeypatch):
    write("글.txt", ["같은 글", "같은 글", "다른 글"] * 6)
    seen: list[str] = []

    def noted(model, texts, options):
        seen.extend(texts)
        return encode(model, texts, options)

    encode = shard.encode_counted
    monkeypatch.setattr(shard, "encode_counted", noted)
    monkeypatch.setattr("sbert.bulk.cache.encode_counted", noted)
    plain = embed_files("글.txt", "a", model=bi, settings=Settings(rows_per_shard=6))
    assert seen == ["같은 글", "다른 글"] * 3
    seen.clear()
    once = embed_files("글.txt", "b", model=bi, settings=Settings(rows_per_shard=6), running=Running(dedupe=True))
    assert seen == ["같은 글", "다른 글"]
    assert contents("a") == contents("b")
    assert plain.shards == once.shards
    assert not list(Path("b").glob(".vectors*"))


def test_a_job_goes_on_where_it_was_stopped(folder, bi, monkeypatch):
    write("글.txt", TEXTS)
    settings = Settings(rows_per_shard=10)
    embed_files("글.txt", "whole", model=bi, settings=settings)
    written: list[str] = []
    append = LocalFolder.append

    def stops(self, entry):
        append(self, entry)
        written.append(entry.file)
        if len(written) in (2, 3):
            raise KeyboardInterrupt

    monkeypatch.setattr(LocalFolder, "append", stops)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            embed_files("글.txt", "out", model=bi, settings=settings)
        with pytest.raises(BadInput, match="is not complete"):
            verify_shards("out")
    done = embed_files("글.txt", "out", model=bi, settings=settings)
    assert written == [f"part-{number:05}.parquet" for number in range(6)]
    assert contents("out") == contents("whole")
    assert embed_files("글.txt", "out", model=bi, settings=settings) == done
    assert len(written) == 6


def test_another_job_is_refused_and_says_what_differs(folder, bi, tiny_folder):
    write("글.txt", TEXTS)
    embed_files("글.txt", "out", model=bi)
    before = contents("out")
    with pytest.raises(CannotResume, match="its precision is 'float32', not 'float16'; name another"):
        embed_files("글.txt", "out", model=bi, settings=Settings(precision="float16"))
    with pytest.raises(CannotResume, match=r"its model is .* with the fingerprint"):
        embed_files("글.txt", "out", model=tiny_folder("roberta"))
    write("글.txt", TEXTS[1:])
    with pytest.raises(CannotResume, match=r"the input .*글\.txt has changed"):
        embed_files("글.txt", "out", model=bi)
    assert contents("out") == before
    embed_files("글.txt", "out", model=bi, force=True)
    assert len(rows_of("out")) == 56
    Path("notes").mkdir()
    Path("notes/part-00001.parquet").touch()  # as other programs name theirs
    with pytest.raises(BadInput, match="holds files but no job"):
        embed_files("글.txt", "notes", model=bi)
    with pytest.raises(BadInput, match="holds files but no job"):
        embed_files("글.txt", "notes", model=bi, force=True)
    assert Path("notes/part-00001.parquet").exists()


def test_a_shard_that_changed_is_found_and_done_again(folder, bi, caplog):
    write("글.txt", TEXTS)
    settings = Settings(rows_per_shard=10)
    embed_files("글.txt", "out", model=bi, settings=settings)
    before = contents("out")
    assert verify_shards("out", 57).equal == 57
    damaged = bytearray(before["part-00003.parquet"])
    damaged[200] ^= 1
    Path("out/part-00003.parquet").write_bytes(damaged)
    Path("out/part-00001.parquet").unlink()
    assert len(verify_shards("out").problems) == 2
    embed_files("글.txt", "out", model=bi, settings=settings)
    assert "part-00003.parquet has changed since it was written; the shard is embedded again" in caplog.text
    assert contents("out") == before
    assert verify_shards("out").problems == ()


def test_verify_finds_vectors_of_another_model(folder, bi, tiny_folder):
    write("글.txt", TEXTS)
    embed_files("글.txt", "out", model=bi)
    manifest = unsealed(json.loads(Path("out/manifest.json").read_text(encoding="utf-8")))
    changed = {**manifest, "model": {"name": str(tiny_folder("electra")), "fingerprint": "0"}}
    Path("out/manifest.json").write_text(json.dumps(sealed(changed)))
    with pytest.raises(BadInput, match="has the fingerprint"):
        verify_shards("out")
    settings = {**manifest["settings"], "prompt": "query: "}
    Path("out/manifest.json").write_text(json.dumps(sealed({**manifest, "settings": settings})))
    (problem,) = verify_shards("out", 30).problems
    assert problem.startswith("30 vectors of 30 in a sample differ from the model's by up to")


def test_truncation_is_counted_and_raised(folder, bi, caplog):
    write("글.txt", ["긴 글 " * 99, "짧은 글", "긴 글 " * 99])
    done = embed_files("글.txt", "out", model=bi, settings=Settings(rows_per_shard=2))
    assert (done.truncation.texts, done.truncation.truncated) == (3, 2)
    assert "2 of 3 texts truncated at 128 tokens" in caplog.text
    with pytest.raises(TextTooLong, match="1 of 2 texts truncated"):
        embed_files("글.txt", "b", model=bi, settings=Settings(rows_per_shard=2, on_truncate="raise"))
    embed_files("글.txt", "c", model=bi, settings=Settings(on_truncate="chunk"))
    assert np.array_equal(
        vectors_in("c")[:1], BiEncoder.from_pretrained(bi).encode(["긴 글 " * 99], on_truncate="chunk")
    )


def test_a_full_disk_leaves_a_job_that_goes_on(folder, bi, monkeypatch):
    write("글.txt", TEXTS)
    settings = Settings(rows_per_shard=20)
    embed_files("글.txt", "whole", model=bi, settings=settings)
    real = shard.ShardWriter._write

    def full(self, name, *rest):
        if name == "part-00001.parquet":
            with self._folder.write(name) as file, open("/dev/full", "wb", buffering=0) as disk:
                file.write(b"a part")
                disk.write(b"the rest")  # the system refuses it as it does on a full disk
        real(self, name, *rest)

    monkeypatch.setattr(shard.ShardWriter, "_write", full)
    with pytest.raises(NotWritten, match=r"part-00001\.parquet could not be written \(No space left on device\)"):
        embed_files("글.txt", "out", model=bi, settings=settings)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert contents("out").keys() == {"part-00000.parquet"}
    assert not list(Path("out").glob(".sbert-*"))
    embed_files("글.txt", "out", model=bi, settings=settings)
    assert contents("out") == contents("whole")


def test_faults_of_the_input_are_told_before_any_work(folder, bi):
    write("글.txt.gz", TEXTS)
    whole = Path("글.txt.gz").read_bytes()
    Path("글.txt.gz").write_bytes(whole[:-20])
    with pytest.raises(BadInput, match=r"damaged gzip file .*; download or copy it again"):
        embed_files("글.txt.gz", "out", model=bi)
    assert not contents("out")
    Path("글.txt.gz").write_bytes(whole)
    assert embed_files("글.txt.gz", "out", model=bi).rows == 57
    Path("글.json").write_text('[{"text": "하나"}]', encoding="utf-8")
    for name, message in [
        ("글.json", "cannot be read in a stream"),
        ("없다.txt", "there is no file"),
        ("*.tsv", "no file matches"),
    ]:
        with pytest.raises(BadInput, match=message):
            embed_files(name, "new", model=bi)
    Path("빈.txt").touch()
    with pytest.raises(BadInput, match="no row that can be read"):
        embed_files("빈.txt", "new", model=bi)
    with embed.folder_at("out").held(), pytest.raises(RunInUse, match="is in use by process"):
        embed_files("글.txt.gz", "out", model=bi)


def test_object_storage(folder, bi):
    """A local file system stands for S3: the same calls of pyarrow, without locks and renames."""
    write("글.jsonl.gz", TEXTS)
    settings, place = Settings(column="글", rows_per_shard=20), folder.as_uri()
    embed_files("글.jsonl.gz", "local", model=bi, settings=settings)
    done = embed_files("글.jsonl.gz", f"{place}/far", model=bi, settings=settings)
    assert contents("far") == contents("local")
    assert {path.name for path in Path("far").iterdir()} == {*contents("local"), "manifest.json"}
    assert verify_shards(f"{place}/far").equal == 57
    Path("far/part-00001.parquet").write_bytes(b"x")
    Path("plain.jsonl").write_bytes(gzip.decompress(Path("글.jsonl.gz").read_bytes()))
    assert embed_files("글.jsonl.gz", f"{place}/far", model=bi, settings=settings) == done
    assert contents("far") == contents("local")
    embed_files(f"{place}/plain.jsonl", "from-far", model=bi, settings=settings)
    assert contents("from-far") == contents("local")
    with pytest.raises(BadInput, match=r"there is no file .*missing\.txt"):
        embed_files(f"{place}/missing.txt", "new", model=bi)


def test_shards_grow_with_the_input():
    def cut(rows: int, fixed: int | None = None) -> list[int]:
        cutter = Cutter(fixed)
        cutter.begin(0, None)
        for row in range(rows):
            if cutter.count(1):
                cutter.begin(0, row)  # type: ignore[arg-type]
        shards = cutter.finish()
        starts = [shard.stretches[0].first for shard in shards]
        assert starts == [sum(one.rows for one in shards[:number]) for number in range(len(shards))]
        return [shard.rows for shard in shards]

    assert cut(3000) == [1024, 1024, 952]
    assert cut(25, 10) == [10, 10, 5]
    grown = cut(300_000)
    assert sum(grown) == 300_000
    assert {*grown[:-1]} == {4096}
