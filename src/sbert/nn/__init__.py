"""BATCH -> TENSOR: the transformer without padding, pooling, heads, similarity, quantisation."""
