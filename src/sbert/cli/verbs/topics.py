"""``sbert topics``: finds the topics of a collection of texts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.corpus import PAGE_SUFFIXES, Corpus, CorpusInput, check_outputs, reads_corpus, write_map
from sbert.cli.options import HtmlReport, Json, MapPage, RowsOutput
from sbert.data.writers import STANDARD_OUTPUT, TABLE_SUFFIXES, write_records
from sbert.disk.files import write_bytes
from sbert.errors import BadInput, BadModel, WrongUsage, check_value, counted
from sbert.explore.clusters import ClusterMethod
from sbert.explore.topics import Topics, find_topics
from sbert.models.fingerprint import fingerprint
from sbert.text.display import one_line

_WORDS, _SHOWN = 6, 30
_ADDED = ("topic", "topic_name", "confidence")


@reads_corpus
def topics(
    given: CorpusInput,
    count: Annotated[
        int | None, typer.Option(min=1, help="Number of topics. Defaults to the number of clusters.")
    ] = None,
    method: Annotated[str, typer.Option(help=f"Clustering: {', '.join(get_args(ClusterMethod))}.")] = "kmeans",
    least_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Texts with a lower confidence have no topic.")
    ] = 0.0,
    known: Annotated[
        Path | None, typer.Option("--assign", metavar="TOPICS.json", help="Assign texts to topics that --save wrote.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Date field; counts the topics of each month.")
    ] = None,
    save: Annotated[Path | None, typer.Option(metavar="TOPICS.json", help="Save the topics for --assign.")] = None,
    out: RowsOutput = None,
    report: HtmlReport = None,
    plot: MapPage = None,
    json: Json = False,
) -> None:
    """Find what the texts of a file or a store are about, in English and Korean.

    Every text belongs to the topic with the nearest centre; the same texts give the same topics in every run.

    Example: sbert topics questions.txt --count 20 --report topics.html -o assigned.tsv
    """
    check_value("--method", method, get_args(ClusterMethod))
    outputs = {"-o": (out, TABLE_SUFFIXES), "--save": (save, (".json",)), "--plot": (plot, PAGE_SUFFIXES)}
    check_outputs(
        [given.source, None if known is None else str(known)], {**outputs, "--report": (report, PAGE_SUFFIXES)}, json
    )
    if known is not None and (save is not None or count is not None or least_confidence or method != "kmeans"):
        raise WrongUsage(
            "--assign uses topics that exist, but --count, --method, --least-confidence and --save make new ones; "
            "leave them out"
        )
    corpus = given.read(out, _ADDED, needed=time)
    if known is not None:
        found = _reassigned(known, corpus)
    else:
        way = cast(ClusterMethod, method)
        found = find_topics(corpus.texts, corpus.vectors, count, method=way, least_confidence=least_confidence)
    over_time = None if time is None else found.over_time([_month(record.get(time)) for record in corpus.records])
    if save is not None:
        write_bytes(save, replace(found, fingerprint=fingerprint(corpus.model)).to_json().encode())
    if out is not None:
        write_records(out, _labelled(corpus, found), [*corpus.fields(), *_ADDED])
    if plot is not None:
        _draw(plot, corpus, found)
    if report is not None:
        _report(report, corpus, found, over_time)
    _show(corpus, found, over_time, json, table=out != STANDARD_OUTPUT)


def _month(value: object) -> str | None:
    """Return the month of a date such as 2024-05-03, or None for anything else."""
    match = re.match(r"\d{4}-\d{2}", str(value))
    return match[0] if match else None


def _draw(path: Path, corpus: Corpus, found: Topics) -> None:
    title = f"{counted(len(corpus.texts), 'text')} by topic"
    write_map(path, title, corpus, found.labels, [topic.name for topic in found.topics])


def _reassigned(path: Path, corpus: Corpus) -> Topics:
    """Return saved topics with the texts of a corpus assigned to them."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({error}); name a file that --save wrote") from None
    try:
        saved = Topics.from_json(text)
    except BadModel as error:
        raise BadModel(f"{path}: {error}") from None
    if saved.fingerprint and saved.fingerprint != fingerprint(corpus.model):
        raise BadInput(
            f"the topics in {path} come from a model with the fingerprint {saved.fingerprint}, but the model given "
            f"has {fingerprint(corpus.model)}; name that model, or find the topics again"
        )
    return saved.with_texts(corpus.vectors)


def _labelled(corpus: Corpus, found: Topics) -> list[dict[str, Any]]:
    names = [topic.name for topic in found.topics]
    return [
        {**record, "topic": label, "topic_name": names[label] if label >= 0 else "", "confidence": round(sure, 4)}
        for record, label, sure in zip(corpus.records, found.labels.tolist(), found.confidence.tolist(), strict=True)
    ]


def _words(found: Topics) -> list[str]:
    return [", ".join(word.phrase for word in topic.words[:_WORDS]) for topic in found.topics]


def _report(path: Path, corpus: Corpus, found: Topics, over_time: dict[str, list[int]] | None) -> None:
    from sbert.pages.records import TopicPage, TopicRow
    from sbert.pages.topics import page

    rows = [
        TopicRow(topic.name, topic.size, words, [corpus.texts[row] for row in topic.examples])
        for topic, words in zip(found.topics, _words(found), strict=True)
    ]
    merges = [
        (found.topics[merge.first[0]].name, found.topics[merge.second[0]].name, merge.similarity)
        for merge in found.hierarchy()
    ]
    without = int((found.labels < 0).sum())
    write_bytes(path, page(TopicPage(corpus.source, len(corpus.texts), without, rows, merges, over_time)).encode())


def _show(corpus: Corpus, found: Topics, over_time: dict[str, list[int]] | None, in_json: bool, table: bool) -> None:
    without = int((found.labels < 0).sum())
    if in_json:
        listed = [
            {**topic._asdict(), "name": topic.name, "examples": [corpus.texts[row] for row in topic.examples]}
            for topic in found.topics
        ]
        facts = {"texts": len(corpus.texts), "without": without, "topics": listed}
        show.as_json(facts if over_time is None else {**facts, "over_time": over_time})
        return
    rows = [
        [str(topic.number), f"{topic.size:,}", words + "\n" + (_example(corpus, topic.examples))]
        for topic, words in zip(found.topics, _words(found), strict=True)
    ]
    if table:
        show.table(["topic", "texts", "words, and the text nearest to the centre"], rows[:_SHOWN])
    if over_time is not None and table:
        headings = ["period", *(str(topic.number) for topic in found.topics[:_SHOWN])]
        show.table(headings, [[period, *map(str, counts[:_SHOWN])] for period, counts in over_time.items()])
    parts = [f"{counted(len(corpus.texts), 'text')} on {counted(len(rows), 'topic')}"]
    parts += [f"{len(rows) - _SHOWN} smaller ones are not shown"] if len(rows) > _SHOWN else []
    parts += [f"{without:,} below the confidence have none" if without else "every text has a topic"]
    if over_time is not None and (dated := sum(map(sum, over_time.values()))) < len(corpus.texts) - without:
        parts.append(f"{len(corpus.texts) - without - dated:,} have no date such as 2024-05-03")
    show.note("; ".join(parts))


def _example(corpus: Corpus, rows: list[int]) -> str:
    return one_line(corpus.texts[rows[0]]) if rows and rows[0] < len(corpus.texts) else ""
