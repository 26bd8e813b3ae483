"""What a user holds: shapes, options, prompts, precision, long texts, errors."""

from __future__ import annotations

import copy
import logging
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from sbert import Backbone, BiEncoder, Dense, LayerNorm, Normalize
from sbert.errors import BadInput, BadModel, BadOption, NotCalibrated, SelfCheckFailed, TextTooLong
from sbert.models.inference import run
from sbert.nn.quantize import quantize
from sbert.types import Batch

LONG = "The museum is closed on Mondays, 박물관은 월요일에 열지 않는다. " * 12


@pytest.fixture
def tiny(tiny_folder: Callable[[str], Path]) -> BiEncoder:
    """A model of one's own to change."""
    return BiEncoder(Backbone.from_pretrained(tiny_folder("bert")), prompts={"query": "질문: ", "passage": "text: "})


class TestShapes:
    def test_a_list_gives_rows_and_a_text_gives_one_vector(self, bundled: BiEncoder) -> None:
        rows = bundled.encode(["하나", "two"])
        assert (rows.shape, rows.dtype) == ((2, 384), np.float32)
        assert np.array_equal(bundled.encode("하나"), rows[0])

    def test_nothing_gives_no_rows_of_the_right_kind(self, bundled: BiEncoder) -> None:
        nothing = bundled.encode([])
        assert (nothing.shape, nothing.dtype) == ((0, 384), np.float32)
        assert bundled.encode([], precision="ubinary").shape == (0, 48)

    def test_an_empty_text_has_a_vector(self, bundled: BiEncoder) -> None:
        assert np.linalg.norm(bundled.encode("")) == pytest.approx(1, abs=1e-6)

    @pytest.mark.parametrize("container", [tuple, np.array, iter, lambda texts: dict.fromkeys(texts).keys()])
    def test_any_iterable(self, bundled: BiEncoder, container: Callable[[list[str]], list[str]]) -> None:
        assert np.array_equal(bundled.encode(container(["하나", "two"])), bundled.encode(["하나", "two"]))

    def test_tensors(self, bundled: BiEncoder) -> None:
        tensor = bundled.encode(["하나", "two"], convert_to_tensor=True)
        assert isinstance(tensor, torch.Tensor)
        assert np.array_equal(tensor.numpy(), bundled.encode(["하나", "two"]))

    def test_batch_size_means_sentences(self, bundled: BiEncoder, sentences: list[str]) -> None:
        assert np.array_equal(bundled.encode(sentences, batch_size=3), bundled.encode(sentences))


class TestComposition:
    def test_heads_in_order(self, tiny_folder: Callable[[str], Path]) -> None:
        torch.manual_seed(0)
        backbone = Backbone.from_pretrained(tiny_folder("electra"))
        dense, norm = Dense(64, 8, activation="gelu"), LayerNorm(8)
        model = BiEncoder(backbone, pooling=["mean", "max"], heads=[dense, norm, Normalize()])
        states = torch.from_numpy(model.encode_tokens(["고양이가 앉아 있다"])[0])
        pooled = torch.cat([states.mean(0), states.amax(0)])[None]
        with torch.no_grad():
            expected = torch.nn.functional.normalize(norm(torch.nn.functional.gelu(dense.linear(pooled))))
        assert model.embedding_dimension == 8
        assert np.allclose(model.encode(["고양이가 앉아 있다"]), expected.numpy(), atol=1e-6)

    def test_unknown_values_are_refused_with_the_known_ones(self, tiny_folder: Callable[[str], Path]) -> None:
        backbone = Backbone.from_pretrained(tiny_folder("bert"))
        with pytest.raises(BadOption, match="did you mean 'mean'"):
            BiEncoder(backbone, pooling="meen")  # type: ignore[arg-type]
        with pytest.raises(BadOption, match="'cosine', 'dot', 'euclidean', 'manhattan'"):
            BiEncoder(backbone, similarity="cos")  # type: ignore[arg-type]
        with pytest.raises(BadInput, match="prompt_name is 'query', but the model has no prompts"):
            BiEncoder(backbone, default_prompt_name="query")

    def test_parts_that_do_not_fit_are_refused_at_once(self, tiny_folder: Callable[[str], Path]) -> None:
        backbone = Backbone.from_pretrained(tiny_folder("bert"))
        with pytest.raises(BadInput, match="pooling is empty, but a text needs a vector; name one or several of cls"):
            BiEncoder(backbone, pooling=[])
        with pytest.raises(BadInput, match="Dense expects 100 dimensions, but its input has 64"):
            BiEncoder(backbone, pooling=["mean", "max"], heads=[Dense(100, 5)])
        with pytest.raises(BadInput, match="LayerNorm expects 32 dimensions, but its input has 8"):
            BiEncoder(backbone, heads=[Dense(32, 8), Normalize(), LayerNorm(32)])


