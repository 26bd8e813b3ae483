"""The engine by itself: batches, fairness, the bound of the queue, cancellation, failures and the cache."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, wait

import numpy as np
import pytest

from sbert.errors import BadInput, BadModel

pytest.importorskip("starlette", reason="starlette is not installed: pip install 'sbert[serve]'")

from sbert.serve.engine import Busy, Engine, Lane


class Gate:
    """A forward pass that waits until it is let through, and remembers its batches."""

    def __init__(self, model, wrong: int | None = None) -> None:
        self.model, self.wrong = model, wrong
        self.open = threading.Event()
        self.entered = threading.Event()
        self.batches: list[tuple[int, ...]] = []

    def __call__(self, batch):
        self.entered.set()
        assert self.open.wait(30)
        self.batches.append(batch.lengths)
        if self.wrong is not None and self.wrong in batch.input_ids:
            raise RuntimeError("a poisoned text")
        return self.model.forward(batch)


@pytest.fixture
def started():
    engines = []

    def start(**options) -> Engine:
        engines.append(Engine(workers=1, **options))
        return engines[-1]

    yield start
    for engine in engines:
        engine.close()


def test_requests_share_batches_and_a_large_one_holds_up_nobody(bi, started):
    engine, gate = started(batch_tokens=64), Gate(bi)
    lane = Lane("texts", bi, gate)
    first = engine.submit(lane, bi.tokenize(["먼저"]))
    gate.entered.wait(30)
    large_texts = [f"{number} 번째 긴 글 one two three four five six" for number in range(40)]
    large = engine.submit(lane, bi.tokenize(large_texts))
    small = [engine.submit(lane, bi.tokenize([text])) for text in ("비", "rain", "고양이")]
    done_before_large = []
    small[-1].add_done_callback(lambda _: done_before_large.append(not large.done()))
    gate.open.set()
    wait([first, large, *small])
    assert done_before_large == [True]
    assert all(sum(lengths) <= 64 for lengths in gate.batches)
    assert any(len(set(lengths)) > 1 for lengths in gate.batches[1:])
    assert (np.stack(large.result().results) == bi.encode(large_texts)).all()
    assert (np.stack([one.result().results[0] for one in small]) == bi.encode(["비", "rain", "고양이"])).all()


def test_a_full_queue_says_when_to_come_back(bi, started):
    engine, gate = started(queue_tokens=300), Gate(bi)
    lane = Lane("texts", bi, gate)
    tokens = bi.tokenize(["one two three four five"] * 2 + [f"text number {number}" for number in range(15)])
    running = engine.submit(lane, bi.tokenize(["먼저"]))
    gate.entered.wait(30)
    accepted = [engine.submit(lane, tokens)]
    with pytest.raises(Busy, match="tokens are queued for this model") as full:
        engine.submit(lane, tokens)
    assert full.value.seconds >= 1
    with pytest.raises(BadInput, match="the queue holds at most 300; split the request"):
        engine.submit(lane, bi.tokenize([f"글 {number} one two three four" for number in range(200)]))
    gate.open.set()
    wait([running, *accepted])
    assert engine.submit(lane, tokens).result(30).results[0].shape == (32,)
    assert engine.waiting_tokens == engine.waiting_jobs == 0


def test_cancelled_rows_are_never_computed(bi, started):
    engine, gate = started(batch_tokens=32), Gate(bi)
    lane = Lane("texts", bi, gate)
    running = engine.submit(lane, bi.tokenize(["먼저"]))
    gate.entered.wait(30)
    dropped = [engine.submit(lane, bi.tokenize([f"버려진 글 {number}"] * 5)) for number in range(20)]
    kept = engine.submit(lane, bi.tokenize(["남은 글"]))
    assert all(one.cancel() for one in dropped)
    gate.open.set()
    assert (kept.result(30).results[0] == bi.encode("남은 글")).all()
    running.result(30)
    assert len(gate.batches) == 2
    assert engine.waiting_tokens == 0
    with pytest.raises(CancelledError):
        dropped[0].result()


def test_a_text_at_fault_fails_alone(bi, started):
    engine = started()
    poison = bi.tokenize(["고양이"])
    gate = Gate(bi, wrong=int(poison.ids[1]))
    lane = Lane("texts", bi, gate)
    running = engine.submit(lane, bi.tokenize(["one"]))
    gate.entered.wait(30)
    good, bad = engine.submit(lane, bi.tokenize(["two"])), engine.submit(lane, poison)
    gate.open.set()
    running.result(30)
    assert (good.result(30).results[0] == bi.encode("two")).all()
    with pytest.raises(RuntimeError, match="a poisoned text"):
        bad.result(30)


def test_numbers_that_are_none_fail_alone(bi, started):
    engine = started()

    def forward(batch):
        result = bi.forward(batch).clone()
        result[[length == 3 for length in batch.lengths]] = float("nan")
        return result

    lane = Lane("texts", bi, forward)
    assert engine.submit(lane, bi.tokenize(["비가 온다."])).result(30).results[0].shape == (32,)
    with pytest.raises(BadModel, match="the model gives NaN"):
        engine.submit(lane, bi.tokenize(["a"])).result(30)


def test_equal_rows_are_computed_once_and_kept(bi, started):
    engine, gate = started(cache_bytes=100_000), Gate(bi)
    gate.open.set()
    lane = Lane("texts", bi, gate)
    texts = ["비가 온다.", "rain", "비가 온다.", "rain"]
    first = np.stack(engine.submit(lane, bi.tokenize(texts)).result(30).results)
    second = np.stack(engine.submit(lane, bi.tokenize(texts)).result(30).results)
    assert (first == second).all()
    assert (first == bi.encode(texts)).all()
    assert sum(map(len, gate.batches)) == 2
    assert engine.cache.hits == 4
    for number in range(500):
        engine.submit(lane, bi.tokenize([f"글 {number}"])).result(30)
    assert engine.cache.size <= 100_000
    assert 0 < len(engine.cache) < 500


def test_closing_finishes_what_waits(bi):
    engine, gate = Engine(workers=1), Gate(bi)
    lane = Lane("texts", bi, gate)
    jobs = [engine.submit(lane, bi.tokenize([text])) for text in ("비", "눈", "rain")]
    closing = threading.Thread(target=engine.close)
    closing.start()
    gate.open.set()
    closing.join(30)
    assert all(job.done() for job in jobs)
    with pytest.raises(Busy, match="shutting down"):
        engine.submit(lane, bi.tokenize(["새 글"]))


def test_an_urgent_request_goes_before_those_of_all_lanes(bi, started):
    engine, gate = started(), Gate(bi)
    first, second = Lane("first", bi, gate), Lane("second", bi, gate)
    running = engine.submit(first, bi.tokenize(["먼저"]))
    gate.entered.wait(30)
    waiting = engine.submit(second, bi.tokenize(["one two three"]))
    urgent = engine.submit(first, bi.tokenize(["a"]), urgent=True)
    order = []
    waiting.add_done_callback(lambda _: order.append("waiting"))
    urgent.add_done_callback(lambda _: order.append("urgent"))
    gate.open.set()
    wait([running, waiting, urgent])
    assert order == ["urgent", "waiting"]
