"""Turns strings into batches: token ids, the number of truncated tokens, and batches by a token budget."""

from sbert.text.batching import batches, plan
from sbert.text.checks import check_pairs, check_texts
from sbert.text.pieces import PieceTokenizer
from sbert.text.tokenizer import Tokenizer, Tokens, Truncation
from sbert.text.words import WordTokenizer, split_words

__all__ = [
    "PieceTokenizer",
    "Tokenizer",
    "Tokens",
    "Truncation",
    "WordTokenizer",
    "batches",
    "check_pairs",
    "check_texts",
    "plan",
    "split_words",
]
