"""Every exception sbert raises on purpose. One sentence each: what was got, what is expected, what to do.

::

    SbertError
    ├── BadInput (ValueError)          something the caller passed cannot be used
    │   ├── BadOption                  an option value that does not exist; the message names those that do
    │   └── TextTooLong                a text exceeds the model's length and on_truncate="raise"
    ├── WrongUsage                     the command line itself is wrong, whatever the files hold: exit code 2
    ├── ModelNotFound (OSError)        no folder, installed package or hub repository of that name
    ├── ModelNotSaved (OSError)        a model's folder that could not be written; what was there is untouched
    ├── BadModel (ValueError)          a model folder that is damaged or that asks for something unknown
    │   └── SelfCheckFailed            the vectors differ from those stored with the model
    ├── NotCalibrated (RuntimeError)   int8 or uint8 asked of a model that has no ranges yet
    └── TrainingStopped (RuntimeError) a training run that cannot go on
        ├── RunInUse                   another process trains in the same folder
        ├── CannotResume               the checkpoints there belong to another run, or none is whole
        ├── CheckpointNotSaved         the disk is full or gone; the checkpoint before is intact
        └── Diverged                   the loss is no longer a number
"""

from __future__ import annotations

import difflib
import operator
from collections.abc import Collection, Iterator
from contextlib import contextmanager


class SbertError(Exception):
    """The base of the tree: ``except SbertError`` catches everything below."""


class BadInput(SbertError, ValueError):
    """Something the caller passed cannot be used."""


class BadOption(BadInput):
    """An option value that does not exist.

    >>> str(BadOption("pooling", "meen", ["mean", "max"]))
    "pooling is 'meen', but must be one of 'mean', 'max'; did you mean 'mean'?"
    """

    def __init__(self, name: str, got: object, valid: Collection[str]) -> None:
        near = difflib.get_close_matches(str(got), valid, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        super().__init__(f"{name} is {got!r}, but must be one of {', '.join(map(repr, valid))}{hint}")


class WrongUsage(SbertError):
    """The command line itself is wrong, whatever the files hold: ends with exit code 2."""


class TextTooLong(BadInput):
    """A text exceeds the model's length and ``on_truncate="raise"`` was asked for."""


class ModelNotFound(SbertError, OSError):
    """No folder, installed package or hub repository of that name could be had."""


class ModelNotSaved(SbertError, OSError):
    """A model's folder could not be written; what was there is untouched."""


class BadModel(SbertError, ValueError):
    """A model folder that is damaged or that asks for something unknown."""


class SelfCheckFailed(BadModel):
    """The vectors computed here differ from those stored with the model."""


class NotCalibrated(SbertError, RuntimeError):
    """int8 or uint8 asked of a model whose ranges have not been calibrated."""


class TrainingStopped(SbertError, RuntimeError):
    """A training run that cannot go on."""


class RunInUse(TrainingStopped):
    """Another process trains in the same folder."""


class CannotResume(TrainingStopped):
    """The checkpoints in a folder belong to another run, or none of them is whole."""


class CheckpointNotSaved(TrainingStopped):
    """A checkpoint could not be written; the one before is intact."""


class Diverged(TrainingStopped):
    """The loss is no longer a number."""


def counted(count: int, noun: str) -> str:
    """How many, as it stands in a sentence.

    >>> counted(1, "step"), counted(2048, "step")
    ('1 step', '2,048 steps')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def check_option(name: str, value: str, valid: Collection[str]) -> None:
    """Raise :class:`BadOption` unless ``value`` is one of ``valid``."""
    if value not in valid:
        raise BadOption(name, value, valid)


def check_count(name: str, value: int) -> None:
    """Raise :class:`BadInput` unless ``value`` is a whole number of at least 1.

    >>> check_count("top_k", 1.5)
    Traceback (most recent call last):
    sbert.errors.BadInput: top_k is 1.5, but must be a whole number
    """
    try:
        operator.index(value)  # which takes numpy's whole numbers too
    except TypeError:
        raise BadInput(f"{name} is {value!r}, but must be a whole number") from None
    if value < 1:
        raise BadInput(f"{name} is {value}, but must be at least 1")


@contextmanager
def usage() -> Iterator[None]:
    """What is refused in here was typed."""
    try:
        yield
    except BadInput as error:
        raise WrongUsage(str(error)) from None


def check_value(option: str, value: str, valid: Collection[str]) -> None:
    """Refuse an option that is none of these."""
    with usage():
        check_option(option, value, valid)
