"""A whole run: it learns, keeps the best, writes down what it does, and refuses what it cannot do exactly."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
from functools import partial
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from sbert import Backbone, BiEncoder, Dense, TrainConfig, Trainer, losses
from sbert.disk import progress
from sbert.disk.lock import locked
from sbert.errors import BadInput, CannotResume, Diverged, RunInUse
from sbert.evaluate import Similarity
from sbert.train import checkpoint, facts, trainer


class Scripted:
    """An evaluator that gives the scores it was told to, one after another."""

    primary_metric = "score"

    def __init__(self, *scores: float) -> None:
        self.scores, self.seen = list(scores), []

    def __call__(self, model: BiEncoder) -> dict[str, float]:
        assert not model.training
        self.seen.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return {"score": self.scores[len(self.seen) - 1], "other": 1.0}


@pytest.fixture
def config(tmp_path):
    def make(**settings) -> TrainConfig:
        given = {"output_dir": str(tmp_path / "실험"), "batch_size": 8, "learning_rate": 1e-3, **settings}
        return TrainConfig(**given)

    return make


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longer than these runs."""
    monkeypatch.setattr(trainer, "draw", lambda folder, metrics, facts: None)


def weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def test_progress_shows_the_mean_speed_and_the_tokens_saved(bert, rows, config, undrawn, caplog, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 1e-6)
    with caplog.at_level("INFO"):
        Trainer(bert(0.0), config(), train=rows("cosine_mse", 24), loss=losses.cosine_mse).train(
            show_progress_bar=True
        )
    lines = [line for line in caplog.messages if " steps, " in line]
    assert len(lines) == 3
    assert all(re.search(r"; loss [\d.]+, [\d,]+ rows?/s, \d+% fewer tokens than padded$", line) for line in lines)


def test_it_learns_and_writes_down_what_it_does(bert, rows, config, tmp_path, same):
    columns = rows("cosine_mse", 24)
    evaluator = Similarity(*columns.texts.values(), gold=columns.labels)
    events, model = [], bert(0.1)
    before = evaluator(model)["spearman_cosine"]
    settings = config(epochs=15, log_steps=3, eval_steps=15, checkpoint_steps=20, keep_checkpoints=1)
    run = Trainer(
        model, settings, train=columns, loss=losses.cosine_mse, evaluator=evaluator, callbacks=[events.append]
    )
    result = run.train()
    folder = tmp_path / "실험"

    steps = [event for event in events if event.kind == "step"]
    assert [event.step for event in steps] == list(range(1, 46))
    first, last = (np.mean([event.values["loss"] for event in part]) for part in (steps[:6], steps[-6:]))
    assert last < first / 2
    assert result.steps == 45
    assert result.best_score > max(before, 60)
    assert [event.step for event in events if event.kind == "evaluation"] == [15, 30, 45]
    assert [event.step for event in events if event.kind == "checkpoint"] == [20, 40, 45]
    assert checkpoint.steps(folder / "checkpoints") == [45]

    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    logged = {line["step"]: line["loss"] for line in lines if "loss" in line}
    assert logged == {event.step: event.values["loss"] for event in steps if event.step % 3 == 0}
    scores = {line["step"]: line["spearman_cosine"] for line in lines if "spearman_cosine" in line}
    assert scores.keys() == {15, 30, 45}
    assert (result.best_step, result.best_score) == max(scores.items(), key=lambda item: item[1])
    assert {"tokens", "padding_saved", "gradient", "learning_rate", "rows_per_second"} <= lines[0].keys()
    assert 0 < lines[0]["padding_saved"] < 1

    facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert facts["config"]["output_dir"] == str(folder)
    assert facts["steps"] == 45
    assert facts["data"] == [{"name": "the data", "rows": 24, "labels": [], "sha256": columns.fingerprint}]
    assert facts["versions"]["torch"] == metadata.version("torch")
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert ">spearman_cosine</th>" in (folder / "run.html").read_text(encoding="utf-8")

    assert result.model == folder / "model"
    back = BiEncoder.from_pretrained(result.model, self_check=True)
    same(weights(back), weights(model))
    assert evaluator(back)["spearman_cosine"] == pytest.approx(result.best_score)
    assert not model.training
    assert not (folder / "run.pid").exists()


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("keep_best", [True, False])
def test_which_weights_are_kept(bert, rows, config, same, keep_best):
    evaluator, model = Scripted(1.0, 3.0, 3.0, 2.0), bert(0.1)
    settings = config(epochs=4, keep_best=keep_best)
    result = Trainer(model, settings, train=rows("info_nce"), loss=losses.info_nce, evaluator=evaluator).train()
    assert (result.best_score, result.best_step, result.steps) == (3.0, 6, 12)  # the first of two equal ones
    expected = evaluator.seen[1 if keep_best else 3]
    same(weights(model), expected)
    same(weights(BiEncoder.from_pretrained(result.model)), expected)


