"""Opens data files and decodes their bytes. Handles suffixes, gzip, encodings and limits, but no table formats.

Nothing that a file contains is held in memory beyond a limit: 256 MB for a line, a JSON document or the largest value
of a parquet column. :func:`set_limit` and, on the command line, ``sbert --data-limit`` and the environment variable
SBERT_DATA_LIMIT_MB change it.
"""

from __future__ import annotations

import codecs
import gzip
import os
import shutil
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sbert.errors import BadInput, check_count, check_value, shown

FORMATS = ("txt", "tsv", "csv", "jsonl", "json", "parquet")
STANDARD_INPUT = "-"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_limit_mb = 256


@dataclass(frozen=True, eq=False)
class Source:
    """A file or standard input, and the format of its rows."""

    path: str
    format: str
    """One of FORMATS, or "table": a tsv file whose rows may end early, as those of SNLI and MultiNLI do."""
    copy: IO[bytes] | None = None
    """The contents of standard input, so that it can be read more than once."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STANDARD_INPUT else self.path

    def place(self, number: int) -> str:
        """Return the position of a record for messages: lines are counted from 1, rows of json and parquet from 0."""
        return f"{self.name}, {'row' if self.format in ('json', 'parquet') else 'line'} {number}"

    def opened(self) -> AbstractContextManager[IO[bytes]]:
        """Open the bytes, decompressed if the name ends in ``.gz``."""
        if self.copy is None:
            return opened(self.path)
        self.copy.seek(0)
        return nullcontext(self.copy)


def source(path: str | Path, format: str | None = None, *, txt: str = "txt") -> Source:
    """Find out how to read a file, or standard input if ``path`` is "-".

    Args:
        path: The file.
        format: One of FORMATS. Defaults to the one that the suffix names, and to txt for standard input.
        txt: How to read a txt file: "txt" for one text per line, "table" for a header and fields between tabs.
    """
    path = str(path)
    if format is not None:
        check_value("--format", format, FORMATS)
    if path != STANDARD_INPUT and not os.path.exists(path):  # whatever its name
        raise _no_file(path)
    found = format or ("txt" if path == STANDARD_INPUT else format_of(path))
    found = txt if found == "txt" else found
    if path != STANDARD_INPUT:
        return Source(path, found)
    copy = tempfile.TemporaryFile()  # noqa: SIM115 (closed with its source; it has no name that could be left behind)
    shutil.copyfileobj(sys.stdin.buffer, copy)
    copied = Source(path, found, copy)
    weakref.finalize(copied, copy.close)
    return copied


def format_of(path: str) -> str:
    """Return the one of FORMATS that the suffix of ``path`` names.

    >>> format_of("snli_1.0_train.jsonl.gz")
    'jsonl'
    """
    lower = Path(path.lower())
    compressed = lower.suffix == ".gz"
    suffix = lower.with_suffix("").suffix if compressed else lower.suffix
    if os.path.isdir(path):
        raise BadInput(f"{path!r} is a folder, but a file is needed here; name one")
    if suffix == ".npy":
        raise BadInput(
            f"{shown(path)} holds vectors without texts; write .parquet or .jsonl with sbert encode instead"
        )
    if suffix[1:] not in FORMATS or (compressed and suffix == ".parquet"):
        raise BadInput(
            f"{shown(path)} has the suffix {shown(''.join(lower.suffixes[-2:]))}, but must end in "
            f"{', '.join(f'.{name}' for name in FORMATS)} (all but .parquet also with .gz); rename it, or on the "
            "command line name its format with --format"
        )
    return suffix[1:]


def _no_file(path: str) -> BadInput:
    return BadInput(f"there is no file {shown(path, 300)}; check the name")


@contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """Open the bytes of a file, decompressed if its name ends in ``.gz``."""
    path = str(path)
    if os.path.isdir(path):
        raise BadInput(f"{path!r} is a folder, but a file is needed here; name one")
    try:
        stream = gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb")  # noqa: SIM115 (closed below)
    except FileNotFoundError:
        raise _no_file(path) from None
    except OSError as error:
        raise BadInput(f"cannot read {shown(path)}: {error.strerror}") from None
    with stream:
        try:
            yield stream  # type: ignore[misc]  # a GzipFile is read like any other file of bytes
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadInput(f"{path} is a damaged gzip file ({error}); download or copy it again") from None


def limit() -> int:
    """Return how many bytes of a file may be held in memory at once."""
    return _limit_mb << 20


def set_limit(megabytes: int) -> None:
    """Set how many megabytes of a file may be held in memory at once, for this process."""
    global _limit_mb
    check_count("megabytes", megabytes)
    _limit_mb = megabytes


def too_large(where: str, what: str) -> BadInput:
    """Return the error for something that exceeds the limit."""
    return BadInput(
        f"{where}: {what} exceeds the limit of {_limit_mb} MB; split it, or set SBERT_DATA_LIMIT_MB to a higher limit"
    )


@dataclass(frozen=True, slots=True)
class Place:
    """A position between two records of a file."""

    offset: int = 0
    """Number of bytes before it, decompressed; not used for parquet."""
    number: int = 0
    """Number of lines, or of rows of a parquet file, before it."""


class Lines:
    """Iterates over the numbered lines of a stream, including their line feed, the only character that ends a line.

    Args:
        stream: The bytes.
        name: What messages call the stream.
        lenient: Whether bytes that are not UTF-8 become lone surrogates instead of an error.
        onward: The same bytes, opened once more, to read behind a jump. A compressed file that is kept open near the
            place spares decompressing all that is before it.
    """

    def __init__(self, stream: IO[bytes], name: str, lenient: bool = False, onward: IO[bytes] | None = None) -> None:
        self.stream, self.name, self.lenient, self._onward = stream, name, lenient, onward
        self.number = 0

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> tuple[int, str]:
        most = limit()
        line = self.stream.readline(most + 1)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) > most:
            raise too_large(self.where, "the line")
        codec = "utf-8-sig" if self.number == 1 else "utf-8"
        try:
            return self.number, line.decode(codec, "surrogateescape" if self.lenient else "strict")
        except UnicodeDecodeError as error:
            raise not_utf8(error, self.where) from None

    @property
    def where(self) -> str:
        """The position of the line that was read last, for messages."""
        return f"{self.name}, line {self.number}"

    @property
    def place(self) -> Place:
        """The position behind the line that was read last."""
        return Place(self.stream.tell(), self.number)

    def jump(self, place: Place) -> None:
        """Go on at a position of the same bytes."""
        self.stream = self._onward or self.stream
        self.stream.seek(place.offset)
        self.number = place.number


def document(stream: IO[bytes], name: str) -> bytes:
    """Read everything that is left of a stream."""
    content = stream.read(limit() + 1)
    if len(content) > limit():
        raise too_large(name, "the file")
    return content


def decoded(path: str | Path) -> str:
    """Read a whole text file in UTF-8 or else, as some older data sets are, in Latin-1, with plain line feeds."""
    with opened(path) as stream:
        content = document(stream, str(path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if content.startswith(_UTF16_MARKS):  # which Latin-1 would read as nonsense
            raise not_utf8(error, str(path)) from None
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n")


def read_lines(path: str | Path) -> list[str]:
    """Read all lines of a text file as :func:`decoded` does, without their line feeds."""
    return decoded(path).removesuffix("\n").split("\n")


def not_utf8(error: UnicodeDecodeError, where: str) -> BadInput:
    """Return the error for text in another encoding: which one it seems to be, and how to convert it."""
    content, start = error.object, error.start
    likely = "UTF-16" if content.startswith(_UTF16_MARKS) else None
    with suppress(UnicodeDecodeError):
        if not likely and any("가" <= letter <= "힣" for letter in content.decode("cp949")):
            likely = "CP949"  # the encoding of Korean Windows
    looks = f"it looks like {likely}: convert the file" if likely else "convert the file from the encoding it is in"
    way = f"iconv -f {likely or 'ENCODING'} -t UTF-8"
    return BadInput(f"{where}: byte {start + 1} ({content[start]:#04x}) is not UTF-8; {looks} with: {way}")
