"""The OpenAPI document is valid, and nothing that it allows makes the server fail; see proofs/serve_openapi.py."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
KEY = {"authorization": "Bearer writer-0123456789abcdef"}


def test_the_document_is_valid_and_complete(guarded):
    from sbert.serve.api import ROUTES

    document = guarded.ask("/openapi.json").body
    assert schemathesis.openapi.from_dict(document).validate() is None
    listed = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert listed == {(route.method, route.path.replace(":path", "")) for route in ROUTES}
    assert document["security"] == [{"key": []}]


def test_what_the_document_allows_gets_an_answer_that_it_describes(guarded):
    schema = schemathesis.openapi.from_dict(guarded.ask("/openapi.json").body)
    cases = st.one_of(
        [found.ok().as_strategy() for found in schema.get_all_operations() if "/map" not in found.ok().path]
    )

    @given(cases)
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    def check(case):
        answer = case.call(base_url=guarded.url, headers=KEY)
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)
        case.validate_response(answer, checks=[schemathesis.checks.CHECKS.get_one("response_schema_conformance")])

    check()
    assert guarded.ask("/health").status == 200
