"""The table answers every public name and argument of the installed sentence-transformers, and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from torch import nn

from sbert.adapters import sentence_transformers as ours
from sbert.porting import answer, sections

theirs = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
PACKAGES = {
    "sentence_transformers": "sentence_transformers",
    "util": "sentence_transformers.util",
    "losses": "sentence_transformers.sentence_transformer.losses",
    "cross_encoder.losses": "sentence_transformers.cross_encoder.losses",
    "modules": "sentence_transformers.sentence_transformer.modules",
    "evaluation": "sentence_transformers.sentence_transformer.evaluation",
}
CLASSES = ("SentenceTransformer", "CrossEncoder")


def arguments(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind not in VARIADIC and each.name not in ("self", "func")]


def members(cls: type) -> Iterator[str]:
    known = set(dir(nn.Module))
    yield from (name for name in dir(cls) if not name.startswith("_") and name not in known)


def listed(place: str) -> list[str]:
    names = list(import_module(PACKAGES[place]).__all__)
    if place == "evaluation":
        names += import_module("sentence_transformers.cross_encoder.evaluation").__all__
    return [name for name in names if not name.startswith("_")]


def unanswered_members(place: str) -> Iterator[str]:
    cls = getattr(theirs, place)
    for name in members(cls):
        member = inspect.getattr_static(cls, name)
        function = answer(f"{place}.{name}")
        function = function or (answer(f"SentenceTransformer.{name}") if place == "CrossEncoder" else None)
        found = function or answer(f"{place}.members", name)
        if found is None:
            yield f"{place}.{name}"
        elif function and found.works and not isinstance(member, property):
            yield from unanswered_arguments(f"{place}.{name}", getattr(cls, name))


def unanswered_arguments(place: str, function: Callable[..., Any]) -> Iterator[str]:
    yield from (f"{place}({name}=)" for name in arguments(function) if answer(place, name) is None)


@pytest.mark.parametrize("place", CLASSES)
def test_every_member_and_argument_of_a_model_has_an_answer(place):
    constructor = list(unanswered_arguments(place, getattr(theirs, place).__init__))
    assert constructor + list(unanswered_members(place)) == []


@pytest.mark.parametrize("place", PACKAGES)
def test_every_name_of_a_package_has_an_answer(place):
    names = [name for name in listed(place) if name not in CLASSES]
    missing = [name for name in names if not (answer(f"{place}.{name}") or name in sections()[place])]
    package = import_module(PACKAGES[place])
    for name in names:
        found = answer(f"{place}.{name}")
        if found and found.works:
            missing += unanswered_arguments(f"{place}.{name}", getattr(package, name))
    assert missing == []


def test_every_argument_of_the_trainer_has_an_answer():
    place = "SentenceTransformerTrainer"
    assert list(unanswered_arguments(place, theirs.SentenceTransformerTrainer.__init__)) == []


def test_nothing_is_answered_that_does_not_exist():
    gone = []
    for place, rows in sections().items():
        if place in ("*", *PACKAGES) or place.startswith("SentenceTransformerTrain"):
            continue
        owner, _, name = place.rpartition(".")
        holder = import_module(PACKAGES[owner]) if owner in PACKAGES else getattr(theirs, owner or name)
        if name == "members":
            gone += [f"{place}.{row}" for row in rows if row not in dir(holder)]
            continue
        function = getattr(holder, name) if owner else holder.__init__
        known = {*arguments(function), "", "max_seq_length"}
        gone += [f"{place}({row})" for row in rows if row not in known and "Symmetric" not in place]
    for place, package in PACKAGES.items():
        extra = import_module("sentence_transformers.cross_encoder.evaluation") if place == "evaluation" else None
        known = {*dir(import_module(package)), *dir(extra), ""}
        gone += [f"{place}.{row}" for row in sections()[place] if row not in known]
    fields = set(inspect.signature(theirs.SentenceTransformerTrainingArguments).parameters)
    gone += [row for row in sections()["SentenceTransformerTrainingArguments"] if row and row not in fields]
    assert gone == []


def theirs_of(place: str) -> Any:
    owner, _, name = place.rpartition(".")
    if owner in PACKAGES:
        return getattr(import_module(PACKAGES[owner]), name)
    return getattr(getattr(theirs, owner), name) if owner else getattr(theirs, name).__init__


def ours_of(place: str) -> Any:
    owner, _, name = place.rpartition(".")
    return getattr(getattr(ours, owner), name) if owner else getattr(ours, name).__init__


WORKING = [
    place
    for place, rows in sections().items()
    if rows.get("") and rows[""].works and place not in PACKAGES and place != "SentenceTransformer.merge"
]
SAME_DEFAULT = (type(None), bool, int, float, str, tuple)


@pytest.mark.parametrize("place", WORKING)
def test_what_works_has_their_signature(place):
    """The names and the order of the arguments, and the defaults that are plain values."""
    wanted = [p for p in inspect.signature(theirs_of(place)).parameters.values() if p.kind not in VARIADIC]
    got = list(inspect.signature(ours_of(place)).parameters.values())
    if wanted and "Symmetric" not in place:
        assert [p.name for p in got] == [p.name for p in wanted]
        plain = [(p.name, p.default) for p in wanted if isinstance(p.default, SAME_DEFAULT)]
        assert [(p.name, p.default) for p in got if p.name in dict(plain)] == plain


def test_every_member_that_works_is_there():
    for cls, section in ((ours.SentenceTransformer, "SentenceTransformer"), (ours.CrossEncoder, "CrossEncoder")):
        missing = [
            name for name, found in sections()[f"{section}.members"].items() if found.works and name not in dir(cls)
        ]
        assert missing == []
    for package in (ours.util, ours.losses, ours):
        place = {ours.util: "util", ours.losses: "losses", ours: "sentence_transformers"}[package]
        works = [name for name, found in sections()[place].items() if name and found.works]
        assert [name for name in works if not hasattr(package, name)] == []
