"""ARGV -> ONE CALL: one file per verb; the only room that prints."""

from __future__ import annotations

import sys


def start() -> None:
    """The command: an interrupt is answered in one word even while the verbs are being loaded."""
    try:
        from sbert.cli.main import main

        main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)  # as a shell reports a program that SIGINT ended
