"""Runs a network on rows of tokens: on a CPU one core per batch. Works on tokens and tensors only.

If all cores computed one batch together, they would wait for each other after every layer, and the last bits of the
result would depend on the number of cores. One core per batch never waits, and the Python code of a batch runs while
the other cores multiply. If there are fewer batches than cores, the cores share the large matrix products of each
batch. A single batch is computed by the caller's own threads where that is known to give the same bits.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from sbert.disk.progress import Progress
from sbert.errors import BadInput, check_count, shown
from sbert.nn.bert import Bert
from sbert.nn.blocks import SMALLEST_BLOCK, Blocks
from sbert.nn.heads import Dense
from sbert.nn.stable import safe_threads
from sbert.nn.threads import despite_interrupts, on_cores, thread_count
from sbert.text import Tokens, batches
from sbert.types import Batch, IntArray

# Number of tokens from which a part of a small call is worth a core of its own.
_SMALLEST_SHARE = 256
# Activations whose threads round the last values of their shares in another way (rule 6 of sbert.nn.stable).
_NOT_SHARED = ("gelu_new", "silu", "sigmoid", "elu")
_switching = threading.Lock()
# For each model, the runs that use it now and its modules that were in training mode before the first of these runs.
_running: WeakKeyDictionary[nn.Module, tuple[set[object], list[nn.Module]]] = WeakKeyDictionary()


def run(
    model: nn.Module,
    forward: Callable[[Batch], Tensor],
    tokens: Tokens,
    batch_tokens: int,
    batch_size: int | None = None,
    show_progress_bar: bool = False,
) -> Generator[tuple[IntArray, Batch, Tensor], None, None]:
    """Yield row numbers, batch and result of every batch, in the order of completion.

    Args:
        model: The module that ``forward`` belongs to. It is switched to evaluation mode during the run.
        forward: Computes the result of a batch. Called from several threads at once.
        tokens: The rows.
        batch_tokens: Maximum number of tokens in a batch.
        batch_size: Maximum number of rows in a batch.
        show_progress_bar: Whether to show the number of tokens done and the remaining time.
    """
    total = int(tokens.lengths.sum())
    on_cpu = next(model.parameters()).device.type == "cpu"
    cores = thread_count() if on_cpu else 1
    work = list(batches(tokens, _budget(total, batch_tokens, cores), batch_size))
    in_one_go = len(work) == 1 and cores <= _threads_per_product(model)
    cores_per_batch = 1 if in_one_go else cores // max(1, len(work))

    def infer(item: tuple[IntArray, Batch]) -> Tensor:
        divided = cores_per_batch > 1 and len(item[1].input_ids) >= 2 * SMALLEST_BLOCK
        with torch.inference_mode(), Blocks(cores_per_batch) if divided else nullcontext():
            return forward(item[1])

    results = on_cores(cores, infer, work) if on_cpu and not in_one_go else ((item, infer(item)) for item in work)
    with _evaluating(model), closing(results), Progress(total, "tokens", show_progress_bar) as progress:
        for (rows, batch), result in results:
            progress.add(len(batch.input_ids))
            yield rows, batch, result


def best_device() -> str:
    """Return the name of the first accelerator, or of the CPU if there is none."""
    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def using_device(device: str | torch.device | None) -> Iterator[torch.device]:
    """Yield a device, by default the best one, and raise BadInput if torch cannot use it."""
    try:
        yield torch.device(best_device() if device is None else device)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = shown(str(error).split("\n")[0].rstrip("."))
        raise BadInput(
            f"device is {shown(device)}, but torch cannot use it here ({reason}); leave it out, or pass 'cpu'"
        ) from None


def _threads_per_product(model: nn.Module) -> int:
    """Return how many threads may compute a batch together without changing its bits."""
    transformer = getattr(model, "transformer", None)
    if not isinstance(transformer, Bert) or transformer.activation in _NOT_SHARED:
        return 1
    if any(isinstance(part, Dense) and part.activation in _NOT_SHARED for part in model.modules()):
        return 1
    return safe_threads(min(min(layer.weight.shape) for layer in model.modules() if isinstance(layer, nn.Linear)))


def _budget(total: int, batch_tokens: int, cores: int) -> int:
    """Return a token budget that gives every core the same number of batches, so that none waits for the last one."""
    check_count("batch_tokens", batch_tokens)
    if cores == 1:
        return batch_tokens
    rounds = max(1, math.ceil(total / (batch_tokens * cores)))
    return min(batch_tokens, max(_SMALLEST_SHARE, math.ceil(total / (rounds * cores))))


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Switch dropout off, also in the middle of training, until the last run that uses the model has ended."""
    this_run = object()
    try:
        with _switching:
            runs, training = _running.setdefault(model, (set(), [part for part in model.modules() if part.training]))
            runs.add(this_run)
            for module in training:
                module.training = False
        yield
    finally:
        try:
            despite_interrupts(lambda: _end_run(model, this_run))
        finally:  # an interrupt may have come before the call began
            _end_run(model, this_run)


def _end_run(model: nn.Module, this_run: object) -> None:
    """Put the modules back into training mode unless another run uses the model."""
    with _switching:
        runs, training = _running.get(model, (set(), []))
        runs.discard(this_run)
        if not runs:
            for module in training:
                module.training = True
            _running.pop(model, None)
