"""``sbert doctor``: checks the installation, a model's vectors or scores, and the speed of the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
import typer
from rich.text import Text

from sbert import hub
from sbert.cli import show
from sbert.cli.demo.languages import LANGUAGES
from sbert.cli.options import Device, Json, ModelArgument
from sbert.disk import machine
from sbert.errors import SbertError, counted
from sbert.evaluate.performance import speed, stability
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.load import Model, load
from sbert.models.poly import PolyEncoder
from sbert.models.vectors import VectorModel
from sbert.models.words import WordEncoder

_STABLE_TEXTS = 40


class Finding(NamedTuple):
    """One line of the report."""

    name: str
    good: bool | None
    """Whether the check passed; None if there was nothing to check."""
    sentence: str
    values: dict[str, Any]


def doctor(name: ModelArgument = None, device: Device = None, json: Json = False) -> None:
    """Check the installation, a model of any kind and this machine's speed; exit code 1 if a check fails."""
    findings = []
    for finding in _examine(name, device):
        findings.append(finding)
        if not json:
            mark, style = {True: ("✓", "green"), False: ("✗", "red"), None: ("-", "dim")}[finding.good]
            line = Text.assemble((mark, style), " ", (f"{finding.name:<11}", "bold"), finding.sentence)
            show.console().print(line, soft_wrap=True)
    good = all(finding.good is not False for finding in findings)
    if json:
        show.as_json({"good": good, "findings": [finding._asdict() for finding in findings]})
    if not good:
        raise typer.Exit(1)


def _examine(name: str | None, device: str | None) -> Iterator[Finding]:
    versions = machine.versions()
    yield Finding("software", True, ", ".join(f"{name} {number}" for name, number in versions.items()), versions)
    yield _machine()
    try:
        folder = hub.resolve(name)
        model = load(folder, device=device)
    except SbertError as error:
        yield Finding("model", False, str(error), {})
        return
    about = model.describe()
    runs = f", {about['runs'].partition(':')[0]}" if "runs" in about else ""
    sentence = f"{folder}, a {about['kind']}, runs on {about['device']}{runs}"
    yield Finding("model", True, sentence, {"folder": str(folder), "kind": about["kind"]})
    texts = [sentence.text for sentence in LANGUAGES["en"].sentences()]
    body = model.documents if isinstance(model, PolyEncoder) else model  # does most of a poly-encoder's work
    if isinstance(body, BiEncoder):
        yield _reference(body)
    yield _stability(model, texts)
    if not isinstance(body, WordEncoder):  # which looks vectors up and multiplies next to nothing
        yield _speed(body, texts)


def _machine() -> Finding:
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    values = {
        "cpu": machine.cpu_name(),
        "cores": machine.core_count(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "mkl": torch.backends.mkl.is_available(),
        "onednn": torch.backends.mkldnn.is_available(),
        "accelerator": str(accelerator) if accelerator else None,
    }
    cores, threads = counted(machine.core_count(), "core"), counted(torch.get_num_threads(), "thread")
    mkl, onednn = ("yes" if values[library] else "no" for library in ("mkl", "onednn"))
    sentence = (
        f"{values['cpu']}, {cores}, {values['instructions']}; torch uses {threads}, MKL {mkl}, oneDNN {onednn}, "
        f"accelerator {accelerator or 'none'}"
    )
    return Finding("machine", True, sentence, values)


def _reference(encoder: BiEncoder) -> Finding:
    if encoder.reference is None:
        return Finding("vectors", None, "this model has no reference vectors; a model saved with sbert has them", {})
    try:
        difference = encoder.self_check()
    except SbertError as error:
        return Finding("vectors", False, str(error), {})
    sentence = f"differ by at most {difference:.1e} from the reference vectors stored with the model"
    return Finding("vectors", True, sentence, {"difference": difference})


def _stability(model: Model, texts: list[str]) -> Finding:
    sample = texts[:: len(texts) // (_STABLE_TEXTS - 3)][: _STABLE_TEXTS - 3]
    sample += ["", "네.", " ".join(texts[::50])]  # no word, one word, and many words
    items, company = _items(model, sample), _items(model, texts[1::20])
    unit, result = ("texts", "vector") if items is sample else ("pairs", "score")
    try:
        same, difference, runs = measured = stability(model, items, company)
    except SbertError as error:  # such as a model that gives NaN
        return Finding("stability", False, str(error), {})
    sentence = f"{same} of {len(sample)} {unit} have bit-identical {result}s in {len(runs)} runs: {', '.join(runs)}"
    if same < len(sample):
        sentence += f"; on {model.device} a {result} depends on its batch, here by up to {difference:.1e}"
    return Finding("stability", same == len(sample), sentence, {**measured._asdict(), unit: len(sample)})


def _items(model: Model, texts: list[str]) -> list[Any]:
    """Return what the model reads: the texts, or pairs of each text and the next one."""
    return texts if isinstance(model, VectorModel) else list(zip(texts, texts[1:] + texts[:1], strict=True))


def _speed(model: BiEncoder | CrossEncoder, texts: list[str]) -> Finding:
    try:
        measured = speed(model, _items(model, texts[::8]))
    except SbertError:  # which the check of stability has reported
        return Finding("speed", None, "not measured, because the model gives NaN", {})
    sentence = (
        f"{measured.tokens_per_second:,.0f} tokens/s, {measured.share:.0%} of this machine's speed of multiplying "
        f"float32 matrices ({measured.peak / 1e9:,.0f} GFLOPS)"
    )
    return Finding("speed", True, sentence, {**measured._asdict(), "share": measured.share})
