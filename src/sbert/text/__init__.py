"""STRINGS -> BATCH: token ids, an account of what did not fit, and batches by token budget."""

from sbert.text.batching import batches, plan
from sbert.text.tokenizer import ON_TRUNCATE, Tokenizer, Tokens, Truncation, check_texts

__all__ = ["ON_TRUNCATE", "Tokenizer", "Tokens", "Truncation", "batches", "check_texts", "plan"]
