"""Reads thousands of damaged and hostile data files: each ends with rows or with one sentence.

A file is read by every reader, written again in another format and read once more, in a child process that may take
20 seconds of processor time and 1 GB. The same seed gives the same files:

    python proofs/fuzz/data.py --count 3000 --seed 0
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from runner import Fuzzer, run

NESTED: Any = 0
for _ in range(400):
    NESTED = [NESTED]
VALUES: list[Any] = [
    *(None, True, False, -1, 0, 1, 5, 2**53 + 1, 2**63, 10**400, -(10**400), 0.5, -0.0, 1e308, float("nan")),
    *(float("inf"), "", "-", "0", "1", "비가 온다", "x" * 5_000, "a\0b", "\x1b[31mred", "\x9b31m", "\ud800", "\u2028"),
    *('"', "a\tb", "a\nb", "a\r", "train", "dev", "entailment", "9" * 5_000, "1e999", "NaN", [], {}, [[]], [1], [0.5]),
    *(["a", None], {"a": 1}, {"": {}}, NESTED, list(range(50))),
]
NAMES = [
    *("text", "text2", "sentence", "sentence1", "sentence2", "premise", "hypothesis", "label", "gold_label", "score"),
    *("scores", "split", "anchor", "positive", "negative", "negative_99999999999999999999", "query", "embedding", ""),
    *("x" * 3_000, "\x1b[2J", "제목", "\ud800", "a\tb", "a,b", "0"),
]
KINDS = [None, "none", "class", "binary", "score", "scores", "vector"]
TYPES = [
    *(pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_(), pa.null(), pa.date32(), pa.time64("ns")),
    *(pa.timestamp("ns"), pa.timestamp("ns", "UTC"), pa.timestamp("us", "Asia/Seoul"), pa.duration("ns")),
    *(pa.decimal128(38, 10), pa.large_string(), pa.binary(), pa.binary(3), pa.list_(pa.string()), pa.string()),
    *(pa.list_(pa.float32(), 2), pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int32())),
    *(pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.timestamp("ns")), pa.struct([])),
]


def prepare(sound: Path) -> None:
    """Write one small file of every format."""
    records = [
        {"split": "train", "sentence1": f"비가 {row} 온다", "sentence2": f"It rains {row}.", "score": row / 4}
        for row in range(12)
    ]
    header = list(records[0])
    lines = [header, *([str(value) for value in record.values()] for record in records)]
    for name, separator in (("a.tsv", "\t"), ("a.csv", ","), ("a.txt", "\t")):
        (sound / name).write_text("".join(separator.join(line) + "\n" for line in lines), "utf-8")
    (sound / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    (sound / "a.json").write_text(json.dumps(records, indent=1), "utf-8")
    (sound / "sts.csv").write_text("".join(f"a\tb\tc\t{row}\t2.5\t비\t눈\n" for row in range(9)), "utf-8")
    pq.write_table(pa.Table.from_pylist(records), sound / "a.parquet")


def warm_up(sound: Path) -> None:
    """Import everything that a trial needs, and lower the limit, so that files that exceed it are made quickly."""
    from sbert.data.files import set_limit

    set_limit(16)
    for path in sorted(sound.iterdir()):
        with tempfile.TemporaryDirectory() as folder, suppress(ValueError):
            use(path, Path(folder, "out.parquet"), random.Random(0))


def trial(folder: Path, sound: Path, chance: random.Random, done: list[str]) -> None:
    """Make a file, damaged, generated or both, and use it."""
    make = chance.choice([copied, copied, made_of_records, made_of_records, made_of_arrow, made_of_arrow, huge])
    path = make(folder, sound, chance)
    done.append(f"{make.__name__} {path.name}")
    for _ in range(chance.choice([0, 1, 1, 2]) if make is not copied else chance.choice([1, 1, 2, 5])):
        change = chance.choice(CHANGES)
        path.write_bytes(change(path.read_bytes(), chance))
        done.append(change.__name__)
    if path.suffix != ".parquet" and chance.random() < 0.2:
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
        if chance.random() < 0.3:
            path.write_bytes(change_bytes(path.read_bytes(), chance))
    done.append(path.name)
    use(path, folder / chance.choice(["out.tsv", "out.csv", "out.jsonl", "out.parquet"]), chance)


def use(path: Path, out: Path, chance: random.Random) -> None:
    """Read a file in every way, write its rows in another format and read them again; raise a refusal of all three."""
    refusals = []
    for step in (read_columns, read_rows, copy_table):
        try:
            step(path, out, chance)
        except ValueError as error:  # as every refusal of data is
            check_refusal(error)
            refusals.append(error)
    if len(refusals) == 3:
        raise refusals[chance.randrange(3)]


def check_refusal(error: ValueError) -> None:
    """Raise an error unless it is one of the project's own."""
    from sbert.errors import SbertError

    if not isinstance(error, SbertError):
        raise RuntimeError(f"a raw {type(error).__name__}") from error


