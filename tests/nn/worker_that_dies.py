"""A function for worker processes that dies, hangs or fails where its items say so. Imports nothing heavy."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from sbert.errors import BadOption


def prepared(where: str):
    """The function of a worker; items determine its behaviour."""

    def work(item, report):
        kind, value = item
        if kind == "once" and not Path(where, value).exists():
            Path(where, value).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "hang" and not Path(where, value).exists():
            Path(where, value).touch()
            time.sleep(600)
        if kind == "die":
            os._exit(3)
        if kind == "raise":
            raise BadOption("kind", value, ["a"])
        os.write(1, b"a library writes to standard output")
        report(f"half of {value}")
        return f"{value} 끝"

    return work
