"""Runs a function on one thread, so that its sums do not depend on the number of cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def on_one_thread(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Limit the libraries that a function calls, such as BLAS, to one thread."""

    @wraps(function)
    def limited(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
        with threadpool_limits(1):
            return function(*arguments, **options)

    return limited
