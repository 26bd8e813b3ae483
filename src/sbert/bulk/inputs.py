"""Finds and opens the files to embed, on a disk or in object storage."""

from __future__ import annotations

import glob
import gzip
import hashlib
import io
import re
import shutil
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sbert.bulk.job import Input
from sbert.data import files
from sbert.data.files import STANDARD_INPUT, Source
from sbert.disk.digest import file_digest
from sbert.errors import BadInput, shown

if TYPE_CHECKING:
    from sbert.bulk.folder import Folder

_BLOCK = 1 << 20
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://")
STANDARD_INPUT_COPY = "standard-input"
"""The file of an output folder that holds a copy of standard input until the job is finished."""


def is_address(path: str) -> bool:
    """Return whether a path is an address in object storage.

    >>> is_address("s3://bucket/texts.csv"), is_address("C:/texts.csv")
    (True, False)
    """
    return _ADDRESS.match(path) is not None


def located(address: str) -> tuple[Any, str]:
    """Return the file system of pyarrow for an address, and the path in it."""
    import pyarrow as pa
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(address)
    except (pa.ArrowException, OSError) as error:
        why = next(iter(str(error).splitlines()), "")
        raise BadInput(f"{shown(address)} cannot be opened ({why}); check the address, or name a local file") from None
    return system, path


def found(paths: Sequence[str]) -> list[str]:
    """Return the files that paths and patterns such as ``texts/*.jsonl.gz`` match, sorted by name for each pattern."""
    names: list[str] = []
    for path in map(str, paths):
        if path == STANDARD_INPUT or is_address(path) or Path(path).exists() or not glob.has_magic(path):
            names.append(path)
        elif matching := sorted(glob.glob(path, recursive=True)):
            names += matching
        else:
            raise BadInput(f"no file matches {shown(path, 300)}; check the pattern")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"the input {shown(twice, 300)} is named twice, but each file is embedded once; name it once")
    if not names:
        raise BadInput("no input is named, but at least one file is needed; name one")
    return names


def formats(paths: Sequence[str], format: str | None) -> list[str]:
    """Return the format of each file, before any of them is read."""
    chosen = [format or ("txt" if path == STANDARD_INPUT else files.format_of(path)) for path in paths]
    for path, name in zip(paths, chosen, strict=True):
        if name == "json":
            raise BadInput(
                f"{shown(path, 300)} is a json file, which cannot be read in a stream; write .jsonl instead"
            )
        if not is_address(path) and path != STANDARD_INPUT:
            with files.opened(path):  # so that a missing file is reported before any work
                pass
    return chosen


def identified(path: str, format: str, folder: Folder) -> Input:
    """Return a file with its size and digest. Standard input is copied into the output folder first."""
    if path == STANDARD_INPUT:
        with folder.write(STANDARD_INPUT_COPY) as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        path = folder.location(STANDARD_INPUT_COPY)
    if not is_address(path):
        absolute = Path(path).absolute()
        return Input(str(absolute), format, absolute.stat().st_size, file_digest(absolute))
    system, inside = located(path)
    digest, size = hashlib.sha256(), 0
    with reading(path), system.open_input_stream(inside, compression=None) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return Input(path, format, size, digest.hexdigest())


def check_unchanged(inputs: Sequence[Input]) -> None:
    """Refuse local files that were changed while they were embedded; only those that were touched are read again."""
    for given in inputs:
        path = Path(given.path)
        if not is_address(given.path) and not (path.is_file() and file_digest(path) == given.digest):
            raise BadInput(f"{given.path} was changed while it was embedded; start over with --force")


def source(given: Input) -> Source:
    """Return the name of a file in messages, and its format."""
    name = "standard input" if Path(given.path).name == STANDARD_INPUT_COPY else given.path
    return Source(name, given.format)


@contextmanager
def opened(given: Input) -> Iterator[IO[bytes]]:
    """Open the bytes of a file, decompressed if its name ends in ``.gz``; the stream is seekable."""
    if not is_address(given.path):
        with files.opened(given.path) as stream:
            yield stream
        return
    system, path = located(given.path)
    with reading(given.path), system.open_input_file(path) as raw:
        if not path.lower().endswith(".gz"):
            yield io.BufferedReader(raw)  # because pyarrow's files cannot read lines
            return
        try:
            with gzip.open(raw) as stream:
                yield stream  # type: ignore[misc]  # a GzipFile is read like any other file of bytes
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadInput(f"{given.path} is a damaged gzip file ({error}); download or copy it again") from None


@contextmanager
def reading(address: str) -> Iterator[None]:
    """Convert an error of pyarrow to one that names the object."""
    try:
        yield
    except FileNotFoundError:
        raise BadInput(f"there is no file {shown(address, 300)}; check the name") from None
    except OSError as error:
        why = next(iter(str(error).splitlines()), "")[:200]
        raise BadInput(f"cannot read {shown(address, 300)} ({why}); check the address and your rights") from None
