"""The most similar pairs among 10,000 sentences: sbert against sentence-transformers, on the same model and machine.

Measured: sentences in, the 1,000 most similar pairs out (``pairs_overall``), and the part after the embedding
alone (``pairs_mining``). Both sides start from the same loaded all-MiniLM-L6-v2 and the same 10,000 different
sentences of the STS data sets. The peer is ``sentence_transformers.util.paraphrase_mining`` with ``max_pairs=1000``
and otherwise its defaults. First both must find the same pairs: equal scores to 1e-5, and no pair that the other
side lacks unless it ties with the last one.
"""

from __future__ import annotations

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import paraphrase_mining, paraphrase_mining_embeddings
from sidebyside import finish, race, sts_sentences

from sbert import BiEncoder, Pair, hub, most_similar_pairs

SENTENCES, PAIRS = 10_000, 1_000
OURS, THEIRS = "sbert", "sentence-transformers"


def check_same(ours: list[Pair], theirs: list[list[float]]) -> None:
    our_scores = {(pair.first, pair.second): pair.score for pair in ours}
    their_scores = {(int(first), int(second)): score for score, first, second in theirs}
    assert len(our_scores) == len(their_scores) == PAIRS
    np.testing.assert_allclose([pair.score for pair in ours], [score for score, *_ in theirs], atol=1e-5)
    for pair in our_scores.keys() ^ their_scores.keys():
        score = our_scores.get(pair, their_scores.get(pair, 0.0))
        assert abs(score - ours[-1].score) < 1e-5, f"only one side has the pair {pair} of score {score}"


def main() -> None:
    sentences = sts_sentences()[:SENTENCES]
    assert len(sentences) == SENTENCES
    model = BiEncoder.from_pretrained()
    peer = SentenceTransformer(str(hub.resolve(None)), device="cpu")
    vectors = model.encode(sentences)
    tensor = torch.from_numpy(vectors)
    check_same(most_similar_pairs(vectors, PAIRS), paraphrase_mining_embeddings(tensor, max_pairs=PAIRS))
    mining = race(
        {
            OURS: lambda: most_similar_pairs(vectors, PAIRS),
            THEIRS: lambda: paraphrase_mining_embeddings(tensor, max_pairs=PAIRS),
        },
        rounds=5,
    )
    overall = race(
        {
            OURS: lambda: most_similar_pairs(model.encode(sentences), PAIRS),
            THEIRS: lambda: paraphrase_mining(peer, sentences, max_pairs=PAIRS),
        },
        rounds=3,
    )
    finish(
        "pairs",
        {
            "pairs_overall": (overall[THEIRS] / overall[OURS], 1.5),
            "pairs_mining": (mining[THEIRS] / mining[OURS], 3.0),
        },
        {"sentences": SENTENCES, "pairs": PAIRS, "overall_seconds": overall, "mining_seconds": mining},
    )


if __name__ == "__main__":
    main()
