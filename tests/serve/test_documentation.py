"""The examples of docs/serving.md are run against a real server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text("utf-8")


def blocks(language: str, server) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    names = {"http://127.0.0.1:8080": server.url, "all-MiniLM-L6-v2": "bert", '"cross"': '"bert-1"'}
    for old, new in names.items():
        found = [block.replace(old, new) for block in found]
    return found


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl(server):
    (script,) = blocks("sh", server)
    commands = re.split(r"\n(?=curl)", script.strip())
    embedded, added, found = (
        json.loads(subprocess.run(["sh", "-c", command], capture_output=True, check=True).stdout)
        for command in commands
    )
    assert len(embedded["data"]) == 2
    assert added["new"] + added["changed"] + added["unchanged"] == 1
    assert found["hits"]
    assert {hit["metadata"]["lang"] for hit in found["hits"]} == {"en"}


def test_python(server, bi):
    for package in ("openai", "cohere", "langchain_core"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    with_openai, with_cohere, with_langchain = blocks("python", server)
    names: dict[str, object] = {}
    exec(with_openai, names)
    assert len(names["answer"].data) == 2
    names = {}
    exec(with_cohere, names)
    assert len(names["answer"].results) == 1
    names["client"]._client_wrapper.httpx_client.httpx_client.close()
    names = {}
    exec(with_langchain, names)
    assert len(names["vector"]) == bi.embedding_dimension