@pytest.mark.usefixtures("undrawn")
def test_patience(bert, rows, config, same):
    settings = config(epochs=9, patience=2)
    given = {"train": rows("info_nce"), "loss": losses.info_nce}
    evaluator, model = Scripted(1.0, 3.0, 2.0, 3.0, 9.0), bert(0.1)
    result = Trainer(model, settings, **given, evaluator=evaluator).train()
    assert (result.steps, result.best_step) == (12, 6)
    # A run that had enough stays where it is, also when it is asked to go on.
    again = bert(0.1)
    assert Trainer(again, settings, **given, evaluator=Scripted()).train(resume=True).steps == 12
    same(weights(again), weights(model))


@pytest.mark.usefixtures("undrawn")
def test_a_finished_run_is_finished(bert, rows, config, same):
    first, second = bert(0.1), bert(0.1)
    given = {"train": rows("info_nce"), "loss": losses.info_nce}
    Trainer(first, config(), **given).train()
    events: list = []
    assert Trainer(second, config(), **given, callbacks=[events.append]).train(resume=True).steps == 3
    assert events == []
    same(weights(first), weights(second))


@pytest.mark.usefixtures("undrawn")
def test_the_model_comes_back_after_a_kill_between_two_renames(bert, rows, config, tmp_path, same):
    given = {"train": rows("info_nce"), "loss": losses.info_nce}
    first, second = bert(0.1), bert(0.1)
    result = Trainer(first, config(), **given, evaluator=Scripted(1.0)).train()
    draft = result.model.with_name(".sbert-0123456789abcdef.tmp")
    (draft / "old").mkdir(parents=True)
    (draft / "new").mkdir()
    result.model.rename(draft / "old" / "model")
    Trainer(second, config(), **given, evaluator=Scripted()).train(resume=True)
    same(weights(second), weights(first))
    assert list((tmp_path / "실험").glob(".*")) == []


