"""What ``explain`` says is true, and it leaves no trace."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
import torch

from sbert import BiEncoder, Columns, TrainConfig, Trainer, evaluate, losses
from sbert.data import read
from sbert.train.run import explain as preflight
from sbert.train.run.explain import explain

A = ["한 남자가 기타를 친다.", "A cat sleeps.", "비가 온다.", "A cat sleeps.", "서울은 수도이다."]
B = ["사람이 악기를 연주한다.", "A cat naps.", "비가 내린다.", "A cat naps.", "No."]


@pytest.fixture
def model(tiny_folder) -> BiEncoder:
    return BiEncoder.from_pretrained(tiny_folder("bert"))


@pytest.fixture
def trainer(model, tmp_path):
    """``trainer(columns, loss, batch_size=4)``: a trainer whose folder is not there yet."""

    def make(columns, loss, evaluator=None, **options) -> Trainer:
        config = TrainConfig(output_dir=str(tmp_path / "run"), **{"batch_size": 2, **options})
        return Trainer(model, config, train=columns, loss=loss, evaluator=evaluator)

    return make


def classes() -> Columns:
    labels = ["entailment", "neutral", "entailment", "neutral", "contradiction"]
    return Columns.of({"premise": A, "hypothesis": B}, labels, name="nli")


def test_pairs_with_classes(trainer, model):
    softmax = losses.make("softmax", {}, dim=32, labels=["contradiction", "entailment", "neutral"])
    found = explain(trainer(classes(), softmax, evaluate.Similarity(A, B, range(5)), epochs=2, warmup_ratio=0.5))
    facts = found.data[0]
    assert (facts.name, facts.rows, facts.sample, facts.skipped, facts.loss) == ("nli", 5, 5, 0, "softmax")
    assert facts.balance == {"contradiction": 1, "entailment": 2, "neutral": 2}
    assert (facts.label_kind, facts.first_label, facts.scores) == ("class", "entailment", None)
    assert (facts.duplicates, facts.negatives) == (1, None)
    premise, hypothesis = facts.columns
    assert (premise.name, premise.role, premise.first, premise.repeated) == ("premise", "sentence1", A[0], 1)
    assert hypothesis.role == "sentence2"
    lengths = [len(model.tokenizer.backend.encode(text)) for text in A]
    assert (premise.tokens.mean, premise.tokens.longest) == (sum(lengths) / 5, max(lengths))
    assert premise.tokens.truncated == 0
    assert (found.epochs, found.batch_size, found.steps, found.warmup_steps) == (2, 2, 6, 3)
    assert (found.evaluator, found.measured_steps) == ("spearman_cosine", 5)  # the first of six is not counted
    assert found.seconds > 0
    assert found.parameters == sum(p.numel() for p in [*model.parameters(), *softmax.parameters()])
    assert found.peak_memory is None or found.peak_memory > 10 * 2**20
    assert json.loads(json.dumps(asdict(found)))["data"][0]["balance"]["neutral"] == 2


def test_scores_and_truncation(trainer, model):
    model.max_seq_length = 8
    scores = Columns.of({"sentence1": A, "sentence2": B}, [0.0, 0.25, 1.0, 0.5, 0.75])
    found = explain(trainer(scores, losses.make("cosine", {}, dim=32)))
    assert found.data[0].scores == (0.0, 0.5, 1.0)
    assert found.data[0].first_label == "0"
    lengths = np.array([len(model.tokenizer.backend.encode(text)) for text in A])
    assert found.data[0].columns[0].tokens.longest == lengths.max() > 8
    assert found.data[0].columns[0].tokens.truncated == (lengths > 8).mean()
    assert [note for note in found.notes if "are truncated to 8 tokens" in note]
    assert found.evaluator is None


def test_negatives_of_a_batch(trainer):
    texts = {"질문": A, "답": B, "오답 1": A[::-1], "오답 2": B[::-1]}
    pairs = Columns.of({name: texts[name] for name in ("질문", "답")})
    ranked = losses.make("info-nce", {"scale": 30}, dim=32)
    assert explain(trainer(pairs, ranked, batch_size=4)).data[0].negatives == 3
    found = explain(trainer(Columns.of(texts), losses.make("info-nce", {}, dim=32, dims=[32, 8]), batch_size=4))
    assert found.data[0].negatives == 3 + 2 * 4  # other positives, and everybody's hard negatives
    assert [column.role for column in found.data[0].columns] == ["anchor", "positive", "negative", "negative"]
    assert explain(trainer(pairs, ranked, batch_size=64)).data[0].negatives == 4  # there are five rows only
    assert "no-duplicates" in found.notes[0]
    assert explain(trainer(pairs, ranked, sampler="no-duplicates")).notes == ()


def test_teacher_and_single_texts(trainer):
    vectors = Columns.of({"text": A}, np.ones((5, 32), np.float32), label_kind="vector")
    facts = explain(trainer(vectors, losses.embedding_mse)).data[0]
    assert (facts.first_label, facts.balance, facts.columns[0].role) == ("32 numbers", {}, "text")
    topics = Columns.of({"text": [*A, *B]}, ["동물", "날씨"] * 5)
    found = explain(trainer(topics, losses.batch_hard, batch_size=4))
    assert "by-label" in found.notes[0]
    assert explain(trainer(topics, losses.batch_hard, batch_size=4, sampler="by-label")).notes == ()


def test_own_loss_and_several_data_sets(trainer):
    def far(embeddings, labels=None):
        return -(embeddings[0] - embeddings[1]).square().mean()

    pairs = Columns.of({"왼쪽": A, "오른쪽": B})
    found = explain(trainer([pairs, classes()], [far, losses.SoftmaxClassifier(32, ["a", "b", "c"])]))
    assert [facts.loss for facts in found.data] == ["far", "softmax"]
    assert [column.role for column in found.data[0].columns] == ["왼쪽", "오른쪽"]
    assert found.steps == 6


def test_sample_is_said(trainer, monkeypatch):
    monkeypatch.setattr(preflight, "SAMPLE", 3)
    facts = explain(trainer(Columns.of({"anchor": A, "positive": B}), losses.info_nce)).data[0]
    assert (facts.rows, facts.sample) == (5, 3)


def test_rows_without_gold_label(trainer, tmp_path):
    path = tmp_path / "nli.tsv"
    path.write_text("premise\thypothesis\tgold_label\nA\tB\t-\n비\t눈\tneutral\nC\tD\tentailment\n", encoding="utf-8")
    softmax = losses.SoftmaxClassifier(32, ["contradiction", "entailment", "neutral"])
    assert explain(trainer(read(path), softmax)).data[0].skipped == 1


def test_nothing_is_changed(trainer, model, tmp_path):
    """A run that was explained first is, bit for bit, the run that was not."""

    def trained(explained: bool, name: str) -> dict[str, torch.Tensor]:
        torch.manual_seed(3)
        softmax = losses.SoftmaxClassifier(32, ["contradiction", "entailment", "neutral"])
        config = TrainConfig(output_dir=str(tmp_path / name), batch_size=2, epochs=2, learning_rate=1e-2)
        model.load_state_dict(start)
        run = Trainer(model, config, train=classes(), loss=softmax)
        if explained:
            before = {key: value.clone() for key, value in run._update.tensors().items()}
            state, random = model.training, torch.get_rng_state()
            explain(run)
            after = run._update.tensors()
            assert before.keys() == after.keys()
            assert all(torch.equal(before[key], after[key]) for key in before)
            assert all(parameter.grad is None for parameter in model.parameters())
            assert model.training == state
            assert torch.equal(torch.get_rng_state(), random)
            assert not run.folder.exists()
        run.train()
        return {key: value.clone() for key, value in run._update.tensors().items()}

    start = {key: value.clone() for key, value in model.state_dict().items()}
    plain, after = trained(False, "a"), trained(True, "b")
    assert plain.keys() == after.keys()
    assert all(torch.equal(plain[key], after[key]) for key in plain)
    assert any(not torch.equal(start[key], plain[f"model.{key}"]) for key in start)
