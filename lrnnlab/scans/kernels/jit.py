"""The decorator of all compiled loops: numba's ``njit``, which keeps its code on the disk where a folder can be written."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit


def jit(**options: Any) -> Callable[[Callable], Any]:
    """``njit(cache=True, **options)``; where there is no folder to write into, without a cache, and one warning says so."""

    def compiled(function: Callable) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError as error:  # raised at once, for a file that has no place for its code
            if "no locator" not in str(error):
                raise
            _warn()
            return njit(**options)(function)

    return compiled


@cache
def _warn() -> None:
    warnings.warn(
        "compiled loops cannot be kept here, so every process compiles them anew; "
        "set NUMBA_CACHE_DIR to a folder that may be written",
        stacklevel=3,
    )
