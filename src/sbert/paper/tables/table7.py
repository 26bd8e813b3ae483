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
from typing import NamedTuple

import numpy as np
import torch

from sbert.disk.machine import cpu_name
from sbert.errors import counted
from sbert.evaluate.score import Score
from sbert.evaluate.suites import sts
from sbert.models.bi import BiEncoder
from sbert.models.inference import best_device
from sbert.models.universal import UniversalSentenceEncoder
from sbert.paper import rows
from sbert.paper.context import Context
from sbert.paper.ledger import Cell, Job
from sbert.paper.materials import Materials
from sbert.paper.measure import Place, cell, sampled_places
from sbert.paper.rows import Row
from sbert.types import Batch, Encoder

BATCH, ROUNDS = 32, 3
TASK = next(task for task in sts.ENGLISH if task.name == "stsb")
Encode = Callable[[Sequence[str]], object]


class Timed(NamedTuple):
    """A row and the function whose speed is measured."""

    row: Row
    load: Callable[[], Encode]


def jobs(context: Context) -> list[Job]:
    """Return one job for each cell."""
    _, paths = TASK.found(context.materials.folder)
    devices = {"CPU": "cpu"}
    if best_device() == "cpu":
        context.lacks("table7, GPU", "there is no GPU here")
    else:
        devices["GPU"] = best_device()
    return [
        Job(
            f"{context.key('table7', timed.row, column, paths)}/{_machine(column)}",
            f"table7: {timed.row.name}, {column}",
            partial(_time, context.materials, timed, column),
        )
        for column, device in devices.items()
        for timed in context.made(_rows(context.materials, device))
    ]


def _machine(column: str) -> str:
    """Name the device that the speed belongs to."""
    if column == "CPU":
        return f"{counted(torch.get_num_threads(), 'core')}, {cpu_name()}"
    return torch.cuda.get_device_name() if torch.cuda.is_available() else best_device()


def _rows(materials: Materials, device: str) -> dict[str, Callable[[], Timed]]:
    def glove() -> Timed:
        path = materials.vectors
        return Timed(rows.glove(materials).row, lambda: _encode(rows.average_vectors(path).to(device)))

    def infersent() -> Timed:
        path, size = materials.vectors, 2048  # its authors' network
        row = Row("InferSent", "InferSent", path.name, materials.vectors_digest)
        return Timed(row, lambda: _encode(rows.bilstm(path, size).to(device)))

    def universal() -> Timed:
        return Timed(rows.universal().row, lambda: _encode(UniversalSentenceEncoder()))

    def sbert(ending: str, note: str, encode: Callable[[BiEncoder], Encode], in_paper: bool = True) -> Timed:
        backbone = materials.backbone
        name = f"{backbone.family}-{backbone.size}{ending}"
        row = Row(name, name if in_paper else "", f"{backbone.note}, {note}", backbone.digest)
        return Timed(row, lambda: encode(backbone.bi_encoder().to(device)))

    batches, padded = f"batches of {BATCH} in the order", "padded to the longest"
    given, smart = (partial(_encode_padded, smart=smart) for smart in (False, True))
    makers: dict[str, Callable[[], Timed]] = {
        "Avg. GloVe embeddings": glove,
        "InferSent": infersent,
        "Universal Sentence Encoder": universal,
        "SBERT": partial(sbert, "", f"{batches} given, {padded}", given),
        "SBERT, smart batching": partial(sbert, ", smart batching", f"{batches} of length, {padded}", smart),
        "SBERT, no padding": partial(sbert, ", no padding", "as this project runs it", _encode, in_paper=False),
    }
    if device != "cpu":
        del makers["Universal Sentence Encoder"]  # which runs in numpy
    return makers


def _time(materials: Materials, timed: Timed, column: str) -> list[Cell]:
    """Time several rounds after one that is not counted."""
    pairs, _ = TASK.read(materials.folder)
    texts = list(dict.fromkeys([*pairs.first, *pairs.second]))
    some = [texts[number] for number in sampled_places(len(texts), materials.limits.sentences or len(texts))]
    encode = timed.load()
    encode(some[:BATCH])
    speeds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        encode(some)
        speeds.append(len(some) / (time.perf_counter() - start))
    score = Score("sentences per second", sum(speeds) / ROUNDS, len(some))
    rounds = f"mean, slowest and fastest of {ROUNDS} rounds"
    found = cell(Place("table7", timed.row, column), score, _machine(column), rounds)
    return [replace(found, low=min(speeds), high=max(speeds))]


def _encode(model: Encoder) -> Encode:
    return partial(model.encode, on_truncate="ignore")


def _encode_padded(model: BiEncoder, smart: bool) -> Encode:
    """Run as many tokens as padding would make of the texts; the vectors themselves are of no use."""

    @torch.inference_mode()
    def encode(texts: Sequence[str]) -> None:
        lengths = model.tokenize(texts).lengths
        order = np.argsort(-lengths, kind="stable") if smart else np.arange(len(lengths))
        for start in range(0, len(order), BATCH):
            part = lengths[order[start : start + BATCH]]
            longest = int(part.max())
            model(Batch(np.zeros(longest * len(part), np.int64), (longest,) * len(part))).cpu()

    return encode
