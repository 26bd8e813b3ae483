"""The Korean models that come with the project: found by name, exact, and able to tell what Korean texts mean."""

from __future__ import annotations

from unicodedata import normalize

import numpy as np
import pytest
from safetensors.torch import load_file
from sentence_transformers import CrossEncoder as TheirCrossEncoder
from sentence_transformers import SentenceTransformer

from sbert import BiEncoder, CrossEncoder, Searcher, hub, semantic_search
from sbert.cli.demo.languages import LANGUAGES
from sbert.errors import ModelNotFound
from sbert.evaluate.suites import SUITES
from sbert.hub import bundled

PACKAGE = bundled.PACKAGES[bundled.KOREAN]
CROSS_PACKAGE = bundled.PACKAGES[bundled.KOREAN_CROSS]
pytestmark = pytest.mark.skipif(
    bundled.find(PACKAGE) is None or bundled.find(CROSS_PACKAGE) is None,
    reason=f"the Korean models are not installed; run: {PACKAGE.install} {CROSS_PACKAGE.requirement}",
)
TEXTS = [
    "환불은 며칠 안에 되나요?",
    "BERT 모델로 sentence embedding을 만든다!",
    "ㅋㅋㅋ 漢字와 café",
    "",
    "한국어 " * 200,
]


@pytest.fixture(scope="module")
def korean() -> BiEncoder:
    return BiEncoder.from_pretrained("ko", self_check=True)


@pytest.fixture(scope="module")
def cross() -> CrossEncoder:
    return CrossEncoder.from_pretrained("ko-cross")


def test_they_have_short_names():
    assert hub.resolve("ko") == hub.resolve("sbert-ko-base") == bundled.find(PACKAGE)
    assert hub.resolve("ko-cross") == hub.resolve("sbert-ko-cross") == bundled.find(CROSS_PACKAGE)
    with pytest.raises(ModelNotFound):
        hub.resolve("")  # the name of no package


def test_without_the_package_the_error_names_the_command(monkeypatch):
    monkeypatch.setattr(bundled, "find", lambda package: None)
    with pytest.raises(ModelNotFound, match=r"run: pip install --no-deps \./packages/sbert-ko-base$"):
        hub.resolve("ko")


@pytest.mark.parametrize("name", ["ko", "ko-cross"])
def test_weights_are_stored_in_half_precision(name):
    weights = load_file(hub.resolve(name) / "model.safetensors")
    assert {str(tensor.dtype) for tensor in weights.values()} == {"torch.float16"}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_sentence_transformers_gives_the_same_vectors(korean):
    theirs = SentenceTransformer(str(hub.resolve("ko")), device="cpu").encode(TEXTS)
    ours = korean.encode(TEXTS, on_truncate="ignore")
    assert np.abs(ours - theirs).max() <= 2e-6 * np.abs(ours).max()


def test_a_vector_depends_on_its_text_alone(korean):
    together = korean.encode(TEXTS, on_truncate="ignore")
    assert all(
        (korean.encode(text, on_truncate="ignore") == row).all() for text, row in zip(TEXTS, together, strict=True)
    )


@pytest.mark.parametrize(
    ("typed", "usual"),
    [
        (normalize("NFD", "부산역에서 만나요"), "부산역에서 만나요"),
        ("ＫＴＸ를 탔다", "KTX를 탔다"),
        ("㈜한국 ①호점", "(주)한국 1호점"),
        ("환불\u200b은 언제\ufeff 되나요", "환불은 언제 되나요"),
        ("ﾡﾡ 알겠어요", "ㄱㄱ 알겠어요"),
    ],
)
def test_texts_that_look_the_same_have_the_same_vector(korean, typed, usual):
    assert typed != usual
    assert (korean.encode(typed) == korean.encode(usual)).all()


def test_a_laugh_is_read(korean):
    assert not (korean.encode("정말요 ㅋㅋㅋ") == korean.encode("정말요 ㅠㅠ")).all()
    assert "ㅋㅋ" in korean.tokenizer.backend.encode("ㅋㅋㅋ").tokens


def test_questions_find_their_paraphrases_without_a_common_word(korean):
    texts = [sentence.text for sentence in LANGUAGES["ko"].sentences()]
    asked = {
        "돈을 언제 돌려받을 수 있는지 궁금합니다.": "남은 휴가를 돈으로 돌려받을 수 있는지 궁금합니다.",
        "중앙은행이 이자율을 그대로 두었다.": "금융 통화 위원회는 이달 금리를 바꾸지 않기로 했다.",
        "비행기가 바람 탓에 뜨지 못했다.": "강한 바람 때문에 제주로 가는 비행기가 전부 취소됐다.",
    }
    found = semantic_search(korean.encode(list(asked)), korean.encode(texts), 3)
    for answer, hits in zip(asked.values(), found, strict=True):
        assert answer in [texts[int(hit.id)] for hit in hits]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_sentence_transformers_gives_the_same_scores(cross):
    pairs = [(first, second) for first in TEXTS[:4] for second in TEXTS[:4]]
    theirs = TheirCrossEncoder(str(hub.resolve("ko-cross")), device="cpu").predict(pairs)
    assert np.abs(cross.predict(pairs) - theirs).max() <= 2e-6


def test_scores_do_not_depend_on_the_unicode_form(cross):
    first, second = "부산역에서 만나요", "부산역에서 봅시다"
    typed = cross.predict([(normalize("NFD", first), normalize("NFD", second))])
    assert (typed == cross.predict([(first, second)])).all()


def test_the_cross_encoder_sorts_what_the_bi_encoder_finds(korean, cross):
    texts = [sentence.text for sentence in LANGUAGES["ko"].sentences()]
    searcher = Searcher(korean, reranker=cross)
    searcher.add(texts)
    hits = searcher.search("중앙은행이 이자율을 그대로 두었다.", k=3, candidates=20).hits
    assert hits[0].text == "금융 통화 위원회는 이달 금리를 바꾸지 않기로 했다."


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("name", "korsts", "klue"), [("korean", 79.0, 84.6), ("cross", 82.4, 89.0)])
def test_published_figures(name, korsts, klue, request, shared_data):
    model = request.getfixturevalue(name)
    report = SUITES["korean"].only("korsts_test", "klue_sts_dev").run(model, shared_data)
    figures = {score.task: score.value for score in report.scores}
    assert figures["korsts_test"] >= korsts
    assert figures["klue_sts_dev"] >= klue
