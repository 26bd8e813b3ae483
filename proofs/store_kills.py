"""Kills processes that index, update, delete and compact at random instants, and compares every vector afterwards.

After each SIGKILL the store must open, hold every document at most once and with the vector of its text, and pass its
own check. The same work is then started again, and must not embed a text that is stored already.
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
from pathlib import Path

import numpy as np

from sbert.search import stored
from sbert.search.store import Document, StoreFacts, cache
from sbert.search.store.sqlite import SqliteStore
from sbert.search.stored import StoredCollection

DIMENSION, DOCUMENTS, WINDOW, EXACT_ROWS = 32, 3000, 64, 500
FACTS = StoreFacts("hash", "hash", DIMENSION, "cosine", "float32", morphemes=False)


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


def work(location: str, number: int, record: Path) -> None:
    """What a process does: bring the store to a version, and compact it."""
    stored.WINDOW, cache.EXACT_ROWS = WINDOW, EXACT_ROWS
    store = SqliteStore(location, FACTS)
    wanted = version(number)
    collection = StoredCollection(store, HashModel(record))
    collection.add_documents((Document(name, text) for name, text in wanted.items()), None, show_progress_bar=False)
    store.delete([name for name in store.ids() if name not in wanted])
    store.save_index()
    store.compact()


def check(location: str) -> int:
    """Compare every vector with its text, and a search with the rows; return the number of documents."""
    cache.EXACT_ROWS = EXACT_ROWS
    store = SqliteStore(location)
    documents = list(store)
    names = [document.id for document in documents]
    assert len(set(names)) == len(names) == store.count(), "a document is there twice"
    for document in documents:
        assert document.vector is not None
        assert (document.vector == vector_of(document.text)).all(), f"{document.id} has another text's vector"
    problems = store.check()
    assert not problems, problems
    for document in random.sample(documents, min(20, len(documents))):
        keys = store.nearest(vector_of(document.text)[None], 1).keys[0]
        assert store.read(keys)[int(keys[0])].text == document.text, "a search found something else"
    return len(documents)


def kill_once(location: str, number: int, folder: Path, seconds: float) -> bool:
    """Start the work, kill it after some seconds, and check the store; return whether it was killed in time."""
    command = [sys.executable, __file__, "--work", location, str(number), str(folder / f"texts-{number}")]
    with subprocess.Popen(command) as process:
        time.sleep(seconds)
        killed = process.poll() is None
        process.send_signal(signal.SIGKILL)
    if Path(location).exists():
        check(location)
    return killed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", nargs=3, metavar=("STORE", "VERSION", "RECORD"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        location, number, record = options.work
        work(location, int(number), Path(record))
        return
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as place:
        folder, location = Path(place), f"{place}/store.db"
        kills = number = 0
        duration = 8.0
        while kills < options.kills:
            while kills < options.kills and kill_once(location, number, folder, random.uniform(0.3, duration)):
                kills += 1
                print(f"kill {kills}: whole", flush=True)
            began = time.monotonic()
            work(location, number, folder / f"texts-{number}")
            duration = 2.5 + time.monotonic() - began
            assert check(location) == len(version(number))
            texts = (folder / f"texts-{number}").read_text(encoding="utf-8").splitlines()
            again = len(texts) - len(set(texts))
            assert again <= WINDOW * (kills + 1), f"{again} texts were embedded again"
            print(f"version {number}: {len(version(number))} documents, {again} texts embedded twice", flush=True)
            number += 1
        litter = [path.name for path in folder.iterdir() if path.name.startswith(".sbert-")]
        assert not litter, litter
    print(f"{kills} kills, {number} versions: 0 lost, 0 different")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
