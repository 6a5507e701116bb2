"""What a proof in a chapter needs beside its own lines: a way to show that a proof with a changed line must fail.

A step of a proof is a cell that ends in ``assert ..., "step 3"``.  *Break it* is the same cell with one line changed,
under ``with expect_failure("step 3"):``, so that every run of the chapter demands the failure, and at that step.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import extract_tb


@contextmanager
def expect_failure(step: str) -> Iterator[None]:
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
    >>> with expect_failure("step 2"):
    ...     assert 1 + 1 == 2, "step 1"
    ...     assert 2 + 2 == 5, "step 2: a sum"
    step 2 fails, as it must: a sum
    """

    try:
        yield
    except AssertionError as error:
        said = str(error)
        head, _, rest = said.partition(":")
        if head != step:
            raise AssertionError(f"{step} should have failed here, but what failed is {said or 'an assert'!r}") from error
        line = extract_tb(error.__traceback__)[-1].line or ""
        print(f"{step} fails, as it must: {rest.strip() or line.removeprefix('assert ').rpartition(', ')[0]}")
    else:
        raise AssertionError(f"{step} should have failed here, and every assert held")
