"""Kills the processes of sbert embed at random instants, and compares the output with that of an uninterrupted run.

A job of a few thousand rows, English and Korean, with repeated texts and bad rows, is run by the command line: in one
process, in worker processes, and on a Ray cluster of two nodes on this machine. Again and again the main process, a
worker, an actor or a raylet is ended with SIGKILL at a random instant, and the same command is started again where its
main process was killed. Then the shards must be the same, byte for byte: same rows, same order, same vectors, nothing
twice, and nothing else may lie in the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROWS, ROWS_PER_SHARD = 4000, 40
KINDS = ("main", "worker", "actor", "raylet")
LEFT = {"manifest.json", "rejected.jsonl", "run.lock"}
Kill = Callable[[subprocess.Popen[bytes], str], bool]


def write_input(folder: Path, rows: int) -> None:
    """Write two files with repeated texts and bad rows."""
    lines = [json.dumps({"key": f"키{row}", "text": f"문장 {row % 900} is text {row % 900}"}) for row in range(rows)]
    lines[7:7], lines[rows // 2 : rows // 2] = ["no JSON"], ['{"key": "x", "text": null}']
    half = rows // 3
    (folder / "a.jsonl").write_text("\n".join(lines[:half]) + "\n", encoding="utf-8")
    (folder / "b.jsonl").write_text("\n".join(lines[half:]) + "\n", encoding="utf-8")


def command(folder: Path, out: str, model: str, *options: str) -> list[str]:
    """The command line of a job."""
    files = [str(folder / name) for name in ("a.jsonl", "b.jsonl")]
    shared = ["-m", model, "--id", "key", "--rows-per-shard", str(ROWS_PER_SHARD)]
    return [sys.executable, "-m", "sbert", "embed", *files, "-o", str(folder / out), *shared, *options]


def descendants(pid: int) -> Iterator[tuple[int, bytes]]:
    """The processes below a process, with their command lines."""
    try:
        children = [one.read_text().split() for one in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return
    for child in (int(name) for names in children for name in names):
        try:
            yield child, Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        yield from descendants(child)


def killed(processes: list[int]) -> bool:
    """Kill one of some processes; False if there is none."""
    if not processes:
        return False
    try:
        os.kill(random.choice(processes), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def kill_main(job: subprocess.Popen[bytes], _: str) -> bool:
    if job.poll() is not None:
        return False
    job.kill()
    job.wait()
    return True


def kill_worker(job: subprocess.Popen[bytes], _: str) -> bool:
    return killed([pid for pid, line in descendants(job.pid) if b"serve()" in line])


def shards(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(out.glob("part-*.parquet"))}


def run_and_kill(start: list[str], out: Path, kinds: dict[str, Kill], kills: int, seconds: float) -> Counter[str]:
    """Run a job to its end, and kill what belongs to it at random instants, at most ``kills`` times."""
    done: Counter[str] = Counter()
    log = (out.parent / f"{out.name}.log").open("ab")
    while True:
        with subprocess.Popen(start, stdout=log, stderr=log) as job:
            while job.poll() is None and done.total() < kills:
                time.sleep(random.uniform(0, seconds))
                kind = min(kinds, key=lambda name: (done[name], random.random()))
                if kinds[kind](job, kind):
                    done[kind] += 1
            code = job.wait()
        if code == 0:
            return done
        if code != -signal.SIGKILL:
            text = (out.parent / f"{out.name}.log").read_text(encoding="utf-8")
            assert "worker processes were lost" in text or "Ray" in text, text[-2000:]


def check(out: Path, expected: dict[str, bytes]) -> None:
    found = shards(out)
    assert found.keys() == expected.keys(), "other shards"
    different = [name for name in found if found[name] != expected[name]]
    assert not different, f"{len(different)} shards differ: {different[:5]}"
    left = {path.name for path in out.iterdir()} - found.keys()
    assert left == LEFT, left


def repeated(folder: Path, model: str, kills: int, engine: str) -> Counter[str]:
    """Run jobs on one engine until there were ``kills`` kills."""
    total: Counter[str] = Counter()
    expected, number = shards(folder / "whole"), 0
    while total.total() < kills:
        name = f"{engine}-{number}"
        if engine == "local":
            start = command(folder, name, model, "--workers", "2")
            kinds: dict[str, Kill] = {"main": kill_main, "worker": kill_worker}
            done = run_and_kill(start, folder / name, kinds, kills - total.total(), 4.0)
        else:
            done = on_ray(folder, name, model, kills - total.total())
        check(folder / name, expected)
        total += done
        number += 1
        print(f"{name}: {dict(done)}, equal", flush=True)
    return total


def on_ray(folder: Path, name: str, model: str, kills: int) -> Counter[str]:
    """Run a job on a new cluster of two nodes; a killed raylet is replaced."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    cluster.add_node(**small)

    def kill_actor(_: subprocess.Popen[bytes], kind: str) -> bool:
        raylets = [process.pid for node in cluster.list_all_nodes() for _, process in node.live_processes()]
        return killed([pid for raylet in raylets for pid, line in descendants(raylet) if b"MapWorker" in line])

    def kill_raylet(_: subprocess.Popen[bytes], kind: str) -> bool:
        other = next(node for node in cluster.list_all_nodes() if not node.is_head())
        cluster.remove_node(other, allow_graceful=False)
        cluster.add_node(**small)
        return True

    try:
        start = command(folder, name, model, "--workers", "2", "--engine", "ray", "--address", cluster.address)
        kinds = {"main": kill_main, "actor": kill_actor, "raylet": kill_raylet}
        return run_and_kill(start, folder / name, kinds, kills, 15.0)
    finally:
        cluster.shutdown()


def tiny_model(folder: Path) -> str:
    """Write the random model of the tests."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.conftest import save_model, save_tokenizer, trained_tokenizer

    tokenizer = trained_tokenizer("bert")
    save_model("bert", tokenizer, folder / "model")
    save_tokenizer("bert", tokenizer, folder / "model")
    return str(folder / "model")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="number of kills, three fifths of them without Ray")
    parser.add_argument("--engines", nargs="+", choices=("local", "ray"), default=("local", "ray"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    share = {"local": options.kills - options.kills * 2 // 5, "ray": options.kills * 2 // 5}
    if len(options.engines) == 1:
        share = dict.fromkeys(options.engines, options.kills)
    with tempfile.TemporaryDirectory(prefix="sbert-") as name:
        folder = Path(name)
        model = tiny_model(folder)
        write_input(folder, ROWS)
        subprocess.run(command(folder, "whole", model), check=True, capture_output=True)
        kills: Counter[str] = Counter()
        for engine in options.engines:
            kills += repeated(folder, model, share[engine], engine)
    details = ", ".join(f"{kills[kind]} {kind}" for kind in KINDS if kills[kind])
    print(f"{kills.total()} kills ({details}), seed {options.seed}: every output equals that of an uninterrupted run")


if __name__ == "__main__":
    main()
