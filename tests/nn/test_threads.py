"""Functions run on one core each, whatever limit the caller has; interrupts and forks leave the process usable."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from sbert.nn import threads
from sbert.nn.threads import on_cores, on_one_core, thread_count

SOURCE = str(Path(threads.__file__).parents[2])


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def run_program(code: str, seconds: int = 120) -> str:
    """Run a program in a process of its own and return what it prints; it must end, and end well."""
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=seconds, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_every_call_has_one_core_and_inference_mode(limit: int) -> None:
    torch.set_num_threads(limit)

    def look(item: int) -> tuple[int, int, bool]:
        torch.ones(4) @ torch.ones(4)  # the first use, at which torch sets the limit of a thread
        return item, torch.get_num_threads(), torch.is_inference_mode_enabled()

    assert sorted(result for _, result in on_cores(limit, look, range(20))) == [(i, 1, True) for i in range(20)]
    assert on_one_core(torch.get_num_threads) == 1
    assert thread_count() == limit
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == limit


def test_the_default_of_new_threads_stays_apart_from_the_limit_of_the_caller() -> None:
    def both() -> tuple[int, int]:
        torch.set_num_threads(3)  # of this thread, and of all that are new from here on
        return on_one_core(torch.get_num_threads), torch.get_num_threads()

    torch.set_num_threads(2)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(both).result() == (1, 3)
    on_one_core(torch.get_num_threads)
    assert torch.get_num_threads() == 2
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == 3


def test_several_cores_work_at_once_and_no_more_than_asked_for() -> None:
    torch.set_num_threads(4)
    together = threading.Barrier(3, timeout=60)
    assert len(list(on_cores(3, lambda _: together.wait(), range(9)))) == 9
    three = threading.Barrier(3, timeout=0.3)
    with pytest.raises(threading.BrokenBarrierError):
        list(on_cores(2, lambda _: three.wait(), range(3)))


def test_an_exception_is_raised_and_what_waits_is_dropped() -> None:
    torch.set_num_threads(2)
    seen: list[int] = []

    def fail(item: int) -> None:
        seen.append(item)
        time.sleep(0.02)
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 0"):
        list(on_cores(1, fail, range(100)))
    assert len(seen) < 100
    assert on_one_core(lambda: 7) == 7


def test_workers_do_not_keep_what_they_have_computed() -> None:
    import gc
    import weakref

    class Model:
        def compute(self) -> int:
            return 1

    torch.set_num_threads(2)
    model = Model()
    on_one_core(model.compute)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_a_system_that_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(2)
    monkeypatch.setattr(threads, "_workers", threads._Workers())

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            on_one_core(lambda: 7)
    assert on_one_core(lambda: 7) == 7
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert len(list(on_cores(2, lambda item: item, range(9)))) == 9
        assert torch.get_num_threads() == 2


INTERRUPTS = """
import random, signal, threading
import torch
torch.set_num_threads(3)
from sbert import BiEncoder
model = BiEncoder.from_pretrained()
model.train()
texts = ["고양이 " * 10] * 6
expected = model.encode(texts, batch_tokens=64)
before = threading.active_count()
random.seed(0)
interrupts = 0
while interrupts < {count}:
    try:
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, random.random() * {longest} + 1e-5)
        while True:
            model.encode(texts, batch_tokens=64)
    except KeyboardInterrupt:
        interrupts += 1
assert (model.encode(texts, batch_tokens=64) == expected).all()
alive = [thread for thread in threading.enumerate() if thread.is_alive()]
assert len(alive) <= before, alive
print("ended")
"""


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_interrupts_at_any_instant_leave_no_thread_and_no_hang(count: int) -> None:
    assert run_program(INTERRUPTS.format(count=count, longest=0.05), seconds=540) == "ended\n"


def test_an_interrupt_in_the_first_call_ends_the_process() -> None:
    code = """
import _thread, threading
import torch
torch.set_num_threads(4)
from sbert import BiEncoder
model = BiEncoder.from_pretrained()
threading.Timer(0.05, _thread.interrupt_main).start()
try:
    while True:
        model.encode(["고양이 " * 50] * 40)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run_program(code) == "interrupted\n"


def test_an_interrupt_while_a_result_is_handed_over_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    withdraw = threads._Workers.withdraw
    interrupts = [KeyboardInterrupt()]

    def interrupted(workers: threads._Workers, call: threads._Call) -> None:
        if interrupts:
            raise interrupts.pop()
        withdraw(workers, call)

    torch.set_num_threads(2)
    monkeypatch.setattr(threads._Workers, "withdraw", interrupted)
    with pytest.raises(KeyboardInterrupt):
        on_one_core(lambda: 7)
    assert on_one_core(lambda: 7) == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("encodes_first", [False, True])
def test_a_forked_process_encodes(encodes_first: bool) -> None:
    code = f"""
import os, signal, threading
import torch
torch.set_num_threads(2)
torch.rand(2000, 2000) @ torch.rand(2000, 2000)
from sbert import BiEncoder
model = BiEncoder.from_pretrained()
texts = ["고양이가 잔다.", "long " * 200] * 4
expected = model.encode(texts) if {encodes_first} else None
read, write = os.pipe()
child = os.fork()
if not child:
    signal.alarm(100)
    vectors = model.encode(texts, normalize_embeddings=True)
    model.similarity(vectors, vectors)
    torch.rand(2000, 2000) @ torch.rand(2000, 2000)
    os.write(write, vectors.tobytes())
    raise SystemExit(0)
os.close(write)
got = b"".join(iter(lambda: os.read(read, 1 << 16), b""))
assert os.waitpid(child, 0)[1] == 0
assert got == model.encode(texts, normalize_embeddings=True).tobytes()
assert expected is None or (model.encode(texts) == expected).all()
print("ended")
"""
    assert run_program(code) == "ended\n"
