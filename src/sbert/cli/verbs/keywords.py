"""``sbert keywords``: finds the phrases that describe a text best."""

from __future__ import annotations

from typing import Annotated, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.corpus import CorpusInput, check_outputs, reads_corpus
from sbert.cli.options import Json, RowsOutput
from sbert.data.writers import TABLE_SUFFIXES, write_records
from sbert.errors import WrongUsage, check_value, counted
from sbert.explore.keywords import Choice, corpus_keywords, find_keywords
from sbert.text.display import number, one_line
from sbert.text.terms import has_morphemes

_SHOWN = 30


@reads_corpus
def keywords(
    given: CorpusInput,
    top: Annotated[int, typer.Option(min=1, help="Number of keywords.")] = 5,
    choice: Annotated[str, typer.Option(help="nearest, mmr (varied) or max-sum (most varied).")] = "mmr",
    diversity: Annotated[float, typer.Option(min=0, max=1, help="mmr: how much to avoid similar keywords.")] = 0.5,
    longest: Annotated[int, typer.Option(min=1, max=5, help="Maximum number of words in a keyword.")] = 2,
    together: Annotated[bool, typer.Option("--together", help="Find keywords of all texts together.")] = False,
    out: RowsOutput = None,
    json: Json = False,
) -> None:
    """Find the phrases that are nearest in meaning to each text, in English and Korean.

    Particles of Korean words are removed by kiwipiepy if it is installed (pip install 'sbert[ko]'), else by rules.

    Example: sbert keywords articles.jsonl --top 3
    """
    check_value("--choice", choice, get_args(Choice))
    check_outputs([given.source], {"-o": (out, TABLE_SUFFIXES)}, json)
    if together and out is not None:
        raise WrongUsage("--together finds no keywords of single rows, which -o writes; leave one of them out")
    corpus = given.read(out, ["keywords"])
    chosen = cast(Choice, choice)
    if together:
        common = corpus_keywords(
            corpus.texts, corpus.model, top, chosen, diversity=diversity, longest=longest, vectors=corpus.vectors
        )
        if json:
            show.as_json([keyword._asdict() for keyword in common])
        else:
            show.table(["score", "keyword"], [[number(score, 3), phrase] for phrase, score in common])
        return
    found = find_keywords(
        corpus.texts, corpus.model, top, chosen, diversity=diversity, longest=longest, vectors=corpus.vectors
    )
    phrases = [[keyword.phrase for keyword in own] for own in found]
    if out is not None:
        lists = out.suffix.lower() in (".jsonl", ".parquet") or str(out) == "-"
        cells = phrases if lists else [", ".join(own) for own in phrases]
        labelled = [{**record, "keywords": own} for record, own in zip(corpus.records, cells, strict=True)]
        write_records(out, labelled, [*corpus.fields(), "keywords"])
    if json:
        rows = zip(corpus.texts, found, strict=True)
        show.as_json([{"text": text, "keywords": [word._asdict() for word in own]} for text, own in rows])
    elif out is None:
        lines = [[str(row), f"{', '.join(own)}\n{one_line(corpus.texts[row])}"] for row, own in enumerate(phrases)]
        show.table(["row", "keywords and text"], lines[:_SHOWN])
    how = "" if has_morphemes() else "; Korean words by rules, more exactly with pip install 'sbert[ko]'"
    more = f", {len(phrases) - _SHOWN} are not shown" if out is None and not json and len(phrases) > _SHOWN else ""
    show.note(f"keywords of {counted(len(phrases), 'text')}{more}{how}")
