"""Files of word vectors in every published form, and the word encoder's own folder."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import torch

from sbert import BiEncoder, CrossEncoder, WordEncoder
from sbert.errors import BadInput, BadModel
from sbert.hub import read_vectors

LINES = ["the 0.1 -0.25 3e-2", "고양이 1 2 3", ". . . 4 5 6", "New York 7 8 9"]
WORDS = ["the", "고양이", ". . .", "New York"]
TABLE = torch.tensor([[0, 0, 0], [0.1, -0.25, 3e-2], [1, 2, 3], [4, 5, 6], [7, 8, 9]])


def content(name: str) -> bytes:
    lines = {"glove": LINES, "word2vec": ["4 3", *LINES], "trailing": [f"{line} \r" for line in LINES]}[name]
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize("form", ["glove", "word2vec", "trailing"])
@pytest.mark.parametrize("suffix", [".txt", ".vec.gz"])
def test_every_form_reads_the_same(tmp_path, form, suffix):
    path = tmp_path / f"벡터{suffix}"
    path.write_bytes(gzip.compress(content(form)) if suffix.endswith("gz") else content(form))
    words, table = read_vectors(path)
    assert words == WORDS
    assert torch.equal(table, TABLE)


def test_a_file_without_a_last_line_break(tmp_path):
    (tmp_path / "v.txt").write_bytes(content("glove").rstrip(b"\n"))
    assert read_vectors(tmp_path / "v.txt")[0] == WORDS


def test_some_words_only(tmp_path):
    (tmp_path / "v.txt").write_bytes(content("word2vec"))
    words, table = read_vectors(tmp_path / "v.txt", max_words=2, without={"the"})
    assert words == ["고양이", ". . ."]
    assert torch.equal(table, TABLE[[0, 2, 3]])


def test_of_a_word_that_stands_twice_the_first_counts(tmp_path):
    (tmp_path / "v.txt").write_text("비 1 2\n눈 3 4\n비 5 6\n", encoding="utf-8")
    words, table = read_vectors(tmp_path / "v.txt")
    assert (words, table.tolist()) == (["비", "눈"], [[0, 0], [1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 1 2\n비 1 x\n", "v.txt, line 2, has 'x' where a number is expected; repair or remove the line"),
        ("the 1 2\n비 1 2\n눈 1\n", "v.txt, line 3, has 1 numbers, but 2 are expected; the file may be cut short"),
        ("2 2\nthe 1 2\n비\n", "v.txt, line 3, has 0 numbers, but 2 are expected"),
        ("\n비 1 2\n\n눈\n", "v.txt, line 4, has 0 numbers, but 2 are expected"),
        ("the 1 2\n비 1 nan\n", "v.txt, line 2, has a number that is not finite"),
        ("the\n", "v.txt, line 1, has 0 numbers, but some are expected"),
        ("", "v.txt holds no word vectors; each line is a word and its numbers"),
        ("4 3\n", "v.txt holds no word vectors"),
    ],
)
def test_broken_lines_are_named(tmp_path, text, message):
    (tmp_path / "v.txt").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read_vectors(tmp_path / "v.txt")
    assert message in str(caught.value)


def test_blank_lines_are_left_out(tmp_path):
    (tmp_path / "v.txt").write_text("2 2\n비 1 2\n\nthe 3 4\n \r\n\n", encoding="utf-8")
    words, table = read_vectors(tmp_path / "v.txt")
    assert (words, table.tolist()) == (["비", "the"], [[0, 0], [1, 2], [3, 4]])


def test_broken_files_are_named(tmp_path):
    (tmp_path / "v.txt").write_bytes("the 1\n비 2\n".encode("cp949"))
    with pytest.raises(BadInput, match=r"v.txt, line 2, is not UTF-8; convert the file, or remove the line"):
        read_vectors(tmp_path / "v.txt")
    (tmp_path / "v.gz").write_bytes(gzip.compress(content("glove"))[:-9])
    with pytest.raises(BadInput, match=r"v.gz is not a complete gzip file \(.*\); download it again"):
        read_vectors(tmp_path / "v.gz")
    (tmp_path / "w.gz").write_bytes(content("glove"))
    with pytest.raises(BadInput, match=r"w.gz is not a complete gzip file"):
        read_vectors(tmp_path / "w.gz")
    whole = gzip.compress(content("glove"))
    (tmp_path / "x.gz").write_bytes(whole[:20] + b"\xff" * 20 + whole[40:])
    with pytest.raises(BadInput, match=r"x.gz is not a complete gzip file"):
        read_vectors(tmp_path / "x.gz")
    with pytest.raises(BadInput, match="there is no file or folder of word vectors at"):
        read_vectors(tmp_path / "nowhere")
    with pytest.raises(BadInput, match=r"max_words is 1\.5, but must be a whole number"):
        read_vectors(tmp_path / "v.txt", max_words=1.5)
    with pytest.raises(BadInput, match="max_words is 0, but must be at least 1"):
        read_vectors(tmp_path / "v.txt", max_words=0)


def test_a_folder_of_half_floats(tmp_path):
    np.save(tmp_path / "vectors_f16.npy", TABLE[1:].numpy().astype(np.float16))
    with pytest.raises(BadInput, match=r"vocab.txt.gz is missing; a folder of word vectors has vocab.txt.gz and"):
        read_vectors(tmp_path)
    (tmp_path / "vocab.txt.gz").write_bytes(gzip.compress("\n".join(WORDS).encode()))
    words, table = read_vectors(tmp_path)
    assert (words, table.dtype) == (WORDS, torch.float16)
    assert torch.equal(table, TABLE.half())
    words, table = read_vectors(tmp_path, max_words=2, without={"고양이"})
    assert words == ["the", ". . ."]
    assert torch.equal(table, TABLE.half()[[0, 1, 3]])
    (tmp_path / "vocab.txt.gz").write_bytes(gzip.compress(b"the\n"))
    with pytest.raises(BadInput, match=r"has 1 words and vectors of shape \(4, 3\), but needs one vector a word"):
        read_vectors(tmp_path)


def test_a_folder_of_damaged_files(tmp_path):
    np.save(tmp_path / "vectors_f16.npy", TABLE[1:].numpy().astype(np.float16))
    whole = gzip.compress("\n".join(WORDS).encode())
    (tmp_path / "vocab.txt.gz").write_bytes(whole)
    for damage in (b"version https://git-lfs", b"", (tmp_path / "vectors_f16.npy").read_bytes()[:-6]):
        (tmp_path / "vectors_f16.npy").write_bytes(damage)
        with pytest.raises(
            BadInput, match=r"vectors_f16\.npy is not a complete numpy file of numbers; download it again$"
        ):
            read_vectors(tmp_path)
    np.save(tmp_path / "vectors_f16.npy", TABLE[1:].numpy().astype(np.float16))
    for damage in (whole[:-9], b"\xec\x9e\x90", whole[:12] + b"\xff" * 9 + whole[21:]):
        (tmp_path / "vocab.txt.gz").write_bytes(damage)
        with pytest.raises(BadInput, match=r"vocab\.txt\.gz is not a complete gzip file \(.*\); download it again"):
            read_vectors(tmp_path)
    (tmp_path / "vocab.txt.gz").write_bytes(gzip.compress("고양이".encode("cp949")))
    with pytest.raises(BadInput, match=r"vocab\.txt\.gz is not UTF-8; convert the file"):
        read_vectors(tmp_path)


# The folder of an encoder


@pytest.fixture
def model(tmp_path) -> WordEncoder:
    (tmp_path / "v.txt").write_bytes(content("glove"))
    return WordEncoder.from_vectors(tmp_path / "v.txt", lstm_size=4, pooling=["max", "mean"], trainable=True)


def test_there_and_back(model, tmp_path, sentences):
    model.max_seq_length = 3
    model.save_pretrained(tmp_path / "모델")
    assert {path.name for path in (tmp_path / "모델").iterdir()} == {"words.txt", "model.safetensors", "config.json"}
    again = WordEncoder.from_pretrained(tmp_path / "모델")
    assert again.tokenizer.words == tuple(WORDS)
    assert (again.max_seq_length, again.pooling, again.embeddings.trainable) == (3, ("max", "mean"), True)
    assert again.tokenizer.lower_case is model.tokenizer.lower_case is False
    assert again.state_dict().keys() == model.state_dict().keys()
    texts = [*sentences, "the 고양이 the"]
    assert np.array_equal(again.encode(texts, on_truncate="ignore"), model.encode(texts, on_truncate="ignore"))


def test_half_precision_and_no_lstm_come_back_too(tmp_path):
    (tmp_path / "v.txt").write_text("비 1 2\n눈 3 4\n", encoding="utf-8")
    model = WordEncoder.from_vectors(tmp_path / "v.txt")
    model.embeddings.table.half()
    model.save_pretrained(tmp_path / "모델")
    model.save_pretrained(tmp_path / "모델")  # a model that is there is replaced
    again = WordEncoder.from_pretrained(tmp_path / "모델")
    assert (again.lstm, again.embeddings.table.weight.dtype, again.tokenizer.lower_case) == (None, torch.float16, True)
    assert again.encode(["비 눈"]).tolist() == [[2, 3]]


def test_a_small_file_that_unpacks_to_a_huge_line_is_refused(tmp_path):
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(40):
            file.write(b"1 " * (1 << 19))
    with pytest.raises(BadInput, match=r"line 1, has 16,777,216 bytes or more, which no word vector has"):
        read_vectors(path)


def test_damage_is_named(model, tmp_path):
    folder = tmp_path / "모델"
    model.save_pretrained(folder)
    with (folder / "words.txt").open("a", encoding="utf-8") as file:
        file.write("눈\n")
    with pytest.raises(
        BadModel, match=r"model.safetensors is damaged: it has word vectors of shape \(5, 3\) for 5 words"
    ):
        WordEncoder.from_pretrained(folder)
    (folder / "words.txt").unlink()
    with pytest.raises(BadModel, match=r"words.txt is missing; the folder is no complete model"):
        WordEncoder.from_pretrained(folder)
    model.save_pretrained(folder)
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-5])
    with pytest.raises(BadModel, match=r"model.safetensors is damaged"):
        WordEncoder.from_pretrained(folder)
    model.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "pooling": ["min"]}))
    with pytest.raises(BadModel, match=r"has pooling \('min',\), but one or more of"):
        WordEncoder.from_pretrained(folder)


def test_kinds_are_not_mistaken(model, tmp_path, tiny_folder):
    model.save_pretrained(tmp_path / "모델")
    for kind in (BiEncoder, CrossEncoder):
        with pytest.raises(BadModel, match=r"holds a WordEncoder, but .*; load it with WordEncoder.from_pretrained"):
            kind.from_pretrained(tmp_path / "모델")
    with pytest.raises(BadModel, match="holds a plain encoder, but a WordEncoder is expected; name another model"):
        WordEncoder.from_pretrained(tiny_folder("bert"))
    BiEncoder.from_pretrained(tiny_folder("bert")).save_pretrained(tmp_path / "bi")
    with pytest.raises(BadModel, match=r"but a WordEncoder is expected; load it with BiEncoder.from_pretrained"):
        WordEncoder.from_pretrained(tmp_path / "bi")
