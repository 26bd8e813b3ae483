"""Everything that the routes of one process share: models, store, engine, settings and metrics."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from sbert.disk.machine import version
from sbert.errors import BadInput, listed
from sbert.nn.threads import end_team, thread_count
from sbert.serve.engine import Engine
from sbert.serve.health import Health
from sbert.serve.http.body import OpenBytes
from sbert.serve.http.refusal import Refusal
from sbert.serve.loading import Loaded
from sbert.serve.map import StoreMap
from sbert.serve.metrics import Metrics
from sbert.serve.retrieval import Retrieval
from sbert.serve.served import Served
from sbert.serve.settings import Settings


class Service:
    """The state of a server process. Creating one starts its threads and checks every model.

    Args:
        loaded: The models and the location of the store.
        settings: Limits, API keys and other settings.
        shared_metrics: The folder in which several processes share their numbers.
    """

    def __init__(self, loaded: Loaded, settings: Settings, shared_metrics: str | None = None) -> None:
        self.loaded, self.settings = loaded, settings
        self.metrics = Metrics(shared_metrics)
        self.engine = Engine(
            settings.batch_tokens, settings.queue_tokens, settings.cache_bytes, observe=self.metrics.batch
        )
        self.executor = ThreadPoolExecutor(thread_count(), "sbert-executor")
        self.models = {name: Served(name, model, self.engine, self.executor) for name, model in loaded.models.items()}
        self.open_bytes = OpenBytes(settings)
        self.device = next(iter(loaded.models.values())).device.type
        self.health = Health(list(self.models.values()))
        self.started = time.time()
        self.version = version("sbert")
        reranker = None if loaded.reranker is None else self.models[loaded.reranker]
        store = loaded.open_store()
        self.retrieval = None if store is None else Retrieval(store, self.models[str(loaded.store_model)], reranker)
        self.map = StoreMap(str(loaded.store), loaded.sources.get(str(loaded.store_model), ""))
        end_team()  # from here on, only the threads of the engine compute

    def model(self, name: str | None = None, kinds: tuple[str, ...] = ("bi", "poly", "cross")) -> Served:
        """Return the model with this name, or the first model of the first kind that the server has."""
        if name is not None:
            if name not in self.models:
                raise Refusal(
                    "not_found",
                    f"there is no model {name[:80]!r}; this server has {listed(list(self.models))}",
                    param="model",
                )
            return self.models[name]
        for kind in kinds:
            for served in self.models.values():
                if served.kind == kind:
                    return served
        raise BadInput(f"the route needs a model of the kind {' or '.join(kinds)}, but this server has none")

    def ranker(self, name: str | None = None) -> Served:
        """Return the model for ranking: the named one, the re-ranker, or a model of the most accurate kind."""
        return self.model(name or self.loaded.reranker, ("cross", "poly", "bi"))

    def check_items(self, count: int, what: str = "inputs") -> None:
        """Refuse a request without items, or with too many."""
        if count < 1:
            raise Refusal("empty", f"the request has no {what}, but needs at least one", param=what)
        if count > self.settings.max_items:
            raise Refusal(
                "invalid",
                f"the request has {count:,} {what}, but at most {self.settings.max_items:,} are allowed; split it",
                param=what,
            )

    def with_store(self) -> Retrieval:
        """Return the store."""
        if self.retrieval is None:
            raise Refusal("not_found", "this server has no store; start it with --store faq.db")
        return self.retrieval

    def close(self) -> None:
        """Finish the accepted work, and end the threads."""
        self.map.close()
        self.health.close()
        if self.retrieval is not None:
            self.retrieval.close()
        self.executor.shutdown(wait=True)
        self.engine.close()
