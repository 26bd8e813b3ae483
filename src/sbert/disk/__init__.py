"""Files, folders, locks and unfinished work that survive a crash. Knows nothing of texts or models."""
