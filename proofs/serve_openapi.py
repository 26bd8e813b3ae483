"""Asks a server thousands of things that its OpenAPI document allows, and as many that it forbids: no server error."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "serve"))

from serverprocess import ServerProcess

OPERATIONS = 27  # at most; the number of examples is that of requests, divided by this


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = ServerProcess(Path(folder), "--store", Path(folder) / "a.db", "--log", "off")
        try:
            sent = ask(server, wanted.requests, wanted.seed)
            assert server.ask("/health").status == 200
        finally:
            server.stop()
    print(f"bar requests {sent} {wanted.requests}")
    assert sent >= wanted.requests


def ask(server: ServerProcess, requests: int, seed: int) -> int:
    """Run schemathesis until it has sent enough requests; return their number."""
    sent = 0
    while sent < requests:
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"),
            *("--checks", "not_a_server_error,response_schema_conformance,content_type_conformance"),
            *("--mode", "all", "--phases", "examples,coverage,fuzzing", "--exclude-path-regex", "^/map$"),
            *("--max-examples", str(max(10, requests // OPERATIONS)), "--seed", str(seed + sent), "--no-color"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout[-2500:])
        if done.returncode:
            raise SystemExit(f"schemathesis found a failure: {done.stderr[-2000:]}")
        found = re.search(r"([\d,]+) generated", done.stdout)
        assert found, done.stdout
        sent += int(found[1].replace(",", ""))
    return sent


if __name__ == "__main__":
    main()
