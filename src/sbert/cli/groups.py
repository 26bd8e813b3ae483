"""Builds subcommands whose options are divided into groups, each of which a function turns into one record."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any

_LAST = ("force", "json")


def grouped(subcommand: Callable[..., None], **groups: Callable[..., Any]) -> Callable[..., None]:
    """Return a subcommand that takes the options of several groups.

    Args:
        subcommand: Takes its own options, and a record of each group under the name of the group.
        groups: Functions that take the options of a group and return the record.
    """

    def run(**options: Any) -> None:
        own = {name: value for name, value in options.items() if name in signature(subcommand).parameters}
        records = {
            name: make(**{option: options[option] for option in signature(make).parameters})
            for name, make in groups.items()
        }
        subcommand(**own, **records)

    own = [one for name, one in signature(subcommand, eval_str=True).parameters.items() if name not in groups]
    theirs = [one for make in groups.values() for one in signature(make, eval_str=True).parameters.values()]
    first = [one for one in own if one.name not in _LAST]
    listed = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*first, *theirs, *own[len(first) :])]
    run.__name__, run.__doc__ = subcommand.__name__, subcommand.__doc__
    run.__signature__ = Signature(listed)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in listed}
    return run
