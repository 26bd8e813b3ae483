"""Explains arguments and names that do not exist, above all those of sentence-transformers, in one sentence."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

from sbert.errors import UnknownArgument, UnknownName, listed, shown
from sbert.porting.table import Answer, answer, sections

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

_THEIRS = {
    "BiEncoder": "SentenceTransformer",
    "WordEncoder": "SentenceTransformer",
    "VectorModel": "SentenceTransformer",
    "PolyEncoder": "SentenceTransformer",
    "TextModel": "CrossEncoder",
    "CrossEncoder": "CrossEncoder",
    "Trainer": "SentenceTransformerTrainer",
    "TrainConfig": "SentenceTransformerTrainingArguments",
    "semantic_search": "util.semantic_search",
    "most_similar_pairs": "util.paraphrase_mining_embeddings",
}
"""Classes and functions of sbert, and their counterparts in sentence-transformers."""
_VERBS = {"batches", "call", "give", "leave", "load", "only", "pass", "put", "set", "train", "use", "write"}
"""First words of answers that are instructions."""
_LOADING = ("from_pretrained", "__init__", "load")


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that a call with a wrong argument raises an error that names the right one.

    The call itself is not changed. The arguments are compared with the signature only if Python raises TypeError.

    >>> @explained
    ... def semantic_search(queries, corpus, k=10): ...
    >>> semantic_search([], [], top_k=5)
    Traceback (most recent call last):
    sbert.errors.UnknownArgument: semantic_search got top_k, an argument of sentence-transformers; here it is: k
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            if wrong := _mistake(function, args, kwargs):
                raise wrong from None
            raise

    return call


def explained_class(cls: C) -> C:
    """Decorate a class so that wrong arguments of its constructor and of its public methods are explained."""
    for name, member in list(vars(cls).items()):
        if name == "__init__" or not (name.startswith("_") or name == "forward"):
            if inspect.isfunction(member):
                setattr(cls, name, explained(member))
            elif isinstance(member, classmethod):
                setattr(cls, name, classmethod(explained(member.__func__)))
    return cls


def _mistake(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> UnknownArgument | None:
    """Return the error for arguments that do not fit the signature, or None if they do."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        reason = str(error)
    else:
        return None
    own = _name(function, args)
    parameters = [name for name in signature.parameters if name not in ("self", "cls")]
    unknown = [name for name in kwargs if name not in parameters]
    if unknown:
        return UnknownArgument(_about(own, function.__qualname__, unknown[0], parameters))
    if "too many positional" in reason:
        named = [name for name, each in signature.parameters.items() if each.kind is each.KEYWORD_ONLY]
        these = f": {listed(named, most=20)}" if named else ""
        return UnknownArgument(f"{own} got too many arguments by position; give the others by name{these}")
    return UnknownArgument(f"{own} is incomplete: {reason}; its arguments are {', '.join(parameters)}")


def _name(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Return the name of a function as the caller wrote it: a method with the class of the object."""
    name = function.__qualname__.removesuffix(".__init__")
    if "." in name and args:
        owner = args[0] if isinstance(args[0], type) else type(args[0])
        name = f"{owner.__name__}.{function.__name__}"
    return name


def _about(own: str, qualified: str, name: str, parameters: list[str]) -> str:
    found = _for_native(qualified, name)
    if found is not None:
        return f"{own} got {name}, an argument of sentence-transformers; {_instruction(found)}"
    near = get_close_matches(name, parameters, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{own} got {shown(name)}, but its arguments are {listed(parameters, most=20)}{hint}"


def _for_native(qualified: str, name: str) -> Answer | None:
    """Return the answer for an argument of a function of sbert that has a counterpart in sentence-transformers."""
    owner, _, method = qualified.rpartition(".")
    place = _THEIRS.get(owner or method, "")
    if owner and method not in _LOADING:
        place = f"{place}.{method}"
    found = answer(place, name)
    return found if found is not None else answer(_THEIRS.get(owner or method, ""), name)


def _instruction(found: Answer) -> str:
    """Return an answer as the second half of a sentence, whether it is an instruction or only a name."""
    instructs = found.status == "refused" or found.plain.partition(" ")[0] in _VERBS
    return found.plain if instructs else f"here it is: {found.plain}"


def renamed(place: str, name: str) -> str:
    """Return the replacement of a name of sentence-transformers as half a sentence, or "" for any other name.

    >>> renamed("losses", "TripletLoss")
    '; here it is: triplet, --loss triplet, whose default margin is 1'
    """
    if name.startswith("_"):
        return ""
    found = answer(f"{place}.{name}") or (answer(place, name) if place.endswith(".members") else None)
    found = found or sections().get(place, {}).get(name)
    return "" if found is None or not name else f"; {_instruction(found)}"


def unknown_name(owner: str, name: str, *places: str) -> UnknownName:
    """Return the error for an attribute that does not exist.

    Args:
        owner: The name of the module or class of sbert, for the message.
        name: The name of the attribute.
        places: The sections of the table to search for a module. The sections of a class are known.
    """
    kind = "module" if places else "object"
    theirs = _THEIRS.get(owner, "")
    hint = next(filter(None, (renamed(place, name) for place in places or (theirs, f"{theirs}.members"))), "")
    whose = ", a name of sentence-transformers" if hint else ""
    return UnknownName(f"{owner!r} {kind} has no attribute {name!r}{whose}{hint}")
