"""Models for the evaluators: a tiny one here and in sentence-transformers, and some whose answers a test writes."""

from __future__ import annotations

import numpy as np
import pytest


class Fixed:
    """An encoder whose vectors the test writes down; it notes what it was asked."""

    def __init__(self, vectors):
        self.vectors, self.asked = vectors, []

    def encode(self, sentences, *, on_truncate="warn"):
        assert on_truncate == "ignore"
        self.asked.append(list(sentences))
        return np.array([self.vectors[text] for text in sentences], np.float32)


class Scored:
    """A scorer whose scores the test writes down; it notes what it was asked."""

    def __init__(self, scores, labels=("score",)):
        self.scores, self.labels, self.asked = scores, tuple(labels), []

    def predict(self, pairs, *, on_truncate="warn"):
        assert on_truncate == "ignore"
        self.asked.append(list(pairs))
        return np.array([self.scores[pair] for pair in pairs], np.float32)


@pytest.fixture
def fixed():
    return Fixed


@pytest.fixture
def scored():
    return Scored


@pytest.fixture(scope="session")
def encoders(tiny_folder, tmp_path_factory):
    """A bi-encoder here and there; long vectors, so that the four measures order pairs differently."""
    from sentence_transformers import SentenceTransformer

    from sbert import BiEncoder

    folder = tmp_path_factory.mktemp("evaluate") / "model"
    ours = BiEncoder.from_pretrained(tiny_folder("bert"))
    ours.save_pretrained(folder)
    return ours, SentenceTransformer(str(folder), device="cpu")


@pytest.fixture(scope="session")
def prompted(tiny_folder, tmp_path_factory):
    """The same with prompts for queries and documents."""
    from sentence_transformers import SentenceTransformer

    from sbert import Backbone, BiEncoder

    folder = tmp_path_factory.mktemp("prompted") / "model"
    backbone = Backbone.from_pretrained(tiny_folder("bert"))
    ours = BiEncoder(backbone, prompts={"query": "질문: ", "document": "The text "})
    ours.save_pretrained(folder)
    return ours, SentenceTransformer(str(folder), device="cpu")


@pytest.fixture(scope="session")
def cross_encoders(tiny_classifier):
    """``cross_encoders(3)``: a cross-encoder of so many labels here and there."""
    from sentence_transformers import CrossEncoder as Theirs

    from sbert import CrossEncoder

    def load(labels):
        folder = tiny_classifier("bert", labels)
        return CrossEncoder.from_pretrained(folder), Theirs(str(folder), device="cpu")

    return load
