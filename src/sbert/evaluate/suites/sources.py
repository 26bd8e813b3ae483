"""Finds the files of published data sets in a folder. Works on file names and publishers only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Generic, TypeVar

from sbert.data.files import FORMATS
from sbert.data.rows import Row, in_split, read_table
from sbert.errors import BadInput

T = TypeVar("T")

Read = Callable[[Sequence[Path]], T]
"""Reads the data from files."""
ReadRows = Callable[[list[Row]], T]
"""Reads the data from the rows of tables."""
_SUFFIXES = ("", ".gz", *(f".{suffix}{packed}" for suffix in FORMATS for packed in ("", ".gz")))


@dataclass(frozen=True, slots=True)
class Source(Generic[T]):
    """Where the data of a task comes from."""

    files: tuple[str, ...]
    """Names that the publisher gave to the files; all of them are needed, in any sub-folder. A name without a suffix,
    such as ``sts12``, stands for any format that ``sbert.data`` reads."""
    publisher: str
    read: Read[T]
    """Reads the files, in the order of their names."""
    note: str = ""
    """Note of every score on this data."""
    hub: tuple[str, str, str] | None = None
    """Repository, split and configuration on the Hugging Face hub, from which ``download`` downloads the file."""

    def __str__(self) -> str:
        shown = ", ".join(self.files[:4]) + (f" and {len(self.files) - 4} more" if len(self.files) > 4 else "")
        return f"{shown} ({self.publisher})"


def tables(read: ReadRows[T], *splits: str) -> Read[T]:
    """Make a reader of files that are tables with named columns; without ``splits`` it reads all rows."""
    return lambda paths: read([row for path in paths for row in in_split(read_table(path), splits)])


def own(name: str, publisher: str, read: ReadRows[T], *splits: str, note: str = "") -> Source[T]:
    """Make the source of a data set in one table, in any format."""
    return Source((name,), f"a table, from {publisher}", tables(read, *splits), note)


def published(name: str, publisher: str, read: ReadRows[T]) -> Source[T]:
    """Make the source of a data set in one table, as its publisher named it."""
    return Source((name,), publisher, tables(read))


def on_hub(repo: str, split: str, read: ReadRows[T], config: str = "") -> Source[T]:
    """Make the source of a data set that ``download`` can download, as REPOSITORY/CONFIGURATION/SPLIT."""
    name = "/".join(part for part in (repo, config, split) if part)
    publisher = f"the hub's {repo}, which sbert evaluate --download fetches"
    return Source((name,), publisher, tables(read), hub=(repo, split, config))


class DataFolder:
    """The files under a folder, by name."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder)
        if not self.path.is_dir():
            raise BadInput(f"there is no folder {str(folder)!r}, but the suites read their data from one")
        self._paths: dict[str, list[Path]] = {}
        for path in sorted(self.path.rglob("*"), key=lambda path: (len(path.parts), path)):
            self._paths.setdefault(path.name, []).append(path)

    def find(self, source: Source[T]) -> list[Path] | None:
        """Return the paths of all files of a source, or None if one is missing."""
        found = [path for name in source.files if (path := self.find_file(name))]
        return found if len(found) == len(source.files) else None

    def find_file(self, name: str) -> Path | None:
        """Return the path of a file, given with or without its suffix and perhaps with its folder; None if missing."""
        for suffix in _SUFFIXES:
            wanted = PurePath(name + suffix).parts
            for path in self._paths.get(wanted[-1], ()):
                if path.parts[-len(wanted) :] == wanted and path.is_file():
                    return path
        return None
