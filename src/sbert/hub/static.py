"""Reads and writes StaticEmbedding models, which average the vectors of word pieces: those of model2vec, too."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from sbert.errors import BadInput, BadModel, listed, shown
from sbert.hub.files import inside, read_object, reading, refusal, whole_model
from sbert.hub.kind import MODULES, STATIC, listed_modules, write_modules
from sbert.hub.modules import HEADS, read_head, write_head
from sbert.hub.parts import WordParts
from sbert.hub.tensors import SAFETENSORS, Stored, weights_path, write_tensors
from sbert.hub.vocabulary import read_backend
from sbert.nn.heads import Normalize, output_size
from sbert.nn.words import WordEmbeddings
from sbert.text import PieceTokenizer

_WEIGHT = "embedding.weight"


def read_static(folder: Path) -> WordParts:
    """Return the parts of the StaticEmbedding model, or of the model2vec model, in ``folder``."""
    modules = folder / MODULES
    if modules.is_file():
        (_, place), *others = [(kind.rpartition(".")[2], path) for kind, path in listed_modules(modules)]
        table_folder = inside(folder, place, modules)
    else:
        plain = read_object(folder / "config.json")
        others = [("Normalize", "")] if plain.get("normalize") else []
        table_folder = folder
    tokenizer = PieceTokenizer(read_backend(table_folder))
    table = _table(table_folder, len(tokenizer))
    heads: list[torch.nn.Module] = []
    for kind, place in others:
        if kind not in HEADS:
            raise BadModel(f"{modules} lists {shown(kind)}, but after {STATIC} only {listed(HEADS)} are expected")
        size = output_size(heads, table.shape[1])
        heads.append(Normalize() if not place else read_head(kind, inside(folder, place, modules), size, False))
    return WordParts(tokenizer, WordEmbeddings(table, trainable=True), heads=tuple(heads))


def _table(folder: Path, pieces: int) -> Tensor:
    """Return the vectors of all pieces, (V + 1, D), after a row of zeros for texts without a piece."""
    stored = Stored(weights_path(folder))
    name = _WEIGHT if _WEIGHT in stored.shapes else "embeddings"
    if len(stored.shapes.get(name, ())) != 2:
        raise refusal(stored.path, f"is damaged: it has no table of vectors called {_WEIGHT} or embeddings")
    table = stored.read(name).float()
    with reading(stored.path):
        if name != _WEIGHT and "mapping" in stored.shapes:  # several pieces share a vector
            table = table[stored.read("mapping").long()]
        if name != _WEIGHT and "weights" in stored.shapes:
            table = table * stored.read("weights").float()[:, None]
    if len(table) < pieces:
        raise refusal(stored.path, f"has {len(table):,} vectors, but the tokenizer has {pieces:,} pieces")
    return torch.cat([torch.zeros(1, table.shape[1]), table[:pieces]])


def write_static(parts: WordParts, folder: Path) -> None:
    """Save a StaticEmbedding model, which sentence-transformers loads too, whole or not at all."""
    assert isinstance(parts.tokenizer, PieceTokenizer)
    if parts.lstm is not None or parts.pooling != ("mean",):
        raise BadInput(
            "only the mean of the vectors of word pieces can be saved; leave out the LSTM and other poolings"
        )
    with whole_model(folder) as draft:
        write_tensors({_WEIGHT: parts.embeddings.table.weight.detach()[1:]}, draft / SAFETENSORS)
        (draft / "tokenizer.json").write_text(parts.tokenizer.backend.to_str(), encoding="utf-8")
        places = write_modules(draft, [type(head).__name__ for head in parts.heads], first=STATIC)
        for head, place in zip(parts.heads, places, strict=True):
            write_head(head, place)
