"""BM25 over the words of a store in PostgreSQL, with the formula and the constants of SQLite's FTS5."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sbert.search.filters import Sql
from sbert.search.store.store import Match
from sbert.search.store.tables import read_state
from sbert.text.terms import document_terms

if TYPE_CHECKING:
    import psycopg

_LONG = 100  # longer words are replaced by their hashes, because an index does not accept long texts
_LEAST_WEIGHT = 1e-6  # weight of a word that occurs in more than half of the texts
_NUMBER = """
SELECT (SELECT count(*) FROM rows WHERE words @> ARRAY[word COLLATE "C"])
FROM unnest(%s::text[]) WITH ORDINALITY AS query (word, place) ORDER BY place
"""
# k1 is 1.2 and b is 0.75; the operations have the order that they have in FTS5.
_MATCH = """
SELECT key, (
    SELECT sum(weight * ((count * 2.2::float8) / (count + 1.2::float8 * (0.25::float8 + 0.75::float8 * length / %s))))
    FROM (
        SELECT weight, counts[array_position(words, word)]::float8 AS count
        FROM unnest(%s::text[], %s::float8[]) AS query (word, weight)
    ) AS found
    WHERE count IS NOT NULL
) AS score
FROM rows WHERE words && %s::text[] AND {where} ORDER BY score DESC, key LIMIT %s
"""


class Words(NamedTuple):
    """The distinct words of a text, their counts, and the total number of words."""

    words: list[str]
    counts: list[int]
    length: int


def words_of(text: str, morphemes: bool) -> Words:
    """Count the words of a text.

    >>> words_of("Two and two", morphemes=False)
    Words(words=['two', 'and'], counts=[2, 1], length=3)
    """
    counts = Counter(map(_short, document_terms(text, morphemes)))
    return Words(list(counts), list(counts.values()), counts.total())


def match(connection: psycopg.Connection[Any], terms: Sequence[str], k: int, where: Sql) -> list[Match]:
    """Find the ``k`` rows with the best BM25 scores that contain one of the terms and meet a condition."""
    state = read_state(connection)
    words = list(dict.fromkeys(map(_short, terms)))
    if not words or not state.words:
        return []
    numbers = [number for (number,) in connection.execute(_NUMBER, (words,))]
    weights = [_weight(state.total, number) for number in numbers]
    query = _MATCH.format(where=where.text).encode()
    parameters = (state.words / state.total, words, weights, words, *where.parameters, k)
    return [Match(*row) for row in connection.execute(query, parameters, binary=True)]


def _weight(total: int, number: int) -> float:
    """Return the weight of a word that occurs in ``number`` texts."""
    weight = math.log((total - number + 0.5) / (number + 0.5))
    return weight if weight > 0 else _LEAST_WEIGHT


def _short(word: str) -> str:
    return word if len(word) <= _LONG else f"#{hashlib.blake2b(word.encode(), digest_size=16).hexdigest()}"
