"""Reads ``table.toml``, which has an answer for every public name and argument of sentence-transformers."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

Status = Literal["works", "refused", "renamed"]
ANY = "*"
_LIKE = {"encode_query": "encode", "encode_document": "encode", "encode_multi_process": "encode"}
"""Methods that have the same arguments as another method."""


class Answer(NamedTuple):
    """The answer for a name of sentence-transformers."""

    status: Status
    """Whether ``sbert.adapters.sentence_transformers`` has the name with the same meaning, or refuses it. A refused
    name may have another name in sbert ("renamed")."""
    text: str
    """The replacement with the classes of sbert."""

    @property
    def works(self) -> bool:
        """Whether the name has the same meaning in ``sbert.adapters.sentence_transformers``."""
        return self.status == "works"

    @property
    def plain(self) -> str:
        """The text in the form of error messages."""
        return self.text.replace("`", "")


@cache
def sections() -> dict[str, dict[str, Answer]]:
    """Return the table: places such as ``SentenceTransformer.encode``, and the names in each of them."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = Path(__file__).with_name("table.toml").read_text(encoding="utf-8")
    return {place: {name: _read(value) for name, value in rows.items()} for place, rows in tomllib.loads(text).items()}


def _read(value: str) -> Answer:
    status, _, text = value.partition(": ")
    known = next(each for each in get_args(Status) if each == status)
    return Answer(known, text)


@cache
def answer(place: str, name: str = "") -> Answer | None:
    """Return the answer for an argument of a function, for a member, or for the function itself; None if unknown.

    >>> answer("CrossEncoder.rank", "return_documents").text
    'leave it out, because every Hit has its text'
    """
    return next((rows[name] for rows in map(sections().get, _places(place, name)) if rows and name in rows), None)


def _places(place: str, name: str) -> list[str]:
    """Return the places where an answer may be, the most specific first."""
    owner, _, method = place.rpartition(".")
    places = [place]
    if name and method in _LIKE:
        places.append(f"{owner}.{_LIKE[method]}")
    if name and not place.endswith(".members"):
        places.append(ANY)
    if owner == "losses" and name:
        places.insert(1, "losses." + method.replace("Cached", "").replace("Symmetric", ""))
    if place == "CrossEncoder.members":
        places.append("SentenceTransformer.members")
    return places