class TestPrompts:
    def test_named_literal_default_and_none(self, tiny: BiEncoder) -> None:
        by_hand = tiny.encode(["질문: 고양이"])
        assert np.array_equal(tiny.encode(["고양이"], prompt_name="query"), by_hand)
        assert np.array_equal(tiny.encode(["고양이"], prompt="질문: "), by_hand)
        assert np.array_equal(tiny.encode(["고양이"], prompt_name="passage", prompt="질문: "), by_hand)
        tiny.default_prompt_name = "query"
        assert np.array_equal(tiny.encode(["고양이"]), by_hand)
        assert not np.array_equal(tiny.encode(["고양이"], prompt=""), by_hand)

    def test_query_and_document(self, tiny: BiEncoder) -> None:
        assert np.array_equal(tiny.encode_query("고양이"), tiny.encode("질문: 고양이"))
        assert np.array_equal(tiny.encode_query("고양이", prompt_name="passage"), tiny.encode("text: 고양이"))
        assert np.array_equal(tiny.encode_document("고양이"), tiny.encode("고양이"))
        tiny.prompts["document"] = "문서: "
        assert np.array_equal(tiny.encode_document("고양이"), tiny.encode("문서: 고양이"))

    def test_an_unknown_prompt_names_the_known_ones(self, tiny: BiEncoder) -> None:
        with pytest.raises(BadOption, match="'passage', 'query'"):
            tiny.encode("고양이", prompt_name="qury")

    def test_pooling_can_leave_the_prompt_out(self, tiny: BiEncoder) -> None:
        tiny.include_prompt = False
        states = tiny.encode_tokens(["질문: 고양이"])[0]
        skip = tiny.tokenizer.prompt_length("질문: ")
        assert np.allclose(tiny.encode("고양이", prompt="질문: "), states[skip:].mean(0), atol=1e-6)
        with pytest.raises(BadInput, match="only the first window has it"):
            tiny.encode("고양이", prompt="질문: ", on_truncate="chunk")


