"""``sbert demo``: the most similar pairs of 1,300 sentences, and what finding them with a cross-encoder would cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.cells import set_cell_size
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from sbert.cli import show
from sbert.cli.demo.languages import LANGUAGES, LanguageName
from sbert.cli.demo.results import TOP_PAIRS, Answer, DemoResults, run, timed
from sbert.cli.options import Json, ModelName
from sbert.data.writers import check_output
from sbert.disk.files import write_bytes
from sbert.pages.records import Table
from sbert.text import display


def demo(
    page: Annotated[Path, typer.Option("--output", "-o", help="File for the page.")] = Path("sbert-demo.html"),
    model: ModelName = None,
    language: Annotated[
        LanguageName,
        typer.Option("--language", help="Language of the sentences: en, or ko with the Korean default model."),
    ] = "en",
    json: Json = False,
) -> None:
    """Find the most similar of 1,300 sentences in seconds, and see them on a page."""
    check_output(page, (".html", ".htm"))
    console = show.console()
    console.quiet = json
    words = LANGUAGES[language]
    found = run(words, model, lambda step, sentence: _line(console, step, sentence))
    notes = found.notes
    _table(console, words.titles.pairs.format(TOP_PAIRS), found.pair_table(), notes["pairs"])
    for answer in found.answers:
        _answer(console, found, answer, notes["queries"] if answer is found.answers[-1] else "")
    if found.korean:
        _answer(console, found, found.korean, notes["korean"])
    _table(console, words.titles.costs, found.cost_table(), notes["cost"])
    with timed(found.seconds, "draw"):
        from sbert.cli.demo.topics import page_record
        from sbert.pages import demo

        write_bytes(page, demo.page(page_record(found)).encode())
    console.print()
    measured = zip(words.steps.durations, found.seconds.values(), strict=True)
    steps = ", ".join(f"{step} {display.duration(seconds)}" for step, seconds in measured)
    _line(console, words.steps.time, f"{display.duration(sum(found.seconds.values()))}: {steps}")
    _line(console, words.steps.page, str(page))
    if json:
        show.as_json(_facts(found, page))


def _line(console: Console, key: str, value: str) -> None:
    console.print(Text.assemble((set_cell_size(key, 10), "bold"), display.one_line(value)))


def _answer(console: Console, found: DemoResults, answer: Answer, note: str) -> None:
    _table(console, f"? {answer.query}", found.answer_table(answer), note)


def _table(console: Console, title: str, table: Table, note: str) -> None:
    """Print a table whose texts take as many lines as they need, and a note below it."""
    drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    *_, last = table.headings
    for heading, align in zip(table.headings, table.align, strict=True):
        is_text = align == "l" and heading == last
        style = "dim" if align == "l" and not is_text else ""
        drawn.add_column(heading, justify="right" if align == "r" else "left", style=style, no_wrap=not is_text)
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
        "language": found.language.name,
        "model": found.model,
        "korean_model": found.korean_model,
        "similarity": found.similarity,
        "sentences": len(found.sentences),
        "tokens": found.tokens,
        "seconds": found.seconds,
        "pairs": [
            {"score": score, "sentences": [sentence(first), sentence(second)]} for first, second, score in found.pairs
        ],
        "queries": [
            {"query": query, "hits": [{"score": hit.score, **sentence(int(hit.id))} for hit in hits]}
            for query, hits in [*found.answers, *filter(None, [found.korean])]
        ],
        "sample_pairs": found.language.sample,
        "cost": [cost._asdict() for cost in found.costs],
        "notes": found.notes,
        "page": str(page),
    }
