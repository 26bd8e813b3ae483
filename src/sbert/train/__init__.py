"""Columns of texts and labels in, weights out."""
