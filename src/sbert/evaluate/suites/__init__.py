"""The published test sets: where their files are, and which evaluator measures a model on each."""

from sbert.evaluate.suites.catalog import SUITES, Suite, download

__all__ = ["SUITES", "Suite", "download"]