def read_columns(path: Path, _out: Path, chance: random.Random) -> None:
    """Read columns to train on, with options drawn at random."""
    from sbert.data import read

    columns = chance.choice([None, None, ["sentence1", "sentence2"], ["text"], ["sentence1"]])
    label = chance.choice([None, None, "label", "score", "split"])
    read(path, split=chance.choice([None, "train"]), columns=columns, label=label, label_kind=chance.choice(KINDS))


def read_rows(path: Path, _out: Path, chance: random.Random) -> None:
    """Read single texts, as sbert search does."""
    from sbert.data.rows import read_texts

    read_texts(str(path), chance.choice([None, "sentence1", "text"]))


def copy_table(path: Path, out: Path, chance: random.Random) -> None:
    """Read pairs and write them with a score, as sbert predict does; then read what was written."""
    from sbert.data.rows import read_table, scan
    from sbert.data.writers import check_fields, open_table, types_of

    rows = scan(str(path), one_text=chance.random() < 0.5)
    check_fields(out, rows)
    types = types_of(out, rows, 5, {"added": 0.5})
    blank = dict.fromkeys(rows.fields)
    with open_table(out, types) as write:
        for window in rows.windows(5):
            write([blank | row.fields | {"added": 0.5} for row in window])
    written = read_table(out)
    if len(written) != rows.count and out.suffix != ".tsv":  # where a row of one empty field is an empty line
        raise AssertionError(f"{rows.count} rows were read, but {len(written)} written")


# Files


def copied(folder: Path, sound: Path, chance: random.Random) -> Path:
    """Copy a sound file."""
    source = chance.choice(sorted(sound.iterdir()))
    path = folder / source.name
    path.write_bytes(source.read_bytes())
    return path


def made_of_records(folder: Path, _sound: Path, chance: random.Random) -> Path:
    """Write records with unusual names and values."""
    names = chance.sample(NAMES, chance.randint(1, 5)) + chance.choice([[], ["text"], ["sentence1", "sentence2"]])
    records = [
        {name: "글" if name in ("text", "sentence1", "sentence2") else chance.choice(VALUES) for name in names}
        for _ in range(chance.randint(0, 8))
    ]
    kind = chance.choice(["jsonl", "jsonl", "json", "tsv", "csv", "txt"])
    path = folder / f"r.{kind}"
    if kind in ("json", "jsonl"):
        lines = [json.dumps(record) for record in records]
        text = "\n".join(lines) if kind == "jsonl" else f"[{','.join(lines)}]"
    else:
        separator = "," if kind == "csv" else "\t"
        cells = [names, *([str(value) for value in record.values()] for record in records)]
        text = "\n".join(separator.join(row) for row in cells)
    path.write_text(text, "utf-8", errors="surrogatepass")
    return path


