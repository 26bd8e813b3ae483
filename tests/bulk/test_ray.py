"""Real Ray: a cluster of two raylets, the bytes of one process, and an actor and a raylet that are killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from sbert.bulk import Running, Settings, embed_files, verify_shards
from sbert.errors import BadInput

from .conftest import contents

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: pip install 'sbert[ray]'"),
    pytest.mark.filterwarnings("ignore"),  # those of Ray itself
]
SETTINGS = Settings(rows_per_shard=3)


@pytest.fixture(scope="module")
def cluster():
    """Two nodes with one core each, as processes of this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80_000_000}
    started = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    started.add_node(**small)
    ray.init(address=started.address, log_to_driver=False, logging_level="ERROR")
    yield started
    ray.shutdown()
    started.shutdown()


def actors_of(node) -> list[int]:
    """The processes of actors that a raylet has started."""
    found = []
    for raylet in node.live_processes():
        children = Path(f"/proc/{raylet[1].pid}/task/{raylet[1].pid}/children")
        for child in children.read_text().split() if children.exists() else ():
            if b"MapWorker" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def kill_in_the_middle(cluster, out: Path, killed: list[str]) -> None:
    """Kill an actor on the head after two shards, and all of the other node after six."""

    def wait_for(shards: int) -> None:
        while len(list(out.glob("part-*"))) < shards:
            time.sleep(0.01)

    head, other = cluster.list_all_nodes()
    wait_for(2)
    for pid in actors_of(head) or actors_of(other):
        os.kill(pid, signal.SIGKILL)
        killed.append("actor")
    wait_for(6)
    cluster.remove_node(other, allow_graceful=False)
    killed.append("node")


def test_same_bytes_from_two_nodes_of_which_an_actor_and_one_are_killed(cluster, folder, bi):
    Path("글.txt").write_text("".join(f"문장 {row} 길다\n" * 2 for row in range(60)), encoding="utf-8")
    embed_files("글.txt", "one", model=bi, settings=SETTINGS)
    killed: list[str] = []
    killer = threading.Thread(target=kill_in_the_middle, args=(cluster, folder / "ray", killed), daemon=True)
    killer.start()
    done = embed_files("글.txt", "ray", model=bi, settings=SETTINGS, running=Running(engine="ray", workers=2))
    killer.join(60)
    assert {*killed} == {"actor", "node"}
    assert contents("ray") == contents("one")
    assert [entry.shard for entry in done.shards] == list(range(40))
    assert verify_shards("ray").equal == 100


def test_errors_of_actors_are_sentences(cluster, folder, bi):
    Path("글.txt").write_text("긴 글 " * 200, encoding="utf-8")
    with pytest.raises(BadInput, match="1 of 1 texts truncated"):
        embed_files("글.txt", "out", model=bi, settings=Settings(on_truncate="raise"), running=Running(engine="ray"))
