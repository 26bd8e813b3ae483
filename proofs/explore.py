"""Clusters, topics and keywords on published data, against scikit-learn, BERTopic and KeyBERT on the same vectors.

Clusters: v-measure of every method on banking77, searchsnippets and 20newsgroups. Topics: v-measure, coherence (NPMI
of the ten words of a topic), share of texts without a topic, time, and whether two runs are equal. Keywords: the same
lists as KeyBERT's from the same candidates. BERTopic and KeyBERT take part where they are installed.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from sidebyside import data_folder, finish, seconds
from sklearn.cluster import KMeans
from sklearn.metrics import v_measure_score

from sbert import BiEncoder
from sbert.explore.clusters import ClusterMethod, ClusterOptions, find_clusters
from sbert.explore.keywords import find_keywords
from sbert.explore.topics import find_topics
from sbert.text.phrases import phrases

SETS = {"banking77": ("text",), "searchsnippets": ("text",), "20newsgroups": ("subject", "body_2000chars")}
METHODS: dict[ClusterMethod, ClusterOptions] = {
    "kmeans": ClusterOptions(),
    "communities": ClusterOptions(threshold=0.6, min_size=5),
    "hdbscan": ClusterOptions(min_size=10),
    "agglomerative": ClusterOptions(threshold=0.4),
}
AGGLOMERATED = 15_000
KEYWORD_TEXTS = 200


def read(name: str) -> tuple[list[str], list[str]]:
    with gzip.open(data_folder() / f"clu_{name}.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [" ".join(row[column] for column in SETS[name]) for row in rows], [row["label"] for row in rows]


def coherence(topics: Sequence[Sequence[str]], texts: Sequence[set[str]]) -> float:
    """Mean normalised pointwise mutual information of the pairs of words of a topic, counted in whole texts."""
    wanted = {word for topic in topics for word in topic}
    single: Counter[str] = Counter()
    double: Counter[tuple[str, str]] = Counter()
    for text in texts:
        there = sorted(wanted & text)
        single.update(there)
        double.update(itertools.combinations(there, 2))
    means = []
    for topic in topics:
        values = []
        for pair in itertools.combinations(sorted(set(topic)), 2):
            both = double[pair] / len(texts)
            one, other = (single[word] / len(texts) for word in pair)
            values.append(-1.0 if not both else math.log(both / (one * other)) / -math.log(both) if both < 1 else 1.0)
        means += [float(np.mean(values))] if values else []
    return float(np.mean(means))


def clusters(name: str, vectors: np.ndarray, labels: list[str]) -> dict[str, float]:
    k = len(set(labels))
    peer = KMeans(k, random_state=0).fit_predict(vectors)
    found = {"scikit-learn k-means": float(v_measure_score(labels, peer))}
    for method, options in METHODS.items():
        if method == "agglomerative" and len(vectors) > AGGLOMERATED:
            continue
        own = find_clusters(vectors, method, ClusterOptions(k, options.threshold, options.min_size))
        found[method] = float(v_measure_score(labels, own.labels))
        without = float((own.labels < 0).mean())
        print(f"  {name} {method}: v-measure {found[method]:.3f}, {len(own.sizes)} clusters, {without:.1%} without")
    print(f"  {name} scikit-learn k-means: v-measure {found['scikit-learn k-means']:.3f}")
    return found


def topics(name: str, texts: list[str], vectors: np.ndarray, labels: list[str]) -> dict[str, dict[str, float]]:
    words = [set(phrases(text, longest=1)) for text in texts]
    figures: dict[str, dict[str, float]] = {}

    def note(who: str, assigned: np.ndarray, named: list[list[str]], time: float, equal: bool) -> None:
        figures[who] = {
            "v_measure": float(v_measure_score(labels, assigned)),
            "npmi": coherence(named, words),
            "without": float((assigned < 0).mean()),
            "topics": len(named),
            "seconds": time,
            "equal_runs": float(equal),
        }
        print(f"  {name} {who}:", {key: round(value, 3) for key, value in figures[who].items()})

    runs = []
    time = seconds(lambda: runs.append(find_topics(texts, vectors, longest=1)))
    runs.append(find_topics(texts, vectors, longest=1))
    own = [[word.phrase for word in topic.words] for topic in runs[0].topics]
    note("sbert", runs[0].labels, own, time, runs[0].to_json() == runs[1].to_json())
    if find_spec("bertopic"):
        from bertopic import BERTopic

        models = [BERTopic(embedding_model=None), BERTopic(embedding_model=None)]
        found: list[np.ndarray] = []
        time = seconds(lambda: found.append(np.array(models[0].fit_transform(texts, vectors)[0])))
        found.append(np.array(models[1].fit_transform(texts, vectors)[0]))
        named = [[word for word, _ in words_of] for number, words_of in models[0].get_topics().items() if number >= 0]
        note("BERTopic", found[0], named, time, bool((found[0] == found[1]).all()))
    return figures


def same_keywords(model: BiEncoder, texts: list[str]) -> float | None:
    """Return the share of texts for which KeyBERT chooses the same keywords in the same order."""
    if not find_spec("keybert"):
        return None
    from keybert._maxsum import max_sum_distance
    from keybert._mmr import mmr

    candidates = [phrases(text, longest=2) for text in texts]
    documents = model.encode(texts)
    same = []
    for choice in ("nearest", "mmr", "max-sum"):
        ours = find_keywords(texts, model, 5, choice, vectors=documents, candidates=candidates)  # type: ignore[arg-type]
        for document, own, found in zip(documents, candidates, ours, strict=True):
            rows = model.encode(own)
            if choice == "nearest":
                order = np.argsort(-(rows @ document), kind="stable")[:5]
                theirs = [own[place] for place in order]
            elif choice == "mmr":
                theirs = [word for word, _ in mmr(document[None], rows, own, top_n=5, diversity=0.5)]
            else:
                theirs = [word for word, _ in max_sum_distance(document[None], rows, own, top_n=5, nr_candidates=20)]
            same.append({keyword.phrase for keyword in found} == set(theirs))
    return float(np.mean(same))


def main() -> None:
    model = BiEncoder.from_pretrained()
    details: dict[str, object] = {}
    bars: dict[str, tuple[float, float]] = {}
    for name in SETS:
        texts, labels = read(name)
        vectors = model.encode(texts, show_progress_bar=True, on_truncate="ignore", normalize_embeddings=True)
        found = clusters(name, vectors, labels)
        described = topics(name, texts, vectors, labels)
        details[name] = {"clusters": found, "topics": described}
        bars[f"clusters_{name}"] = (found["kmeans"] / found["scikit-learn k-means"], 0.98)
        bars[f"topics_equal_runs_{name}"] = (described["sbert"]["equal_runs"], 1)
        bars[f"topics_without_{name}"] = (1 - described["sbert"]["without"], 1)
        if "BERTopic" in described:
            bars[f"topics_v_measure_{name}"] = (
                described["sbert"]["v_measure"] / described["BERTopic"]["v_measure"],
                1,
            )
            bars[f"topics_npmi_{name}"] = (described["sbert"]["npmi"] - described["BERTopic"]["npmi"], 0)
        if name == "banking77" and (share := same_keywords(model, texts[:KEYWORD_TEXTS])) is not None:
            bars["keywords_as_keybert"] = (share, 0.99)
    finish("explore_quality", bars, details)


if __name__ == "__main__":
    main()