def test_a_loss_that_is_no_number(bert, rows, config, tmp_path, same):
    model, columns = bert(), rows("softmax", 24)
    calls, before = [], []

    def breaks(embeddings, labels):
        calls.append(labels)
        if len(calls) == 3:
            before.append(weights(model))
        return embeddings[0].square().mean() * (math.nan if len(calls) == 3 else 1.0)

    with pytest.raises(
        Diverged, match=r"^the loss of step 3 is nan, but must be a finite number; the batch is in .*: look"
    ):
        Trainer(model, config(), train=columns, loss=breaks).train()
    same(weights(model), before[0])
    lines = (tmp_path / "실험" / "diverged-at-step-3.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["label"] for record in records] == calls[2].tolist()
    everything = set(zip(*columns.texts.values(), columns.labels.tolist(), strict=True))
    assert {(record["전제"], record["가설"], record["label"]) for record in records} <= everything
    assert any("가" <= letter <= "힣" for letter in "".join(lines))  # readable, not escaped


@pytest.mark.usefixtures("undrawn")
def test_a_folder_with_a_run_in_it(bert, rows, config, tmp_path, monkeypatch):
    given = {"train": rows("info_nce"), "loss": losses.info_nce}
    Trainer(bert(), config(), **given).train()
    run_json = (tmp_path / "실험" / "run.json").read_text(encoding="utf-8")
    with pytest.raises(CannotResume, match=r"실험 already contains a run; continue it with --resume"):
        Trainer(bert(), config(), **given).train()
    with pytest.raises(CannotResume, match=r"learning_rate was 0.001, is 0.5; batch_size|batch_size was 8, is 4;"):
        Trainer(bert(), config(learning_rate=0.5, batch_size=4), **given).train(resume=True)
    other = rows("info_nce").head(23)
    with pytest.raises(CannotResume, match=r"data set 0 was 24 rows with checksum \w{8}, is 23 rows with checksum"):
        Trainer(bert(), config(), train=other, loss=losses.info_nce).train(resume=True)
    with pytest.raises(CannotResume, match=r"loss was \['info_nce'\], is \['info_nce\(scale=30\)'\]; undo that"):
        Trainer(bert(), config(), train=given["train"], loss=partial(losses.info_nce, scale=30)).train(resume=True)
    with pytest.raises(CannotResume, match=r"evaluator was None, is Scripted"):
        Trainer(bert(), config(), **given, evaluator=Scripted(1.0)).train(resume=True)
    model = bert()
    headed = BiEncoder(Backbone(model.tokenizer, model.transformer), heads=[Dense(32, 8)])
    with pytest.raises(CannotResume, match=r"the checkpoint is of another model: model\.heads\.0\.linear"):
        Trainer(headed, config(), **given).train(resume=True)
    with monkeypatch.context() as patch:
        patch.setattr(facts, "versions", lambda: {"torch": "1.13"})
        with pytest.raises(CannotResume, match=rf"torch was {torch.__version__.split('+')[0]}.*, is 1\.13; undo that"):
            Trainer(bert(), config(), **given).train(resume=True)
    assert (tmp_path / "실험" / "run.json").read_text(encoding="utf-8") == run_json  # still that of the run
    assert Trainer(bert(), config(keep_checkpoints=1, log_steps=1), **given).train(resume=True).steps == 3
    shutil.rmtree(tmp_path / "실험" / "checkpoints")
    with pytest.raises(CannotResume, match="already contains a run"):  # there is still its model to lose
        Trainer(bert(), config(), **given).train()


@pytest.mark.usefixtures("undrawn")
def test_one_step_learns_too(bert, rows, config):
    model = bert()
    before = weights(model)
    Trainer(model, config(max_steps=1), train=rows("info_nce"), loss=losses.info_nce).train()
    assert not torch.equal(model.state_dict()["transformer.words.weight"], before["transformer.words.weight"])


@pytest.mark.usefixtures("undrawn")
def test_one_classifier_alone_and_in_a_sum(bert, rows, config, tmp_path, same):
    def run(resume: bool) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        classifier = losses.SoftmaxClassifier(32, ["가", "나", "다"])
        both = [classifier, losses.weighted_sum([(0.5, classifier)])]
        Trainer(bert(), config(), train=[rows("softmax"), rows("softmax")], loss=both).train(resume=resume)
        return weights(classifier)

    same(run(resume=False), run(resume=True))
    assert not (tmp_path / "실험" / "run.pid").exists()


@pytest.mark.usefixtures("undrawn")
def test_the_best_model_must_come_along(bert, rows, config):
    given = {"train": rows("info_nce"), "loss": losses.info_nce}
    shutil.rmtree(Trainer(bert(), config(), **given, evaluator=Scripted(1.0)).train().model)
    with pytest.raises(CannotResume, match="the best model, is missing; copy the whole run folder"):
        Trainer(bert(), config(), **given, evaluator=Scripted(1.0)).train(resume=True)


@pytest.mark.usefixtures("undrawn")
def test_an_evaluator_loses_nothing(bert, rows, config, tmp_path):
    with pytest.raises(IndexError):  # it was told no score
        Trainer(bert(), config(epochs=2), train=rows("info_nce"), loss=losses.info_nce, evaluator=Scripted()).train()
    assert checkpoint.steps(tmp_path / "실험" / "checkpoints") == [3]


@pytest.mark.usefixtures("undrawn")
def test_a_score_that_is_no_number_is_never_the_best(bert, rows, config, same):
    given = {"train": rows("info_nce"), "loss": losses.info_nce}
    evaluator, model = Scripted(math.nan, 1.0, math.nan), bert()
    assert Trainer(model, config(epochs=3), **given, evaluator=evaluator).train().best_step == 6
    same(weights(model), evaluator.seen[1])
    evaluator, model = Scripted(math.nan), bert()
    result = Trainer(
        model, config(output_dir=str(Path(config().output_dir) / "b")), **given, evaluator=evaluator
    ).train()
    assert result.best_score is None
    same(weights(BiEncoder.from_pretrained(result.model)), evaluator.seen[0])  # the last, for want of a best


@pytest.mark.usefixtures("undrawn")
def test_what_a_run_that_never_saved_left_is_forgotten(bert, rows, config, tmp_path):
    (tmp_path / "실험").mkdir()
    (tmp_path / "실험" / "metrics.jsonl").write_text('{"step": 1, "loss": 9.0}\n{"step": 2, "lo')
    Trainer(bert(), config(log_steps=1), train=rows("info_nce"), loss=losses.info_nce).train()
    lines = (tmp_path / "실험" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2, 3]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    "damage", [b"\0" * 512, b'{"step": 3, "lo', b'\xff\xfe garbage\n[1]\n{"loss": 1}\n', b"[" * 10**5]
)
def test_damaged_metrics_do_not_block_a_resume(bert, rows, config, tmp_path, damage):
    given = {"train": rows("info_nce"), "loss": losses.info_nce}
    Trainer(bert(), config(log_steps=1, max_steps=2, checkpoint_steps=1), **given).train()
    path = tmp_path / "실험" / "metrics.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + damage)
    Trainer(bert(), config(log_steps=1, max_steps=2), **given).train(resume=True)
    assert path.read_bytes() == whole


