"""Shows the examples of docstrings as blocks of code, which Markdown would otherwise take for quotations."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^([ \t]*)>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
_LITERAL = re.compile(r"^::\n\n(.*?)(?=\n\S|\Z)", re.MULTILINE | re.DOTALL)


class Examples(griffe.Extension):
    """Puts fences around every example and every literal block of a docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of ``obj``, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = _LITERAL.sub(_plain, _EXAMPLE.sub(_fenced, obj.docstring.value))


def _fenced(found: re.Match[str]) -> str:
    return textwrap.indent(f"```pycon\n{textwrap.dedent(found[0])}\n```", found[1])


def _plain(found: re.Match[str]) -> str:
    return f"```text\n{textwrap.dedent(found[1]).rstrip()}\n```\n"
