"""Several processes that train one model together. The only file, beside the step, that knows of more than one.

Every process has the whole batch in mind: it embeds its share of the texts, gets the vectors of all others, and
computes the loss of the whole batch. Losses within a batch then see every negative, and the gradient of a process's
own vectors is complete; what remains is to add up the gradients of the weights.
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
    """The processes of this run, and which of them this one is."""

    rank: int = 0
    size: int = 1

    @classmethod
    def join(cls) -> Team:
        """The team that ``torchrun`` made, or a team of one."""
        if not dist.is_available() or not (dist.is_initialized() or dist.is_torchelastic_launched()):
            return cls()
        if not dist.is_initialized():
            on_gpu = torch.cuda.is_available()
            if on_gpu:
                torch.cuda.set_device(dist.get_node_local_rank())
            # The others wait while the leader evaluates, however long that takes; torchrun ends them if it dies.
            dist.init_process_group("nccl" if on_gpu else "gloo", timeout=timedelta(days=1))
        return cls(dist.get_rank(), dist.get_world_size())

    @property
    def leads(self) -> bool:
        """Whether this process evaluates, saves and reports for all."""
        return self.rank == 0

    def shares(self, lengths: IntArray) -> list[IntArray]:
        """Rows for each process, about equally many tokens each: the longest first, each to whoever has least.

        With fewer rows than processes the first row goes to everybody who has none, so that all can take part.

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
        """This process's (rows, ...) -> everybody's (N, ...) in the order of rows; only its own carry gradient."""
        if self.size == 1:
            pieces = [vectors]
        else:
            longest = max(map(len, shares))
            padded = vectors.new_zeros(longest, *vectors.shape[1:])
            padded[: len(vectors)] = vectors.detach()
            everybody = [torch.empty_like(padded) for _ in shares]
            dist.all_gather(everybody, padded)
            pieces = [piece[: len(rows)] for piece, rows in zip(everybody, shares, strict=True)]
            pieces[self.rank] = vectors
        rows = np.concatenate(shares)
        first = np.unique(rows, return_index=True)[1]  # where each row's vector is, in the order of the rows
        return torch.cat(pieces)[torch.from_numpy(first).to(vectors.device)]

    def share(self, tensors: Iterable[Tensor]) -> None:
        """Give every tensor the leader's values: new weights are drawn by each process for itself."""
        if self.size > 1:
            for tensor in tensors:
                dist.broadcast(tensor, src=0)

    def add_up(self, parameters: Iterable[Tensor]) -> None:
        """Replace every gradient by its sum over the processes; a weight that no text reached keeps none."""
        weights = list(parameters)
        if self.size == 1 or not weights:
            return
        reached = torch.tensor([int(weight.grad is not None) for weight in weights], device=weights[0].device)
        dist.all_reduce(reached)
        weights = list(itertools.compress(weights, reached.tolist()))
        # None here: only another process's texts reached it.
        gradients = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights]
        flat = torch._utils._flatten_dense_tensors(gradients)
        dist.all_reduce(flat)
        for weight, total in zip(weights, torch._utils._unflatten_dense_tensors(flat, gradients), strict=True):
            weight.grad = total  # in a place of its own: a buffer that lives on holds this process's rows only

    def agree(self, decide: Callable[[], Result]) -> Result:
        """What the leader decides, told to all; an error of the leader is raised in all."""
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
        return message[0]  # type: ignore[return-value]  # which decide gave, in the leader
