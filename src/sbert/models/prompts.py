"""Chooses the prompt that precedes every text. Works on strings only."""

from __future__ import annotations

from collections.abc import Mapping

from sbert.errors import BadInput, check_option, shown


def choose_prompt(prompts: Mapping[str, str], name: str | None, prompt: str | None) -> str:
    """Return ``prompt`` itself, or else the prompt with this name, or else no prompt.

    >>> choose_prompt({"query": "query: "}, "query", None), choose_prompt({}, None, None)
    ('query: ', '')
    """
    if prompt is None and name is not None:
        if not prompts:
            raise BadInput(f"prompt_name is {shown(name)}, but the model has no prompts; give the words with prompt")
        check_option("prompt_name", name, sorted(prompts))
        prompt = prompts[name]
    if not isinstance(prompt, str | None):
        raise BadInput(f"a prompt is {type(prompt).__name__}, but must be text")
    return prompt or ""