class TestFinish:
    def test_truncate_then_normalize(self, bundled: BiEncoder) -> None:
        full = bundled.encode(["하나", "two"])
        short = bundled.encode(["하나", "two"], truncate_dim=16)
        assert np.array_equal(short, full[:, :16])
        unit = bundled.encode(["하나", "two"], truncate_dim=16, normalize_embeddings=True)
        assert np.allclose(unit, short / np.linalg.norm(short, axis=1, keepdims=True), atol=1e-7)

    def test_a_model_can_be_short_for_good(self, tiny_folder: Callable[[str], Path]) -> None:
        model = BiEncoder.from_pretrained(tiny_folder("bert"), truncate_dim=4)
        assert model.embedding_dimension == 4
        assert model.encode("고양이").shape == (4,)
        assert model.encode("고양이", truncate_dim=6).shape == (6,)

    @pytest.mark.parametrize(
        ("size", "told"), [(-1, "at least 1"), (0, "at least 1"), (33, "1 to 32 dimensions"), (2.0, "whole number")]
    )
    def test_a_size_that_is_not_there(self, tiny: BiEncoder, tiny_folder, size: int, told: str) -> None:
        with pytest.raises(BadInput, match=f"truncate_dim is {size}, but .*{told}"):
            tiny.encode(["고양이"], truncate_dim=size)
        with pytest.raises(BadInput, match=f"truncate_dim is {size}, but .*{told}"):
            BiEncoder.from_pretrained(tiny_folder("bert"), truncate_dim=size)

    def test_int8_needs_ranges_and_then_depends_on_the_text_alone(self, tiny: BiEncoder, sentences: list[str]) -> None:
        with pytest.raises(NotCalibrated, match="calibrate"):
            tiny.encode("고양이", precision="int8")
        tiny.calibrate(sentences, on_truncate="ignore")
        alone = tiny.encode("고양이", precision="int8")
        assert alone.dtype == np.int8
        assert np.array_equal(alone, tiny.encode(["a", "고양이", "b c"], precision="int8")[1])
        assert np.array_equal(alone, quantize(tiny.encode("고양이"), "int8", tiny.ranges))

    def test_ranges_hold_for_so_many_dimensions_or_fewer(self, tiny: BiEncoder) -> None:
        tiny.calibrate(["고양이", "a cat", "two dogs"], truncate_dim=8)
        assert tiny.encode("고양이", precision="int8", truncate_dim=8).shape == (8,)
        assert tiny.encode("고양이", precision="uint8", truncate_dim=3).shape == (3,)
        with pytest.raises(NotCalibrated, match="calibrated on 8 dimensions, but the vectors have 32; call"):
            tiny.encode("고양이", precision="int8")

    @pytest.mark.parametrize(("precision", "dtype", "size"), [("float16", "float16", 384), ("binary", "int8", 48)])
    def test_other_precisions(self, bundled: BiEncoder, precision: str, dtype: str, size: int) -> None:
        got = bundled.encode(["하나"], precision=precision)  # type: ignore[call-overload]
        assert (got.dtype, got.shape) == (np.dtype(dtype), (1, size))

    def test_similarity_by_the_models_own_measure(self, tiny_folder: Callable[[str], Path]) -> None:
        model = BiEncoder(Backbone.from_pretrained(tiny_folder("bert")), similarity="euclidean")
        vectors = model.encode(["고양이", "a cat"])
        distance = -np.linalg.norm(vectors[0] - vectors[1])
        assert model.similarity(vectors, vectors)[0, 1] == pytest.approx(distance, rel=1e-5)
        assert model.similarity_pairwise(vectors[:1], torch.from_numpy(vectors[1:]))[0] == pytest.approx(distance)


class TestLongTexts:
    def test_one_warning_a_call(self, tiny: BiEncoder, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            tiny.encode([LONG, "short", LONG])
        assert [record.message.split(",")[0] for record in caplog.records] == ["2 of 3 texts truncated at 128 tokens"]

    def test_raise(self, tiny: BiEncoder) -> None:
        with pytest.raises(TextTooLong):
            tiny.encode(LONG, on_truncate="raise")

    def test_unknown_policy(self, tiny: BiEncoder) -> None:
        with pytest.raises(BadOption, match="on_truncate is 'split'"):
            tiny.encode("a", on_truncate="split")  # type: ignore[call-overload]

    def test_chunks_are_the_length_weighted_mean_of_their_windows(self, tiny: BiEncoder) -> None:
        tokens = tiny.tokenizer([LONG], windows=True)
        pieces = np.split(tokens.ids, np.cumsum(tokens.lengths)[:-1])
        assert len(pieces) > 2
        with torch.inference_mode():
            vectors = [tiny(Batch(piece.astype(np.int64), (len(piece),)))[0].numpy() for piece in pieces]
        expected = np.average(vectors, axis=0, weights=tokens.lengths)
        got = tiny.encode(["short", LONG, "짧다"], on_truncate="chunk")
        assert np.allclose(got[1], expected, atol=1e-6)
        assert np.array_equal(got[[0, 2]], tiny.encode(["short", "짧다"]))

    def test_chunked_unit_vectors_stay_unit_vectors(self, bundled: BiEncoder) -> None:
        vector = bundled.encode(LONG * 3, on_truncate="chunk")
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
        assert not np.array_equal(vector, bundled.encode(LONG * 3, on_truncate="ignore"))

    def test_a_shorter_limit(self, tiny: BiEncoder) -> None:
        tiny.max_seq_length = 8
        with pytest.raises(TextTooLong, match="at 8 tokens"):
            tiny.encode("The cat sits outside on the warm stone wall.", on_truncate="raise")
        with pytest.raises(BadInput, match="max_seq_length is 999, but this model has 128 positions"):
            tiny.max_seq_length = 999


class TestStream:
    def test_windows_in_order(self, bundled: BiEncoder, sentences: list[str]) -> None:
        parts = list(bundled.encode_stream(iter(sentences), window=7))
        assert [row for rows, _ in parts for row in rows] == list(range(len(sentences)))
        assert np.array_equal(np.concatenate([vectors for _, vectors in parts]), bundled.encode(sentences))

    def test_reads_no_more_than_a_window_ahead(self, tiny: BiEncoder) -> None:
        taken = 0

        def endless() -> object:
            nonlocal taken
            while True:
                taken += 1
                yield f"고양이 {taken}"

        stream = tiny.encode_stream(endless(), window=5)  # type: ignore[arg-type]
        next(stream)
        assert taken == 5

    def test_options_and_errors(self, tiny: BiEncoder) -> None:
        ((_, vectors),) = tiny.encode_stream(["고양이"], normalize_embeddings=True)
        assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-6)
        with pytest.raises(BadInput, match="window is 0"):
            tiny.encode_stream(["a"], window=0)
        with pytest.raises(BadInput, match=r"window is 2\.5, but must be a whole number"):
            tiny.encode_stream(["a"], window=2.5)  # type: ignore[arg-type]
        with pytest.raises(BadOption, match="prompt_name is 'qury'"):
            tiny.encode_stream(["고양이"], prompt_name="qury")
        with pytest.raises(BadInput, match="batch_size is 0, but must be at least 1"):
            tiny.encode_stream(["고양이"], batch_size=0)
        with pytest.raises(BadInput, match="row 1 is NoneType"):
            next(tiny.encode_stream(["a", None]))  # type: ignore[list-item]


