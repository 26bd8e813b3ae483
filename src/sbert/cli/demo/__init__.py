"""Runs ``sbert demo`` and prepares its page."""
