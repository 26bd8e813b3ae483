"""BERTopic: an embedder. BERTopic would replace a model that it does not know by another one; this one it knows."""

from __future__ import annotations

from bertopic.backend import BaseEmbedder

from sbert.adapters.embedding import TextEmbedder


class SbertEmbedder(TextEmbedder, BaseEmbedder):
    """Embeds documents and words with a model of sbert, for BERTopic."""
