"""Table 7: sentences per second, of the STS benchmark as in the paper, on the CPU and on a GPU where there is one.

The paper's SBERT pads the texts of a batch to the longest; smart batching sorts them first, so that little is padded.
Both are timed as they were, with this project's network; as it really runs, without any padding, it has a row of its
own. How fast a network is does not depend on its training, so nothing is trained here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from sbert.disk.machine import cpu_name
from sbert.errors import BadInput
from sbert.evaluate.suites import sts
from sbert.models.bi import BiEncoder
from sbert.models.inference import best_device
from sbert.paper import baselines
from sbert.paper.ledger import Cell, Job
from sbert.paper.measure import Place, sample
from sbert.paper.rows import Encoders, Makers, Row
from sbert.types import Batch, Encoder

BATCH, ROUNDS = 32, 3
TASK = next(task for task in sts.ENGLISH if task.name == "stsb")
Encode = Callable[[Sequence[str]], object]


def jobs(encoders: Encoders) -> list[Job]:
    """One a cell."""
    try:
        _, paths = TASK.found(encoders.folder)
    except BadInput as error:
        encoders.lose("table7", error)
        return []
    devices = {"CPU": "cpu", "GPU": best_device()}
    if devices["GPU"] == "cpu":
        del devices["GPU"]
        encoders.lose("table7, GPU", "there is no GPU here")
    places = [Place("table7", row, column) for column, device in devices.items() for row in _rows(encoders, device)]
    return [
        Job(
            f"{encoders.key('table7', place.row, place.column, paths)}/{_machine(place.column)}",
            f"table7: {place.row.name}, {place.column}",
            partial(_time, encoders, place),
        )
        for place in places
    ]


def _machine(column: str) -> str:
    """Where it runs: another machine has another speed."""
    if column == "CPU":
        cores = torch.get_num_threads()
        return f"{cores} {'core' if cores == 1 else 'cores'}, {cpu_name()}"
    return torch.cuda.get_device_name() if torch.cuda.is_available() else best_device()


def _rows(encoders: Encoders, device: str) -> list[Row]:
    """What is timed: a row's model is a function of texts."""
    bare = encoders.bare

    def glove() -> Row:
        row, path = encoders.glove(), encoders.vectors
        return replace(row, load=lambda: _whole(baselines.average_glove(path).to(device)))

    def infersent() -> Row:
        path, name = encoders.vectors, "InferSent"
        made_of = encoders.vectors_print
        return Row(name, name, path.name, lambda: _whole(baselines.infersent(path).to(device)), made_of)

    def universal() -> Row:
        row = encoders.universal()
        return replace(row, load=lambda: _whole(row.load()))

    def backbone(ending: str, note: str, encode: Callable[[BiEncoder], Encode], paper: bool = True) -> Row:
        name = f"{bare.family}-{bare.size}{ending}"
        made = f"{bare.note}, {note}"
        return Row(name, name if paper else "", made, lambda: encode(bare.bi("mean").to(device)), bare.fingerprint)

    def padded(ending: str, order: str, smart: bool) -> Row:
        note = f"batches of {BATCH} in the order {order}, padded to the longest"
        return backbone(ending, note, partial(_padded, smart=smart))

    makers: Makers = {
        "Avg. GloVe embeddings": glove,
        "InferSent": infersent,
        "Universal Sentence Encoder": universal,
        "SBERT": lambda: padded("", "given", smart=False),
        "SBERT, smart batching": lambda: padded(", smart batching", "of length", smart=True),
        "SBERT, no padding": lambda: backbone(", no padding", "as this project runs it", _whole, paper=False),
    }
    if device != "cpu":
        del makers["Universal Sentence Encoder"]  # it is made of numpy
    return encoders.rows(makers, named=False)


def _time(encoders: Encoders, place: Place) -> list[Cell]:
    """The mean of several rounds, after one that is not counted."""
    pairs, _ = TASK.read(encoders.folder)
    texts = list(dict.fromkeys([*pairs.first, *pairs.second]))
    some = [texts[number] for number in sample(len(texts), encoders.limits.sentences or len(texts))]
    encode: Encode = place.row.load()
    encode(some[:BATCH])
    speeds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        encode(some)
        speeds.append(len(some) / (time.perf_counter() - start))
    note = f"{place.row.note}; {_machine(place.column)}; mean, slowest and fastest of {ROUNDS} rounds"
    return [
        Cell(
            "table7",
            place.row.name,
            place.column,
            sum(speeds) / ROUNDS,
            min(speeds),
            max(speeds),
            len(some),
            note,
            place.paper,
            beside=place.row.paper,
        )
    ]


def _whole(model: Encoder) -> Encode:
    return partial(model.encode, on_truncate="ignore")


def _padded(model: BiEncoder, smart: bool) -> Encode:
    """Padding costs what tokens cost, so it is timed as tokens; the vectors are of no use."""

    @torch.inference_mode()
    def encode(texts: Sequence[str]) -> None:
        lengths = model.tokenize(texts).lengths
        order = np.argsort(-lengths, kind="stable") if smart else np.arange(len(lengths))
        for start in range(0, len(order), BATCH):
            part = lengths[order[start : start + BATCH]]
            longest = int(part.max())
            model(Batch(np.zeros(longest * len(part), np.int64), (longest,) * len(part))).cpu()

    return encode
