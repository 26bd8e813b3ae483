"""Every exception that sbert raises on purpose. A message is one sentence: what was got, what is expected, what to do.

::

    SbertError
    ├── BadInput (ValueError)          something the caller passed cannot be used
    │   ├── BadOption                  an option has a value that does not exist; the message names the valid ones
    │   ├── UnknownArgument (TypeError) a function has no such argument; the message says what to write instead
    │   └── TextTooLong                a text exceeds the model's maximum length and on_truncate="raise"
    ├── UnknownName (AttributeError)   a class or a module has no such attribute
    ├── WrongUsage                     the command line itself is wrong: exit code 2
    ├── ModelNotFound (OSError)        no folder, installed package or hub repository has that name
    ├── NotWritten (OSError)           a file or folder could not be written; what was there before is intact
    │   └── ModelNotSaved              the same for a model's folder
    ├── BadModel (ValueError)          a model folder is damaged or asks for something unknown
    │   └── SelfCheckFailed            the vectors differ from those stored with the model
    ├── WorkersLost (RuntimeError)     worker processes died or hung again and again with the same work
    ├── NotCalibrated (RuntimeError)   int8 or uint8 was requested from a model without calibrated ranges
    └── TrainingStopped (RuntimeError) a training run cannot go on
        ├── RunInUse                   another process works in the same folder
        ├── CannotResume               the folder belongs to another run, or none of its checkpoints is whole
        ├── CheckpointNotSaved         the disk is full or gone; the previous checkpoint is intact
        └── Diverged                   the loss is no longer a number
"""

from __future__ import annotations

import difflib
import operator
import reprlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import islice

_MOST_NAMES = 12
"""Names that a message lists; more are replaced by an ellipsis."""
_LARGEST_COUNT = 2**53
"""Number that all libraries and databases can keep, and calculate with."""


class SbertError(Exception):
    """Base class: ``except SbertError`` catches everything below."""


class BadInput(SbertError, ValueError):
    """Something the caller passed cannot be used."""


class BadOption(BadInput):
    """An option has a value that does not exist.

    >>> str(BadOption("pooling", "meen", ["mean", "max"]))
    "pooling is 'meen', but must be one of 'mean', 'max'; did you mean 'mean'?"
    """

    def __init__(self, name: str, got: object, valid: Collection[str]) -> None:
        near = difflib.get_close_matches(str(got)[:100], valid, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        super().__init__(f"{name} is {shown(got)}, but must be one of {listed(valid)}{hint}")


class UnknownArgument(BadInput, TypeError):
    """A function has no such argument; the message says what to write instead."""


class UnknownName(SbertError, AttributeError):
    """A class or a module has no such attribute; the message says what to write instead."""


class WrongUsage(SbertError):
    """The command line itself is wrong, whatever the files contain; the exit code is 2."""


class TextTooLong(BadInput):
    """A text exceeds the model's maximum length and ``on_truncate="raise"`` was requested."""


class ModelNotFound(SbertError, OSError):
    """No folder, installed package or hub repository has that name."""


class NotWritten(SbertError, OSError):
    """A file or a folder could not be written; what was there before is intact."""


class ModelNotSaved(NotWritten):
    """A model's folder could not be written; the model that was there before is intact."""


class BadModel(SbertError, ValueError):
    """A model folder is damaged or asks for something unknown."""


class SelfCheckFailed(BadModel):
    """The computed vectors differ from those stored with the model."""


class WorkersLost(SbertError, RuntimeError):
    """Worker processes died or hung again and again with the same work."""


class NotCalibrated(SbertError, RuntimeError):
    """int8 or uint8 was requested from a model whose ranges have not been calibrated."""


class TrainingStopped(SbertError, RuntimeError):
    """A training run cannot go on."""


class RunInUse(TrainingStopped):
    """Another process works in the same folder."""


class CannotResume(TrainingStopped):
    """The folder belongs to another run, or none of its checkpoints is whole."""


class CheckpointNotSaved(TrainingStopped):
    """A checkpoint could not be written; the previous one is intact."""


class Diverged(TrainingStopped):
    """The loss is no longer a number."""


def shown(value: object, limit: int = 80) -> str:
    """Return the ``repr`` of a value, shortened so that a message stays one sentence.

    >>> shown("가나다"), shown(list(range(1000)), limit=20)
    ("'가나다'", '[0, 1, 2, 3, 4, 5...')
    """
    shortener = reprlib.Repr()
    shortener.maxstring = shortener.maxother = shortener.maxlong = limit
    try:
        written = " ".join(shortener.repr(value).split())
    except ValueError:  # Python writes no number of thousands of digits
        written = f"<{type(value).__name__}>"
    return written if len(written) <= limit else f"{written[: limit - 3]}..."


def listed(names: Collection[object], most: int = _MOST_NAMES) -> str:
    """Return names as a message lists them.

    >>> listed(["a", "b"]), listed(range(100), most=2)
    ("'a', 'b'", '0, 1, ... (100 in all)')
    """
    some = ", ".join(shown(name) for name in islice(names, most))
    return some if len(names) <= most else f"{some}, ... ({len(names):,} in all)"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun in the singular or the plural.

    >>> counted(1, "step"), counted(2048, "step")
    ('1 step', '2,048 steps')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def check_option(name: str, value: str, valid: Collection[str]) -> None:
    """Raise :class:`BadOption` unless ``value`` is one of ``valid``."""
    if not isinstance(value, str) or value not in valid:
        raise BadOption(name, value, valid)


def check_count(name: str, value: int) -> None:
    """Raise :class:`BadInput` unless ``value`` is an integer of at least 1, and below 2**53.

    >>> check_count("top_k", 1.5)
    Traceback (most recent call last):
    sbert.errors.BadInput: top_k is 1.5, but must be a whole number
    """
    try:
        operator.index(value)  # accepts numpy integers, too
    except TypeError:
        raise BadInput(f"{name} is {shown(value)}, but must be a whole number") from None
    if value < 1:
        raise BadInput(f"{name} is {shown(value)}, but must be at least 1")
    if value > _LARGEST_COUNT:
        raise BadInput(f"{name} is {shown(value)}, but must be at most {_LARGEST_COUNT:,}")


@contextmanager
def usage() -> Iterator[None]:
    """Turn BadInput into WrongUsage: within the block, only what was typed is checked."""
    try:
        yield
    except BadInput as error:
        raise WrongUsage(str(error)) from None


def check_value(option: str, value: str, valid: Collection[str]) -> None:
    """Raise WrongUsage unless the value of a command-line option is one of ``valid``."""
    with usage():
        check_option(option, value, valid)
