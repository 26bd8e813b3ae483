"""Defines the documents of a store, and checks the values that users pass. Works on plain values only."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sbert.errors import BadInput, shown
from sbert.types import FloatArray

MAX_TEXT_BYTES = 50_000_000
"""Maximum size of a text in a store. It can be increased."""
DEEPEST = 100
"""Maximum number of levels of nested metadata. Programs that read JSON refuse much deeper values."""
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # in JSON, where two backslashes stand for one


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A text with its id, its metadata, and its vector if it is known."""

    id: int | str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)
    vector: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DocumentColumns:
    """Documents as columns of equal length. Only the texts are required."""

    texts: Iterable[str]
    ids: Iterable[int | str] | None = None
    metadata: Iterable[Mapping[str, Any]] | None = None
    vectors: FloatArray | None = None

    def documents(self) -> Iterator[Document]:
        """Yield the documents. A text without an id is identified by its content."""
        columns: dict[str, Iterable[Any] | None] = {"id": self.ids, "metadata": self.metadata, "vector": self.vectors}
        given = {name: iter(column) for name, column in columns.items() if column is not None}
        for text in self.texts:
            try:
                values: dict[str, Any] = {name: next(column) for name, column in given.items()}
            except StopIteration:
                raise BadInput(
                    "there are fewer ids, metadata or vectors than texts, but each text needs one"
                ) from None
            check_text("a text", text)
            name = values.pop("id") if "id" in values else content_hash(text).hex()
            yield Document(name, text, **values)
        if any(next(column, None) is not None for column in given.values()):
            raise BadInput("there are more ids, metadata or vectors than texts, but each belongs to one text")


def content_hash(text: str) -> bytes:
    """Return 16 bytes that identify a text."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def id_to_json(name: object) -> str:
    """Write an id as JSON, which distinguishes numbers from texts.

    >>> id_to_json(1), id_to_json("1"), id_from_json('"가"')
    ('1', '"1"', '가')
    """
    if isinstance(name, bool) or not isinstance(name, int | str):
        raise BadInput(f"the id {shown(name)} is a {type(name).__name__}, but an id is a text or a whole number")
    if isinstance(name, str):
        check_text("the id", name)
    try:
        return json.dumps(name, ensure_ascii=False)
    except ValueError:
        raise BadInput(
            f"an id is a number of more than {sys.get_int_max_str_digits():,} digits, which cannot be written; use a "
            "text"
        ) from None


def id_from_json(written: str) -> int | str:
    """Read what :func:`id_to_json` wrote."""
    name: int | str = json.loads(written)
    return name


def metadata_to_json(metadata: Mapping[str, Any]) -> str:
    """Write metadata as JSON with sorted names, so that equal metadata have equal JSON."""
    if not isinstance(metadata, Mapping):
        raise BadInput(f"the metadata are {shown(metadata)}, but must be a mapping of names to values")
    try:
        written = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            f"the metadata {shown(metadata)} cannot be written as JSON ({shown(str(error))}); use texts, numbers, "
            "true, false, null, lists and mappings of them"
        ) from None
    if _levels(metadata) > DEEPEST:
        raise BadInput(
            f"the metadata {shown(metadata)} are nested more than {DEEPEST} levels deep; use fewer levels, or a text"
        )
    if _ESCAPED_NUL.search(written):
        raise BadInput(f"the metadata {shown(metadata)} hold a NUL character; remove it")
    check_text("the metadata", written)
    return written


def _levels(value: object) -> int:
    """Count the levels of a JSON value: 1 for a mapping or a list of plain values."""
    levels, inside = 0, [value]
    while several := [one for one in inside if isinstance(one, Mapping | list | tuple)]:
        inside = [part for one in several for part in (one.values() if isinstance(one, Mapping) else one)]
        levels += 1
    return levels


def check_text(what: str, text: str) -> None:
    """Raise BadInput for texts that no database can store: with NUL or lone surrogates, or above the maximum size."""
    if not isinstance(text, str):
        raise BadInput(f"{what} is a {type(text).__name__}, but must be text")
    if "\0" in text:
        raise BadInput(f"{what} {shown(text)} holds a NUL character; remove it")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadInput(
            f"{what} {shown(text)} holds a lone surrogate, which is not a Unicode character; decode the source with "
            "errors='replace'"
        ) from None
    if size > MAX_TEXT_BYTES:
        raise BadInput(
            f"{what} {shown(text)} has {size:,} bytes, but at most {MAX_TEXT_BYTES:,} are allowed; split it into parts"
        )
