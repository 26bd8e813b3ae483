"""Checks prompts and chooses the one that precedes every text. Works on strings only."""

from __future__ import annotations

from collections.abc import Mapping

from sbert.errors import BadInput, check_option, shown
from sbert.hub.limits import MOST_PROMPTS


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
    _check_text(prompt)
    return prompt or ""


def check_prompts(prompts: Mapping[str, str], default: str | None) -> None:
    """Raise BadInput unless a model with these prompts, and the name of a default, could be loaded again."""
    choose_prompt(prompts, default, None)
    if len(prompts) > MOST_PROMPTS:
        raise BadInput(f"a model has {len(prompts):,} prompts, but at most {MOST_PROMPTS:,} are allowed; remove some")
    for name, prompt in prompts.items():
        if not isinstance(name, str):
            raise BadInput(f"the name of a prompt is {shown(name)}, but must be text")
        _check_text(prompt)


def _check_text(prompt: str | None) -> None:
    if not isinstance(prompt, str | None):
        raise BadInput(f"a prompt is {type(prompt).__name__}, but must be text")
