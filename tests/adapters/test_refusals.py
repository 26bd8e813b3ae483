"""What has no meaning here is refused in one sentence that names the replacement, by the drop-in and our classes."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest
import torch

import sbert
from sbert.adapters.embedding import TextEmbedder
from sbert.adapters.sentence_transformers import CrossEncoder, SentenceTransformer, losses, util
from sbert.errors import BadInput, UnknownArgument, UnknownName
from sbert.porting import answer, sections


@pytest.fixture(scope="module")
def model(tiny_folder) -> SentenceTransformer:
    return SentenceTransformer(str(tiny_folder("bert")))


@pytest.fixture(scope="module")
def cross(tiny_classifier) -> CrossEncoder:
    return CrossEncoder(str(tiny_classifier("bert", 1)))


REFUSED = [
    (place, name)
    for place in ("SentenceTransformer", "CrossEncoder", "CrossEncoder.predict", "SentenceTransformer.save")
    for name in {**sections()["*"], **sections().get(place, {})}
    if name and answer(place, name) and not answer(place, name).works
]


@pytest.mark.parametrize(("place", "name"), REFUSED)
def test_a_refused_argument_says_what_to_write(place, name, model, cross):
    owner, _, method = place.partition(".")
    target: Any = {"SentenceTransformer": SentenceTransformer, "CrossEncoder": CrossEncoder}[owner]
    if method:
        target = getattr(model if owner == "SentenceTransformer" else cross, method)
    value: Any = not answer(place, name) if name in ("create_model_card", "safe_serialization") else ["x"]
    with pytest.raises(BadInput, match="; ") as caught:
        target("x", **{name: value})
    assert answer(place, name).plain in str(caught.value)
    assert name in str(caught.value)


def test_one_text_in_the_place_of_many_is_refused(tiny_folder):
    with pytest.raises(BadInput, match="got one text, but a list of texts is expected"):
        TextEmbedder(tiny_folder("bert")).embed("고양이")


NATIVE = [
    (lambda m: m.encode(["a"], convert_to_numpy=True), "leave it out, because arrays"),
    (lambda m: m.encode(["a"], device="cpu"), "from_pretrained"),
    (lambda m: m.encode(["한국어"], 32), "by name: 'prompt_name', 'prompt', 'batch_tokens', 'batch_size'"),
    (lambda m: m.encode_query(["a"], chunk_size=3), "on_truncate='chunk'"),
    (lambda m: m.encode(["a"], bath_size=3), "did you mean 'batch_size'"),
    (lambda m: m.rank("a", ["b"], return_documents=True), "BiEncoder.rank got return_documents"),
    (lambda m: m.similarity([1.0], embeddings2=[1.0]), "the second argument"),
    (lambda m: sbert.BiEncoder("x", device="cpu"), "from_pretrained"),
    (lambda m: sbert.BiEncoder(), "its arguments are backbone, pooling"),
    (lambda m: sbert.BiEncoder.from_pretrained(trust_remote_code=True), "never run"),
    (lambda m: sbert.BiEncoder.from_pretrained(token="x"), "HF_TOKEN"),
    (lambda m: sbert.BiEncoder.from_pretrained(cache_folder="x"), "HF_HUB_CACHE"),
    (lambda m: sbert.BiEncoder.from_pretrained(local_files_only=True), "HF_HUB_OFFLINE"),
    (lambda m: sbert.BiEncoder.from_pretrained(model_kwargs={}), "float32"),
    (lambda m: sbert.CrossEncoder.from_pretrained("x", activation_fn=torch.sigmoid), "output='logit'"),
    (lambda m: sbert.CrossEncoder.from_pretrained("x", max_length=3), "max_seq_length"),
    (lambda m: sbert.semantic_search([1.0], [[1.0]], top_k=3), "here it is: k"),
    (lambda m: sbert.most_similar_pairs([[1.0]], max_pairs=3), "here it is: k"),
    (lambda m: sbert.TrainConfig(output_dir="x", num_train_epochs=3), "here it is: epochs"),
    (lambda m: sbert.Trainer(m, args=3), "a TrainConfig"),
]


@pytest.mark.parametrize(("call", "words"), NATIVE)
def test_our_own_functions_explain_their_arguments(call, words, model):
    with pytest.raises(UnknownArgument) as caught:
        call(model.native)
    assert words in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_attributes_are_explained(model):
    with pytest.raises(UnknownName, match="embedding_dimension"):
        model.native.get_sentence_embedding_dimension()
    with pytest.raises(AttributeError, match="save_pretrained"):
        model.native.save("x")
    with pytest.raises(AttributeError, match="upload_folder"):
        model.push_to_hub("x")
    with pytest.raises(AttributeError, match="TrainConfig"):
        model.fit([])
    assert not hasattr(model.native, "no_such_name")
    for name in ("SentenceTransformer", "InputExample", "SparseEncoder"):
        with pytest.raises(AttributeError, match="sentence-transformers; "):
            getattr(sbert, name)
    with pytest.raises(AttributeError, match="mine_negatives"):
        _ = util.mine_hard_negatives


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("MultipleNegativesRankingLoss", "info_nce"),
        ("CachedMultipleNegativesRankingLoss", "mini_batch_tokens"),
        ("GISTEmbedLoss", "guide"),
        ("AdaptiveLayerLoss", "last layer"),
        ("DenoisingAutoEncoderLoss", "SimCSE"),
        ("ContrastiveTensionLoss", "SimCSE"),
        ("ListMLELoss", "list_net"),
    ],
)
def test_their_losses_are_known_by_name(name, words):
    with pytest.raises(AttributeError, match=words):
        getattr(sbert.losses, name)
    with pytest.raises(BadInput, match=words):
        sbert.losses.make(name, {}, dim=8)


def test_a_type_error_from_inside_is_not_changed():
    class Odd(str):
        def __len__(self):
            raise TypeError("odd")

    from sbert.porting import explained

    @explained
    def length(text):
        return len(text)

    with pytest.raises(TypeError, match=r"^odd$"):
        length(Odd())


def test_signatures_are_kept():
    import inspect

    assert next(iter(inspect.signature(sbert.BiEncoder.from_pretrained).parameters)) == "name"
    assert inspect.signature(sbert.BiEncoder.encode).parameters["batch_tokens"].default == 2048
    config = sbert.TrainConfig(output_dir="x")
    assert pickle.loads(pickle.dumps(config)) == config


LOSSES = {
    "MultipleNegativesRankingLoss": {"scale": 15.0},
    "MultipleNegativesSymmetricRankingLoss": {},
    "CosineSimilarityLoss": {},
    "TripletLoss": {"triplet_margin": 2.0},
    "ContrastiveLoss": {"margin": 0.4},
    "OnlineContrastiveLoss": {},
    "CoSENTLoss": {"scale": 10.0},
    "AnglELoss": {},
    "MSELoss": {},
    "MarginMSELoss": {},
    "DistillKLDivLoss": {"temperature": 2.0},
    "BatchHardTripletLoss": {},
    "BatchHardSoftMarginTripletLoss": {},
    "BatchSemiHardTripletLoss": {},
    "BatchAllTripletLoss": {},
}
THREE = ("TripletLoss", "MarginMSELoss", "DistillKLDivLoss", "MultipleNegativesRankingLoss")


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_gives_their_number(name):
    from torch import nn

    theirs = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    generator = torch.Generator().manual_seed(3)
    count = 1 if name.startswith("Batch") or name == "MSELoss" else 3 if name in THREE else 2
    columns = [torch.randn(8, 6, generator=generator) for _ in range(count)]
    labels = {
        "MSELoss": torch.randn(8, 6, generator=generator),
        "MarginMSELoss": torch.randn(8, 1, generator=generator),
        "DistillKLDivLoss": torch.randn(8, 2, generator=generator),
        "CosineSimilarityLoss": torch.rand(8, generator=generator),
    }.get(name, torch.tensor([0, 1, 0, 1, 1, 0, 0, 1]))

    class Given(nn.Module):
        """A model that gives what it is given, as a model of theirs does."""

        def forward(self, features):
            return {"sentence_embedding": features["vectors"]}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = getattr(theirs, name)(Given(), **LOSSES[name])([{"vectors": each} for each in columns], labels)
    got = getattr(losses, name)(None, **LOSSES[name])(columns, labels)
    assert float(got) == pytest.approx(float(expected), rel=1e-4)


def test_a_loss_of_another_option_is_refused():
    with pytest.raises(BadInput, match="directions"):
        losses.MultipleNegativesRankingLoss(None, directions=("query_to_doc", "doc_to_doc"))
    with pytest.raises(BadInput, match="SiameseDistanceMetric"):
        losses.ContrastiveLoss(None, distance_metric=lambda a, b: a)
    with pytest.raises(BadInput, match="score function"):
        util.semantic_search(torch.eye(2), torch.eye(2), score_function=lambda a, b: a @ b.T)
