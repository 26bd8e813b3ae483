"""Records of finished work, one JSON object a line, each on the disk before the next begins."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sbert.disk.files import write_bytes

logger = logging.getLogger(__name__)
Record = dict[str, Any]


class Ledger:
    """A file of records that a crash cannot make unreadable.

    Lines that a killed process or a power failure left incomplete are removed when the file is read; every whole line
    is kept.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder, "done.jsonl"))
    ...     ledger.append({"key": "가", "value": 1})
    ...     ledger.read()
    [{'key': '가', 'value': 1}]
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, record: Record) -> None:
        """Add a record; it is on the disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(_line(record))
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> list[Record]:
        """Return all whole records in their order, after repairing the file where it is damaged."""
        if not self.path.is_file():
            return []
        content = self.path.read_bytes()
        records = [record for line in content.split(b"\n") if (record := _parse(line)) is not None]
        if b"".join(map(_line, records)) != content:
            damaged = sum(1 for line in content.split(b"\n")[:-1] if line.strip() and _parse(line) is None)
            if damaged:  # an incomplete last line is what every interrupted write leaves
                lost = "%s had %d damaged lines, which were removed; %d are whole"
                logger.warning(lost, self.path, damaged, len(records))
            self.replace(records)
        return records

    def replace(self, records: Iterable[Record]) -> None:
        """Write the whole file anew."""
        write_bytes(self.path, b"".join(map(_line, records)))


def _line(record: Record) -> bytes:
    return f"{json.dumps(record, ensure_ascii=False)}\n".encode()


def _parse(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
