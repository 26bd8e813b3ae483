"""Evaluators hold the data of a task and measure models on it."""
