"""Writes the page ``docs/from-sentence-transformers.md`` from the table. Returns text; does not write files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sbert.porting.table import ANY, Answer, sections

_TITLES = {
    ANY: "Arguments of many functions",
    "SentenceTransformer": "SentenceTransformer",
    "CrossEncoder": "CrossEncoder",
    "util": "sentence_transformers.util",
    "losses": "sentence_transformers.losses",
    "cross_encoder.losses": "sentence_transformers.cross_encoder.losses",
    "SentenceTransformerTrainer": "Trainer",
    "SentenceTransformerTrainingArguments": "Arguments of training",
    "evaluation": "Evaluators",
    "modules": "Modules",
    "sentence_transformers": "Other names of the package",
}
_WORDS = {"works": "works", "refused": "refused", "renamed": "–"}


def markdown() -> str:
    """Return the whole page."""
    head = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    parts = [f"\n## {title}\n\n{_table(name)}" for name, title in _TITLES.items()]
    return head + "".join(parts)


def _table(title: str) -> str:
    rows = "".join(f"| `{name}` | {_WORDS[found.status]} | {_cell(found)} |\n" for name, found in _rows(title))
    return f"| sentence-transformers | drop-in | sbert |\n| --- | --- | --- |\n{rows}"


def _cell(found: Answer) -> str:
    return found.text.replace("|", "\\|")


def _rows(title: str) -> Iterator[tuple[str, Answer]]:
    """Yield the names of a chapter: those of the section itself, then those of the sections about its functions."""
    for place, rows in sections().items():
        owner, _, function = place.rpartition(".")
        if place != title and (owner != title or place in _TITLES):
            continue
        called = "" if place == title else function
        for name, found in rows.items():
            yield _written(title, called, name), found


def _written(title: str, function: str, name: str) -> str:
    if function == "members":
        return f"{title}.{name}"
    call = function if title in ("util", "losses") else f"{title}.{function}"
    if not function:
        call = title if title[:1].isupper() else ""
    if not name:
        return f"{call}()" if call else title
    return f"{call}({name}=)" if call else name
