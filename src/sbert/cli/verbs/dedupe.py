"""``sbert dedupe``: removes texts with nearly the same meaning, or finds texts that also occur in another file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from sbert.cli import show
from sbert.cli.corpus import Corpus, CorpusInput, check_outputs, check_same_model, reads_corpus
from sbert.cli.options import Json
from sbert.data.writers import STANDARD_OUTPUT, TABLE_SUFFIXES, write_records
from sbert.errors import WrongUsage, check_value, counted
from sbert.explore.duplicates import Duplicates, Keep, Overlap, find_duplicates, find_overlap
from sbert.text.display import number, one_line

_SHOWN = 20
_GROUP_FIELDS = ("row", "kept_row", "score", "exact", "text", "kept_text")
_OVERLAP_FIELDS = (*Overlap._fields, "text", "other_text")


@reads_corpus
def dedupe(
    given: CorpusInput,
    threshold: Annotated[float, typer.Option(min=-1, max=1, help="Minimum cosine of duplicates.")] = 0.9,
    keep: Annotated[str, typer.Option(help="Text of a group to keep: first, longest or medoid.")] = "first",
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="Instead find texts that also occur in this file or store.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the kept rows: .tsv, .csv, .jsonl, .parquet.")
    ] = None,
    groups: Annotated[Path | None, typer.Option(help="Write the removed rows, each with the kept row.")] = None,
    json: Json = False,
) -> None:
    """Find texts with nearly the same meaning, and keep one of each group.

    The cosine of every removed text with the kept one is at least the threshold.

    Example: sbert dedupe questions.jsonl --threshold 0.9 -o clean.jsonl --groups groups.tsv
    """
    check_value("--keep", keep, get_args(Keep))
    check_outputs([given.source, against], {"-o": (out, TABLE_SUFFIXES), "--groups": (groups, TABLE_SUFFIXES)}, json)
    if against is not None and keep != "first":
        raise WrongUsage("--keep chooses within one file, but --against compares two; leave one of them out")
    corpus = given.read(out)
    table = STANDARD_OUTPUT not in (out, groups)
    if against is not None:
        other = given._replace(source=against).read()
        check_same_model(corpus, other)
        found = find_overlap(corpus.texts, corpus.vectors, other.texts, other.vectors, threshold)
        _write_overlap(corpus, other, found, out, groups)
        _show_overlap(corpus, other, found, json, table)
        return
    duplicates = find_duplicates(corpus.texts, corpus.vectors, threshold, cast(Keep, keep))
    _write_duplicates(corpus, duplicates, out, groups)
    _show_duplicates(corpus, duplicates, json, table)


def _write_duplicates(corpus: Corpus, found: Duplicates, out: Path | None, groups: Path | None) -> None:
    if out is not None:
        write_records(out, [corpus.records[row] for row in found.kept.tolist()], corpus.fields())
    if groups is not None:
        write_records(
            groups,
            [
                {
                    "row": row,
                    "kept_row": group.kept,
                    "score": score,
                    "exact": exact,
                    "text": one_line(corpus.texts[row]),
                    "kept_text": one_line(corpus.texts[group.kept]),
                }
                for group in found.groups()
                for row, score, exact in zip(group.rows, group.scores, group.exact, strict=True)
            ],
            _GROUP_FIELDS,
        )


def _show_duplicates(corpus: Corpus, found: Duplicates, in_json: bool, table: bool) -> None:
    groups, texts = found.groups(), corpus.texts
    removed, exact = len(texts) - len(found.kept), int(found.exact.sum())
    if in_json:
        listed = [{**group._asdict(), "text": texts[group.kept]} for group in groups]
        show.as_json({"texts": len(texts), "kept": len(found.kept), "exact": exact, "groups": listed})
        return
    if groups and table:
        show.table(
            ["size", "lowest", "row", "text that is kept, and one that is removed"],
            [
                [
                    str(1 + len(group.rows)),
                    number(min(group.scores), 3),
                    f"{group.kept}\n{group.rows[0]}",
                    f"{one_line(texts[group.kept])}\n{one_line(texts[group.rows[0]])}",
                ]
                for group in groups[:_SHOWN]
            ],
        )
    near = removed - exact
    show.note(f"{counted(len(texts), 'text')}: {len(found.kept):,} kept, {exact:,} equal and {near:,} similar removed")


def _write_overlap(corpus: Corpus, other: Corpus, found: list[Overlap], out: Path | None, groups: Path | None) -> None:
    there = {overlap.row for overlap in found}
    if out is not None:
        write_records(out, [one for row, one in enumerate(corpus.records) if row not in there], corpus.fields())
    if groups is not None:
        write_records(groups, [_overlap_record(corpus, other, overlap) for overlap in found], _OVERLAP_FIELDS)


def _overlap_record(corpus: Corpus, other: Corpus, overlap: Overlap) -> dict[str, object]:
    texts = {"text": one_line(corpus.texts[overlap.row]), "other_text": one_line(other.texts[overlap.other_row])}
    return {**overlap._asdict(), **texts}


def _show_overlap(corpus: Corpus, other: Corpus, found: list[Overlap], in_json: bool, table: bool) -> None:
    if in_json:
        listed = [_overlap_record(corpus, other, overlap) for overlap in found]
        show.as_json({"texts": len(corpus.texts), "overlap": listed})
        return
    if found and table:
        show.table(
            ["score", "row", "text, and the same in the other file"],
            [
                [
                    number(score, 3),
                    f"{row}\n{other_row}",
                    f"{one_line(corpus.texts[row])}\n{one_line(other.texts[other_row])}",
                ]
                for row, other_row, score, _ in found[:_SHOWN]
            ],
        )
    exact = sum(overlap.exact for overlap in found)
    show.note(
        f"{len(found):,} of {counted(len(corpus.texts), 'text')} are also in {other.source}: {exact:,} equal, "
        f"{len(found) - exact:,} similar"
    )
