"""Distributes training over several processes. Only this module and the step know of more than one process.

Every process embeds its share of the texts, receives the vectors of the other processes, and computes the loss of the
whole batch. Losses with in-batch negatives therefore see every negative, and the gradient of the vectors of a process
is complete; only the gradients of the weights have to be added.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from sbert.types import IntArray

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Team:
    """The processes of a run, of which this process has number ``rank``."""

    rank: int = 0
    size: int = 1

    @classmethod
    def join(cls) -> Team:
        """Join the processes that ``torchrun`` started; a team of one without it."""
        if not dist.is_available() or not (dist.is_initialized() or dist.is_torchelastic_launched()):
            return cls()
        if not dist.is_initialized():
            on_gpu = torch.cuda.is_available()
            if on_gpu:
                torch.cuda.set_device(dist.get_node_local_rank())
            # The others wait while the leader evaluates, which may take long; torchrun ends them if the leader dies.
            dist.init_process_group("nccl" if on_gpu else "gloo", timeout=timedelta(days=1))
        return cls(dist.get_rank(), dist.get_world_size())

    @property
    def leads(self) -> bool:
        """Whether this process evaluates, saves and reports for the whole team."""
        return self.rank == 0

    def shares(self, lengths: IntArray) -> list[IntArray]:
        """Assign rows to processes such that each has about the same number of tokens.

        The longest rows are assigned first, each to the process with the fewest tokens. If there are fewer rows than
        processes, every process without a row gets the first one, so that all take part.

        >>> [rows.tolist() for rows in Team(0, 2).shares(np.array([9, 2, 5, 3]))]
        [[0], [2, 3, 1]]
        """
        loads = [0] * self.size
        shares: list[list[int]] = [[] for _ in range(self.size)]
        for row in np.argsort(-lengths, kind="stable"):
            least = loads.index(min(loads))
            shares[least].append(int(row))
            loads[least] += int(lengths[row])
        return [np.asarray(share or [0], np.int64) for share in shares]

    def gather(self, vectors: Tensor, shares: list[IntArray]) -> Tensor:
        """Collect the vectors of all processes in row order, (N, ...); only those of this process have a gradient."""
        if self.size == 1:
            pieces = [vectors]
        else:
            longest = max(map(len, shares))
            padded = vectors.new_zeros(longest, *vectors.shape[1:])
            padded[: len(vectors)] = vectors.detach()
            received = [torch.empty_like(padded) for _ in shares]
            dist.all_gather(received, padded)
            pieces = [piece[: len(rows)] for piece, rows in zip(received, shares, strict=True)]
            pieces[self.rank] = vectors
        rows = np.concatenate(shares)
        first = np.unique(rows, return_index=True)[1]  # position of each row's vector, in row order
        return torch.cat(pieces)[torch.from_numpy(first).to(vectors.device)]

    def broadcast(self, tensors: Iterable[Tensor]) -> None:
        """Give every tensor the values of the leader, because each process initializes new weights on its own."""
        if self.size > 1:
            for tensor in tensors:
                dist.broadcast(tensor, src=0)

    def add_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace every gradient by its sum over the processes; a weight without any gradient keeps none."""
        weights = list(parameters)
        if self.size == 1 or not weights:
            return
        used = torch.tensor([int(weight.grad is not None) for weight in weights], device=weights[0].device)
        dist.all_reduce(used)
        weights = list(itertools.compress(weights, used.tolist()))
        # A gradient that is None here exists in another process.
        gradients = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights]
        flat = torch._utils._flatten_dense_tensors(gradients)
        dist.all_reduce(flat)
        for weight, total in zip(weights, torch._utils._unflatten_dense_tensors(flat, gradients), strict=True):
            weight.grad = total  # not added in place: the kept buffer of a table holds rows of this process only

    def agree(self, decide: Callable[[], Result]) -> Result:
        """Call ``decide`` in the leader; every process returns its result or raises its error."""
        if self.size == 1:
            return decide()
        message: list[object] = [None, None]
        if self.leads:
            try:
                message = [decide(), None]
            except Exception as error:
                message = [None, error]
        dist.broadcast_object_list(message)
        if isinstance(message[1], BaseException):
            raise message[1]
        return message[0]  # type: ignore[return-value]  # the result of decide in the leader
