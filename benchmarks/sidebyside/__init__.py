"""What the benchmarks share: contestants run in turn, the best round of each counts, figures end in bars.

Only ratios within one run mean anything: machines differ, and the same machine differs from hour to hour.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from sbert.disk.machine import cpu_name

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def race(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Best seconds of each contestant. They take turns, so that a busy moment of the machine hits all alike."""
    best = dict.fromkeys(contestants, float("inf"))
    for number in range(rounds):
        order = list(contestants) if number % 2 == 0 else list(contestants)[::-1]
        for name in order:
            best[name] = min(best[name], seconds(contestants[name]))
    return best


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def forget_peak() -> None:
    """Let :func:`peak_megabytes` begin with what this process has now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_megabytes() -> float:
    """The most memory that this process has had; getrusage would count what its parent used."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def data_folder() -> Path:
    """Where the data sets are: the setting SBERT_DATA, or shared/data beside the project."""
    return _folder("SBERT_DATA", "data")


def model_folder() -> Path:
    """Where raw models to train are: the setting SBERT_MODELS, or shared/models beside the project."""
    return _folder("SBERT_MODELS", "models")


def _folder(setting: str, name: str) -> Path:
    folder = Path(os.environ.get(setting) or ROOT.parent / "shared" / name)
    if not folder.is_dir():
        raise SystemExit(f"no folder {folder}: set {setting} to the folder of the {name}")
    return folder


def column(file: str, *names: str) -> list[str]:
    """The given columns of a data set, row by row, each text once."""
    with gzip.open(data_folder() / file, "rt", encoding="utf-8", newline="") as lines:
        table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return list(dict.fromkeys(row[name] for row in table for name in names))


def sts_sentences() -> list[str]:
    """All different sentences of the English STS sets."""
    files = ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb")
    return list(dict.fromkeys(text for name in files for text in column(f"{name}.tsv.gz", "sentence1", "sentence2")))


def finish(name: str, bars: Mapping[str, tuple[float, float]], details: Mapping[str, object]) -> None:
    """Store the figures and end with one line per bar: name, value, target."""
    machine = {"processor": cpu_name(), "cores": os.cpu_count(), "python": platform.python_version()}
    figures = {bar: {"value": round(value, 4), "target": target} for bar, (value, target) in bars.items()}
    RESULTS.mkdir(exist_ok=True)
    record = {"machine": machine, "bars": figures, **details}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for bar, (value, target) in bars.items():
        print(f"bar {bar} {value:.3g} {target:g}")
