"""Table 7: sentences per second on the STS benchmark's sentences, on the CPU and, where there is one, on a GPU.

The paper's SBERT pads the texts of a batch to the length of the longest. Smart batching sorts the texts by length
first, so that little padding is needed. Both are timed with this project's network; its own way, without padding, has
a row of its own. The speed of a network does not depend on its training, so nothing is trained here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from sbert.disk.machine import cpu_name
from sbert.errors import counted
from sbert.evaluate.score import Score
from sbert.evaluate.suites import sts
from sbert.models.bi import BiEncoder
from sbert.paper import rows
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, Job
from sbert.paper.materials import Materials
from sbert.paper.measure import Place, cell, sampled_places
from sbert.paper.rows import Contestant, Row
from sbert.types import Batch, Encoder

BATCH, ROUNDS = 32, 3
TASK = next(task for task in sts.ENGLISH if task.name == "stsb")
Encode = Callable[[Any, Sequence[str]], object]
"""Encodes texts with a model."""


class Timed(NamedTuple):
    """A contestant, and the function whose speed is measured."""

    contestant: Contestant
    encode: Encode


def jobs(context: Context) -> list[Job]:
    """Return one job for each cell."""
    _, paths = TASK.found(context.materials.folder)
    devices = {"CPU": "cpu"}
    device = context.materials.device
    if device == "cpu":
        context.lacks("table7, GPU", "there is no GPU here, or --device is cpu")
    else:
        devices["GPU"] = device
    return [
        Job(
            f"{context.key('table7', timed.contestant.row, column, paths)}/{_machine(device)}",
            f"table7: {timed.contestant.row.name}, {column}",
            partial(_time, context.materials, timed, column, device),
        )
        for column, device in devices.items()
        for timed in context.made(_rows(context.materials, device))
    ]


def _machine(device: str) -> str:
    """Name the device that the speed belongs to."""
    if device == "cpu":
        return f"{counted(torch.get_num_threads(), 'core')}, {cpu_name()}"
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def _rows(materials: Materials, device: str) -> dict[str, Callable[[], Timed]]:
    def infersent() -> Timed:
        path, size = materials.vectors, 2048  # its authors' network
        row = Row("InferSent", "InferSent", path.name, materials.vectors_digest)
        return Timed(Contestant(row, partial(rows.bilstm, path, size)), _encode)

    def sbert(ending: str, note: str, encode: Encode) -> Timed:
        backbone = materials.backbone
        size = f"-{backbone.size}" if backbone.comparable else f" ({Path(backbone.name).name})"
        paper = "" if encode is _encode else f"{backbone.family}-{backbone.size}{ending}"  # the paper's pads
        name, about = f"{backbone.family}{size}{ending}", f"{backbone.note}, {note}"
        row = Row(name, paper, about, backbone.digest, comparable=backbone.comparable)
        return Timed(Contestant(row, backbone.bi_encoder), encode)

    batches, padded = f"batches of {BATCH} in the order", "padded to the longest"
    given, smart = (partial(_encode_padded, smart=smart) for smart in (False, True))
    makers: dict[str, Callable[[], Timed]] = {
        "Avg. GloVe embeddings": lambda: Timed(rows.glove(materials), _encode),
        "InferSent": infersent,
        "Universal Sentence Encoder": lambda: Timed(rows.universal(), _encode),
        "SBERT": partial(sbert, "", f"{batches} given, {padded}", given),
        "SBERT, smart batching": partial(sbert, ", smart batching", f"{batches} of length, {padded}", smart),
        "SBERT, no padding": partial(sbert, ", no padding", "as this project runs it", _encode),
    }
    if device != "cpu":
        del makers["Universal Sentence Encoder"]  # which runs in numpy
    return makers


def _time(materials: Materials, timed: Timed, column: str, device: str) -> list[Cell]:
    """Time several rounds after one that is not counted."""
    pairs, _ = TASK.read(materials.folder)
    texts = list(dict.fromkeys([*pairs.first, *pairs.second]))
    some = [texts[number] for number in sampled_places(len(texts), materials.limits.sentences or len(texts))]
    model = timed.contestant.load()
    if isinstance(model, nn.Module):
        model.to(device)
    timed.encode(model, some[:BATCH])
    speeds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        timed.encode(model, some)
        speeds.append(len(some) / (time.perf_counter() - start))
    score = Score("sentences per second", sum(speeds) / ROUNDS, len(some))
    rounds = f"mean, slowest and fastest of {ROUNDS} rounds"
    found = cell(Place("table7", timed.contestant.row, column), score, _machine(device), rounds)
    return [replace(found, low=min(speeds), high=max(speeds))]


def _encode(model: Encoder, texts: Sequence[str]) -> object:
    return model.encode(texts, on_truncate="ignore")


@torch.inference_mode()
def _encode_padded(model: BiEncoder, texts: Sequence[str], smart: bool) -> None:
    """Run as many tokens as padding would make of the texts; the vectors themselves are of no use."""
    lengths = model.tokenize(texts).lengths
    order = np.argsort(-lengths, kind="stable") if smart else np.arange(len(lengths))
    for start in range(0, len(order), BATCH):
        part = lengths[order[start : start + BATCH]]
        longest = int(part.max())
        model(Batch(np.zeros(longest * len(part), np.int64), (longest,) * len(part))).cpu()
