"""Files and folders appear whole or not at all, keep their permissions, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sbert.disk import drafts, files
from sbert.disk.files import check_writable, whole_file, whole_folder, write_bytes, write_json
from sbert.errors import BadInput, NotWritten

SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE)}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_its_name_when_the_block_ends(tmp_path: Path):
    target = tmp_path / "결과.txt"
    with whole_file(target) as file:
        file.write("새것".encode())
        assert not target.exists()
    assert target.read_text(encoding="utf-8") == "새것"
    assert names(tmp_path) == ["결과.txt"]


def test_an_error_leaves_the_old_file_and_no_draft(tmp_path: Path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(KeyError), whole_file(target) as file:
        file.write({}[b"new"])
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_a_replaced_file_is_kept(tmp_path: Path, mode: int):
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(mode)
    write_bytes(target, b"new")
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_a_new_file_has_the_usual_mode(tmp_path: Path):
    (tmp_path / "usual").touch()
    write_json(tmp_path / "a.json", {"이름": 1})
    assert (tmp_path / "a.json").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "real" / "a.txt")
    write_bytes(tmp_path / "link.txt", b"new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real" / "a.txt").read_bytes() == b"new"


def test_a_folder_is_replaced_whole_and_keeps_its_mode(tmp_path: Path):
    target = tmp_path / "모형"
    target.mkdir(mode=0o700)
    (target / "old").touch()
    with whole_folder(target) as new:
        (new / "deep").mkdir()
        (new / "deep" / "file").write_text("new")
        assert names(target) == ["old"]
    assert names(target) == ["deep"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o700
    assert names(tmp_path) == ["모형"]


def test_a_folder_is_replaced_where_the_system_cannot_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    for content in ("one", "two"):
        with whole_folder(tmp_path / "model") as new:
            (new / "file").write_text(content)
    assert (tmp_path / "model" / "file").read_text() == "two"
    assert names(tmp_path) == ["model"]


def test_a_refused_target_is_left_alone(tmp_path: Path):
    def refuse(target: Path) -> None:
        raise BadInput(f"{target.name} is not replaced")

    with pytest.raises(BadInput, match="model is not replaced"), whole_folder(tmp_path / "model", refuse):
        pytest.fail("the block must not run")
    assert names(tmp_path) == []


def test_a_folder_takes_the_place_of_no_file(tmp_path: Path):
    target = tmp_path / "글.txt"
    target.write_text("중요")
    with pytest.raises(BadInput, match=r"글\.txt is a file, but a folder is needed there"), whole_folder(target):
        pytest.fail("the block must not run")
    assert target.read_text() == "중요"


def test_a_full_disk_is_named(tmp_path: Path):
    with pytest.raises(NotWritten, match=r"a\.txt could not be written \(No space left on device\)"):  # noqa: SIM117
        with whole_file(tmp_path / "a.txt"):
            os.write(os.open("/dev/full", os.O_WRONLY), b"x")
    assert names(tmp_path) == []


def test_whether_a_file_can_be_written_is_known_before(tmp_path: Path):
    check_writable(tmp_path / "a.txt")
    assert names(tmp_path) == []
    with pytest.raises(BadInput, match="is not a file"):
        check_writable(tmp_path)
    with pytest.raises(BadInput, match=r"cannot write .*: No such file or directory"):
        check_writable(tmp_path / "missing" / "a.txt")


KILLED = """
import sys, time
from pathlib import Path
from sbert.disk import files
if sys.argv[2] == "aside":
    files._exchange = lambda first, second: False
    rename = Path.rename
    def slow(path, target):
        rename(path, target)
        if path.name == "model":
            print("ready", flush=True)
            time.sleep(60)
    Path.rename = slow
target = Path(sys.argv[1])
with files.whole_folder(target) as new:
    (new / "file").write_text("new")
    if sys.argv[2] == "writing":
        print("ready", flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize("moment", ["writing", "aside"])
def test_what_a_killed_process_left_is_swept_and_the_old_folder_restored(tmp_path: Path, moment: str):
    target = tmp_path / "model"
    target.mkdir()
    (target / "file").write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(target), moment], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    drafts.sweep(tmp_path)
    assert any(name.startswith(".sbert-") for name in names(tmp_path)), "the draft of a living process is kept"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    write_bytes(tmp_path / "other.txt", b"")
    assert names(tmp_path) == ["model", "other.txt"]
    assert (target / "file").read_text() == "old"


def test_single_files_of_earlier_versions_are_swept_once_they_are_old(tmp_path: Path):
    old, young = tmp_path / ".sbert-0123.tmp", tmp_path / ".sbert-4567.tmp"
    old.touch()
    young.touch()
    past = time.time() - 2 * 24 * 60 * 60
    os.utime(old, (past, past))
    drafts.sweep(tmp_path)
    assert names(tmp_path) == [".sbert-4567.tmp"]


READER = """
import sys, time
from pathlib import Path
target, seen = Path(sys.argv[1]), set()
end = time.monotonic() + 2
while time.monotonic() < end:
    seen.add((target / "file").read_text())
print(sorted(seen))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two folders in one step")
def test_a_reader_always_finds_a_whole_folder(tmp_path: Path):
    target = tmp_path / "model"
    with whole_folder(target) as new:
        (new / "file").write_text("0")
    reader = subprocess.Popen([sys.executable, "-c", READER, str(target)], stdout=subprocess.PIPE, text=True)
    number = 0
    while reader.poll() is None:
        number = 1 - number
        with whole_folder(target) as new:
            (new / "file").write_text(str(number))
    output, _ = reader.communicate()
    assert output.strip() == "['0', '1']"
