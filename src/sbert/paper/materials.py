"""The materials of the rows: training data, word vectors and the backbone, each read when first needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from sbert.data import Columns, read
from sbert.errors import BadInput
from sbert.evaluate.suites.sources import DataFolder
from sbert.models.inference import using_device
from sbert.paper.backbone import PaperBackbone, folder_digest
from sbert.paper.budgets import Settings

_SNLI = ("snli_1.0_train.jsonl", "snli")
_MULTINLI = ("multinli_1.0_train.jsonl", "multinli")
_STSB = ("sts-train.csv", "stsb")
_SECTIONS = ("wikipedia-sections-triplets/train.csv", "wikisection_triplets_selfbuilt")
_GLOVE = ("glove.840B.300d.txt", "glove.6B.300d.txt", "glove.6B.100d.txt", "glove100/vectors_f16.npy")


class Materials:
    """Everything the settings of a run refer to. A file that is missing raises BadInput when it is first needed."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.folder = DataFolder(settings.data)
        with using_device(settings.device) as device:
            torch.empty(0, device=device)  # so that a wrong device is reported before any work
        self.device = str(device)
        self.backbone = PaperBackbone(settings.backbone, self.device)

    def find(self, names: Sequence[str]) -> Path:
        """Return the first of these files that exists."""
        for name in names:
            if path := self.folder.find_file(name):
                return path
        raise BadInput(f"none of these is in {self.folder.path}: {', '.join(names)}")

    @cached_property
    def vectors(self) -> Path:
        """GloVe's word vectors, the largest file that exists."""
        path = self.find(_GLOVE)
        return path.parent if path.suffix == ".npy" else path

    @cached_property
    def vectors_digest(self) -> str:
        """Digest of the word vectors."""
        return folder_digest(self.vectors)

    @cached_property
    def nli(self) -> Columns:
        """Pairs of SNLI and then of MultiNLI; where the budget limits them, an equal number of each."""
        paths = [self.find(names) for names in (_SNLI, _MULTINLI)]
        half = None if self.limits.nli is None else self.limits.nli // 2
        first, second = (read(path, limit=half) for path in paths)
        names = first.label_names
        if second.label_names != names:
            raise BadInput(f"{paths[0].name} has the classes {names}, {paths[1].name} others; make them agree")
        columns = zip(("premise", "hypothesis"), first.texts.values(), second.texts.values(), strict=False)
        texts = {name: [*ours, *others] for name, ours, others in columns}
        labels = np.concatenate([part.labels for part in (first, second) if part.labels is not None])
        return Columns(texts, labels, "class", names, name="NLI")

    @cached_property
    def stsb(self) -> Columns:
        """The STS benchmark's training pairs."""
        return read(self.find(_STSB), shape="sts", limit=self.limits.stsb)

    @cached_property
    def sections(self) -> Columns:
        """Triplets of Wikipedia sections; the packaged set has no training rows, so its development rows are used."""
        path = self.find(_SECTIONS)
        published = path.name == "train.csv"
        names = ["Sentence1", "Sentence2", "Sentence3"] if published else None
        split = None if published else "valid"
        rows = read(path, shape="triplets", split=split, columns=names, limit=self.limits.triplets)
        return replace(rows, name="sections")
