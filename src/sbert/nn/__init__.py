"""Turns batches into tensors: transformers without padding, pooling, heads, similarity and quantisation."""
