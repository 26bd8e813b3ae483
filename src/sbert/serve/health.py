"""Checks running models: a real forward pass must give the vectors of the library, bit for bit."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from sbert.errors import BadModel
from sbert.models.bi import BiEncoder
from sbert.serve.served import Served, reference

_VALID_SECONDS = 2.0  # a result is reused for this long, so that frequent checks cause no load


class Health:
    """The reference results of every model, and the last comparison with them.

    Args:
        models: The models. Each one is checked immediately, also against the reference vectors of its folder if it
            has any.
    """

    def __init__(self, models: list[Served]) -> None:
        self._models = models
        self._expected = [_checked(served) for served in models]
        self._checking = asyncio.Lock()
        self._pool = ThreadPoolExecutor(1, "sbert-health")
        self._checked_at = -_VALID_SECONDS
        self._problem: str | None = None

    async def problem(self) -> str | None:
        """Return a description of the problem, or None. Concurrent requests share one check."""
        async with self._checking:
            if time.monotonic() - self._checked_at >= _VALID_SECONDS:
                self._problem = await asyncio.get_running_loop().run_in_executor(self._pool, self._check)
                self._checked_at = time.monotonic()
            return self._problem

    def close(self) -> None:
        """End the thread that runs the checks."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _check(self) -> str | None:
        for served, expected in zip(self._models, self._expected, strict=True):
            try:
                found = served.compute_reference()
            except Exception as error:
                return (
                    f"{served.name} fails on the reference texts ({type(error).__name__}: {error}); restart the server"
                )
            if not (found == expected).all():
                return f"{served.name} gives different results than at the start of the server; restart the server"
        return None


def _checked(served: Served) -> object:
    """Return the results of the library, after comparing them with those of the folder and of the engine."""
    model = served.model
    if isinstance(model, BiEncoder) and model.reference is not None:
        model.self_check()
    expected = reference(model)
    if not (served.compute_reference(urgent=False) == expected).all():
        raise BadModel(f"{served.name} gives different results in a batch than alone; report this as a bug")
    return expected
