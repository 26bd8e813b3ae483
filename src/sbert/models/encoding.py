"""Embeds texts with a bi-encoder and counts the tokens that did not fit, in this process or in several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from sbert.disk.progress import Progress
from sbert.errors import BadInput, check_count, counted
from sbert.models.postprocess import check_numbers, finish, merge_windows
from sbert.models.prompts import choose_prompt
from sbert.nn import heads
from sbert.nn.processes import ReportProgress, Setup, Work, in_processes
from sbert.nn.quantize import ranges_of
from sbert.nn.threads import thread_count
from sbert.text import Truncation, check_texts
from sbert.types import Array, EncodeOptions, FloatArray

if TYPE_CHECKING:
    from sbert.models.bi import BiEncoder

_TEXTS_AT_ONCE = 1024
"""Texts that a process embeds together."""


def encode_counted(model: BiEncoder, texts: Sequence[str], options: EncodeOptions) -> tuple[Array, Truncation]:
    """Embed texts like :meth:`~sbert.BiEncoder.encode`: (N, D), and return how many did not fit."""
    if options.get("workers", 1) != 1:
        return _in_processes(model, texts, options)
    on_truncate = options.get("on_truncate", "warn")
    name = options.get("prompt_name") or model.default_prompt_name
    prompt = choose_prompt(model.prompts, name, options.get("prompt"))
    if prompt and not model.include_prompt and on_truncate == "chunk":
        raise BadInput("on_truncate='chunk' needs a prompt that pooling includes: only the first window has it")
    tokens = model.tokenizer(texts, prompt, windows=on_truncate == "chunk")
    tokens.truncation.report(on_truncate)
    batching = options.get("batch_tokens", 2048), options.get("batch_size"), options.get("show_progress_bar", False)
    vectors = model.embed_tokens(tokens, *batching)
    ends_normalized = len(model.heads) > 0 and isinstance(model.heads[-1], heads.Normalize)
    vectors = merge_windows(vectors, tokens, unit_length=ends_normalized)
    check_numbers(vectors, texts)
    size = options.get("truncate_dim")
    size = model.truncate_dim if size is None else size
    normalize, precision = options.get("normalize_embeddings", False), options.get("precision", "float32")
    return finish(vectors, size, normalize, precision, model.ranges), tokens.truncation


def learn_ranges(model: BiEncoder, texts: Iterable[str], options: EncodeOptions) -> FloatArray:
    """Return the least and the greatest value of every dimension among a sample of texts."""
    sample = check_texts(texts)
    if len(set(sample)) < 2:  # every range would have length zero
        raise BadInput(
            f"calibrate got {counted(len(set(sample)), 'different text')}, but needs a sample of the corpus: "
            "a few thousand are plenty"
        )
    as_floats: EncodeOptions = {**options, "precision": "float32"}
    return ranges_of(model.encode(sample, **as_floats))


def _in_processes(model: BiEncoder, texts: Sequence[str], options: EncodeOptions) -> tuple[Array, Truncation]:
    """Embed texts in worker processes that share the cores of this one."""
    workers, on_truncate = options["workers"], options.get("on_truncate", "warn")
    check_count("workers", workers)
    part_options: EncodeOptions = {**options, "show_progress_bar": False, "workers": 1}
    none, account = encode_counted(model, [], part_options)  # raises an error about a wrong option before any work
    if on_truncate == "warn":
        part_options["on_truncate"] = "ignore"
    starts = range(0, len(texts), _TEXTS_AT_ONCE)
    parts: dict[int, Array] = {}
    setup = Setup(_embedder, (model, part_options, max(1, thread_count() // workers)))
    items = ((start, texts[start : start + _TEXTS_AT_ONCE]) for start in starts)
    with Progress(len(texts), "texts", options.get("show_progress_bar", False)) as progress:
        for kind, (start, part), value in in_processes(setup, min(workers, len(starts)), items):
            if kind == "done":
                parts[start], truncation = value
                account = Truncation.total([account, truncation])
                progress.add(len(part))
    account.report(on_truncate)
    return np.concatenate([parts[start] for start in starts]) if starts else none, account


def _embedder(model: BiEncoder, options: EncodeOptions, threads: int) -> Work:
    torch.set_num_threads(threads)
    return partial(_embed, model, options)


def _embed(
    model: BiEncoder, options: EncodeOptions, part: tuple[int, Sequence[str]], _: ReportProgress
) -> tuple[Array, Truncation]:
    return encode_counted(model, part[1], options)
