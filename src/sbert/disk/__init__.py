"""Files, folders, locks and work that survive a crash. Knows nothing of texts or models."""
