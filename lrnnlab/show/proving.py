"""What a proof in a chapter needs beside its own lines: a way to show that a proof with a changed line must fail.

A step of a proof is a cell that ends in ``assert ..., "step 3"``.  *Break it* is the same cell with one line changed,
under ``with fails("step 3"):``, so that every run of the chapter demands the failure, and at that step.
"""

from __future__ import annotations

import linecache
from types import TracebackType


class fails:
    """A block that must end in a failed ``assert`` of one step; anything else is an error.

    Parameters
    ----------
    step : str
        What the message of that ``assert`` begins with, such as ``"step 3"``.

    Raises
    ------
    AssertionError
        If nothing failed, or if another step did.

    Examples
    --------
    >>> with fails("step 2"):
    ...     assert 1 + 1 == 2, "step 1"
    ...     assert 2 + 2 == 5, "step 2: a sum"
    step 2 fails, as it must: a sum
    """

    def __init__(self, step: str):
        self.step = step

    def __enter__(self) -> fails:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is not None and not isinstance(error, AssertionError):
            return False
        if error is None or traceback is None:
            raise AssertionError(f"{self.step} should have failed here, and every assert held")
        said = str(error)
        head, _, rest = said.partition(":")
        if head != self.step:
            raise AssertionError(f"{self.step} should have failed here, but what failed is {said or 'an assert'!r}")
        while traceback.tb_next is not None:
            traceback = traceback.tb_next
        line = linecache.getline(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno).strip()
        shown = rest.strip() or line.removeprefix("assert ").rpartition(", ")[0]
        print(f"{self.step} fails, as it must: {shown}")
        return True
