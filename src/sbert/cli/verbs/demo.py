"""``sbert demo``: the most similar pairs of 1,300 sentences, and what finding them with a cross-encoder would cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from sbert.cli import show
from sbert.cli.demo.results import SAMPLE, DemoResults, run, timed
from sbert.cli.options import Json, ModelName
from sbert.data.writers import check_output
from sbert.disk.files import write_bytes
from sbert.pages.records import Table
from sbert.text import display


def demo(
    page: Annotated[Path, typer.Option("--output", "-o", help="File for the page.")] = Path("sbert-demo.html"),
    model: ModelName = None,
    json: Json = False,
) -> None:
    """Find the most similar of 1,300 sentences in seconds, and see them on a page."""
    check_output(page, (".html", ".htm"))
    console = show.console()
    console.quiet = json
    found = run(model, lambda step, sentence: _line(console, step, sentence))
    notes, answers = found.notes, found.answer_tables()
    below = [*[""] * (len(answers) - 2), notes["queries"], notes["korean"]]
    _table(console, f"The {len(found.pairs)} most similar pairs", found.pair_table(), notes["pairs"])
    for (query, table), note in zip(answers, below, strict=True):
        _table(console, f"? {query}", table, note)
    _table(console, "One vector per sentence, or a cross-encoder for every pair", found.cost_table(), notes["cost"])
    with timed(found.seconds, "draw"):
        from sbert.cli.demo.topics import page_record
        from sbert.pages import demo

        write_bytes(page, demo.page(page_record(found)).encode())
    console.print()
    steps = ", ".join(f"{step} {display.duration(seconds)}" for step, seconds in found.seconds.items())
    _line(console, "time", f"{display.duration(sum(found.seconds.values()))}: {steps}")
    _line(console, "page", str(page))
    if json:
        show.as_json(_facts(found, page))


def _line(console: Console, key: str, value: str) -> None:
    console.print(Text.assemble((f"{key:<10}", "bold"), display.one_line(value)))


def _table(console: Console, title: str, table: Table, note: str) -> None:
    """Print a table whose texts take as many lines as they need, and a note below it."""
    drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading, align in zip(table.headings, table.align, strict=True):
        style = "dim" if heading == "topic" else ""
        drawn.add_column(heading, justify="right" if align == "r" else "left", style=style, no_wrap=heading != "text")
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    console.print(Text(f"\n{title}", style="bold"))
    console.print(drawn)
    if note:
        console.print(note, style="dim", markup=False)


def _facts(found: DemoResults, page: Path) -> dict[str, Any]:
    """Return everything that is shown as JSON, with the rows of the sentences and times in seconds."""

    def sentence(row: int) -> dict[str, Any]:
        return {"row": row, **found.sentences[row]._asdict()}

    return {
        "model": found.model,
        "similarity": found.similarity,
        "sentences": len(found.sentences),
        "tokens": found.tokens,
        "seconds": found.seconds,
        "pairs": [
            {"score": score, "sentences": [sentence(first), sentence(second)]} for first, second, score in found.pairs
        ],
        "queries": [
            {"query": query, "hits": [{"score": hit.score, **sentence(int(hit.id))} for hit in hits]}
            for query, hits in found.answers
        ],
        "sample_pairs": SAMPLE,
        "cost": [cost._asdict() for cost in found.costs],
        "notes": found.notes,
        "page": str(page),
    }
