"""Finds the files of published data sets in a folder and reads their rows. Knows names: no models, no figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Generic, NamedTuple, TypeVar

from sbert.data import files
from sbert.data.formats import Record
from sbert.data.rows import Row, in_split, read_table
from sbert.errors import BadInput

T = TypeVar("T")

_SUFFIXES = ("", ".gz", *(f".{kind}{packed}" for kind in files.FORMATS for packed in ("", ".gz")))


class OnHub(NamedTuple):
    """One split of a data set on the Hugging Face hub."""

    repo: str
    split: str
    config: str = ""

    @property
    def name(self) -> str:
        """The file in a data folder, without its suffix.

        >>> OnHub("klue/klue", "validation", "sts").name
        'klue/klue/sts/validation'
        """
        return "/".join(part for part in (self.repo, self.config, self.split) if part)


@dataclass(frozen=True, slots=True)
class Source(Generic[T]):
    """Where a task's data come from."""

    files: tuple[str, ...]
    """Their names, all needed, as the publisher calls them; in any sub-folder. A name without suffix, such as
    ``sts12``, is that of any format that ``sbert.data`` reads."""
    publisher: str
    read: Callable[[Sequence[Path]], T]
    """From the files, in the order of their names."""
    note: str = ""
    """What every score on these data must say."""
    hub: OnHub | None = None

    def __str__(self) -> str:
        shown = ", ".join(self.files[:4]) + (f" and {len(self.files) - 4} more" if len(self.files) > 4 else "")
        return f"{shown} ({self.publisher})"


def own(name: str, publisher: str, read: Callable[[Sequence[Path]], T], note: str = "") -> Source[T]:
    """A data set as one table with named columns, whatever its format."""
    return Source((name,), f"a table, from {publisher}", read, note)


def on_hub(repo: str, split: str, read: Callable[[Sequence[Path]], T], config: str = "") -> Source[T]:
    """A data set that ``download`` can fetch."""
    hub = OnHub(repo, split, config)
    return Source((hub.name,), f"the hub's {repo}, which sbert evaluate --download fetches", read, hub=hub)


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
        """The paths of all files of a source, or None where one is missing."""
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


def rows(path: Path) -> list[Record]:
    """All records of a file with named columns."""
    return [row.fields for row in read_table(path)]


def of_split(records: list[Record], splits: Sequence[str], path: Path) -> list[Record]:
    """The records of some splits; all where none is named, and of a file that has no column ``split``."""
    return [row.fields for row in in_split(_rows(records, path), splits)]


def column(records: list[Record], name: str, path: Path) -> list[str]:
    """One column of texts."""
    return [row.text(name) for row in _rows(records, path)]


def numbers(records: list[Record], name: str, path: Path) -> list[float]:
    """One column of scores."""
    return [row.decimal(name) for row in _rows(records, path)]


def field(record: Record, name: str, path: str) -> Any:
    """One value of a record."""
    return _rows([record], Path(path))[0].field(name)


class _Records(files.Source):
    """Records of a file, counted from 1."""

    def place(self, number: int) -> str:
        """Return the position of a record for messages."""
        return f"{self.path}, record {number}"


def _rows(records: list[Record], path: Path) -> list[Row]:
    source = _Records(str(path), "record")
    return [Row(record, source, number) for number, record in enumerate(records, 1)]


def lines(path: Path) -> list[str]:
    """The lines of a text file, in UTF-8 or, as some of the older sets are, in Latin-1."""
    return files.decoded(path).removesuffix("\n").split("\n")
