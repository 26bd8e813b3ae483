"""The files that describe a job: the manifest with its finished shards, and the plan until it is finished."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sbert.bulk.folder import Folder, read_json, unsealed, write_json
from sbert.bulk.inputs import STANDARD_INPUT_COPY
from sbert.bulk.job import Columns, Entry, Input, ModelFacts, Plan, Settings, Shard, Stretch
from sbert.data.files import Place
from sbert.errors import BadInput, CannotResume, listed, shown
from sbert.text import Truncation

MANIFEST, PLAN, REJECTED = "manifest.json", "plan.json", "rejected.jsonl"
_FORMAT = 2
_SHARD = re.compile(r"part-\d{5,}\.parquet")
_UNFINISHED = {PLAN, REJECTED, STANDARD_INPUT_COPY}
"""The files that a job may write before its manifest."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Describes the contents of a folder of shards."""

    model: ModelFacts
    settings: Settings
    inputs: tuple[Input, ...]
    columns: Columns
    dimension: int
    """D, the number of values of a vector, which binary precision packs eight to a byte."""
    max_length: int
    """Number of tokens at which texts are truncated."""
    rows: int
    """Number of rows of all shards, finished or not."""
    rejected: int
    """Number of rows without a text."""
    complete: bool
    shards: tuple[Entry, ...] = ()
    """The finished shards of a complete job, in order."""

    @property
    def truncation(self) -> Truncation:
        """The totals of truncation over the distinct texts of each shard."""
        nothing = Truncation(0, 0, self.max_length, 0, 0, 0)
        parts = (
            Truncation(one.texts, one.truncated, self.max_length, one.tokens, one.lost, one.longest, exact=one.exact)
            for one in self.shards
        )
        return Truncation.total([nothing, *parts])

    def write(self, folder: Folder) -> None:
        """Write the manifest."""
        write_json(folder, MANIFEST, {"format": _FORMAT, **asdict(self)})

    def check_same(self, model: ModelFacts, settings: Settings, inputs: Sequence[Input], where: str) -> None:
        """Raise BadInput if this job, in the folder ``where``, had another model, other settings or other input."""
        differences = [*self._other_model(model), *self._other_settings(settings), *self._other_inputs(inputs)]
        if differences:
            raise CannotResume(
                f"{where} holds another job: {'; '.join(differences[:4])}; name another folder, or start over with "
                "--force"
            )

    def _other_model(self, model: ModelFacts) -> Iterable[str]:
        if self.model.fingerprint != model.fingerprint:
            before, after = (shown(one.name or "the default one") for one in (self.model, model))
            yield f"its model is {before} with the fingerprint {self.model.fingerprint}, not {after} with " + (
                model.fingerprint
            )

    def _other_settings(self, settings: Settings) -> Iterable[str]:
        before, after = asdict(self.settings), asdict(settings)
        return (
            f"its {name} is {shown(before[name])}, not {shown(after[name])}"
            for name in before
            if before[name] != after[name]
        )

    def _other_inputs(self, inputs: Sequence[Input]) -> Iterable[str]:
        if len(self.inputs) != len(inputs):
            yield f"it has {len(self.inputs)} input files, not {len(inputs)}"
            return
        for before, after in zip(self.inputs, inputs, strict=True):
            if (before.digest, before.format) != (after.digest, after.format):
                changed = f"the input {after.path} has changed"
                other = f"its input was {before.path}, whose contents differ from {after.path}"
                yield changed if before.path == after.path else other


def read_manifest(folder: Folder) -> Manifest | None:
    """Read the manifest of a folder, or return None if there is none. A folder with other contents raises BadInput."""
    written = read_json(folder, MANIFEST)
    if written is None:
        _check_no_others(folder, folder.names() - _UNFINISHED)
        return None
    found = unsealed(written)
    if found is None or found.pop("format", None) != _FORMAT:
        raise _foreign(folder)
    try:
        settings = Settings(**{**found["settings"], "keep": tuple(found["settings"]["keep"])})
        records = {
            "model": ModelFacts(**found["model"]),
            "settings": settings,
            "inputs": tuple(Input(**one) for one in found["inputs"]),
            "columns": _columns(found["columns"]),
            "shards": tuple(Entry(**one) for one in found["shards"]),
        }
        return Manifest(**{**found, **records})
    except (TypeError, KeyError, BadInput):
        raise _foreign(folder) from None


def write_plan(folder: Folder, plan: Plan) -> None:
    """Write the plan of a job, which is kept until the job is finished."""
    shards = [
        [one.rows, one.characters, [[s.file, _numbers(s.start), s.first, s.rows] for s in one.stretches]]
        for one in plan.shards
    ]
    columns = asdict(plan.columns)
    write_json(folder, PLAN, {"columns": columns, "types": plan.types, "rejected": plan.rejected, "shards": shards})


def read_plan(folder: Folder) -> Plan | None:
    """Return the stored plan, or None if it is missing or damaged."""
    found = unsealed(read_json(folder, PLAN) or {})
    if found is None:
        return None
    try:
        shards = [
            Shard(number, rows, characters, tuple(Stretch(one[0], _place(one[1]), *one[2:]) for one in stretches))
            for number, (rows, characters, stretches) in enumerate(found["shards"])
        ]
        return Plan(_columns(found["columns"]), found["types"], tuple(shards), found["rejected"])
    except (TypeError, ValueError, KeyError):
        return None


def remove_job(folder: Folder) -> None:
    """Remove everything that a job wrote, the manifest last. A folder without a job is not changed."""
    found, names = read_json(folder, MANIFEST), folder.names()
    if found is None or not {"settings", "inputs", "shards"} <= found.keys():
        _check_no_others(folder, names - _UNFINISHED)
    for name in sorted(names, key=lambda name: name == MANIFEST):
        if name in {MANIFEST, *_UNFINISHED} or _SHARD.fullmatch(name):
            folder.remove(name)


def _check_no_others(folder: Folder, names: set[str]) -> None:
    """Raise BadInput if the folder has files that no job wrote."""
    if strange := sorted(name for name in names if not name.startswith(".")):
        raise BadInput(
            f"{folder.location('')} holds files but no job of sbert embed ({listed(strange, 3)}); name another folder"
        )


def damaged_shards(folder: Folder, entries: Sequence[Entry]) -> dict[int, str]:
    """Compare the files of shards with their records, and return a sentence about each that differs."""
    names, problems = folder.names(), dict[int, str]()
    for entry in entries:
        where = folder.location(entry.file)
        if entry.file not in names:
            problems[entry.shard] = f"{where} is missing"
        elif folder.size(entry.file) != entry.bytes or folder.digest(entry.file) != entry.digest:
            problems[entry.shard] = f"{where} has changed since it was written"
    return problems


def _foreign(folder: Folder) -> BadInput:
    return BadInput(
        f"{folder.location(MANIFEST)} was changed, or was not written by this version of sbert embed; name another "
        "folder, or start over with --force"
    )


def _columns(found: dict[str, Any]) -> Columns:
    return Columns(found["text"], found["id"], tuple(found["keep"]))


def _numbers(place: Place | None) -> list[int] | None:
    return None if place is None else [place.offset, place.number]


def _place(numbers: list[int] | None) -> Place | None:
    return None if numbers is None else Place(*numbers)
