"""Valid tiny model folders of every kind and of several architectures, for mutations to damage."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

WORDS = [
    *("a", "man", "eats", "bread", "the", "cat", "sleeps", "on", "wall", "rain", "in", "seoul"),
    *("한", "남자", "가", "빵", "을", "먹는다", "비", "온다"),
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SHAPE = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
ENCODERS: dict[str, dict[str, Any]] = {
    "bert": SHAPE,
    "roberta": SHAPE,
    "electra": {**SHAPE, "embedding_size": 8},
    "distilbert": {"dim": 16, "hidden_dim": 32, "n_layers": 2, "n_heads": 2},
    "albert": {**SHAPE, "embedding_size": 8},
    "modernbert": {**SHAPE, "local_attention": 8},
    "deberta-v2": {**SHAPE, "relative_attention": True, "pos_att_type": ["p2c"], "position_biased_input": False},
    "mpnet": SHAPE,
}


def write_sound(root: Path) -> None:
    """Write one valid folder of each kind and of several architectures."""
    import torch
    from transformers.utils import logging

    from sbert import Backbone, BiEncoder, CrossEncoder, PolyEncoder, WordEncoder
    from sbert.nn.heads import Dense, Dropout, LayerNorm, Normalize
    from sbert.nn.words import BiLSTM, WordEmbeddings
    from sbert.text import WordTokenizer

    logging.disable_progress_bar()
    torch.manual_seed(0)
    for kind in ENCODERS:
        write_encoder(kind, root / kind)
    heads = [Dense(16, 8), LayerNorm(8), Dropout(0.1), Normalize()]
    model = BiEncoder(Backbone.from_pretrained(root / "bert"), "mean", heads, prompts={"query": "질문: "})
    model.calibrate([" ".join(WORDS[n:]) for n in range(10)])
    model.save_pretrained(root / "bi")
    CrossEncoder.from_pretrained(root / "electra", labels=["no", "yes"]).save_pretrained(root / "cross")
    CrossEncoder.from_pretrained(root / "distilbert").save_pretrained(root / "cross-foreign")
    CrossEncoder.from_pretrained(root / "albert").save_pretrained(root / "cross-albert")
    write_old_albert(root / "albert", root / "albert-old")
    PolyEncoder.from_pretrained(root / "bert", num_codes=3, towers="separate").save_pretrained(root / "poly")
    embeddings = WordEmbeddings(torch.randn(len(WORDS) + 1, 6))
    WordEncoder(WordTokenizer(WORDS), embeddings, BiLSTM(6, 4), ["mean", "max"]).save_pretrained(root / "words")


def write_old_albert(source: Path, folder: Path) -> None:
    """Write an ALBERT as the Korean ones are published: a list of words as BERT has it, and no tokenizer.json."""
    from tokenizers import Tokenizer

    vocabulary = Tokenizer.from_file(str(source / "tokenizer.json")).get_vocab()
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("tokenizer*"))
    words = sorted(vocabulary, key=lambda word: vocabulary[word])
    (folder / "vocab.txt").write_text("".join(f"{word}\r\n" for word in words), encoding="utf-8", newline="")
    (folder / "tokenizer_config.json").write_text('{"strip_accents": false, "model_max_length": 32}', encoding="utf-8")


def write_encoder(kind: str, folder: Path) -> None:
    """Write a tiny random encoder with a WordPiece tokenizer, or byte-level BPE for RoBERTa."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet() if kind == "roberta" else set("".join(WORDS)))
    words = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters), *(word for word in WORDS if len(word) > 1)]
    vocabulary = {word: number for number, word in enumerate(words)}
    if kind == "roberta":
        tokenizer = Tokenizer(models.BPE(vocabulary, []))
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(), decoders.ByteLevel()
    else:
        tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, pad_token="[PAD]").save_pretrained(folder)
    ids = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
    more = {"cls_token_id": 2, "sep_token_id": 3} if kind == "modernbert" else {}
    config = AutoConfig.for_model(
        kind, **ENCODERS[kind], **ids, **more, vocab_size=len(words), max_position_embeddings=34
    )
    AutoModel.from_config(config).eval().save_pretrained(folder)