def test_the_folder_is_in_use(nursery, spec, program):
    path, content = spec("붐빈다", "softmax", epochs=9999, max_steps=9999)
    pid = nursery.start(path)
    assert nursery.read() == ("step", "1")
    try:
        with pytest.raises(RunInUse, match=rf"붐빈다 is in use by process {pid}; wait for it"):
            program.make(content).train(resume=True)
    finally:
        os.kill(pid, signal.SIGKILL)
    assert nursery.end()[0] == -signal.SIGKILL
    with locked(Path(content["config"]["output_dir"])):  # the dead hold nothing
        pass


def test_interrupted_from_outside(nursery, spec, same):
    settings = {"loss": "softmax", "dropout": 0.1, "batch_size": 4, "epochs": 20, "max_steps": 40}
    settings["checkpoint_steps"] = 1000
    states = []
    for name, number in (("straight", None), ("interrupt", signal.SIGINT), ("terminate", signal.SIGTERM)):
        path, content = spec(name, **settings)
        folder = Path(content["config"]["output_dir"]) / "checkpoints"
        pid = nursery.start(path)
        if number is not None:
            for _ in range(5):
                nursery.read()
            os.kill(pid, number)
            code, told = nursery.end()
            assert code == 130
            (reached,) = checkpoint.steps(folder)
            assert 5 <= reached < 40
            assert [f"{5 + count}" for count in range(1, reached - 4)] == [step for _, step in told]
            nursery.start(path)
        assert nursery.end()[0] == 0
        saved = checkpoint.newest(folder)
        assert saved is not None
        states.append(saved.tensors)
    same(states[1], states[0])
    same(states[2], states[0])


@pytest.mark.usefixtures("undrawn")
def test_several_data_sets_with_several_losses(bert, rows, config):
    seen: dict[str, int] = {"info_nce": 0, "softmax": 0, "triplet": 0}
    classifier = losses.SoftmaxClassifier(32, ["contradiction", "entailment", "neutral"])
    before = weights(classifier)

    def watched(name, loss):
        def call(embeddings, labels):
            seen[name] += 1
            assert len(embeddings) == (3 if name == "triplet" else 2)
            return loss(embeddings, labels)

        return call

    datasets = [rows("info_nce", 24), rows("softmax", 16), rows("triplet", 8)]
    chosen = [watched("info_nce", losses.info_nce), classifier, watched("triplet", losses.triplet)]
    model = bert(0.1)
    run = Trainer(model, config(epochs=2), train=datasets, loss=chosen)
    assert run.train().steps == 12
    assert seen == {"info_nce": 6, "softmax": 0, "triplet": 2}
    assert all(not torch.equal(tensor, before[name]) for name, tensor in classifier.state_dict().items())
    assert len(json.loads((Path(run.config.output_dir) / "run.json").read_text())["data"]) == 3


