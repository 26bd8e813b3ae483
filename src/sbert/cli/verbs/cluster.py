"""``sbert cluster``: divides texts into groups of similar meaning."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.corpus import PAGE_SUFFIXES, Corpus, CorpusInput, check_outputs, reads_corpus, write_map
from sbert.cli.options import Json, MapPage, RowsOutput
from sbert.data.writers import STANDARD_OUTPUT, TABLE_SUFFIXES, write_records
from sbert.errors import WrongUsage, check_value, counted, shown
from sbert.explore.clusters import ClusterMethod, ClusterOptions, Clusters, find_clusters, stability
from sbert.text.display import number, one_line

_SHOWN = 30


@reads_corpus
def cluster(
    given: CorpusInput,
    method: Annotated[str, typer.Option(help=f"{', '.join(get_args(ClusterMethod))}.")] = "kmeans",
    k: Annotated[str, typer.Option("-k", help="kmeans: number of clusters, or auto (best silhouette).")] = "auto",
    threshold: Annotated[
        float | None,
        typer.Option(min=-1, max=1, help="agglomerative (0.5), communities (0.75): minimum cosine."),
    ] = None,
    min_size: Annotated[int, typer.Option(min=1, help="communities, hdbscan: smallest cluster.")] = 10,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="kmeans: random seed.")] = 0,
    seeds: Annotated[
        int, typer.Option("--stability", min=0, max=1000, help="kmeans: number of seeds to compare.")
    ] = 0,
    out: RowsOutput = None,
    plot: MapPage = None,
    json: Json = False,
) -> None:
    """Divide the texts of a file or a store into clusters of similar meaning, the largest first.

    The same texts give the same clusters in every run.

    Example: sbert cluster questions.txt -k 20 -o clustered.tsv --plot map.html
    """
    check_value("--method", method, get_args(ClusterMethod))
    check_outputs([given.source], {"-o": (out, TABLE_SUFFIXES), "--plot": (plot, PAGE_SUFFIXES)}, json)
    if seeds and (method != "kmeans" or seeds == 1):
        raise WrongUsage("--stability is for kmeans and compares at least two seeds; leave it out, or give 2 or more")
    options = ClusterOptions(_count(k), threshold, min_size, seed)
    corpus = given.read(out, ["cluster"])
    found = find_clusters(corpus.vectors, cast(ClusterMethod, method), options, corpus.texts)
    score = stability(corpus.vectors, options, range(seeds)) if seeds else None
    if out is not None:
        pairs = zip(corpus.records, found.labels.tolist(), strict=True)
        labelled = [{**record, "cluster": label} for record, label in pairs]
        write_records(out, labelled, [*corpus.fields(), "cluster"])
    if plot is not None:
        names = [one_line(corpus.texts[row]) for row in found.medoids.tolist()]
        write_map(
            plot, f"{len(corpus.texts):,} texts in {counted(len(names), 'cluster')}", corpus, found.labels, names
        )
    _show(corpus, found, score, json, table=out != STANDARD_OUTPUT)


def _count(k: str) -> int | Literal["auto"]:
    if k == "auto":
        return "auto"
    with suppress(ValueError):  # Python reads no number of thousands of digits
        if k.isdecimal() and int(k) >= 1:
            return int(k)
    raise WrongUsage(f"-k is {shown(k)}, but must be auto or a whole number of at least 1")


def _show(corpus: Corpus, found: Clusters, score: float | None, in_json: bool, table: bool) -> None:
    without = int((found.labels < 0).sum())
    if in_json:
        clusters: list[dict[str, Any]] = [
            {"cluster": place, "size": size, "cohesion": cohesion, "medoid": row, "text": corpus.texts[row]}
            for place, (size, cohesion, row) in enumerate(_facts(found))
        ]
        show.as_json({"texts": len(corpus.texts), "without": without, "stability": score, "clusters": clusters})
        return
    rows = [
        [str(place), f"{size:,}", number(cohesion, 3), one_line(corpus.texts[row])]
        for place, (size, cohesion, row) in enumerate(_facts(found))
    ]
    if rows and table:
        show.table(["cluster", "size", "cohesion", "text nearest to the centre"], rows[:_SHOWN])
    parts = [f"{counted(len(corpus.texts), 'text')} in {counted(len(rows), 'cluster')}"]
    parts += [f"{len(rows) - _SHOWN} smaller ones are not shown"] if len(rows) > _SHOWN else []
    parts += [f"{without:,} without a cluster"] if without else []
    parts += [f"stability over seeds {score:.3f}"] if score is not None else []
    show.note("; ".join(parts))


def _facts(found: Clusters) -> list[tuple[int, float, int]]:
    return list(zip(found.sizes.tolist(), found.cohesion.tolist(), found.medoids.tolist(), strict=True))
