"""sbert embed against sentence-transformers' multi-process pool and plain encode, and its memory over a million rows.

The comparison embeds real sentences of the STS sets with the bundled model, on all cores. The memory is that of all
processes together while a small random model embeds a million different short lines; the samples are stored with the
figures, and drawn as a picture. ``--rows`` and ``--lines`` set smaller counts for a trial, which stores nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sidebyside import RESULTS, ROOT, finish, race, seconds, sts_sentences

from sbert import BiEncoder
from sbert.bulk import Running, Settings, embed_files
from sbert.nn.threads import thread_count

SAMPLE_SECONDS = 0.5
SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}


def real_rows(count: int) -> list[str]:
    """Different texts: the sentences of the STS sets, joined in pairs when they run out."""
    sentences = sts_sentences()
    joined = (
        f"{first} {second}"
        for step in range(1, 99)
        for first, second in zip(sentences, sentences[step:], strict=False)
    )
    texts = dict.fromkeys(sentences)
    for text in joined:
        if len(texts) >= count:
            break
        texts[text] = None
    return list(texts)[:count]


def compared(folder: Path, texts: list[str], workers: int, rounds: int) -> dict[str, float]:
    """Seconds of each contestant; all load their models themselves, but plain encode, which has no start."""
    from sentence_transformers import SentenceTransformer

    source = folder / "texts.txt"
    source.write_text("".join(f"{' '.join(text.split())}\n" for text in texts), encoding="utf-8")
    texts = source.read_text(encoding="utf-8").splitlines()
    ours, number = BiEncoder.from_pretrained(), iter(range(999))
    theirs = SentenceTransformer(str(bundled_folder()), device="cpu")
    results: dict[str, np.ndarray] = {}

    def job(running: Running) -> Callable[[], None]:
        def run() -> None:
            out = folder / f"out-{next(number)}"
            embed_files(source, out, settings=Settings(rows_per_shard=2048), running=running)
            parts = [pq.read_table(path)["embedding"].combine_chunks() for path in sorted(out.glob("part-*.parquet"))]
            results["sbert"] = np.concatenate([part.flatten().to_numpy() for part in parts]).reshape(len(texts), -1)
            shutil.rmtree(out)

        return run

    def pool() -> None:
        started = theirs.start_multi_process_pool(["cpu"] * workers)
        try:
            results["theirs"] = theirs.encode(texts, pool=started, batch_size=32)
        finally:
            theirs.stop_multi_process_pool(started)

    best = race(
        {
            "plain": lambda: results.update(plain=ours.encode(texts)),
            "one": job(Running()),
            "workers": job(Running(workers=workers)),
            "pool": pool,
        },
        rounds,
    )
    assert np.array_equal(results["plain"], results["sbert"]), "the vectors differ from those of encode"
    assert np.abs(results["plain"] - results["theirs"]).max() < 1e-4, "the vectors differ from the other library's"
    return best


def bundled_folder() -> Path:
    from sbert import hub

    return Path(hub.resolve(None))


def small_model(folder: Path) -> Path:
    """A random model with the tokenizer of the bundled one."""
    import torch
    from transformers import AutoConfig, AutoModel

    target = folder / "small"
    shutil.copytree(bundled_folder(), target, symlinks=False)
    (target / "model.safetensors").unlink()
    config = AutoConfig.from_pretrained(target, **SMALL)
    torch.manual_seed(0)
    AutoModel.from_config(config).save_pretrained(target)
    for extra in (
        path for path in target.iterdir() if path.is_dir() or path.name in ("modules.json", "reference.json")
    ):
        shutil.rmtree(extra) if extra.is_dir() else extra.unlink()
    return target


def memory_of(pid: int) -> int:
    """Bytes that a process and those below it hold for themselves or share, shared ones divided (PSS)."""
    total, waiting = 0, [pid]
    while waiting:
        process = waiting.pop()
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
            total += next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
            for task in Path(f"/proc/{process}/task").iterdir():
                waiting += map(int, (task / "children").read_text(encoding="ascii").split())
        except (OSError, StopIteration):
            continue
    return total


def memory_over_time(folder: Path, lines: int, workers: int) -> tuple[list[tuple[float, float]], float]:
    """Embed different short lines in worker processes; return samples of seconds and megabytes, and the seconds."""
    source = folder / "lines.txt"
    with source.open("w", encoding="utf-8") as file:
        file.writelines(f"line {number}\n" for number in range(lines))
    command = [
        sys.executable,
        "-m",
        "sbert",
        "embed",
        str(source),
        "-o",
        str(folder / "million"),
        "-m",
        str(small_model(folder)),
    ]
    samples: list[tuple[float, float]] = []
    start = time.perf_counter()
    with subprocess.Popen([*command, "--workers", str(workers)]) as job:
        watcher = threading.Thread(target=_sample, args=(job, start, samples))
        watcher.start()
        assert job.wait() == 0
        watcher.join()
    return samples, time.perf_counter() - start


def _sample(job: subprocess.Popen[bytes], start: float, samples: list[tuple[float, float]]) -> None:
    while job.poll() is None:
        samples.append((round(time.perf_counter() - start, 1), round(memory_of(job.pid) / 1e6, 1)))
        time.sleep(SAMPLE_SECONDS)


def growth(samples: list[tuple[float, float]]) -> float:
    """The peak of the last quarter of the run, relative to that of the second quarter."""
    quarter = max(1, len(samples) // 4)
    second, last = samples[quarter : 2 * quarter], samples[-quarter:]
    return max(size for _, size in last) / max(size for _, size in second or samples)


def draw(samples: list[tuple[float, float]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    axes.plot(*zip(*samples, strict=True))
    axes.set(xlabel="seconds", ylabel="MB of all processes", ylim=(0, None))
    figure.savefig(path, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    workers = min(os.cpu_count() or 1, thread_count())
    with tempfile.TemporaryDirectory(prefix="sbert-") as name:
        folder = Path(name)
        texts = real_rows(options.rows)
        best = compared(folder, texts, max(2, workers), options.rounds)
        samples, took = memory_over_time(folder, options.lines, max(2, workers))
    tokens = int(BiEncoder.from_pretrained().tokenize(texts).lengths.sum())
    bars = {
        "bulk_speedup_over_pool": (best["pool"] / min(best["one"], best["workers"]), 1.5),
        "bulk_overhead_over_encode": (min(best["one"], best["workers"]) / best["plain"] - 1, 0.05),
        "bulk_memory_growth": (growth(samples), 1.05),
    }
    details = {
        "rows": len(texts),
        "tokens": tokens,
        "seconds": best,
        "tokens_per_second": tokens / min(best["one"], best["workers"]),
        "workers": workers,
        "lines": options.lines,
        "lines_seconds": took,
        "memory": samples,
    }
    if options.rows == parser.get_default("rows") and options.lines == parser.get_default("lines"):
        draw(samples, ROOT / "docs" / "pictures" / "bulk-memory.svg")
        finish("bulk", bars, details)
    else:
        for bar, (value, target) in bars.items():
            print(f"trial {bar} {value:.3g} {target:g}")
        print({name: value for name, value in details.items() if name != "memory"}, seconds.__name__, RESULTS.name)


if __name__ == "__main__":
    main()
