"""Files, folders, locks and unfinished work that survive a crash. Is independent of texts and models."""
