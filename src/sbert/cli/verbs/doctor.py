"""``sbert doctor``: what is installed, whether a model is right and stable here, and how fast this machine is."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from sbert.cli import show
from sbert.cli.demo.results import read_sentences
from sbert.cli.options import Json, ModelArgument
from sbert.disk.machine import cpu_name
from sbert.errors import SbertError, counted

if TYPE_CHECKING:
    from sbert.models.bi import BiEncoder
    from sbert.models.cross import CrossEncoder
    from sbert.models.load import Model

_STABLE_TEXTS = 40


class Finding(NamedTuple):
    """One line of the report."""

    name: str
    good: bool | None
    """None where there was nothing to check."""
    sentence: str
    values: dict[str, Any]


def doctor(
    name: ModelArgument = None,
    json: Json = False,
) -> None:
    """Check the installation, a model of any kind and this machine's speed; exit code 1 if a check fails."""
    findings = []
    for finding in _examine(name):
        findings.append(finding)
        if not json:
            _print(finding)
    good = all(finding.good is not False for finding in findings)
    if json:
        show.as_json({"good": good, "findings": [finding._asdict() for finding in findings]})
    if not good:
        raise typer.Exit(1)


def _print(finding: Finding) -> None:
    from rich.text import Text

    mark, style = {True: ("✓", "green"), False: ("✗", "red"), None: ("-", "dim")}[finding.good]
    line = Text.assemble((mark, style), " ", (f"{finding.name:<11}", "bold"), finding.sentence)
    show.console().print(line, soft_wrap=True)


def _examine(name: str | None) -> Iterator[Finding]:
    yield _software()
    yield _machine()
    from sbert import hub
    from sbert.models.bi import BiEncoder
    from sbert.models.load import load
    from sbert.models.poly import PolyEncoder
    from sbert.models.words import WordEncoder

    try:
        folder = hub.resolve(name)
        model = load(folder)
    except SbertError as error:
        yield Finding("model", False, str(error), {})
        return
    body = model.documents if isinstance(model, PolyEncoder) else model  # what most of the work is done with
    kind = type(model).__name__
    about = {"folder": str(folder), "kind": kind}
    yield Finding("model", True, f"{folder}, a {kind}, runs on {model.device}{_route(body)}", about)
    texts = [sentence.text for sentence in read_sentences()]
    if isinstance(body, BiEncoder):
        yield _reference(body)
    yield _stability(model, texts)
    if not isinstance(body, WordEncoder):  # which hardly multiplies
        yield _speed(body, texts)


def _route(model: Model) -> str:
    transformer = getattr(model, "transformer", None)
    if transformer is None:
        return ""
    return ", packed" if transformer.packed else ", equal lengths together"


def _software() -> Finding:
    packages = ("torch", "transformers", "tokenizers", "numpy")
    versions = {"sbert": sys.modules["sbert"].__version__, "python": platform.python_version()}
    versions |= {package: metadata.version(package) for package in packages}
    return Finding("software", True, ", ".join(f"{name} {number}" for name, number in versions.items()), versions)


def _machine() -> Finding:
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    values = {
        "cpu": cpu_name(),
        "cores": cores,
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "mkl": torch.backends.mkl.is_available(),
        "onednn": torch.backends.mkldnn.is_available(),
        "accelerator": str(accelerator) if accelerator else None,
    }
    threads = counted(torch.get_num_threads(), "thread")
    sentence = (
        f"{values['cpu']}, {counted(cores or 1, 'core')}, {values['instructions']}; torch uses {threads}, "
        f"MKL {_yes(values['mkl'])}, oneDNN {_yes(values['onednn'])}, accelerator {accelerator or 'none'}"
    )
    return Finding("machine", True, sentence, values)


def _yes(value: object) -> str:
    return "yes" if value else "no"


def _reference(encoder: BiEncoder) -> Finding:
    if encoder.reference is None:
        return Finding("vectors", None, "this model carries no reference vectors; one saved with sbert does", {})
    try:
        difference = encoder.self_check()
    except SbertError as error:
        return Finding("vectors", False, str(error), {})
    sentence = f"differ by at most {difference:.1e} from those stored with the model"
    return Finding("vectors", True, sentence, {"difference": difference})


def _stability(model: Model, texts: list[str]) -> Finding:
    from sbert.evaluate.speed import stability
    from sbert.models.cross import CrossEncoder
    from sbert.models.poly import PolyEncoder

    sample = texts[:: len(texts) // (_STABLE_TEXTS - 3)][: _STABLE_TEXTS - 3]
    sample += ["", "네.", " ".join(texts[::50])]  # nothing, one word, and many words
    company = texts[1::20]
    unit, made = ("pairs", "score") if isinstance(model, (CrossEncoder, PolyEncoder)) else ("texts", "vector")
    items, others = (sample, company) if unit == "texts" else (_pairs(sample), _pairs(company))
    try:
        same, difference, runs = measured = stability(model, items, others)
    except SbertError as error:  # such as a model that gives NaN
        return Finding("stability", False, str(error), {})
    sentence = f"{same} of {len(sample)} {unit} identical to the bit in {len(runs)} runs: {', '.join(runs)}"
    if same < len(sample):
        sentence += f"; on {model.device} a {made} depends on its company, here by up to {difference:.1e}"
    return Finding("stability", same == len(sample), sentence, {**measured._asdict(), unit: len(sample)})


def _pairs(texts: list[str]) -> list[tuple[str, str]]:
    """Each text with the one after it."""
    return list(zip(texts, texts[1:] + texts[:1], strict=True))


def _speed(model: BiEncoder | CrossEncoder, texts: list[str]) -> Finding:
    from sbert.evaluate.speed import speed
    from sbert.models.bi import BiEncoder

    try:
        measured = speed(model, texts[::8] if isinstance(model, BiEncoder) else _pairs(texts[::16]))
    except SbertError:  # which the step before has reported
        return Finding("speed", None, "not measured, as the model gives no numbers", {})
    sentence = (
        f"{measured.tokens_per_second:,.0f} tokens/s, {measured.share:.0%} of what this machine can multiply in "
        f"float32 ({measured.peak / 1e9:,.0f} GFLOPS)"
    )
    return Finding("speed", True, sentence, {**measured._asdict(), "share": measured.share})
