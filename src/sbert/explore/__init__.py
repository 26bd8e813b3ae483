"""Finds structure in texts and their vectors: clusters, duplicates, keywords and topics. Reads and prints nothing."""

from sbert.explore.clusters import ClusterOptions, Clusters, find_clusters, stability
from sbert.explore.communities import find_communities
from sbert.explore.duplicates import DuplicateGroup, Duplicates, Overlap, find_duplicates, find_overlap
from sbert.explore.keywords import Keyword, corpus_keywords, find_keywords
from sbert.explore.layout import plane_layout
from sbert.explore.negatives import NegativeOptions, Triplet, mine_negatives
from sbert.explore.topics import Topic, Topics, find_topics

__all__ = [
    "ClusterOptions",
    "Clusters",
    "DuplicateGroup",
    "Duplicates",
    "Keyword",
    "NegativeOptions",
    "Overlap",
    "Topic",
    "Topics",
    "Triplet",
    "corpus_keywords",
    "find_clusters",
    "find_communities",
    "find_duplicates",
    "find_keywords",
    "find_overlap",
    "find_topics",
    "mine_negatives",
    "plane_layout",
    "stability",
]