def made_of_arrow(folder: Path, _sound: Path, chance: random.Random) -> Path:
    """Write a parquet file with columns of unusual types."""
    count = chance.choice([0, 1, 5, 20])
    columns: dict[str, pa.Array] = {"text": pa.array([f"글 {row}" for row in range(count)])}
    for name in chance.sample([name for name in NAMES if name.isprintable()], 3):
        columns[name] = arrow_column(chance.choice(TYPES), count, chance)
    path = folder / "p.parquet"
    try:
        pq.write_table(pa.table(columns), path, compression=chance.choice(["none", "snappy", "zstd"]))
    except (pa.ArrowException, OSError):  # a type that parquet lacks
        pq.write_table(pa.table({"text": [f"글 {row}" for row in range(count)]}), path)
    return path


def arrow_column(type_: pa.DataType, count: int, chance: random.Random) -> pa.Array:
    """Return values of a type, some of them null."""
    numbers = [chance.choice([None, 0, 1, 1_234_567_891, -1]) for _ in range(count)]
    for values in (numbers, [None if value is None else str(value) for value in numbers]):
        try:
            return pa.array(values).cast(type_)
        except (pa.ArrowException, TypeError, ValueError):
            continue
    return pa.nulls(count, type_)


def huge(folder: Path, _sound: Path, chance: random.Random) -> Path:
    """Write a small file that expands to a very large one, a very wide one or a deeply nested one."""
    kind = chance.choice(["repeated", "wide", "nested", "long", "one line"])
    if kind == "repeated":
        path = folder / "h.parquet"
        text = pa.DictionaryArray.from_arrays(pa.array([0] * 300), pa.array(["긴 글 " * 50_000]))
        pq.write_table(pa.table({"text": text}), path, compression="zstd")
        return path
    if kind == "wide":
        path = folder / "h.tsv"
        row = "\t".join(f"c{number}" for number in range(100_000))
        path.write_text(f"{row}\n{row}\n", "utf-8")
        return path
    if kind == "one line":
        path = folder / "h.txt.gz"
        path.write_bytes(gzip.compress(b"x" * (20 << 20), 1))
        return path
    path = folder / "h.jsonl"
    deep = '{"text": "a", "b": ' + "[" * 100_000 + "]" * 100_000 + "}"
    long = json.dumps({"text": "긴 글 " * 200_000, "n": 10**4_000})
    path.write_text(deep if kind == "nested" else long, "utf-8")
    return path


# Damage


def change_bytes(content: bytes, chance: random.Random) -> bytes:
    """Overwrite a few bytes."""
    changed = bytearray(content)
    for _ in range(chance.choice([1, 3, 20]) if changed else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def cut(content: bytes, chance: random.Random) -> bytes:
    """Drop the end."""
    return content[: chance.randrange(len(content) + 1)]


def repeat_part(content: bytes, chance: random.Random) -> bytes:
    """Insert a part a second time."""
    start, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return content[:end] + content[start:end] + content[end:]


def insert(content: bytes, chance: random.Random) -> bytes:
    """Insert something that a format has a meaning for."""
    pieces = [
        b'"',
        b"\n",
        b"\r\n",
        b"\t",
        b",",
        b"{",
        b"]",
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\\ud800",
        b"\x1a",
    ]
    place = chance.randrange(len(content) + 1)
    return content[:place] + chance.choice(pieces) + content[place:]


def replace_value(content: bytes, chance: random.Random) -> bytes:
    """Replace a value by another one."""
    old = chance.choice([b"2.5", b"0.25", b'"train"', b"train", b"0", b"1", b"It rains"])
    return content.replace(old, json.dumps(chance.choice(VALUES)).encode(), chance.choice([1, -1]))


CHANGES: list[Callable[[bytes, random.Random], bytes]] = [change_bytes, cut, repeat_part, insert, replace_value]


if __name__ == "__main__":
    sys.exit(run(Fuzzer(__doc__ or "", prepare, warm_up, trial, memory=1 << 30)))
