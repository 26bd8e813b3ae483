"""Steps of a tokenizer that would make a short text endless are refused, and those of published models are not."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import pytest

from sbert import hub
from sbert.errors import BadModel
from sbert.hub.steps import check_steps

BYTES = {"type": "ByteLevel"}
SPLIT = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}
INSERT = {"type": "Replace", "pattern": {"Regex": "()"}, "content": "x"}
DOTTED = {"type": "Replace", "pattern": {"Regex": "."}, "content": "İ"}
SPACES = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
LONGEST = "صلى الله عليه وسلم"  # what NFKC makes of one character; no other becomes longer
CHARSMAP = base64.b64encode(bytes(4) + b"a\0" + LONGEST.encode() + b"\0").decode()
PUBLISHED = [
    *({"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}),
    *({"type": "Precompiled", "precompiled_charsmap": CHARSMAP}, SPACES),
]


def several(*steps: dict[str, object]) -> dict[str, object]:
    return {"type": "Sequence", "normalizers": list(steps)}


def template(single: list[object], pair: list[object]) -> dict[str, object]:
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": {}}


A, B = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
REFUSED = {
    "bytes": ({"normalizer": several(*[BYTES] * 20)}, "makes more than 4,000 characters of one"),
    "many": ({"normalizer": several(*[{"type": "Nmt"}] * 1_000)}, "1,001 normalizers, but at most 100"),
    "nested": ({"normalizer": several(*[several(BYTES)] * 90)}, "181 normalizers, but at most 100"),
    "a long prefix": ({"normalizer": {"type": "Prepend", "prepend": "a" * 100_000}}, "makes more than 4,000"),
    "no type": ({"normalizer": {"prepend": "a" * 100_000}}, "makes more than 4,000"),
    "prefixes": ({"normalizer": several(*[{"type": "Prepend", "prepend": "a" * 50}] * 99)}, "makes more than 4,000"),
    "between letters": ({"normalizer": several(*[INSERT] * 40)}, "makes more than 4,000"),
    "lower case": ({"normalizer": several(*[DOTTED, {"type": "Lowercase"}] * 30)}, "makes more than 4,000"),
    "splits": (
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT] * 20}},
        "has 20 pre-tokenizers ByteLevel or Metaspace, but at most 2",
    ),
    "many splits": (
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}] * 1_000}},
        "1,001 pretokenizers, but at most 100",
    ),
    "repeated": (
        {"post_processor": template([A] * 5_000, [A, B])},
        r"has a template 'single' of the texts \['A', 'A', .*, but A is expected",
    ),
    "no text": ({"post_processor": template([], [A, B])}, r"'single' of the texts \[\], but A is"),
    "the other text": ({"post_processor": template([B], [A, B])}, r"'single' of the texts \['B'\], but A is"),
    "pair": ({"post_processor": template([A], [A, A])}, r"'pair' of the texts \['A', 'A'\], but A and B is"),
    "several templates": (
        {"post_processor": {"type": "Sequence", "processors": [template([A, A], [A, B])]}},
        r"'single' of the texts \['A', 'A'\], but A is",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tiny_folder, tmp_path, name):
    changes, complaint = REFUSED[name]
    folder = shutil.copytree(tiny_folder("bert"), tmp_path / "m")
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(BadModel, match=complaint):
        hub.read_backbone(folder)


def test_those_of_albert_pass():
    check_steps({"normalizer": several(*PUBLISHED), "pre_tokenizer": {"type": "Metaspace"}}, Path("tokenizer.json"))
