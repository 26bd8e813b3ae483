"""``sbert map``: a map of texts on a page, where similar texts lie close together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from sbert.cli import show
from sbert.cli.corpus import PAGE_SUFFIXES, Corpus, CorpusInput, check_outputs, reads_corpus, write_map
from sbert.data.writers import write_records
from sbert.errors import WrongUsage, counted
from sbert.types import FloatArray, IntArray

_MOST_GROUPS = 200
_COMPUTED = ("topic", "cluster", "none")


@reads_corpus
def map(
    given: CorpusInput,
    out: Annotated[Path, typer.Option("--output", "-o", help="Page to write.")] = Path("map.html"),
    colour: Annotated[
        str, typer.Option("--colour", "--color", help="topic, cluster, none, or a field of the rows.")
    ] = "topic",
    title: Annotated[str | None, typer.Option(help="Title of the page. Defaults to the name of the file.")] = None,
    parquet: Annotated[
        Path | None, typer.Option(help="Also write texts, positions and groups, such as for embedding-atlas.")
    ] = None,
) -> None:
    """Draw a map of texts: similar ones lie close together; move, zoom, point and search on the page.

    The page is one file that works offline. More than 10,000 texts are placed around a sample of 10,000.

    Example: sbert map questions.txt -o map.html
    """
    check_outputs([given.source], {"-o": (out, PAGE_SUFFIXES), "--parquet": (parquet, (".parquet",))})
    corpus = given.read(needed=None if colour in _COMPUTED else colour)
    groups, names = _groups(corpus, colour)
    heading = title or f"{Path(corpus.source).name}: {counted(len(corpus.texts), 'text')}"
    places = write_map(out, heading, corpus, groups, names)
    if parquet is not None:
        _write_parquet(parquet, corpus, places, groups, names)
    show.note(f"{counted(len(corpus.texts), 'text')} -> {out}")


def _groups(corpus: Corpus, colour: str) -> tuple[IntArray, list[str]]:
    """Return the group of each text, -1 for none, and the names of the groups."""
    if colour == "none":
        return np.full(len(corpus.texts), -1), []
    if colour == "topic":
        from sbert.explore.topics import find_topics

        found = find_topics(corpus.texts, corpus.vectors)
        return found.labels, [topic.name for topic in found.topics]
    if colour == "cluster":
        from sbert.explore.clusters import find_clusters

        clusters = find_clusters(corpus.vectors, texts=corpus.texts)
        return clusters.labels, [corpus.texts[row] for row in clusters.medoids.tolist()]
    values = ["" if (value := record.get(colour)) is None else str(value) for record in corpus.records]
    names = sorted(set(values) - {""})
    if len(names) > _MOST_GROUPS:
        raise WrongUsage(f"the field {colour!r} has {len(names):,} values, but at most {_MOST_GROUPS} have a colour")
    places = {name: place for place, name in enumerate(names)}
    return np.array([places.get(value, -1) for value in values]), names


def _write_parquet(path: Path, corpus: Corpus, places: FloatArray, groups: IntArray, names: list[str]) -> None:
    records = [
        {"text": text, "projection_x": x, "projection_y": y, "group": names[group] if group >= 0 else ""}
        for text, (x, y), group in zip(corpus.texts, places.tolist(), groups.tolist(), strict=True)
    ]
    write_records(path, records, ["text", "projection_x", "projection_y", "group"])
