"""Checks the arguments of sentence-transformers, and refuses those that have no meaning in sbert."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import torch

from sbert.errors import BadInput, UnknownArgument, shown
from sbert.models.inference import using_device
from sbert.models.model import TextModel
from sbert.porting import answer, explained

P = ParamSpec("P")
R = TypeVar("R")

_OLD_NAMES = {"sentences": "inputs", "use_auth_token": "token"}
"""Names that arguments had in earlier releases of sentence-transformers, which it still accepts."""


def same(place: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function that has the signature of ``place`` in the table.

    An argument that the table refuses raises an error unless its value is None or the default. A place such as
    ``.save`` is the method of that name of the class on which it is called.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature, ready = inspect.signature(function), explained(function)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given: dict[str, Any] = {_new_name(signature, name): value for name, value in kwargs.items()}
            where = f"{type(args[0]).__name__}{place}" if place.startswith(".") else place
            _check(where, signature, args, given)
            return ready(*args, **given)

        return call

    return decorate


def _new_name(signature: inspect.Signature, name: str) -> str:
    return name if name in signature.parameters else _OLD_NAMES.get(name, name)


def _check(place: str, signature: inspect.Signature, args: tuple[Any, ...], given: dict[str, Any]) -> None:
    """Raise an error for an argument without a meaning in sbert."""
    names = dict(zip(signature.parameters, args, strict=False)) | given
    for name, value in names.items():
        found = answer(place, name)
        parameter = signature.parameters.get(name)
        if found is None:
            continue
        if parameter is None:
            raise UnknownArgument(f"{place} got {name}, which it does not take; {found.plain}")
        if not found.works and not _is_default(value, parameter.default):
            raise BadInput(f"{place} got {name}={shown(value)}, which has no meaning here; {found.plain}")


def _is_default(value: Any, default: Any) -> bool:
    if value is None or value is default or (isinstance(value, dict | list | tuple) and not value):
        return True
    return isinstance(value, bool | str | float | int) and isinstance(default, type(value)) and bool(value == default)


def prompted(encode: Callable[P, Any], names: Sequence[str]) -> Callable[P, Any]:
    """Return a method like ``encode`` that prepends the first of the named prompts that the model has."""

    @functools.wraps(encode)
    def method(*args: P.args, **kwargs: P.kwargs) -> Any:
        model: Any = args[0]
        named = len(args) > 2 or kwargs.get("prompt") is not None or kwargs.get("prompt_name") is not None
        own = next((name for name in names if name in model.prompts), None)
        chosen: dict[str, Any] = {} if named or own is None else {"prompt_name": own}
        return encode(*args, **{**kwargs, **chosen})

    return method


def move(model: TextModel, device: str | torch.device | list[str | torch.device] | None) -> None:
    """Move a model to the device of a call. A list of equal devices is one device."""
    if device is None or device == []:
        return
    names = {str(each) for each in device} if isinstance(device, list) else {str(device)}
    if len(names) > 1:
        raise BadInput(f"device is {shown(device)}, but a model is on one device; name one of them")
    with using_device(next(iter(names))) as place:
        if place != model.device:
            model.to(place)
