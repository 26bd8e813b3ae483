"""Loads thousands of damaged and hostile model folders: each ends with a model or with one sentence.

Each mutation of a valid tiny folder is loaded and used in a child process that may take 20 seconds and 3 GB more than
an idle one, and that reaches no network. The same seed gives the same folders:

    python proofs/fuzz/models.py --count 3000 --seed 0
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from folders import write_sound
from mutations import mutate

SECONDS = 20
MEMORY = 3 << 30
LONGEST_MESSAGE = 700


def main() -> int:
    """Run the mutations and report; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=3_000, help="number of mutations")
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutation, to repeat a single one")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="number of child processes")
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        sound = Path(place, "sound")
        write_sound(sound)
        numbers = iter(range(arguments.first, arguments.first + arguments.count))
        lock = threading.Lock()

        def take() -> int | None:
            with lock:
                return next(numbers, None)

        with ThreadPoolExecutor(arguments.workers) as threads:
            work = [threads.submit(drive, sound, arguments.seed, take) for _ in range(arguments.workers)]
            results = sorted(result for thread in work for result in thread.result())
    counts = Counter(outcome for _, outcome, _ in results)
    failed = [result for result in results if result[1] not in ("loaded", "refused")]
    for number, outcome, detail in failed:
        print(f"{number}: {outcome}: {detail}")
    seen = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    print(f"{seen}; seed {arguments.seed}, {time.monotonic() - started:.0f} s")
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return bool(failed)


def drive(sound: Path, seed: int, take: Callable[[], int | None]) -> list[tuple[int, str, str]]:
    """Hand mutations to a child process one by one, and replace it when it hangs or dies."""
    context = multiprocessing.get_context("spawn")
    results, child, ours = [], None, None
    while (number := take()) is not None:
        if child is None:
            ours, theirs = context.Pipe()
            child = context.Process(target=serve, args=(theirs, sound, seed), daemon=True)
            child.start()
            theirs.close()
            assert ours.recv() == "ready"
        ours.send(number)
        outcome, detail = "hang", f"no answer in {SECONDS} s"
        try:
            if ours.poll(SECONDS):
                outcome, detail = ours.recv()
        except (EOFError, ConnectionError):
            outcome, detail = "crash", "the process died"
        if outcome in ("hang", "crash"):
            child.kill()
            child.join()
            child = None
        results.append((number, outcome, detail))
    if child is not None:
        ours.send(None)
        child.join()
    return results


def serve(connection: Any, sound: Path, seed: int) -> None:
    """Answer mutation numbers with outcomes, in a child process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where libraries in Rust report their panics
    os.environ["RUST_BACKTRACE"] = "0"  # a backtrace reads gigabytes of symbols
    import torch
    import transformers  # noqa: F401

    from sbert.models.load import load

    torch.set_num_threads(1)
    load(sound / "modernbert").encode(["a cat"])

    def refuse(*_: object, **__: object) -> None:
        raise SystemExit("the network was asked")

    socket.socket.connect = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse  # type: ignore[assignment]
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    connection.send("ready")
    while (number := connection.recv()) is not None:
        with tempfile.TemporaryDirectory() as place:
            connection.send(outcome_of(Path(place, "m"), sound, f"{seed} {number}"))


def outcome_of(folder: Path, sound: Path, seed: str) -> tuple[str, str]:
    """Mutate a folder, load it and use the model."""
    from sbert.errors import SbertError
    from sbert.models.load import load

    done = mutate(folder, sound, random.Random(seed))
    try:
        model = load(folder)
        if hasattr(model, "encode"):
            model.encode(["a cat", "비 온다"])
        else:
            model.score_pairs([("a cat", "비 온다")])
    except SbertError as error:
        said = str(error).replace(str(folder), "m")
        if len(said) > LONGEST_MESSAGE or not said.isprintable():
            return "bad message", f"{done}: {said[:2_000]!r}"
        return "refused", said
    except BaseException:
        return "raw error", f"{done}: {' | '.join(traceback.format_exc().splitlines()[-6:])}"
    return "loaded", ""


if __name__ == "__main__":
    sys.exit(main())
