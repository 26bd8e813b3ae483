"""The routes, one module for each API. A handler receives the service, the decoded request and its account."""

from sbert.serve.api import about, cohere, documents, jina, openai, tei

ROUTES = (*openai.ROUTES, *cohere.ROUTES, *jina.ROUTES, *tei.ROUTES, *documents.ROUTES, *about.ROUTES)
"""All routes that the OpenAPI document lists."""
