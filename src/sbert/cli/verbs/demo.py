"""``sbert demo``: the most similar of a thousand sentences, and what finding them by reading every pair would cost."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sbert.cli import show
from sbert.cli.demo.results import SAMPLE, Findings, find, timed
from sbert.cli.options import Json, ModelName
from sbert.data import vectors as output
from sbert.text import display

if TYPE_CHECKING:
    from rich.console import Console


def demo(
    page: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path("sbert-demo.html"),
    model: ModelName = None,
    json: Json = False,
) -> None:
    """Find the most similar of 1,300 sentences in seconds, and see them on a page."""
    output.check_output(page, (".html", ".htm"))
    console = show.console()
    console.quiet = json
    found = find(model, lambda key, value: _line(console, key, value))
    _show(console, found)
    with timed(found.seconds, "draw"):
        from sbert.cli.demo.page import draw

        with output.whole(page) as file:
            file.write(draw(found).encode())
    console.print()
    steps = ", ".join(f"{step} {display.duration(seconds)}" for step, seconds in found.seconds.items())
    _line(console, "time", f"{display.duration(sum(found.seconds.values()))}: {steps}")
    _line(console, "page", str(page))
    if json:
        show.as_json(_facts(found, page))


def _show(console: Console, found: Findings) -> None:
    notes = found.notes
    _table(
        console, f"The {len(found.pairs)} most similar pairs", [found.similarity, "topic", "text"], found.pair_rows()
    )
    _note(console, notes["pairs"])
    for answer in found.answers:
        _table(console, f"? {answer.query}", [found.similarity, "topic", "text"], found.hit_rows(answer))
    _note(console, notes["queries"])
    _table(console, f"? {found.korean.query}", [found.similarity, "topic", "text"], found.hit_rows(found.korean))
    _note(console, notes["korean"])
    headings = ["sentences", "pairs", "vectors", "reading", "ratio"]
    _table(
        console,
        "One vector for each sentence, or reading every pair with a cross-encoder",
        headings,
        found.cost_rows(),
    )
    _note(console, notes["cost"])


def _line(console: Console, key: str, value: str) -> None:
    from rich.text import Text

    console.print(Text.assemble((f"{key:<10}", "bold"), display.one_line(value)))


def _note(console: Console, note: str) -> None:
    if note:
        console.print(note, style="dim", markup=False)


def _table(console: Console, title: str, headings: list[str], rows: Iterable[list[str]]) -> None:
    """Numbers to the right, topics dim; texts take the room that is left, on as many lines as they need."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in headings:
        words = heading in ("topic", "text")
        style = "dim" if heading == "topic" else ""
        table.add_column(heading, justify="left" if words else "right", style=style, no_wrap=heading != "text")
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(Text(f"\n{title}", style="bold"))
    console.print(table)


def _facts(found: Findings, page: Path) -> dict[str, Any]:
    """Everything shown, and the rows of the sentences; times in seconds."""

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
            for query, hits in [*found.answers, found.korean]
        ],
        "sample_pairs": SAMPLE,
        "cost": [{**cost._asdict(), "pairs": cost.pairs, "ratio": cost.ratio} for cost in found.costs],
        "notes": found.notes,
        "page": str(page),
    }
