"""The same scores as sentence-transformers' CrossEncoder, and folders exchanged both ways without a warning."""

from __future__ import annotations

import logging
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder as Theirs

from sbert import CrossEncoder

ARCHITECTURES = [
    "bert",
    "roberta",
    "xlm-roberta",
    "electra",
    "distilbert",
    "mpnet",
    "albert",
    "modernbert",
    "deberta-v2",
]


SCALES = [(torch.nn.Identity(), "identity"), (torch.nn.Sigmoid(), "sigmoid"), (torch.nn.Tanh(), "tanh")]


@pytest.fixture
def loaded_there(caplog, capfd):
    """Load a folder in sentence-transformers; any warning, log line or output is an error."""
    from transformers.utils import logging as bars

    def load(folder: Path) -> Theirs:
        capfd.readouterr()
        with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
            warnings.simplefilter("error")
            model = Theirs(str(folder), device="cpu")
            model.predict([("하나", "two words")])
        assert [record.getMessage() for record in caplog.records] == []
        assert capfd.readouterr() == ("", "")
        return model

    bars.disable_progress_bar()
    yield load
    bars.enable_progress_bar()


def largest_difference(ours: CrossEncoder, theirs: Theirs, pairs: list[tuple[str, str]]) -> float:
    got, expected = ours.predict(pairs, on_truncate="ignore"), theirs.predict(pairs)
    assert got.shape == expected.shape
    assert np.ptp(expected, axis=0).min() > 0.05  # or there was nothing to compare
    # A float32 carries seven digits: of logits beyond one, the last of them is more than 1e-6.
    return float(np.abs(got - expected).max() / max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("labels", [1, 3])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_transformers_folder(tiny_classifier, text_pairs, architecture, labels):
    folder = tiny_classifier(architecture, labels)
    ours, theirs = CrossEncoder.from_pretrained(folder), Theirs(str(folder), device="cpu")
    assert largest_difference(ours, theirs, text_pairs) <= 1e-6
    assert ours.max_seq_length == theirs.max_seq_length


@pytest.mark.parametrize("labels", [1, 3])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_our_folder_loads_there_without_a_word(
    tiny_classifier, text_pairs, tmp_path, loaded_there, architecture, labels
):
    ours = CrossEncoder.from_pretrained(tiny_classifier(architecture, labels), max_seq_length=40)
    ours.save_pretrained(tmp_path / "모델")
    theirs = loaded_there(tmp_path / "모델")
    assert largest_difference(ours, theirs, text_pairs) <= 1e-6
    assert (theirs.num_labels, theirs.max_seq_length) == (labels, 40)
    assert tuple(theirs.config.id2label.values()) == ours.labels


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_new_head_loads_there_too(tiny_folder, text_pairs, tmp_path, loaded_there, architecture):
    ours = CrossEncoder.from_pretrained(tiny_folder(architecture), labels=["예", "no"])
    ours.save_pretrained(tmp_path / "m")
    theirs = loaded_there(tmp_path / "m")
    assert largest_difference(ours, theirs, text_pairs) <= 1e-6
    assert theirs.config.id2label == {0: "예", 1: "no"}


@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("architecture", ["bert", "roberta", "electra", "albert", "distilbert"])
def test_their_folder_loads_here(tiny_classifier, text_pairs, tmp_path, architecture, labels):
    theirs = Theirs(str(tiny_classifier(architecture, labels)), device="cpu", max_length=30)
    theirs.save_pretrained(str(tmp_path / "m"))
    ours = CrossEncoder.from_pretrained(tmp_path / "m")
    assert largest_difference(ours, theirs, text_pairs) <= 1e-6
    assert (len(ours.labels), ours.max_seq_length) == (labels, 30)


@pytest.mark.parametrize(("activation", "scale"), SCALES)
@pytest.mark.parametrize("labels", [1, 3])
def test_their_scale_is_ours(tiny_classifier, text_pairs, tmp_path, loaded_there, activation, scale, labels):
    theirs = Theirs(str(tiny_classifier("roberta", labels)), device="cpu", activation_fn=activation)
    theirs.save_pretrained(str(tmp_path / "m"))
    ours = CrossEncoder.from_pretrained(tmp_path / "m")
    assert ours.scale == scale
    assert largest_difference(ours, theirs, text_pairs) <= 1e-6
    ours.save_pretrained(tmp_path / "again")
    assert largest_difference(ours, loaded_there(tmp_path / "again"), text_pairs) <= 1e-6


def test_the_same_ranking(tiny_classifier, sentences):
    folder = tiny_classifier("bert", 1)
    theirs = Theirs(str(folder), device="cpu").rank("고양이", sentences[:50], top_k=5)
    ours = CrossEncoder.from_pretrained(folder).rank("고양이", sentences[:50], top_k=5)
    assert [hit.id for hit in ours] == [hit["corpus_id"] for hit in theirs]


def test_a_new_head_learns_what_theirs_learns(tiny_folder):
    """The forms of the head are theirs: of the same body they have equally many weights, under the same names."""
    for architecture in ARCHITECTURES:
        theirs = Theirs(str(tiny_folder(architecture)), device="cpu", num_labels=3)
        ours = CrossEncoder.from_pretrained(tiny_folder(architecture), num_labels=3)
        counts = [sum(weight.numel() for weight in model.parameters()) for model in (ours, theirs)]
        assert counts[0] == counts[1], architecture


def test_a_modernbert_head_on_the_mean_of_all_tokens(tiny_classifier, tiny_folder, text_pairs, tmp_path, loaded_there):
    """As gte-reranker-modernbert-base has it, with the options that change the tensors of the head."""
    from transformers import AutoConfig, AutoModelForSequenceClassification

    folder = shutil.copytree(tiny_folder("modernbert"), tmp_path / "mean")
    options = {
        "classifier_pooling": "mean",
        "classifier_bias": True,
        "norm_bias": True,
        "classifier_activation": "silu",
    }
    config = AutoConfig.from_pretrained(folder, num_labels=1, **options)
    torch.manual_seed(1)
    AutoModelForSequenceClassification.from_config(config).eval().save_pretrained(folder)
    ours, theirs = CrossEncoder.from_pretrained(folder), Theirs(str(folder), device="cpu")
    assert ours.head.reads_mean
    assert largest_difference(ours, theirs, text_pairs) <= 1e-6
    ours.save_pretrained(tmp_path / "again")
    assert largest_difference(ours, loaded_there(tmp_path / "again"), text_pairs) <= 1e-6
    alone = [float(ours.predict([pair], on_truncate="ignore")[0]) for pair in text_pairs[::9]]
    assert ours.predict(text_pairs[::9], on_truncate="ignore", batch_tokens=64).tolist() == alone
