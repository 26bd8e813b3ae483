"""Serves models and stores over HTTP, with the APIs of OpenAI, Cohere, Jina and Text Embeddings Inference.

Needs the extra ``serve``: ``pip install 'sbert[serve]'``.
"""

from sbert.serve.application import app
from sbert.serve.settings import Settings

__all__ = ["Settings", "app"]
