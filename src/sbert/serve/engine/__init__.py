"""Computes rows of tokens for concurrent requests: fair queues, packed batches, worker threads, and a cache."""

from sbert.serve.engine.engine import Engine
from sbert.serve.engine.lane import Lane
from sbert.serve.engine.queue import Busy, Computed

__all__ = ["Busy", "Computed", "Engine", "Lane"]
