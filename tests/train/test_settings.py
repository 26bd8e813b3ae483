"""Settings from TOML: what fits becomes a dataclass, what does not becomes one sentence."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.errors import BadInput, BadOption
from sbert.train.config import TrainConfig
from sbert.train.run import settings


@dataclass(frozen=True)
class Everything:
    name: str
    count: int = 1
    share: float = 0.5
    loud: bool = False
    limit: int | None = None
    title: str | None = "제목"
    parts: tuple[str, ...] = ()
    span: tuple[float, float] = (0.0, 1.0)
    files: tuple[str | tuple[str, ...], ...] = ()
    classes: dict[str, str | int] | None = None
    mode: Literal["빠름", "느림"] = "빠름"
    options: dict[str, Any] = field(default_factory=dict)


def built(**table: object) -> Everything:
    return settings.build(Everything, {"name": "가", **table}, "표")


def test_what_fits():
    made = built(
        count=2,
        share=3,
        loud=True,
        limit="none",
        title="none",
        parts=["하나", "둘"],
        span=[0, 2.5],
        files=["a.tsv", ["b.tsv", "c.tsv"]],
        classes={"참": 1, "거짓": "아니"},
        mode="느림",
        options={"margin": None},
    )
    assert made == Everything(
        "가",
        2,
        3.0,
        True,
        None,
        None,
        ("하나", "둘"),
        (0.0, 2.5),
        ("a.tsv", ("b.tsv", "c.tsv")),
        {"참": 1, "거짓": "아니"},
        "느림",
        {"margin": None},
    )
    assert type(made.share) is float
    assert type(made.span[0]) is float
    assert built() == Everything("가")


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("count", True, "a whole number"),
        ("count", 1.0, "a whole number"),
        ("share", "많이", "a number"),
        ("share", False, "a number"),
        ("loud", 1, "true or false"),
        ("name", 3, "text"),
        ("limit", "셋", "a whole number or 'none'"),
        ("parts", "하나", "a list of texts; write it as in --set '표.parts=[\"하나\"]'"),
        ("parts", "[하나, 둘]", 'a list of texts; write it as in --set \'표.parts=["하나", "둘"]\''),
        ("span", "0,5", "a list of 2 numbers; write it as in --set '표.span=[0, 5]'"),
        ("span", "0,1,5", "a list of 2 numbers"),
        ("parts", ["하나", 2], "a list of texts"),
        ("span", [1.0], "a list of 2 numbers"),
        ("files", [["a", 1]], "a list, each text or a list of texts"),
        ("classes", {"참": 0.5}, "a table or 'none'"),
        ("mode", 1, "one of '빠름', '느림'"),
        ("options", [], "a table"),
    ],
)
def test_what_does_not_fit_is_one_sentence(key, value, wanted):
    with pytest.raises(BadInput) as caught:
        built(**{key: value})
    assert str(caught.value) == f"표.{key} is {value!r}, but must be {wanted}"


def test_unknown_key_names_the_nearest():
    with pytest.raises(BadOption, match=r"^a key of train is 'learning_rat', but .*; did you mean 'learning_rate'\?$"):
        settings.build(TrainConfig, {"output_dir": "a", "learning_rat": 1}, "train")


def test_missing_key_and_choices():
    with pytest.raises(BadInput, match=r"^표\.name is missing; set 표\.name$"):
        settings.build(Everything, {}, "표")
    with pytest.raises(BadOption, match="did you mean 'cosine'"):
        settings.build(TrainConfig, {"output_dir": "a", "schedule": "cosin"}, "train")


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("a.b=2", 2),
        ("a.b = 2e-5", 2e-5),
        ("a.b=true", True),
        ("a.b=monologg/koelectra-base-v3-discriminator", "monologg/koelectra-base-v3-discriminator"),
        ("a.b=한국어 모형", "한국어 모형"),
        ("a.b='둘'", "둘"),
        ("a.b=['u', \"|u-v|\"]", ["u", "|u-v|"]),
        ("a.b={참 = 1}", "{참 = 1}"),  # a bare key of TOML is ASCII, so this is text
        ('a.b={"참" = 1}', {"참": 1}),
        ("a.b=x=y", "x=y"),
        ("a.b=", ""),
        ("a.b=2024-01-02", "2024-01-02"),
        ("a.b=1\nc = 2", "1\nc = 2"),
        ("a.b=" + "[" * 10_000, "[" * 10_000),
    ],
)
def test_override(assignment, value):
    before = {"a": {"b": 0, "z": 1}, "y": {}}
    assert settings.override(before, assignment) == {"a": {"b": value, "z": 1}, "y": {}}
    assert before == {"a": {"b": 0, "z": 1}, "y": {}}


@given(st.recursive(st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters(codec="utf-8")), st.lists))
def test_override_gives_back_what_was_written(value):
    # JSON's values are TOML's, but for control characters and the letter DEL.
    written = re.sub("\x7f", r"\\u007f", json.dumps(value, ensure_ascii=False))
    assert settings.override({}, f"표.값={written}") == {"표": {"값": value}}


@pytest.mark.parametrize("assignment", ["epochs", "=2", "train.=2", ".epochs=2", "a..b=1"])
def test_no_assignment(assignment):
    with pytest.raises(BadInput, match=r"is written as table\.key=value"):
        settings.override({}, assignment)


def test_override_inside_a_value():
    with pytest.raises(BadInput, match=r"^b\.c cannot be set, because b is 1 and not a table; check the name$"):
        settings.override({"a": {"b": 1}}, "a.b.c=2")


def test_read(tmp_path):
    path = tmp_path / "실행.toml"
    path.write_text('[model]\nname = "모형"\n', encoding="utf-8")
    assert settings.read(path) == {"model": {"name": "모형"}}
    path.write_text("[model\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"실행\.toml is not a valid TOML file \(.*line 1.*\); correct it there"):
        settings.read(path)
    for damaged in ("a = " + "[" * 10_000, "a = " + "9" * 10_000, "\0" * 100):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(BadInput, match=r"실행\.toml is (nested too deeply|not a valid TOML file)") as caught:
            settings.read(path)
        assert len(str(caught.value)) < 500
    path.write_bytes("[모형]".encode("cp949"))
    with pytest.raises(BadInput, match="it looks like CP949: convert the file"):
        settings.read(path)
    with pytest.raises(BadInput, match=r"^there is no file '없음\.toml'"):
        settings.read("없음.toml")
