"""The names of sentence-transformers, implemented with sbert: a script changes one import.

Every argument has the same meaning as there, or raises an error in one sentence; the page
``docs/from-sentence-transformers.md`` lists them all. New code is shorter with the classes of sbert itself.

>>> from sbert.adapters.sentence_transformers import SentenceTransformer, util
>>> model = SentenceTransformer("all-MiniLM-L6-v2")
>>> embeddings = model.encode(["A man is eating.", "Someone has a meal."], convert_to_tensor=True)
>>> round(float(util.cos_sim(embeddings[0], embeddings[1])), 3)
0.714
"""

from typing import Any

from sbert.adapters.sentence_transformers import losses, util
from sbert.adapters.sentence_transformers.bi import SentenceTransformer
from sbert.adapters.sentence_transformers.cross import CrossEncoder
from sbert.adapters.sentence_transformers.util import SimilarityFunction, quantize_embeddings
from sbert.porting import unknown_name

__all__ = [
    "CrossEncoder",
    "SentenceTransformer",
    "SimilarityFunction",
    "losses",
    "quantize_embeddings",
    "util",
]


def __getattr__(name: str) -> Any:
    raise unknown_name("sbert.adapters.sentence_transformers", name, "sentence_transformers")
