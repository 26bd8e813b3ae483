"""WHAT THE USER HOLDS: models from texts to vectors."""
