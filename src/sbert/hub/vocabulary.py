"""Reads and writes the tokenizer of a model folder."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import tokenizers

from sbert.disk.files import write_json
from sbert.errors import BadInput, BadModel, shown
from sbert.hub import lora
from sbert.hub.files import check_file, reading
from sbert.hub.limits import LARGEST_FILE, LARGEST_VOCABULARY
from sbert.hub.schema import FLAG, TEXT, TEXTS, number, read_settings, whole
from sbert.hub.steps import check_steps
from sbert.nn.transformer import Transformer
from sbert.text import Tokenizer

# The file was once named after the architecture; sentence-transformers tries the names in this order.
_SENTENCE_CONFIGS = [
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
]
_SENTENCE_CONFIG = {
    "max_seq_length": whole(1, math.inf).otherwise(None),
    "do_lower_case": FLAG.otherwise(False),
    "transformer_task": TEXT.otherwise(None),
}
_TOKENIZER_CONFIG = {"model_max_length": number().otherwise(None), "model_input_names": TEXTS.otherwise(None)}
_ROLES = {
    "pad_token": ("[PAD]", "<pad>"),
    "unk_token": ("[UNK]", "<unk>"),
    "cls_token": ("[CLS]", "<s>"),
    "sep_token": ("[SEP]", "</s>"),
    "mask_token": ("[MASK]", "<mask>"),
}
_VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer_config.json")
_PROBES = ("", "A quick probe, 한국어 문장 ꙮ𓀀 42!")
"""Texts that a tokenizer must survive: nothing, two scripts, and characters that few vocabularies have."""


def read_tokenizer(folder: Path, transformer: Transformer, task: str = "feature-extraction") -> Tokenizer:
    """Return the tokenizer in ``folder``, which truncates at the folder's own length, at most at the last position.

    Where sentence-transformers notes what the transformer is for, that must be ``task``.
    """
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        folder = lora.home(folder)
    named = (folder / name for name in _SENTENCE_CONFIGS if (folder / name).is_file())
    path = next(named, folder / _SENTENCE_CONFIGS[0])
    stored = read_settings(path, _SENTENCE_CONFIG, optional=True)
    if (found := stored["transformer_task"] or task) != task:
        raise BadModel(f"{path} has transformer_task {shown(found)}, but only {task!r} fits this kind of model")
    published = read_settings(folder / "tokenizer_config.json", _TOKENIZER_CONFIG, optional=True)
    said = (stored["max_seq_length"], published["model_max_length"])
    length = min(next((length for length in said if length is not None), math.inf), transformer.facts.max_length)
    inputs = published["model_input_names"]
    types = inputs is None or "token_type_ids" in inputs
    backend = read_backend(folder)
    # Checked before the tokenizer is copied, because the library counts up to the largest id to do so.
    _check_ids(backend.get_vocab().values(), transformer, folder)
    try:
        tokenizer = Tokenizer(backend, int(length), stored["do_lower_case"], types)
    except BadInput as error:  # whose message names an argument that nobody passed
        raise BadModel(
            f"the files in {folder} say to truncate texts at {shown(length)} tokens ({error}); "
            "repair their max_seq_length"
        ) from None
    with reading(folder / "tokenizer.json"):
        pair = backend.encode(_PROBES[1], _PROBES[1])
        _check_ids([*tokenizer(_PROBES).ids.tolist(), *pair.ids], transformer, folder)  # those in templates
    segments = transformer.facts.segments
    if segments > 1 and max(pair.type_ids, default=0) >= segments:
        raise BadModel(f"the tokenizer in {folder} numbers the texts of a pair beyond the {segments} that are known")
    return tokenizer


def _check_ids(ids: Iterable[int], transformer: Transformer, folder: Path) -> None:
    """Raise BadModel unless every id has an embedding."""
    largest, embeddings = max(ids, default=0), transformer.facts.vocabulary_size
    if largest >= embeddings:
        raise BadModel(f"the tokenizer in {folder} gives ids up to {largest}, but the transformer knows {embeddings}")


def read_backend(folder: Path) -> tokenizers.Tokenizer:
    """Return the tokenizer in a folder, without truncation and padding."""
    path = folder / "tokenizer.json"
    try:
        with reading(path):
            backend = _read_file(path) if path.is_file() else _convert(folder)
    except BadModel as error:
        raise BadModel(f"{folder} gives no tokenizer: {error}") from error.__cause__
    backend.no_padding()
    backend.no_truncation()
    return backend


def _read_file(path: Path) -> tokenizers.Tokenizer:
    check_file(path, LARGEST_VOCABULARY)
    content = path.read_bytes()
    check_steps(json.loads(content), path)
    return tokenizers.Tokenizer.from_buffer(content)


def _convert(folder: Path) -> tokenizers.Tokenizer:
    """Return the tokenizer of older files, which only transformers knows; importing it takes seconds."""
    from sbert.hub.foreign import read_old_tokenizer

    for path in (path for kind in ("*.model", "vocab.*", "merges.txt") for path in folder.glob(kind)):
        check_file(path, LARGEST_FILE)
    backend: tokenizers.Tokenizer = read_old_tokenizer(folder)
    if backend.normalizer is not None:
        check_steps({"normalizer": json.loads(backend.normalizer.__getstate__())}, folder)
    return backend


def write_tokenizer(tokenizer: Tokenizer, transformer: Transformer, folder: Path, more: Mapping[str, object]) -> None:
    """Write tokenizer.json, and what other libraries need to know about it.

    The generic class takes tokenizer.json as it is; those named after architectures rebuild parts of it.
    ``more`` is what sentence-transformers must know besides the maximum length and whether texts are lower-cased.
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
    lengths = {"max_seq_length": tokenizer.max_length, "do_lower_case": tokenizer.lower_case}
    write_json(folder / _SENTENCE_CONFIGS[0], {**lengths, **more})


def _special_tokens(backend: tokenizers.Tokenizer, pad: int | None) -> dict[str, str]:
    """Return role -> token, by the usual names and, where tokenizer or model show them, by how they are used."""
    known = backend.get_vocab()
    tokens = {role: name for role, names in _ROLES.items() for name in reversed(names) if name in known}
    around = backend.encode("").tokens
    if len(around) == 2:
        tokens |= {"cls_token": around[0], "sep_token": around[1]}
    if pad is not None and (name := backend.id_to_token(pad)) is not None:
        tokens["pad_token"] = name
    return tokens
