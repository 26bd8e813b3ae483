"""Wrong arguments of models are refused in one sentence that names the way out."""

from __future__ import annotations

import pytest
import torch

from sbert import BiEncoder, CrossEncoder, PolyEncoder, WordEncoder, load
from sbert.errors import BadInput, SbertError
from sbert.models import inference

MODELS = [BiEncoder, CrossEncoder, PolyEncoder]
TEXTS = [f"문장 {number}" for number in range(10_000)]


@pytest.mark.parametrize("model", MODELS)
def test_a_name_is_loaded_with_from_pretrained(model):
    with pytest.raises(
        BadInput, match=rf"^{model.__name__} got 'all-MiniLM-L6-v2'.*{model.__name__}.from_pretrained$"
    ):
        model("all-MiniLM-L6-v2")


def test_word_vectors_are_loaded_with_from_vectors():
    with pytest.raises(
        BadInput, match=r"^WordEncoder got 'glove\.txt', .*, or word vectors with WordEncoder\.from_vec"
    ):
        WordEncoder("glove.txt", torch.zeros(3, 2))


@pytest.mark.parametrize("make", [*MODELS, lambda texts: WordEncoder(texts, None), load, BiEncoder.from_pretrained])
def test_a_message_does_not_repeat_a_long_argument(make):
    with pytest.raises(SbertError) as caught:
        make(TEXTS)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("device", ["cuda:77", "gpu", 3.5])
@pytest.mark.parametrize("cls", [BiEncoder, CrossEncoder, PolyEncoder])
def test_a_device_that_cannot_be_used(tiny_folder, cls, device):
    told = rf"^device is {device!r}, but torch cannot use it here \(.*\); leave it out, or pass 'cpu'$"
    with pytest.raises(BadInput, match=told) as caught:
        cls.from_pretrained(tiny_folder("bert"), device=device)
    assert len(str(caught.value)) < 300


def test_labels_in_messages_are_shortened(tiny_folder):
    names = [f"class {number}" for number in range(3000)]
    with pytest.raises(BadInput, match="num_labels is 2, but there are 3000 labels") as caught:
        CrossEncoder.from_pretrained(tiny_folder("bert"), labels=names, num_labels=2)
    assert len(str(caught.value)) < 600


def test_an_interrupt_while_cleaning_up_leaves_training_mode_as_it_was(tiny_folder, monkeypatch):
    model = BiEncoder.from_pretrained(tiny_folder("bert"))
    model.train()
    real, calls = inference._end_run, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) < 3:
            raise KeyboardInterrupt
        real(*arguments)

    monkeypatch.setattr(inference, "_end_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.encode(["비가 온다.", "A cat."])
    assert all(module.training for module in model.modules())
    assert model not in inference._running
