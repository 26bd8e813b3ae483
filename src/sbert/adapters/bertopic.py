"""BERTopic: an embedder. BERTopic silently loads another model in place of an object that it does not recognize."""

from __future__ import annotations

from bertopic.backend import BaseEmbedder

from sbert.adapters.embedding import TextEmbedder


class SbertEmbedder(TextEmbedder, BaseEmbedder):
    """Embeds documents and words with a model of sbert, for BERTopic."""
