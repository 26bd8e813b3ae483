"""Embeds files into a folder of shards. The same call resumes an interrupted job."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sbert.bulk.account import Account
from sbert.bulk.cache import remove_cache
from sbert.bulk.engines import engine_of
from sbert.bulk.folder import Folder, LocalFolder, folder_at
from sbert.bulk.inputs import STANDARD_INPUT_COPY, check_unchanged, formats, found, identified, is_address
from sbert.bulk.job import Entry, Input, Job, ModelFacts, Plan, Running, Settings
from sbert.bulk.manifest import (
    PLAN,
    REJECTED,
    Manifest,
    damaged_shards,
    read_manifest,
    read_plan,
    remove_job,
    write_plan,
)
from sbert.bulk.rows import Refused
from sbert.bulk.scan import Scan
from sbert.bulk.shard import load_model, options_of
from sbert.disk.progress import Progress
from sbert.errors import BadInput, counted
from sbert.models.bi import BiEncoder
from sbert.models.encoding import encode_counted
from sbert.models.fingerprint import fingerprint
from sbert.text.display import json_text

logger = logging.getLogger(__name__)


def embed_files(
    inputs: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    model: str | Path | None = None,
    settings: Settings | None = None,
    running: Running | None = None,
    force: bool = False,
    show_progress_bar: bool = False,
) -> Manifest:
    r"""Embed every text of the input files into parquet files; the same call resumes an interrupted job.

    Args:
        inputs: Files or patterns: parquet, csv, tsv, jsonl or txt (also with .gz); "-" is standard input, and
            ``s3://bucket/name`` an object.
        out: The folder to write to, which may also be an address.
        model: A folder, an installed model package, or a hub name. Defaults to all-MiniLM-L6-v2.
        settings: The settings that determine the contents of the shards.
        running: The settings of the run, which do not affect the contents of the shards.
        force: Whether to remove the output of another job from the folder, and start over.
        show_progress_bar: Whether to show the progress.

    Returns:
        The manifest of the complete job.

    >>> import tempfile
    >>> from sbert.bulk import embed_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "글.txt").write_text("안녕하세요\nhello\n", encoding="utf-8")
    ...     done = embed_files(f"{folder}/글.txt", f"{folder}/vectors")
    >>> done.rows, done.dimension, done.shards[0].file
    (2, 384, 'part-00000.parquet')
    """
    settings, running = settings or Settings(), running or Running()
    paths = found([str(inputs)] if isinstance(inputs, str | Path) else [str(path) for path in inputs])
    kinds = formats(paths, settings.format)
    folder = folder_at(str(out))
    if running.dedupe and not isinstance(folder, LocalFolder):
        raise BadInput(f"dedupe keeps vectors on a disk, but {out} is an address; name a folder, or leave it out")
    encoder = load_model(None if model is None else str(model), settings, running.device)
    facts = ModelFacts(_name(model), fingerprint(encoder, settings.precision))
    dimension = _dimension(encoder, settings)
    with folder.held():
        if force:
            _remove(folder)
        before = read_manifest(folder)
        files = tuple(identified(path, kind, folder) for path, kind in zip(paths, kinds, strict=True))
        if before is not None:
            before.check_same(facts, settings, files, str(out))
        plan = read_plan(folder) if before is not None else None
        plan = plan or _planned(folder, settings, files, show_progress_bar)
        new = Manifest(
            facts, settings, files, plan.columns, dimension, encoder.max_seq_length, plan.rows, plan.rejected, False
        )
        job = Job(_absolute(str(out)), facts, settings, files, plan.columns, plan.types, running)
        return _finished(folder, before, new, plan, job, encoder, show_progress_bar)


def _planned(folder: Folder, settings: Settings, files: Sequence[Input], show: bool) -> Plan:
    """Read the input once, and write its bad rows to a file."""
    with tempfile.TemporaryFile() as bad, Progress(None, "rows read", show, equal=False) as progress:

        def refuse(row: Refused) -> None:
            if settings.on_bad_row == "fail":
                raise BadInput(f"{row.reason}; repair the row, or skip bad rows")
            bad.write(f"{json_text(row._asdict())}\n".encode())

        plan = Scan(settings, refuse, progress.add)(files)
        if plan.rejected:
            bad.seek(0)
            with folder.write(REJECTED) as file:
                shutil.copyfileobj(bad, file)
    return plan


def _finished(
    folder: Folder, before: Manifest | None, new: Manifest, plan: Plan, job: Job, encoder: BiEncoder, show: bool
) -> Manifest:
    """Embed the missing shards, and return the manifest of the complete job."""
    entries = _entries(folder, before)
    missing = [shard for shard in plan.shards if shard.number not in entries]
    if before is None or (missing and before.complete):
        write_plan(folder, plan)
        folder.forget()
        for entry in entries.values():
            folder.append(entry)
        new.write(folder)
    if missing:
        account = Account(plan, list(entries.values()), show)
        with account, closing(engine_of(job, encoder)(job, missing, account)) as done:
            for entry in done:
                if entry.shard not in entries:
                    folder.append(entry)
                    entries[entry.shard] = entry
                    account.shard_finished(entry)
        if account.lost:
            logger.warning("%s lost and replaced", counted(account.lost, "worker"))
    else:
        logger.info("all %s were finished before", counted(len(plan.shards), "shard"))
    check_unchanged(job.inputs)
    complete = replace(new, complete=True, shards=tuple(entries[shard.number] for shard in plan.shards))
    complete.write(folder)
    _remove_traces(folder)
    if complete.truncation.truncated and job.settings.on_truncate == "warn":
        logger.warning("%s", complete.truncation)
    if complete.rejected:
        where = folder.location(REJECTED)
        logger.warning("%s without a text: see %s", counted(complete.rejected, "row"), where)
    return complete


def _entries(folder: Folder, before: Manifest | None) -> dict[int, Entry]:
    """Return the finished shards whose files are intact."""
    if before is None:
        return {}
    entries = {entry.shard: entry for entry in (before.shards if before.complete else folder.entries())}
    for number, problem in damaged_shards(folder, list(entries.values())).items():
        logger.warning("%s; the shard is embedded again", problem)
        del entries[number]
    return entries


def _remove(folder: Folder) -> None:
    """Remove everything that a job wrote."""
    remove_job(folder)
    _remove_traces(folder)


def _remove_traces(folder: Folder) -> None:
    """Remove the files that are needed only until a job is finished."""
    folder.remove(PLAN)
    folder.remove(STANDARD_INPUT_COPY)
    folder.forget()
    if isinstance(folder, LocalFolder):
        remove_cache(folder.path)


def _absolute(out: str) -> str:
    """Return the location of a folder in a form that is valid in every worker."""
    return out if is_address(out) else str(Path(out).expanduser().absolute())


def _name(model: str | Path | None) -> str | None:
    """Return the name by which every worker can load the model."""
    if model is None:
        return None
    return str(Path(model).resolve()) if Path(model).exists() else str(model)


def _dimension(encoder: BiEncoder, settings: Settings) -> int:
    """Return the number of values of a vector. A wrong option raises an error."""
    encode_counted(encoder, [""], options_of(settings))
    return encoder.embedding_dimension if settings.truncate_dim is None else settings.truncate_dim
