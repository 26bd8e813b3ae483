"""What many tests share: varied sentences, tiny random models with real tokenizers, and the way to data from outside.

Everything here works offline; a test that asks for data the project does not carry is skipped and says why.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from sbert import BiEncoder

ROOT = Path(__file__).parents[1]

# How long an example takes says more of the machine, and of what else runs on it, than of the code.
# The examples of a run under CI are always the same ones, so that a change is judged by what it changed.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

ENGLISH = """
A man is playing a guitar.
A woman is slicing an onion in the kitchen.
The cat sits outside on the warm stone wall.
Two dogs run through a field of tall grass.
The new movie is awesome, and everyone wants to see it twice.
How do I bake bread without an oven?
The stock market fell sharply after the central bank raised interest rates by half a point.
She said: "I'll be there at 7:30 p.m., won't you?"
Sentence embeddings map texts to vectors so that similar meanings lie close together.
Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.
No.
Hello
hello
HELLO WORLD
Is this the real life?
Prices rose from $1,234.56 to $2,000.00 (+62%) in 2019.
The quick brown fox jumps over the lazy dog.
The lazy dog jumps over the quick brown fox.
It was the best of times, it was the worst of times.
Children are playing football in the rain while their parents watch from under the trees.
A train leaves Paris at noon and reaches Berlin in the evening.
The patient was given 20 mg of the drug twice a day for six weeks.
Café, naïve, Zürich, coöperate, Ångström.
The judge dismissed the case because the evidence had been obtained without a warrant.
def mean(values): return sum(values) / len(values)
https://example.org/a/b?c=d&e=f#g
one two three four five six seven eight nine ten eleven twelve
The museum is closed on Mondays.
On Mondays the museum does not open.
Nobody expected the small team to win the cup that year.
""".strip().splitlines()

KOREAN = """
한 남자가 기타를 치고 있다.
한 여자가 부엌에서 양파를 썰고 있다.
고양이가 따뜻한 돌담 위에 앉아 있다.
개 두 마리가 풀밭을 달린다.
새 영화가 정말 재미있어서 모두 두 번씩 보고 싶어 한다.
오븐 없이 빵을 어떻게 굽나요?
중앙은행이 금리를 올린 뒤 주식 시장이 크게 떨어졌다.
서울의 오늘 날씨는 맑고 바람이 조금 분다.
내일 오후 세 시에 강남역에서 만나자.
문장 임베딩은 뜻이 비슷한 글을 가까운 벡터로 옮긴다.
네.
안녕하세요
대한민국의 수도는 서울이다.
서울은 대한민국의 수도이다.
이 식당은 김치찌개가 맛있기로 유명하다.
아이들이 비를 맞으며 축구를 하는 동안 부모들은 나무 아래에서 지켜본다.
기차는 정오에 부산을 떠나 저녁에 서울에 도착한다.
환자는 여섯 주 동안 하루에 두 번 약을 먹었다.
월요일에는 박물관이 문을 닫는다.
박물관은 월요일에 열지 않는다.
그해에 작은 팀이 우승할 것이라고는 아무도 생각하지 못했다.
책을 읽는 것은 마음의 양식이다.
BERT 모델을 한국어 데이터로 fine-tuning 했다.
""".strip().splitlines()

ODD = [
    "",
    " ",
    "😀",
    "I ❤️ 한국 🇰🇷 and 🍕!",
    "ㅋㅋㅋㅋㅋ",
    "tab\tand\nnew line",
    " ".join([*ENGLISH[:12], *KOREAN[:4], *ENGLISH[15:20]]),  # more than a hundred words: longer than tiny models read
]

SENTENCES = [*ENGLISH, *KOREAN, *ODD]

TINY: dict[str, dict[str, Any]] = {
    "bert": {},
    "roberta": {"type_vocab_size": 1},
    "xlm-roberta": {"type_vocab_size": 1},
    "electra": {"embedding_size": 16},  # narrower than the hidden size, so the projection between them matters
    "distilbert": {"dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 2},
    "mpnet": {},
    "modernbert": {"local_attention": 8},  # far shorter than the texts, so the window matters
    "deberta-v2": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False},
    "albert": {"embedding_size": 16, "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1},
}
ROBERTA_LIKE = {"roberta", "xlm-roberta", "mpnet"}  # pad is 1 and positions start behind it
BYTE_LEVEL = {"roberta", "xlm-roberta", "modernbert"}
WITH_SEGMENTS = {"bert", "electra", "albert", "deberta-v2"}
MAX_LENGTH = 128
VOCABULARY = 400


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for data from outside carries the mark ``shared``."""
    for item in items:
        if {"shared_data", "shared_models"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("shared")


def folder_from(setting: str, fallback: Path) -> Path:
    folder = Path(os.environ.get(setting) or fallback)
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}: set {setting} to run this test")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of data sets that are not part of the project."""
    return folder_from("SBERT_DATA", ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def shared_models() -> Path:
    """The folder of models that are not part of the project."""
    return folder_from("SBERT_MODELS", ROOT.parent / "shared" / "models")


@pytest.fixture(scope="session")
def bundled() -> BiEncoder:
    """The default model, loaded once; a test that changes it must load its own."""
    import sbert

    return sbert.BiEncoder.from_pretrained()


@pytest.fixture
def sentences() -> list[str]:
    """Sixty varied texts, English and Korean, from empty to more than a hundred words."""
    return list(SENTENCES)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``tiny_folder("bert")``: the folder of a tiny random model and its tokenizer, written once; do not change it."""
    root = tmp_path_factory.mktemp("tiny")

    @cache
    def write(architecture: str) -> Path:
        folder = root / architecture
        tokenizer = trained_tokenizer(architecture)
        save_model(architecture, tokenizer, folder)
        save_tokenizer(architecture, tokenizer, folder)
        return folder

    return write


@pytest.fixture(scope="session")
def tiny_classifier(
    tiny_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, int], Path]:
    """``tiny_classifier("bert", 3)``: a tiny random sequence classifier as transformers saves it; do not change it."""
    root = tmp_path_factory.mktemp("classifiers")

    @cache
    def write(architecture: str, labels: int) -> Path:
        import torch
        from transformers import AutoConfig, AutoModelForSequenceClassification

        folder = root / f"{architecture}-{labels}"
        shutil.copytree(tiny_folder(architecture), folder)
        config = AutoConfig.from_pretrained(folder, num_labels=labels)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(labels)
            AutoModelForSequenceClassification.from_config(config).eval().save_pretrained(folder)
        return folder

    return write


@pytest.fixture
def damaged(tmp_path: Path) -> Callable[[str | Path], Path]:
    """``damaged(folder)``: a copy of a model whose weights are all NaN."""

    def write(folder: str | Path) -> Path:
        from safetensors.torch import load_file, save_file

        copy = tmp_path / f"{Path(folder).name}-망가짐"
        shutil.copytree(folder, copy)
        for path in copy.rglob("*.safetensors"):
            tensors = {name: tensor * float("nan") for name, tensor in load_file(path).items()}
            save_file(tensors, path, metadata={"format": "pt"})
        return copy

    return write


@pytest.fixture(scope="session")
def text_pairs() -> list[tuple[str, str]]:
    """Pairs of the sentences with others, near and far: two languages, empty sides, longer than tiny models read."""
    shifted = [*SENTENCES[7:], *SENTENCES[:7]]
    return [
        *zip(SENTENCES, shifted, strict=True),
        ("", ""),
        ("", "고양이"),
        ("cat", ""),
        (SENTENCES[-1], SENTENCES[-1]),
    ]


def special_tokens(architecture: str) -> dict[str, str]:
    """Role to token, in the order of their ids."""
    if architecture in ROBERTA_LIKE:
        return {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}
    return {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


def trained_tokenizer(architecture: str) -> Tokenizer:
    """A real fast tokenizer made of the sentences above, of 400 tokens, the same in every run."""
    from tokenizers import processors

    special = special_tokens(architecture)
    make = byte_level_bpe if architecture in BYTE_LEVEL else wordpiece
    tokenizer = make(list(special.values()), special["unk"])
    cls, sep = ((special[role], tokenizer.token_to_id(special[role])) for role in ("cls", "sep"))
    processor = processors.RobertaProcessing if architecture in ROBERTA_LIKE else processors.BertProcessing
    tokenizer.post_processor = processor(sep, cls)
    return tokenizer


def byte_level_bpe(special: list[str], _unknown: str) -> Tokenizer:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(ENGLISH + KOREAN, trainer)
    return tokenizer


def wordpiece(special: list[str], unknown: str) -> Tokenizer:
    """BERT's lower-casing WordPiece. The library's trainer breaks ties at random, so pieces are counted here."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    normalizer, splitter = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for sentence in ENGLISH + KOREAN:
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(sentence)):
            counts.update(word[:end] for end in range(1, len(word) + 1))
            counts.update(f"##{word[a:b]}" for a, b in combinations(range(1, len(word) + 1), 2))
    # Single letters come first, so that every word can be spelled; then the most frequent pieces.
    pieces = sorted(counts, key=lambda piece: (len(piece.removeprefix("##")) > 1, -counts[piece], piece))
    vocabulary = {piece: number for number, piece in enumerate([*special, *pieces][:VOCABULARY])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=unknown))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def save_tokenizer(architecture: str, tokenizer: Tokenizer, folder: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    segments = ["token_type_ids"] if architecture in WITH_SEGMENTS else []
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=MAX_LENGTH,
        model_input_names=["input_ids", *segments, "attention_mask"],
        **{f"{role}_token": token for role, token in special_tokens(architecture).items()},
    ).save_pretrained(folder)


def save_model(architecture: str, tokenizer: Tokenizer, folder: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModel

    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ids = {role: tokenizer.token_to_id(token) for role, token in special_tokens(architecture).items()}
    config = AutoConfig.for_model(
        architecture,
        **{} if architecture == "distilbert" else shape,
        **TINY[architecture],
        vocab_size=tokenizer.get_vocab_size(),
        max_position_embeddings=MAX_LENGTH + 2 * (architecture in ROBERTA_LIKE),
        initializer_range=0.2,  # ten times the usual: different texts get clearly different vectors
        pad_token_id=ids["pad"],
        bos_token_id=ids["cls"],
        eos_token_id=ids["sep"],
        **{"cls_token_id": ids["cls"], "sep_token_id": ids["sep"]} if architecture == "modernbert" else {},
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        AutoModel.from_config(config).eval().save_pretrained(folder)
