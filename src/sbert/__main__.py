"""``python -m sbert`` is the command line."""

from sbert.cli import start

start()
