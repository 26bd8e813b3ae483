"""The command line. Each subcommand has a module in ``verbs``; no other part of the package prints."""

from __future__ import annotations

import sys


def start() -> None:
    """Run the command line; an interrupt ends it in one line even while it is being imported."""
    try:
        from sbert.cli.main import main

        main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)  # what a shell reports for a program that SIGINT ended
