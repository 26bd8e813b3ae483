"""After a KeyboardInterrupt at any instant a store goes on, is whole, and holds no lock."""

from __future__ import annotations

import random
import signal
import time

import numpy as np
import pytest

from sbert import Searcher
from sbert.search.filters import read_filter
from sbert.search.store import Document, cache, database, server

from .conftest import FACTS

INTERRUPTS = 25
QUERY = np.ones((1, 4), np.float32)


def vector(text):
    return np.random.default_rng(list(text.encode())).standard_normal(4).astype(np.float32)


def document(name, version):
    text = f"글 {name}, 판 {version}"
    return Document(name, text, {"i": name}, vector(text))


def check(store, other, version):
    """The store can be read and written by this thread and by another connection."""
    other.put([document(1, version)])
    store.put([document(2, version)])
    found = list(store)
    assert len({one.id for one in found}) == len(found)
    assert all((one.vector == vector(one.text)).all() for one in found)
    key = int(store.nearest(found[0].vector[None], 1).keys[0][0])
    assert store.read(np.array([key]))[key].text == found[0].text


@pytest.fixture
def alarm(monkeypatch):
    """Return a function that interrupts this thread after a number of seconds, as Ctrl-C does."""
    for module in (database, server):
        monkeypatch.setattr(module, "WAIT_SECONDS", 1.0)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


# An interrupt may also arrive in a callback of the garbage collector, which can only report it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers that interrupt")
def test_a_store_goes_on_after_interrupts_at_random_instants(open_store, alarm):
    chance, store, other = random.Random(90125), open_store(), open_store()
    store.put([document(name, 0) for name in range(8)])
    steps = {
        "put": lambda version: store.put([document(name, version) for name in range(3, 6)]),
        "delete": lambda _: store.delete([chance.randrange(8)]),
        "search": lambda _: store.nearest(QUERY, 2, read_filter("i >= 0")),
        "words": lambda _: store.matching(["글"], 2),
        "read": lambda _: list(store),
        "check": lambda _: store.check(),
    }
    seconds, interrupts, version = dict.fromkeys(steps, 0.01), [], 0
    while len(interrupts) < INTERRUPTS:
        version += 1
        name, began = chance.choice(list(steps)), time.perf_counter()
        try:
            alarm(max(seconds[name] * chance.random(), 1e-5))
            steps[name](version)
            alarm(0)
            seconds[name] = time.perf_counter() - began
        except KeyboardInterrupt as error:
            interrupts.append(error)  # keeps the interrupted calls alive, as a notebook does
            check(store, other, version)
    assert store.check() == []


def test_an_interrupt_while_a_writer_waits_leaves_no_transaction(open_store, monkeypatch):
    """The signal is handled when the call that began the transaction returns."""
    store, other = open_store(), open_store()
    kind = type(store._database if hasattr(store, "_database") else store._server)
    connection_of = kind._connection if hasattr(kind, "_connection") else kind._connected

    class Interrupting:
        def __init__(self, connection):
            self.connection = connection

        def __getattr__(self, name):
            return getattr(self.connection, name)

        def execute(self, query, *parameters):
            self.connection.execute(query, *parameters)
            raise KeyboardInterrupt

    name = connection_of.__name__
    monkeypatch.setattr(kind, name, lambda self: Interrupting(connection_of(self)))
    with pytest.raises(KeyboardInterrupt):
        store.put([document(0, 0)])
    monkeypatch.setattr(kind, name, connection_of)
    check(store, other, 1)


def test_an_interrupted_update_of_the_index_is_done_again(tmp_path, monkeypatch):
    from sbert.search.store import SqliteStore

    store = SqliteStore(tmp_path / "저장소.db", FACTS)
    store.put([document(0, 0)])
    store.nearest(QUERY, 1)
    store.put([document(1, 0)])
    apply = cache.CachedIndex._apply

    def interrupted(self, changes):
        self._index.add(np.array([2]), vector("other")[None])
        raise KeyboardInterrupt

    monkeypatch.setattr(cache.CachedIndex, "_apply", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.nearest(QUERY, 1)
    monkeypatch.setattr(cache.CachedIndex, "_apply", apply)
    check(store, store, 1)


@pytest.mark.parametrize("place", ["_places", "_vectors"])
def test_an_interrupted_addition_in_memory_adds_nothing(place, monkeypatch):
    class Model:
        similarity_fn_name = "cosine"

        def encode_query(self, text, **_):
            return vector(text)

        def encode_document(self, texts, **_):
            return np.stack([vector(text) for text in texts])

    searcher = Searcher(Model())
    searcher.add(["하나", "둘"])
    collection = searcher._collection
    whole = getattr(collection, place)

    class Interrupting:
        def __getattr__(self, name):
            return getattr(whole, name)

        def __contains__(self, name):
            return name in whole

        def items(self):
            return whole.items()

        def update(self, _):
            raise KeyboardInterrupt

        append = update

    setattr(collection, place, Interrupting())
    with pytest.raises(KeyboardInterrupt):
        searcher.add(["셋", "넷"])
    if place == "_vectors":
        collection._vectors = whole
    assert (len(searcher), searcher.ids) == (2, [0, 1])
    searcher.add(["다섯"])
    for text in ("하나", "둘", "다섯"):
        assert searcher.search(text, 1).hits[0].text == text
