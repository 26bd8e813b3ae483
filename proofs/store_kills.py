"""Kills processes that index, update, delete and compact at random instants, and compares every vector afterwards.

Half of the kills are for a store in SQLite, the other half for one in PostgreSQL, whose server is not killed.
After each SIGKILL the store must open, hold every document at most once, with its old or its new text and the vector
of that text, and pass its own check. No document that was stored before the kill may be missing unless the process
deletes it. The same work is then started again, and must not embed a text that is stored already. After some kills the
work is completed, and the next version of the documents follows, so that updates and deletions are killed, too. Every
kind of step is killed at least once in each kind of store.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sbert.search import stored
from sbert.search.store import (
    Document,
    PostgresStore,
    SqliteStore,
    Store,
    StoreFacts,
    cache,
    distances,
    is_postgres,
    postgres,
)
from sbert.search.stored import StoredCollection

DIMENSION, DOCUMENTS, WINDOW, EXACT_ROWS = 32, 3000, 64, 500
FACTS = StoreFacts("hash", "hash", DIMENSION, "cosine", "float32", morphemes=False)
KINDS = ("sqlite", "postgres")
KILLS_PER_VERSION = 5
STEPS = {"add": 1.0, "update": 1.0, "delete": 0.02, "index": 0.5, "compact": 1.5}
"""What a process does, and in how many seconds after the beginning of each step it is killed."""
SERVER = Path(__file__).parents[1] / "tests" / "search"  # the folder with the module that starts a server


class HashModel:
    """Gives every text a vector that can be computed again, and records which texts it embedded."""

    similarity_fn_name = "cosine"

    def __init__(self, record: Path) -> None:
        self.record = record

    def encode_document(self, texts: list[str]) -> np.ndarray:
        with self.record.open("a", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in texts)
        return np.stack([vector_of(text) for text in texts])


def vector_of(text: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)


def version(number: int) -> dict[str, str]:
    """The documents of a version: each version changes a third, drops some and adds some."""
    return {
        f"문서{i}": f"글 {i} 판 {number if i % 3 == number % 3 else number // 3}"
        for i in range(DOCUMENTS)
        if (i + number) % 10
    }


def opened(location: str, facts: StoreFacts | None = None) -> Store:
    """Open a store, or create it if ``facts`` are given, with an index from few rows on."""
    stored.WINDOW = WINDOW
    for module in (cache, distances, postgres):
        module.EXACT_ROWS = EXACT_ROWS
    return PostgresStore(location, facts) if is_postgres(location) else SqliteStore(location, facts)


def exists(location: str) -> bool:
    """Return whether a process came as far as creating the store."""
    return PostgresStore.exists(location) if is_postgres(location) else Path(location).exists()


def work(location: str, number: int, record: Path) -> None:
    """What a process does: bring the store to a version, and compact it."""
    print("update" if number else "add", flush=True)
    store = opened(location, FACTS)
    wanted = version(number)
    collection = StoredCollection(store, HashModel(record))
    collection.add_documents((Document(name, text) for name, text in wanted.items()), None, show_progress_bar=False)
    print("delete", flush=True)
    store.delete([name for name in store.ids() if name not in wanted])
    print("index", flush=True)
    store.save_index()
    print("compact", flush=True)
    store.compact()


def check(location: str) -> dict[str, str]:
    """Compare every vector with its text, and a search with the rows; return the texts by their ids."""
    store = opened(location)
    documents = list(store)
    texts = {str(document.id): document.text for document in documents}
    assert len(texts) == len(documents) == store.count(), "a document is there twice"
    different = [one.id for one in documents if one.vector is None or (one.vector != vector_of(one.text)).any()]
    assert not different, f"{len(different)} different: these documents have other vectors: {different[:5]}"
    problems = store.check()
    assert not problems, problems
    for document in random.sample(documents, min(20, len(documents))):
        keys = store.nearest(vector_of(document.text)[None], 1).keys[0]
        assert store.read(keys)[int(keys[0])].text == document.text, "a search found something else"
    return texts


def check_kept(before: dict[str, str], after: dict[str, str], wanted: dict[str, str]) -> None:
    """Check that a killed process lost nothing: each document is there, with its old or with its new text."""
    lost = [name for name in before if name in wanted and name not in after]
    assert not lost, f"{len(lost)} lost: {lost[:5]}"
    different = [name for name, text in after.items() if text not in (before.get(name), wanted.get(name))]
    assert not different, f"{len(different)} different: these documents have other texts: {different[:5]}"


def kill_once(location: str, number: int, folder: Path, target: str) -> str:
    """Start the work, kill it in a step or soon after; return what it was doing, or "" if it was completed before."""
    command = [sys.executable, __file__, "--work", location, str(number), str(folder / f"texts-{number}")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        step = next(line for line in process.stdout if line.strip() == target)
        time.sleep(random.uniform(0, STEPS[target]))
        killed = process.poll() is None
        process.send_signal(signal.SIGKILL)
        step = (step + process.stdout.read()).split()[-1]
    assert killed or process.returncode == 0, "the work failed"
    return step if killed else ""


def kill_often(location: str, wanted: int, folder: Path) -> Counter[str]:
    """Kill processes and check the store until there were ``wanted`` kills; return how many hit each step."""
    kills: Counter[str] = Counter()
    number, stored = 0, dict[str, str]()
    while kills.total() < wanted:
        for _ in range(min(KILLS_PER_VERSION, wanted - kills.total())):
            possible = [step for step in STEPS if step != ("add" if number else "update")]
            step = kill_once(location, number, folder, min(possible, key=lambda name: kills[name]))
            before, stored = stored, check(location) if exists(location) else {}
            check_kept(before, stored, version(number))
            if not step:
                break
            kills[step] += 1
            print(f"kill {kills.total()} ({step}): whole", flush=True)
        work(location, number, folder / f"texts-{number}")
        stored = check(location)
        assert stored == version(number), "the completed work gives other documents"
        texts = (folder / f"texts-{number}").read_text(encoding="utf-8").splitlines()
        again = len(texts) - len(set(texts))
        assert again <= WINDOW * KILLS_PER_VERSION, f"{again} texts were embedded again"
        print(f"version {number}: {len(version(number))} documents, {again} texts embedded twice", flush=True)
        number += 1
    litter = [path.name for path in folder.iterdir() if path.name.startswith(".sbert-")]
    assert not litter, litter
    return kills


@contextmanager
def place(kind: str) -> Iterator[tuple[str, Path]]:
    """Yield where a store is created, and a folder for the records of the processes."""
    with tempfile.TemporaryDirectory(prefix="sbert-") as name:
        folder = Path(name)
        if kind == "sqlite":
            yield f"{name}/store.db", folder
            return
        sys.path.insert(0, str(SERVER))
        from postgres_server import Postgres

        (folder / "server").mkdir()
        server = Postgres(folder / "server")
        try:
            yield server.place(), folder
        finally:
            server.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="number of kills, divided among the kinds of stores")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", nargs=3, metavar=("STORE", "VERSION", "RECORD"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        location, number, record = options.work
        work(location, int(number), Path(record))
        return
    random.seed(options.seed)
    results: dict[str, Counter[str]] = {}
    for turn, kind in enumerate(options.kinds):
        kills = (options.kills + turn) // len(options.kinds)
        with place(kind) as (location, folder):
            print(f"== {kind}", flush=True)
            results[kind] = kill_often(location, kills, folder)
    for kind, steps in results.items():
        print(f"{kind}: {steps.total()} kills ({', '.join(f'{step} {steps[step]}' for step in STEPS)})")
    total = sum(steps.total() for steps in results.values())
    for kind, steps in results.items():
        missing = sorted(STEPS.keys() - steps.keys())
        assert not missing or steps.total() < 4 * len(STEPS), f"{kind}: these steps were never killed: {missing}"
    print(f"{total} kills, 0 lost, 0 different")  # anything else has ended the script with an error


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
