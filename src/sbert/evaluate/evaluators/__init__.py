"""Evaluators: data in, a function from a model to figures out."""
