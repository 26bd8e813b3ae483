"""A training run as a file: reads it, builds its parts and explains what it will do."""
