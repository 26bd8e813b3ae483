"""WHAT THE USER HOLDS: models from texts to vectors, and from pairs of texts to scores."""
