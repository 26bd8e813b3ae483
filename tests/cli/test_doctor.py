"""The doctor finds what is wrong, and what it measures is so."""

from __future__ import annotations

import json
from importlib import metadata

import pytest
import torch
from commandline import sbert

from sbert.evaluate import performance as measure
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.poly import PolyEncoder


@pytest.fixture
def encoder(tiny_folder) -> BiEncoder:
    return BiEncoder.from_pretrained(tiny_folder("bert"))


def examine(*arguments: object, code: int = 0) -> dict[str, dict]:
    result = sbert("doctor", *arguments, "--json", code=code)
    report = json.loads(result.stdout)
    assert report["good"] == (code == 0)
    return {finding["name"]: finding for finding in report["findings"]}


def test_a_healthy_model(encoder, tmp_path):
    encoder.save_pretrained(tmp_path / "모형")
    findings = examine(tmp_path / "모형")
    assert list(findings) == ["software", "machine", "model", "vectors", "stability", "speed"]
    assert findings["software"]["values"]["torch"] == metadata.version("torch")
    assert findings["machine"]["values"]["threads"] == torch.get_num_threads()
    assert findings["vectors"]["good"] is True
    assert findings["vectors"]["values"]["difference"] == 0
    assert findings["stability"]["sentence"].startswith("40 of 40 texts have bit-identical vectors")
    assert 0 < findings["speed"]["values"]["share"] < 1


def test_no_reference_vectors_is_said_and_no_failure(tiny_folder):
    result = sbert("doctor", tiny_folder("bert"))
    lines = {line.split()[1]: line for line in result.stdout.splitlines()}
    assert lines["vectors"].startswith("- vectors    this model has no reference vectors")
    assert lines["stability"].startswith("✓ stability")
    assert lines["speed"].startswith("✓ speed")


def test_changed_vectors_are_found(encoder, tmp_path):
    encoder.save_pretrained(tmp_path / "모형")
    path = tmp_path / "모형" / "reference.json"
    reference = json.loads(path.read_text(encoding="utf-8"))
    reference["vectors"][0][0] += 0.01
    path.write_text(json.dumps(reference), encoding="utf-8")
    findings = examine(tmp_path / "모형", code=1)
    assert findings["vectors"]["good"] is False
    assert findings["stability"]["good"] is True


def test_no_such_model_still_tells_the_versions():
    findings = examine("./없음", code=1)
    assert list(findings) == ["software", "machine", "model"]
    assert "./없음" in findings["model"]["sentence"]


def test_unstable_vectors_are_found(encoder, monkeypatch, tiny_folder):
    encode = BiEncoder.encode

    def unstable(self, sentences, **options):
        vectors = encode(self, sentences, **options)
        if options.get("batch_tokens") == 64:
            vectors[3, 0] += 0.25
        return vectors

    monkeypatch.setattr(BiEncoder, "encode", unstable)
    findings = examine(tiny_folder("bert"), code=1)
    assert findings["stability"]["good"] is False
    assert findings["stability"]["sentence"].startswith("39 of 40 texts have bit-identical vectors")
    assert findings["stability"]["sentence"].endswith("on cpu a vector depends on its batch, here by up to 2.5e-01")


@pytest.mark.parametrize("labels", [1, 3])
def test_a_cross_encoder_is_examined_by_its_scores(tiny_classifier, labels):
    findings = examine(tiny_classifier("bert", labels))
    assert list(findings) == ["software", "machine", "model", "stability", "speed"]
    assert findings["model"]["values"]["kind"] == "CrossEncoder"
    assert findings["stability"]["sentence"].startswith("40 of 40 pairs have bit-identical scores in 8 runs")
    assert 0 < findings["speed"]["values"]["share"] < 1


def test_a_poly_encoder_is_examined_by_its_scores_and_documents(tiny_folder, tmp_path):
    PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=4).save_pretrained(tmp_path / "폴리")
    findings = examine(tmp_path / "폴리")
    assert list(findings) == ["software", "machine", "model", "vectors", "stability", "speed"]
    assert findings["model"]["values"]["kind"] == "PolyEncoder"
    assert findings["vectors"]["values"]["difference"] == 0
    assert findings["stability"]["sentence"].startswith("40 of 40 pairs have bit-identical scores in 8 runs")


def test_unstable_scores_are_found(monkeypatch, tiny_classifier, tiny_folder, tmp_path):
    PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=4).save_pretrained(tmp_path / "폴리")
    for cls, name in ((CrossEncoder, "predict"), (PolyEncoder, "encode_query")):
        plain = getattr(cls, name)

        def unstable(self, items, *, plain=plain, **options):
            numbers = plain(self, items, **options)
            if options["batch_tokens"] == 512:
                numbers[3] += 0.25
            return numbers

        monkeypatch.setattr(cls, name, unstable)
    for folder in (tiny_classifier("bert", 1), tmp_path / "폴리"):
        finding = examine(folder, code=1)["stability"]
        assert finding["sentence"].startswith("39 of 40 pairs have bit-identical scores")
        assert "on cpu a score depends on its batch" in finding["sentence"]


def test_threads_are_left_as_they_were(encoder):
    threads = torch.get_num_threads()
    measured = measure.stability(encoder, ["고양이", "개가 달린다"], ["A man."])
    assert (measured.identical, measured.difference) == (2, 0)
    assert "alone on 1 thread" in measured.runs
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("architecture", ["bert", "albert"])
def test_operations_are_those_worked_out_by_hand(tiny_folder, architecture):
    encoder = BiEncoder.from_pretrained(tiny_folder(architecture))
    tokens = encoder.tokenize(["고양이가 잔다.", "A man is playing a guitar.", "개 두 마리가 풀밭을 달린다."])
    layer = 4 * 32 * 32 + 2 * 32 * 64  # query, key, value, output; and the two of the feed-forward
    projection = 16 * 32 if architecture == "albert" else 0
    count = int(tokens.lengths.sum())
    attention = 2 * 4 * 32 * int((tokens.lengths**2).sum())
    assert measure.flops(encoder, tokens) == 2 * count * (2 * layer) + 2 * count * projection + attention


def test_a_damaged_model_is_told_and_the_report_goes_on(tiny_folder, tiny_classifier, tmp_path, damaged):
    PolyEncoder.from_pretrained(tiny_folder("bert"), num_codes=4).save_pretrained(tmp_path / "폴리")
    for folder in (tiny_folder("bert"), tiny_classifier("bert", 1), tmp_path / "폴리"):
        findings = examine(damaged(folder), code=1)
        assert list(findings)[-2:] == ["stability", "speed"]
        assert findings["stability"]["good"] is False
        assert findings["stability"]["sentence"].startswith("the model gives NaN for ")
        assert findings["speed"]["good"] is None
