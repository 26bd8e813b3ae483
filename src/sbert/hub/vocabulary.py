"""The tokenizer, as files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tokenizers

from sbert.errors import BadInput, BadModel
from sbert.hub.files import entry, read_object, write_json
from sbert.nn.transformer import Transformer
from sbert.text import Tokenizer

# The file was named after the architecture once; sentence-transformers tries them in this order.
_SENTENCE_CONFIGS = [
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
]
_ROLES = {
    "pad_token": ("[PAD]", "<pad>"),
    "unk_token": ("[UNK]", "<unk>"),
    "cls_token": ("[CLS]", "<s>"),
    "sep_token": ("[SEP]", "</s>"),
    "mask_token": ("[MASK]", "<mask>"),
}


def read_tokenizer(folder: Path, transformer: Transformer, task: str = "feature-extraction") -> Tokenizer:
    """The tokenizer in ``folder``, cutting at the folder's own number of tokens, never past the positions."""
    stored = _sentence_config(folder, task)
    backend = _read_backend(folder)
    embeddings = transformer.facts.vocabulary_size
    if (largest := max(backend.get_vocab().values(), default=0)) >= embeddings:
        raise BadModel(f"the tokenizer in {folder} gives ids up to {largest}, but the transformer knows {embeddings}")
    path = folder / "tokenizer_config.json"
    published = read_object(path, optional=True)
    said = (stored.get("max_seq_length"), entry(published, "model_max_length", int | float, path))
    length = min(next((length for length in said if length is not None), math.inf), transformer.facts.max_length)
    inputs = entry(published, "model_input_names", list, path)
    types = inputs is None or "token_type_ids" in inputs
    try:
        return Tokenizer(backend, int(length), bool(stored.get("do_lower_case")), types)
    except BadInput as error:  # which would blame the caller
        raise BadModel(
            f"the files in {folder} say to cut texts at {length} tokens ({error}); repair their max_seq_length"
        ) from None


def _sentence_config(folder: Path, task: str) -> dict[str, Any]:
    """What sentence-transformers notes about the transformer in ``folder``, which must be there for this task."""
    found = (folder / name for name in _SENTENCE_CONFIGS if (folder / name).is_file())
    path = next(found, None)
    if path is None:
        return {}
    config = read_object(path)
    entry(config, "max_seq_length", int, path)
    if (stored := config.get("transformer_task", task)) != task:
        raise BadModel(f"{path} has transformer_task {stored!r}, but only {task!r} fits this kind of model")
    return config


def _read_backend(folder: Path) -> tokenizers.Tokenizer:
    path = folder / "tokenizer.json"
    try:
        return tokenizers.Tokenizer.from_file(str(path)) if path.is_file() else _convert(folder)
    except Exception as error:  # the library raises Exception itself
        reason = " ".join(str(error).split())
        raise BadModel(f"{folder} gives no tokenizer ({reason}); download or save the model again") from error


def _convert(folder: Path) -> tokenizers.Tokenizer:
    """From older files (vocab.txt, sentencepiece); transformers knows all of them, but takes long to import."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    backend: tokenizers.Tokenizer = tokenizer.backend_tokenizer
    if len(backend.get_vocab()) <= len(backend.get_added_tokens_decoder()):
        raise BadModel("it has no vocabulary")  # transformers makes a tokenizer of special tokens from nothing
    return backend


def write_tokenizer(tokenizer: Tokenizer, transformer: Transformer, folder: Path) -> None:
    """Store tokenizer.json, and what other libraries want to know of it.

    The generic class takes tokenizer.json as it is; those named after architectures rebuild parts of it.
    """
    tokenizer.backend.save(str(folder / "tokenizer.json"))
    segments = ["token_type_ids"] if tokenizer.types and transformer.facts.segments > 1 else []
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": tokenizer.max_length,
        "model_input_names": ["input_ids", *segments, "attention_mask"],
        "clean_up_tokenization_spaces": False,
        **_special_tokens(tokenizer.backend, transformer.facts.pad_token_id),
    }
    write_json(folder / "tokenizer_config.json", config)


def write_sentence_config(tokenizer: Tokenizer, folder: Path, more: Mapping[str, object]) -> None:
    """What sentence-transformers wants to know besides: where texts are cut, whether they are lower-cased."""
    config = {"max_seq_length": tokenizer.max_length, "do_lower_case": tokenizer.lower_case, **more}
    write_json(folder / "sentence_bert_config.json", config)


def _special_tokens(backend: tokenizers.Tokenizer, pad: int | None) -> dict[str, str]:
    """Role to token: by usual names, and where the tokenizer or the model shows them, by deed."""
    known = backend.get_vocab()
    tokens = {role: name for role, names in _ROLES.items() for name in reversed(names) if name in known}
    around = backend.encode("").tokens
    if len(around) == 2:
        tokens |= {"cls_token": around[0], "sep_token": around[1]}
    if pad is not None and (name := backend.id_to_token(pad)) is not None:
        tokens["pad_token"] = name
    return tokens