class TestTokens:
    def test_mean_of_the_tokens_is_the_vector(self, tiny: BiEncoder, sentences: list[str]) -> None:
        states = tiny.encode_tokens(sentences)
        vectors = tiny.encode(sentences, on_truncate="ignore")
        assert np.allclose([state.mean(0) for state in states], vectors, atol=1e-6)


class TestSelfCheck:
    def test_a_saved_model_proves_itself(self, tiny: BiEncoder, tmp_path: Path) -> None:
        tiny.save_pretrained(tmp_path / "모델")
        loaded = BiEncoder.from_pretrained(tmp_path / "모델", self_check=True)
        assert loaded.self_check() == 0.0
        assert loaded.prompts == tiny.prompts

    def test_a_changed_model_is_caught(self, tiny: BiEncoder, tmp_path: Path) -> None:
        tiny.save_pretrained(tmp_path / "m")
        config = tmp_path / "m" / "1_Pooling" / "config.json"
        config.write_text(config.read_text().replace('mean_tokens": true', 'max_tokens": true'))
        with pytest.raises(SelfCheckFailed, match="differ by"):
            BiEncoder.from_pretrained(tmp_path / "m", self_check=True)

    def test_a_model_without_reference_says_so(self, tiny: BiEncoder) -> None:
        with pytest.raises(SelfCheckFailed, match="no reference vectors"):
            tiny.self_check()

    def test_everything_a_model_knows_comes_back(self, tiny: BiEncoder, tmp_path: Path) -> None:
        tiny.calibrate(["고양이", "a cat", "two dogs"])
        tiny.default_prompt_name, tiny.similarity_fn_name, tiny.include_prompt = "query", "manhattan", False
        tiny.max_seq_length = 17
        tiny.save_pretrained(tmp_path / "m")
        loaded = BiEncoder.from_pretrained(tmp_path / "m", self_check=True)
        assert np.array_equal(loaded.ranges, tiny.ranges)
        for name in ("prompts", "default_prompt_name", "similarity_fn_name", "include_prompt", "max_seq_length"):
            assert getattr(loaded, name) == getattr(tiny, name)
        assert np.array_equal(loaded.encode(["고양이"]), tiny.encode(["고양이"]))


def test_loading_with_another_length(tiny_folder: Callable[[str], Path]) -> None:
    assert BiEncoder.from_pretrained(tiny_folder("roberta"), max_seq_length=9).max_seq_length == 9
    assert Backbone.from_pretrained(tiny_folder("roberta"), max_seq_length=9).tokenizer.max_length == 9
    for wrong, told in ((100_000, "this model has 128 positions"), (0, "at least 1"), (16.5, "a whole number")):
        for kind in (BiEncoder, Backbone):
            with pytest.raises(BadInput, match=f"max_seq_length is {wrong}, but .*{told}"):
                kind.from_pretrained(tiny_folder("roberta"), max_seq_length=wrong)


