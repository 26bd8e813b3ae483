"""ONNX graphs: models that other engines run, such as ONNX Runtime and transformers.js (extra ``onnx``)."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sbert.errors import BadInput, BadModel
from sbert.hub.files import whole_model
from sbert.models.bi import BiEncoder
from sbert.models.cross import CrossEncoder
from sbert.models.model import TextModel
from sbert.nn.heads import Dense, Dropout, LayerNorm
from sbert.text import Tokens
from sbert.types import FloatArray, Pooling

GRAPH = "onnx/model.onnx"
"""Path at which transformers.js and sentence-transformers expect the graph."""
TOLERANCE = 1e-4
"""Maximum difference from the values of the model, relative to the largest value."""
_SAMPLE = (
    "A man is eating.",
    "환불은 며칠 안에 되나요?",
    "The quick brown fox jumps over the lazy dog, and then it does so again and again until the evening.",
    "배송지를 바꾸고 싶어요. 그런데 이미 출발한 상품도 바꿀 수 있는지 먼저 알려 주세요.",
    "!",
)


def export_onnx(model: TextModel, folder: str | Path) -> float:
    """Write a model with its graph, completely or not at all. Only an empty folder or one with a model is replaced.

    The folder is that of ``save_pretrained`` with ``onnx/model.onnx``. The inputs of the graph are padded at the end.
    The outputs of a bi-encoder are ``sentence_embedding``, after pooling, normalization and ``truncate_dim``, and the
    hidden states ``last_hidden_state``; the output of a cross-encoder is ``logits``.

    Returns:
        The largest difference between the graph in ONNX Runtime and the model, relative to the largest value. The
        folder is not written if it exceeds :data:`TOLERANCE`.
    """
    exported = _checked(model)
    with whole_model(Path(folder)) as draft:
        model.save_pretrained(draft)
        graph = draft / GRAPH
        graph.parent.mkdir()
        network = _embedding(exported, draft) if isinstance(exported, BiEncoder) else _Scores(_body(draft, True))
        _write(network, graph, _inputs(exported))
        difference = _difference(exported, graph)
        if not difference <= TOLERANCE:
            raise BadModel(f"the graph differs from the model by {difference:.1e}; report this with the model's name")
    return difference


class _Embedding(nn.Module):
    """The hidden states of padded texts, and the vector of each text."""

    def __init__(self, body: nn.Module, poolings: Sequence[Pooling], heads: nn.Module, size: int) -> None:
        super().__init__()
        self.body, self.poolings, self.heads, self.size = body, poolings, heads, size

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None) -> Any:
        """(B, L) ids and mask -> (B, D) vectors and (B, L, H) hidden states."""
        types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        hidden: Tensor = self.body(input_ids=input_ids, attention_mask=attention_mask, **types).last_hidden_state
        pooled = torch.cat([_pooled(hidden, attention_mask, pooling) for pooling in self.poolings], dim=-1)
        return self.heads(pooled)[:, : self.size], hidden


class _Scores(nn.Module):
    """The raw outputs of a cross-encoder for padded pairs."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        """(B, L) ids and mask -> (B, N) logits."""
        types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        logits: Tensor = self.body(input_ids=input_ids, attention_mask=attention_mask, **types).logits
        return logits


def _pooled(hidden: Tensor, attention_mask: Tensor, pooling: Pooling) -> Tensor:
    mask = attention_mask.to(hidden.dtype)[..., None]
    count = mask.sum(dim=1)
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "max":
        return (hidden + (mask - 1) * torch.finfo(hidden.dtype).max).amax(dim=1)
    if pooling == "lasttoken":
        place = (count - 1).to(torch.long)[..., None].expand(-1, 1, hidden.shape[-1])
        return hidden.gather(1, place).squeeze(1)
    weights = mask.cumsum(dim=1) * mask if pooling == "weightedmean" else mask
    total = (hidden * weights).sum(dim=1)
    return total / (count.sqrt() if pooling == "mean_sqrt_len" else weights.sum(dim=1))


def _embedding(model: BiEncoder, folder: Path) -> nn.Module:
    heads = nn.Sequential(*map(_plain, model.heads))
    return _Embedding(_body(folder, False), model.pooling, heads, model.embedding_dimension)


def _plain(head: nn.Module) -> nn.Module:
    """Return a head that consists of modules of torch only, without the rules for equal bits in every batch."""
    if isinstance(head, Dense):
        return nn.Sequential(head.linear, head.function)
    if isinstance(head, Dropout):
        return nn.Identity()
    return head.norm if isinstance(head, LayerNorm) else head


def _body(folder: Path, with_head: bool) -> nn.Module:
    """Load the saved model with transformers, whose modules torch can export."""
    from transformers import AutoModel, AutoModelForSequenceClassification
    from transformers.utils import logging as notes

    kind = AutoModelForSequenceClassification if with_head else AutoModel
    before = notes.get_verbosity()
    notes.set_verbosity_error()
    try:
        body: nn.Module = kind.from_pretrained(folder, attn_implementation="eager", local_files_only=True)
    finally:
        notes.set_verbosity(before)
    return body.eval()


def _inputs(model: BiEncoder | CrossEncoder) -> list[str]:
    """Return the names of the graph's inputs."""
    named = ["input_ids", "attention_mask"]
    return [*named, "token_type_ids"] if model.transformer.facts.segments > 1 else named


def _write(network: nn.Module, path: Path, names: Sequence[str]) -> None:
    example = tuple(torch.ones(2, 9, dtype=torch.long) for _ in names)
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length")}
    outputs = ["sentence_embedding", "last_hidden_state"] if isinstance(network, _Embedding) else ["logits"]
    with _silent(), torch.no_grad():
        torch.onnx.export(
            network.eval(),
            example,
            path,
            input_names=list(names),
            output_names=outputs,
            dynamic_shapes=[axes] * len(names),
            external_data=False,
            verbose=False,
        )


def _difference(model: BiEncoder | CrossEncoder, graph: Path) -> float:
    import onnxruntime

    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    if isinstance(model, BiEncoder):
        tokens, ours = model.tokenize(_SAMPLE), model.encode(_SAMPLE)
    else:
        pairs = list(zip(_SAMPLE, reversed(_SAMPLE), strict=True))
        tokens, ours = model.tokenize(pairs), model.predict(pairs, output="logit").reshape(len(pairs), -1)
    theirs: FloatArray = session.run(None, _padded(tokens, _inputs(model)))[0]
    return float(np.abs(theirs - ours).max() / np.abs(ours).max())


def _padded(tokens: Tokens, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Pad rows of tokens: (rows, longest) ids, mask and segments."""
    places = np.arange(int(tokens.lengths.max()))[None, :] < tokens.lengths[:, None]
    arrays = {name: np.zeros(places.shape, np.int64) for name in names}
    arrays["input_ids"][places] = tokens.ids
    arrays["attention_mask"][places] = 1
    if "token_type_ids" in arrays and tokens.types is not None:
        arrays["token_type_ids"][places] = tokens.types
    return arrays


def _checked(model: TextModel) -> BiEncoder | CrossEncoder:
    if not isinstance(model, (BiEncoder, CrossEncoder)):
        raise BadInput(f"{type(model).__name__} has no ONNX graph; export a bi-encoder or a cross-encoder")
    if isinstance(model, BiEncoder) and not model.include_prompt:
        raise BadInput("this model pools without the tokens of its prompt, which a graph cannot tell from others")
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except ModuleNotFoundError as error:
        raise BadInput(f"the package {error.name} is missing; install it with: pip install 'sbert[onnx]'") from None
    return model


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Suppress the output of the exporter of torch."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
