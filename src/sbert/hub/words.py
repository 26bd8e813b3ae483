"""Reads word vectors as they are published, and reads and writes the folder of a word-level encoder."""

from __future__ import annotations

import gzip
import math
import re
import zlib
from array import array
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from sbert.disk.files import write_json
from sbert.errors import BadInput, BadModel, check_count, shown
from sbert.hub.files import check_file, reading, reads_folder, refusal, whole_model
from sbert.hub.kind import WORDS, is_static, kind_of, versions, wrong_kind
from sbert.hub.limits import LARGEST_VOCABULARY, LONGEST_LINE, WIDEST
from sbert.hub.parts import WordParts
from sbert.hub.schema import FLAG, TEXTS, read_settings, whole
from sbert.hub.static import read_static, write_static
from sbert.hub.tensors import Stored, fill
from sbert.nn.pooling import POOLINGS
from sbert.nn.words import BiLSTM, WordEmbeddings
from sbert.text import PieceTokenizer, WordTokenizer
from sbert.types import FloatArray

_VOCABULARY, _VECTORS = "vocab.txt.gz", "vectors_f16.npy"
_WORDS, _WEIGHTS, _CONFIG = "words.txt", "model.safetensors", "config.json"
_SCHEMA = {
    "pooling": TEXTS,
    "lstm_size": whole(1, WIDEST).otherwise(None),
    "max_seq_length": whole(1),
    "lower_case": FLAG,
    "trainable": FLAG,
}
_COUNTS = re.compile(r"\d+ \d+")
"""The first line of some files: the number of words and of dimensions."""


def read_vectors(
    path: str | Path, max_words: int | None = None, without: Collection[str] = ()
) -> tuple[list[str], Tensor]:
    """Return the words of a file of vectors, and their table (V + 1, D), whose row 0 is zero.

    Args:
        path: A text file as GloVe, word2vec and fastText publish them (``word v1 v2 ...``, with or without a first
            line of counts, plain or ``.gz``), or a folder of ``vectors_f16.npy`` and ``vocab.txt.gz``.
        max_words: Maximum number of words to read; the files list frequent words first.
        without: Words to leave out.
    """
    place = Path(path).expanduser()
    if max_words is not None:
        check_count("max_words", max_words)
    is_folder = place.is_dir()
    if not is_folder and not place.is_file():
        raise BadInput(f"there is no file or folder of word vectors at {place}; download GloVe's and name it here")
    packed = place / _VOCABULARY if is_folder else place
    try:
        return (_read_folder if is_folder else _read_text)(place, max_words, without)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:  # it is cut short, something else, or damaged
        raise BadInput(f"{packed} is not a complete gzip file ({error}); download it again") from None
    except UnicodeDecodeError:
        raise BadInput(f"{packed} is not UTF-8; convert the file") from None


def _read_folder(folder: Path, max_words: int | None, without: Collection[str]) -> tuple[list[str], Tensor]:
    for name in (_VOCABULARY, _VECTORS):
        if not (folder / name).is_file():
            raise BadInput(f"{folder / name} is missing; a folder of word vectors has {_VOCABULARY} and {_VECTORS}")
    try:
        vectors: FloatArray = np.load(folder / _VECTORS, mmap_mode="r")
    except (OSError, EOFError, ValueError):  # numpy's message advises to load pickles, which can hide code
        raise BadInput(f"{folder / _VECTORS} is not a complete numpy file of numbers; download it again") from None
    with gzip.open(folder / _VOCABULARY) as file:
        content = file.read(LARGEST_VOCABULARY + 1)
    if len(content) > LARGEST_VOCABULARY:
        most = f"more than {LARGEST_VOCABULARY:,} bytes of words"
        raise BadInput(f"{folder / _VOCABULARY} holds {most}; download it again")
    words = content.decode().rstrip("\n").split("\n")
    if vectors.ndim != 2 or len(words) != len(vectors):
        raise BadInput(
            f"{folder} has {len(words)} words and vectors of shape {vectors.shape}, but needs one vector a word"
        )
    kept = [row for row, word in enumerate(words) if word not in without][:max_words]
    table = torch.zeros(len(kept) + 1, vectors.shape[1], dtype=torch.float16)
    table.numpy()[1:] = vectors[kept]
    return [words[row] for row in kept], table


