"""``sbert info``: shows what a model consists of and how it runs on this machine."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from sbert import hub
from sbert.cli import show
from sbert.cli.options import Device, Json, ModelArgument
from sbert.hub.bundled import DEFAULT
from sbert.models.load import load


def info(name: ModelArgument = None, device: Device = None, json: Json = False) -> None:
    """Show what a model consists of and how it runs on this machine."""
    folder = hub.resolve(name)
    about = load(folder, device=device).describe()
    facts = {"name": name or DEFAULT.partition("/")[2], "kind": about["kind"], "folder": str(folder), **about}
    if json:
        show.as_json(facts)
        return
    grid = Table.grid(padding=(0, 2))
    for key, value in facts.items():
        grid.add_row(Text(key.replace("_", " "), style="bold"), Text(_words(value)))
    show.console().print(grid)


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return "\n".join(f"{key}: {text!r}" for key, text in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)
