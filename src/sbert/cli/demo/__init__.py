"""What sbert demo shows."""