def _read_text(path: Path, max_words: int | None, without: Collection[str]) -> tuple[list[str], Tensor]:
    words: dict[str, None] = {}
    size = 0
    numbers = array("f")
    for where, line in _lines(path):
        if not size:
            size = line.count(" ")
            numbers.extend([0.0] * size)
        word, *values = line.rsplit(" ", size)  # some words contain spaces
        if word in words or word in without:  # only the first vector of a repeated word counts
            continue
        numbers.extend(_numbers(values, size, where))
        words[word] = None
        if len(words) == max_words:
            break
    if not words:
        raise BadInput(f"{path} holds no word vectors; each line is a word and its numbers, with spaces between")
    return list(words), torch.frombuffer(numbers, dtype=torch.float32).view(-1, size)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each line that holds a word, and its place for errors. Skips a first line of two counts."""
    open_ = gzip.open if path.suffix == ".gz" else open
    with open_(path, "rb") as file:
        for number, raw in enumerate(iter(partial(file.readline, LONGEST_LINE), b""), 1):
            where = f"{path}, line {number}"
            if len(raw) == LONGEST_LINE:
                raise BadInput(f"{where}, has {LONGEST_LINE:,} bytes or more, which no word vector has")
            try:
                line = raw.decode().strip(" \r\n")
            except UnicodeDecodeError:
                raise BadInput(f"{where}, is not UTF-8; convert the file, or remove the line") from None
            if line and not (number == 1 and _COUNTS.fullmatch(line)):
                yield where, line


def _numbers(values: list[str], size: int, where: str) -> list[float]:
    try:
        numbers = [float(value) for value in values]
    except ValueError as error:
        wrong = str(error).partition(": ")[2]  # after "could not convert string to float"
        raise BadInput(f"{where}, has {wrong} where a number is expected; repair or remove the line") from None
    if len(numbers) != size or not size:
        raise BadInput(
            f"{where}, has {len(numbers)} numbers, but {size or 'some'} are expected; the file may be cut short"
        )
    if not all(map(math.isfinite, numbers)):
        raise BadInput(f"{where}, has a number that is not finite; repair or remove the line")
    return numbers


@reads_folder
def read_words(folder: Path) -> WordParts:
    """Return the parts of the word-level encoder in ``folder``."""
    kind = kind_of(folder) or "plain encoder"
    if kind != WORDS:
        raise wrong_kind(folder, kind, f"a {WORDS} is")
    if is_static(folder):
        return read_static(folder)
    path = folder / _CONFIG
    config = read_settings(path, _SCHEMA)
    pooling = tuple(config["pooling"])
    if not set(pooling) <= set(POOLINGS) or not 1 <= len(pooling) <= len(POOLINGS):
        raise BadModel(f"{path} has pooling {shown(pooling)}, but one or more of {', '.join(POOLINGS)} are expected")
    check_file(folder / _WORDS, LARGEST_VOCABULARY)
    with reading(folder / _WORDS):
        words = (folder / _WORDS).read_text(encoding="utf-8").split("\n")[:-1]
    stored = Stored(folder / _WEIGHTS)
    shape = stored.shapes.get("words", ())
    if len(shape) != 2 or shape[0] != len(words) + 1 or not shape[1]:
        raise refusal(stored.path, f"is damaged: it has word vectors of shape {shown(shape)} for {len(words)} words")
    lstm = None
    if config["lstm_size"] is not None:
        with torch.device("meta"):  # no memory before the sizes have been compared with the stored tensors
            lstm = BiLSTM(shape[1], config["lstm_size"])
        fill(lstm.lstm, stored, besides=["words"])
    return WordParts(
        WordTokenizer(words, config["max_seq_length"], config["lower_case"]),
        WordEmbeddings(stored.read("words"), config["trainable"]),
        lstm,
        pooling,
    )


def write_words(parts: WordParts, folder: Path) -> None:
    """Save a word-level encoder whole or not at all. Replaces a model, but no other folder."""
    if isinstance(parts.tokenizer, PieceTokenizer):
        write_static(parts, folder)
        return
    if parts.heads:
        raise BadInput(f"a model of whole words is saved without heads, but has {len(parts.heads)}; leave them out")
    lstm = parts.lstm
    with whole_model(folder) as draft:
        text = "".join(f"{word}\n" for word in parts.tokenizer.words)
        (draft / _WORDS).write_text(text, encoding="utf-8", newline="\n")
        tensors = {} if lstm is None else lstm.lstm.state_dict()
        save_file({"words": parts.embeddings.table.weight.detach(), **tensors}, draft / _WEIGHTS)
        config = {
            "model_type": WORDS,
            "__version__": versions(),
            "pooling": parts.pooling,
            "lstm_size": None if lstm is None else lstm.lstm.hidden_size,
            "trainable": parts.embeddings.trainable,
            "max_seq_length": parts.tokenizer.max_length,
            "lower_case": parts.tokenizer.lower_case,
        }
        write_json(draft / _CONFIG, config)
