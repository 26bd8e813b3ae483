"""Runs numbered trials in child processes with limits on time and memory, and counts how they end.

A trial is repeated exactly by its seed and number: ``--seed 0 --first 17 --count 1``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import socket
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 20
"""Processor time that a trial may take."""
LONGEST_MESSAGE = 700


class Fuzzer(NamedTuple):
    """What to run. All functions must be importable by a child process."""

    description: str
    prepare: Callable[[Path], None]
    """Writes sound inputs into a folder, once."""
    warm_up: Callable[[Path], None]
    """Imports everything and uses a sound input, so that the memory limit concerns the trials alone."""
    trial: Callable[[Path, Path, random.Random, list[str]], None]
    """Makes an input in the first folder from the sound ones in the second, appends what it did to the list, and uses
    the input. Ends normally or with an SbertError."""
    memory: int
    """Bytes that a trial may take."""


def run(fuzzer: Fuzzer) -> int:
    """Run the trials that the command line asks for and report; returns the exit code."""
    arguments = _arguments(fuzzer.description)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        sound = Path(place, "sound")
        sound.mkdir()
        fuzzer.prepare(sound)
        numbers = iter(range(arguments.first, arguments.first + arguments.count))
        lock = threading.Lock()

        def take() -> int | None:
            with lock:
                return next(numbers, None)

        with ThreadPoolExecutor(arguments.workers) as threads:
            work = [threads.submit(_drive, fuzzer, sound, arguments.seed, take) for _ in range(arguments.workers)]
            results = sorted(result for thread in work for result in thread.result())
    failed = [result for result in results if result[1] not in ("accepted", "refused")]
    for number, outcome, detail in failed:
        print(f"{number}: {outcome}: {detail}")
    counts = Counter(outcome for _, outcome, _ in results)
    seen = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    print(f"{seen}; seed {arguments.seed}, {time.monotonic() - started:.0f} s")
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return bool(failed)


def _arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=3_000, help="number of trials")
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument("--first", type=int, default=0, help="number of the first trial, to repeat a single one")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="number of child processes")
    return parser.parse_args()


def _drive(fuzzer: Fuzzer, sound: Path, seed: int, take: Callable[[], int | None]) -> list[tuple[int, str, str]]:
    """Hand trials to a child process one by one, and replace it when it hangs or dies."""
    context = multiprocessing.get_context("spawn")
    results: list[tuple[int, str, str]] = []
    child: Any = None
    ours: Any = None
    while (number := take()) is not None:
        if child is None:
            ours, theirs = context.Pipe()
            child = context.Process(target=_serve, args=(theirs, fuzzer, sound, seed), daemon=True)
            child.start()
            theirs.close()
            assert ours.recv() == "ready"
        ours.send(number)
        outcome, detail = "hang", f"no answer in {SECONDS} s"
        try:
            if _answers(ours, child.pid):
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


def _answers(connection: Any, process: int) -> bool:
    """Wait until a child process answers or has used its time, or, if it uses none, for ten times as long."""
    started, deadline = _seconds_used(process), time.monotonic() + 10 * SECONDS
    while not connection.poll(1):
        if _seconds_used(process) - started > SECONDS or time.monotonic() > deadline:
            return False
    return True


def _seconds_used(process: int) -> float:
    """Return the processor time of a process. Unlike the clock, it does not depend on what else the machine does."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def _serve(connection: Any, fuzzer: Fuzzer, sound: Path, seed: int) -> None:
    """Answer the numbers of trials with their outcomes, in a child process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where libraries in Rust report their panics
    os.environ["RUST_BACKTRACE"] = "0"  # a backtrace reads gigabytes of symbols
    fuzzer.warm_up(sound)

    def refuse(*_: object, **__: object) -> None:
        raise SystemExit("the network was used")

    socket.socket.connect = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse  # type: ignore[assignment]
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + fuzzer.memory, used + fuzzer.memory))
    connection.send("ready")
    while (number := connection.recv()) is not None:
        with tempfile.TemporaryDirectory() as place:
            connection.send(_outcome(fuzzer, Path(place), sound, f"{seed} {number}"))


def _outcome(fuzzer: Fuzzer, folder: Path, sound: Path, seed: str) -> tuple[str, str]:
    from sbert.errors import SbertError

    done: list[str] = []
    try:
        fuzzer.trial(folder, sound, random.Random(seed), done)
    except SbertError as error:
        said = str(error).replace(str(folder), "m")
        if len(said) > LONGEST_MESSAGE or not said.isprintable():
            return "bad message", f"{', '.join(done)}: {said[:2_000]!r}"
        return "refused", said
    except BaseException:
        return "raw error", f"{', '.join(done)}: {' | '.join(traceback.format_exc().splitlines()[-6:])}"
    return "accepted", ""
