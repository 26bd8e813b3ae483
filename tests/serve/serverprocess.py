"""A server as a process of its own, and plain requests to it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SOURCE), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


DOCUMENTS = [
    ("결제", "결제가 두 번 되었어요. 환불해 주세요.", {"lang": "ko", "year": 2024}),
    ("배송", "배송이 언제 도착하나요?", {"lang": "ko", "year": 2023}),
    ("refund", "How do I get my money back?", {"lang": "en", "year": 2024}),
    ("delivery", "When will my parcel arrive?", {"lang": "en", "year": 2023}),
    (7, "The cat sits outside on the warm stone wall.", {"lang": "en", "year": 2020}),
]


class Answer(NamedTuple):
    status: int
    body: Any
    headers: dict[str, str]


class ServerProcess:
    """``sbert serve`` on a free port, with its log in a file."""

    def __init__(self, folder: Path, *arguments: object, **environment: str) -> None:
        self.log = folder / f"server-{time.monotonic_ns()}.log"
        command = [sys.executable, "-m", "sbert", "serve", "--port", "0", *map(str, arguments)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, env=ENVIRONMENT | environment, stderr=log, stdout=log, cwd=folder, stdin=subprocess.DEVNULL
            )
        self.url = self._address()
        self.port = int(self.url.rpartition(":")[2])

    def _address(self) -> str:
        until = time.monotonic() + 300
        while time.monotonic() < until and self.process.poll() is None:
            if found := re.search(r"at (http://\S+?);", self.log.read_text("utf-8")):
                try:
                    urllib.request.urlopen(f"{found[1]}/openapi.json", timeout=10).read()
                except urllib.error.HTTPError:
                    return found[1]
                except OSError:
                    pass
                else:
                    return found[1]
            time.sleep(0.05)
        self.process.kill()
        raise AssertionError(self.log.read_text("utf-8"))

    def ask(self, path: str, body: Any = None, method: str | None = None, **headers: str) -> Answer:
        """Send a request, and return the answer whatever its status is."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"content-type": "application/json"} | named if data is not None else named
        request = urllib.request.Request(self.url + path, data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as found:
                return _answer(found.status, found.read(), found.headers)
        except urllib.error.HTTPError as error:
            return _answer(error.code, error.read(), error.headers)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End the server, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)

    def lines(self) -> list[dict[str, Any]]:
        """Return the records of the log."""
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines() if line.startswith("{")]


def _answer(status: int, body: bytes, headers: Any) -> Answer:
    kind = headers.get("content-type", "")
    content = json.loads(body) if kind.startswith("application/json") and body else body
    return Answer(status, content, {name.lower(): value for name, value in headers.items()})