def test_rank(bundled):
    texts = ["기차가 늦는다.", "A man is eating.", "A cat sleeps.", "A man is eating."]
    hits = bundled.rank("Someone has a meal.", texts, top_k=3)
    scores = bundled.similarity(bundled.encode(["Someone has a meal."]), bundled.encode(texts))[0]
    assert [hit.id for hit in hits[:2]] == [1, 3]
    assert all(hit == (hit.id, scores[hit.id], texts[hit.id]) for hit in hits)
    with pytest.raises(BadInput, match="top_k is 0"):
        bundled.rank("a", ["b"], top_k=0)
    with pytest.raises(BadInput, match=r"top_k is 1\.5, but must be a whole number"):
        bundled.rank("비", ["눈"], top_k=1.5)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_gives_equal_vectors(bundled, copied) -> None:
    texts = ["고양이가 잔다.", "A man is playing a guitar."]
    assert (copied(bundled).encode(texts) == bundled.encode(texts)).all()


def test_in_training_a_text_is_read_without_dropout(bundled) -> None:
    model = copy.deepcopy(bundled).train()
    model.transformer.norm.eval()
    texts = ["고양이가 잔다.", "A man is playing a guitar."]
    assert (model.encode(texts) == bundled.encode(texts)).all()
    assert model.training
    assert not model.transformer.norm.training


def test_a_thread_that_has_read_brings_no_dropout_to_another(bundled) -> None:
    model = copy.deepcopy(bundled).train()
    tokens = model.tokenize(["고양이가 잔다.", "A man is playing a guitar."])
    first, second = (run(model, model, tokens, batch_tokens=8) for _ in range(2))
    next(first), next(second)
    assert len(list(first)) == 1
    assert not any(module.training for module in model.modules())
    assert len(list(second)) == 1
    assert all(module.training for module in model.modules())


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("similarity_fn_name", "dot_score", "similarity is 'dot_score', but must be one of 'cosine', 'dot'"),
        ("default_prompt_name", "질문", "prompt_name is '질문', but must be one of 'passage', 'query'"),
        ("prompts", {"질문": 3}, "a prompt is int, but must be text"),
    ],
)
def test_what_cannot_be_loaded_again_is_not_saved(tiny, tmp_path, setting, value, told) -> None:
    setattr(tiny, setting, value)
    with pytest.raises(BadInput, match=told):
        tiny.save_pretrained(tmp_path / "모형")
    assert list(tmp_path.iterdir()) == []


def test_a_prompt_that_is_not_there_or_no_text_is_told(bundled) -> None:
    with pytest.raises(BadInput, match="prompt_name is 'query', but the model has no prompts; give the words"):
        bundled.encode("비가 온다.", prompt_name="query")
    with pytest.raises(BadInput, match="a prompt is int, but must be text"):
        bundled.encode("비가 온다.", prompt=3)


def test_only_vectors_are_compared(bundled) -> None:
    with pytest.raises(BadInput, match="got a list that is no array of numbers, but vectors are compared"):
        bundled.similarity(["비"], ["눈"])


@pytest.mark.parametrize("texts", [[], ["비"], ["비", "비"]])
def test_too_few_texts_to_calibrate_with(tiny, texts) -> None:
    with pytest.raises(BadInput, match=f"calibrate got {len(set(texts))} different text"):
        tiny.calibrate(texts)
    assert tiny.ranges is None


def test_a_cosine_is_never_beyond_one(bundled, sentences) -> None:
    vectors = bundled.encode(sentences)
    assert np.abs(bundled.similarity(vectors, vectors)).max() <= 1
    assert np.abs(bundled.similarity_pairwise(vectors, -vectors)).max() <= 1
    assert abs(np.diag(bundled.similarity(vectors, vectors)) - 1).max() < 1e-6


def test_a_model_that_gives_no_numbers_is_refused(bundled) -> None:
    model = copy.deepcopy(bundled)
    guitar = int(model.tokenize(["guitar"]).ids[1])
    for wrong, told in ((torch.nan, "NaN"), (torch.inf, "NaN")):  # infinity is none after the first normalisation
        with torch.no_grad():
            model.transformer.words.weight[guitar] = wrong
        with pytest.raises(BadModel, match=f"the model gives {told} for 'A guitar!'; its weights are damaged"):
            model.encode(["고양이가 잔다.", "A guitar!", "A man is eating."])
    assert (model.encode(["고양이가 잔다."]) == bundled.encode(["고양이가 잔다."])).all()
