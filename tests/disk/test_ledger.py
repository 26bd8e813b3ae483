"""Records survive a kill, a half-written line and a damaged tail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.disk.ledger import Ledger
from sbert.disk.lock import locked
from sbert.disk.workplace import Workplace
from sbert.errors import BadInput, CannotResume, RunInUse

RECORDS = [{"key": "가", "value": 1.5}, {"key": "b", "value": None}]


def test_records_come_back_in_their_order(tmp_path: Path):
    ledger = Ledger(tmp_path / "new" / "done.jsonl")
    assert ledger.read() == []
    for record in RECORDS:
        ledger.append(record)
    assert Ledger(ledger.path).read() == RECORDS


@pytest.mark.parametrize("damage", [b'{"key": "half', b"\0" * 4096, b"\xff\xfe\n", b"[1]\n", b"{" * 100_000 + b"\n"])
def test_a_damaged_tail_is_removed_and_whole_records_are_kept(tmp_path: Path, damage: bytes):
    ledger = Ledger(tmp_path / "done.jsonl")
    for record in RECORDS:
        ledger.append(record)
    whole = ledger.path.read_bytes()
    with ledger.path.open("ab") as file:
        file.write(damage)
    assert ledger.read() == RECORDS
    assert ledger.path.read_bytes() == whole
    ledger.append({"key": "c"})
    assert ledger.read() == [*RECORDS, {"key": "c"}]


@given(st.binary(max_size=200))
def test_no_content_makes_a_ledger_unreadable(tmp_path_factory: pytest.TempPathFactory, content: bytes):
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "done.jsonl")
    ledger.path.write_bytes(content)
    before = ledger.read()
    ledger.append({"last": 1})
    assert ledger.read() == [*before, {"last": 1}]


def test_a_folder_is_held_by_one_process(tmp_path: Path):
    with locked(tmp_path), pytest.raises(RunInUse, match=r"in use by process [0-9]+"), locked(tmp_path):
        pytest.fail("the folder is in use")
    with locked(tmp_path):
        pass


def test_a_folder_that_nothing_was_written_to_is_removed(tmp_path: Path):
    with pytest.raises(BadInput), locked(tmp_path / "런"):
        raise BadInput("the input is wrong")
    assert not (tmp_path / "런").exists()
    with locked(tmp_path / "런"):
        (tmp_path / "런" / "a.txt").touch()
    (tmp_path / "empty").mkdir()
    with locked(tmp_path / "empty"):
        pass
    assert (tmp_path / "런" / "a.txt").exists()
    assert (tmp_path / "empty").exists()


def test_a_file_in_the_way_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="is a file, but a folder is needed"), locked(tmp_path / "file" / "run"):
        pytest.fail("there is no such folder")


def test_an_array_is_computed_once_and_again_where_it_is_damaged(tmp_path: Path):
    place = Workplace(tmp_path / "parts")
    with place.opened({"rows": 2}):
        assert place.once("a", lambda: np.arange(3)).tolist() == [0, 1, 2]
        assert place.once("a", lambda: np.zeros(1)).tolist() == [0, 1, 2]
        (place.folder / "a.npy").write_bytes(b"\0" * 20)
        assert place.once("a", lambda: np.arange(2)).tolist() == [0, 1]
        assert place.count("a*") == 1


def test_the_parts_of_other_work_are_refused(tmp_path: Path):
    place = Workplace(tmp_path / "parts")
    with place.opened({"rows": 2}):
        place.once("a", lambda: np.arange(3))
    with pytest.raises(CannotResume, match="differs in rows"), place.opened({"rows": 3}):
        pytest.fail("that is other work")


def test_parts_without_a_readable_record_are_not_trusted(tmp_path: Path):
    place = Workplace(tmp_path / "parts")
    with place.opened({"rows": 2}):
        place.once("a", lambda: np.arange(3))
    (place.folder / "work.json").write_bytes(b"\0\0")
    with place.opened({"rows": 2}):
        assert place.once("a", lambda: np.arange(2)).tolist() == [0, 1]
