"""A training run as a file: read, built, explained."""
