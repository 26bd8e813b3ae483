"""A named pipe in the place of a file would be waited for without end; it is refused instead."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from sbert import BiEncoder, PolyEncoder, WordEncoder
from sbert.errors import BadModel
from sbert.models.load import load
from sbert.nn.words import WordEmbeddings
from sbert.text import WordTokenizer

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


WRITER = "import sys, time; time.sleep(10); open(sys.argv[1], 'w')"
"""Ends a pipe that is waited for, from another process because the waiting one may hold Python's lock."""


def load_with_pipe(folder: Path, file: str) -> None:
    """Load a model of which one file is a pipe that nobody writes to for ten seconds."""
    (folder / file).unlink()
    os.mkfifo(folder / file)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(folder / file)])
    try:
        load(folder)
    finally:
        waited = writer.poll() is not None
        writer.kill()
        writer.wait()
        assert not waited


def test_word_encoder(tmp_path):
    folder = tmp_path / "m"
    WordEncoder(WordTokenizer(["비"]), WordEmbeddings(torch.zeros(2, 3))).save_pretrained(folder)
    with pytest.raises(BadModel, match=r"model\.safetensors is a folder, a pipe or a device, but must be a file"):
        load_with_pipe(folder, "model.safetensors")


def test_codes_of_a_poly_encoder(tiny_folder, tmp_path):
    folder = tmp_path / "m"
    PolyEncoder(BiEncoder.from_pretrained(tiny_folder("bert")), 4).save_pretrained(folder)
    with pytest.raises(BadModel, match=r"codes\.safetensors is a folder, a pipe or a device"):
        load_with_pipe(folder, "poly/codes.safetensors")


@pytest.mark.parametrize("architecture", ["bert", "distilbert"])
@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_other_files(tiny_folder, tmp_path, architecture, file):
    folder = shutil.copytree(tiny_folder(architecture), tmp_path / "m")
    with pytest.raises(BadModel):
        load_with_pipe(folder, file)