def test_every_data_set_needs_a_loss(bert, rows, config):
    with pytest.raises(BadInput, match="got 2 data sets and 1 losses, but each needs one"):
        Trainer(bert(), config(), train=[rows("info_nce")] * 2, loss=[losses.info_nce])
    with pytest.raises(BadInput, match="got 0 data sets"):
        Trainer(bert(), config(), train=[], loss=losses.info_nce)


class Table:
    """Looks like a Dataset of the package datasets."""

    column_names = ("anchor", "positive")

    def __len__(self) -> int:
        return 9999

    def __getitem__(self, key: object) -> list[str]:
        return ["비"] * 9999

    def __repr__(self) -> str:
        return "Dataset({\n    features: ['anchor', 'positive'],\n    num_rows: 9999\n})"


def test_what_is_not_a_loss_or_not_columns_is_one_sentence(bert, rows, config):
    for wrong in ("info-nce", ["info-nce"], losses.SoftmaxClassifier, 3):
        with pytest.raises(BadInput, match=r"^loss is .*, but must be a function of embeddings and labels, such as"):
            Trainer(bert(), config(), train=rows("info_nce"), loss=wrong)
    table = Table()
    for wrong in (table, [table], {"anchor": ["비"]}, "pairs.tsv", [["비", "눈"]] * 9999):
        with pytest.raises(BadInput, match=r"^train is .*, but must be Columns or a list of them; use Col") as caught:
            Trainer(bert(), config(), train=wrong, loss=losses.info_nce)
        assert len(str(caught.value)) < 250


@pytest.mark.usefixtures("undrawn")
def test_one_classifier_for_two_data_sets_is_one(bert, rows, config, tmp_path, same):
    classifier = losses.SoftmaxClassifier(32, ["contradiction", "entailment", "neutral"])
    run = Trainer(bert(), config(), train=[rows("softmax", 24), rows("softmax", 16)], loss=classifier)
    run.train()
    (path,) = (tmp_path / "실험" / "checkpoints").glob("*.safetensors")
    saved = load_file(path)
    assert [name for name in saved if name.startswith("objective.")] == [
        "objective.0.linear.bias",
        "objective.0.linear.weight",
    ]
    fresh = losses.SoftmaxClassifier(32, ["contradiction", "entailment", "neutral"])
    Trainer(bert(), config(), train=[rows("softmax", 24), rows("softmax", 16)], loss=fresh).train(resume=True)
    same(weights(fresh), weights(classifier))


@pytest.mark.usefixtures("undrawn")
def test_frozen_weights_stay(bert, rows, config):
    model = bert(0.1)
    before = weights(model)
    frozen = ("transformer.words.*", "transformer.layers.0.*")
    Trainer(model, config(freeze=frozen, epochs=3), train=rows("info_nce"), loss=losses.info_nce).train()
    moved = {name for name, tensor in weights(model).items() if not torch.equal(tensor, before[name])}
    assert not any(name.startswith(("transformer.words.", "transformer.layers.0.")) for name in moved)
    assert {"transformer.places.weight", "transformer.layers.1.qkv.weight"} <= moved


def test_a_place_that_cannot_be_a_folder(bert, rows, config, tmp_path):
    (tmp_path / "file").write_text("")
    for place, sentence in (
        ("file/run", "file is a file, but a folder is needed there; remove it, or name another output"),
        ("길" * 300, r"cannot be created \(File name too long\); name another place"),
    ):
        trainer = Trainer(
            bert(), config(output_dir=str(tmp_path / place)), train=rows("info_nce"), loss=losses.info_nce
        )
        with pytest.raises(BadInput, match=sentence):
            trainer.train()


@pytest.mark.usefixtures("undrawn")
def test_the_last_step_takes_what_is_left(bert, rows, config):
    events: list = []
    settings = config(batch_size=4, gradient_accumulation_steps=4, epochs=1)
    columns = rows("cosine_mse", 22)  # six batches: of 4, 4, 4, 4 and 4, 2
    Trainer(bert(), settings, train=columns, loss=losses.cosine_mse, callbacks=[events.append]).train()
    assert [event.step for event in events if event.kind == "step"] == [1, 2]
