"""The OpenAPI document, made from the routes and their types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sbert.serve.http.route import Route

_ERRORS = {"400": "invalid", "401": "no valid key", "413": "too large", "415": "not JSON", "422": "invalid",
           "403": "not allowed", "404": "not found", "424": "the model failed", "429": "the queue is full",
           "500": "failed", "503": "unhealthy, or timed out"}  # fmt: skip


def document(routes: Sequence[Route], version: str, with_keys: bool) -> dict[str, Any]:
    """Describe routes as OpenAPI 3.1.

    Args:
        routes: The routes.
        version: The version of the server.
        with_keys: Whether requests need a key.
    """
    types = [kind for route in routes for kind in (route.request, route.response) if kind is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    found = dict(zip(map(id, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = re.sub(r"\{(\w+):path\}", r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, found, components)
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "sbert serve", "version": version, "description": _DESCRIPTION},
        "paths": paths,
        "components": {"schemas": components},
    }
    if with_keys:
        described["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"key": []}]
    return described


_DESCRIPTION = (
    "Sentence embeddings, re-ranking and search, with the APIs of OpenAI, Cohere, Jina and Text Embeddings Inference."
)


def _operation(route: Route, schemas: dict[int, Any], components: dict[str, Any]) -> dict[str, Any]:
    text = " ".join((route.handle.__doc__ or "").split())
    operation: dict[str, Any] = {
        "summary": route.summary,
        "description": text,
        "operationId": f"{route.method.lower()}{re.sub(r'[^a-z0-9]+', '_', route.path.removesuffix(':path}'))}",
        "tags": [route.dialect.name if route.dialect.name != "OpenAI" or "/v1/" in route.path else "sbert"],
        "responses": _responses(route, schemas),
    }
    if route.right == "public":
        operation["security"] = []
    if route.has_body:
        content = {"application/json": {"schema": schemas[id(route.request)]}}
        operation["requestBody"] = {"required": True, "content": content}
    elif route.request is not None:
        operation["parameters"] = _parameters(route, components[route.request.__name__])
    return operation


def _parameters(route: Route, schema: dict[str, Any]) -> list[dict[str, Any]]:
    in_path = set(re.findall(r"\{(\w+)", route.path))
    return [
        {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in schema.get("required", ()),
            "schema": part | ({"minLength": 1} if name in in_path else {}),
        }
        for name, part in schema["properties"].items()
    ]


def _responses(route: Route, schemas: dict[int, Any]) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "The result."}
    if route.response is not None:
        good["content"] = {"application/json": {"schema": schemas[id(route.response)]}}
    answers = {"200": good}
    for status, meaning in _ERRORS.items():
        answers[status] = {
            "description": f"An error: {meaning}.",
            "content": {"application/json": {"schema": route.dialect.schema}},
        }
    if route.path == "/map":
        answers["202"] = {"description": "The map is being drawn."}
    return answers
