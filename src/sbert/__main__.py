"""``python -m sbert`` is the command line."""

from sbert.cli.main import main

main()
