"""Says in one sentence what is wrong with a command line, in the names that users type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import typer

from sbert.errors import BadInput, BadOption, WrongUsage, shown

UsageError: Any = typer.BadParameter.__base__
"""The error of a wrong command line; typer gives only its subclass a public name."""
_NEEDED = {
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "int_parsing": "a whole number",
    "float_parsing": "a number",
}
"""What a value must be, by the name of pydantic's error."""


def sentence(error: Any) -> str:
    """Return a usage error as one sentence: what was given, what is expected, what to do."""
    param, ctx = getattr(error, "param", None), error.ctx
    found: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    if param is not None and found:
        return _wrong_value(param, found[0])
    if type(error).__name__ == "MissingParameter":
        message = f"{name_of(param)} is missing"
    else:
        message = error.message[:1].lower() + error.message[1:].rstrip(".").replace(". Did", "; did")
    if not message or message.endswith("?") or ctx is None:
        return message
    about_option = hasattr(error, "option_name") or getattr(param, "param_type_name", "") == "option"
    return f"{message}; {ctx.command_path} --help lists the options" if about_option else f"{message}; {order(ctx)}"


@contextmanager
def named_options(ctx: Any) -> Iterator[None]:
    """Give options in errors the names that are typed; an option whose value cannot be used is wrong usage."""
    try:
        yield
    except BadInput as error:
        message = _missing_file(str(error), ctx)
        options = {param.name: name_of(param) for param in ctx.command.params if param.param_type_name == "option"}
        same = {name: typed for name, typed in options.items() if typed == f"--{name.replace('_', '-')}"}
        for name, typed in same.items():
            if message.startswith(f"{name} is ") and ctx.params[name]:  # else a file is wrong
                raise WrongUsage(typed + message.removeprefix(name)) from None
            message = re.sub(rf"\b{name}='(\w+)'(?: or '(\w+)')?", partial(_typed, typed), message)
        if message == str(error):
            raise
        raise BadInput(message) from None


def _typed(option: str, found: re.Match[str]) -> str:
    return " or ".join(f"{option} {value}" for value in found.groups() if value)


def _missing_file(message: str, ctx: Any) -> str:
    """Add the order of the arguments to the message about an argument that names no file."""
    arguments = [param for param in ctx.command.params if param.param_type_name == "argument"]
    given = [f"there is no file {shown(ctx.params[param.name], 300)}" for param in arguments]
    if len(given) < 2 or not message.startswith(tuple(given)):
        return message
    return f"{message}; {order(ctx)}"


def name_of(param: Any) -> str:
    """Return the name of an option as it is typed, or that of an argument as the help shows it."""
    return str(max(param.opts, key=len) if param.param_type_name == "option" else param.metavar or param.name.upper())


def order(ctx: Any) -> str:
    """Say in which order a subcommand takes its arguments."""
    names = [name_of(param) for param in ctx.command.params if param.param_type_name == "argument"]
    return f"the order is {' '.join((ctx.command_path, *names))}" if names else f"see {ctx.command_path} --help"


def _wrong_value(param: Any, found: dict[str, Any]) -> str:
    name, value, kind = name_of(param), found["input"], found["type"]
    if choices := param.type_descriptor.choices:
        return str(BadOption(name, value, choices))
    if kind not in _NEEDED:
        return f"{name} is {shown(value)}: {found['msg']}"
    given = shown(value) if kind.endswith("parsing") else value
    return f"{name} is {given}, but must be {_NEEDED[kind].format(**found.get('ctx', {}))}"
