"""The fence for tests.

LRNNLAB_FENCE    required: a missing fence fails; optional, or not set: what needs it is skipped, loudly
"""

import os
import warnings

import pytest

from lrnnbook.machinery.grading import fence
from lrnnbook.machinery.grading.fence import Limits

QUICK = Limits(seconds=1, total=20, wall=30, whole=240, memory=700 << 20, folder=8 << 20, processes=40)


def required(environ=os.environ):
    """Whether a missing fence is a failure."""
    said = environ.get("LRNNLAB_FENCE", "")
    if said not in ("", "required", "optional"):
        raise ValueError(f"LRNNLAB_FENCE is 'required' or 'optional', got {said!r}")
    return said == "required"


def the_fence(limits=QUICK):
    """The fence of this machine, or no test."""
    try:
        return fence.find(limits=limits)
    except fence.NoFence as error:
        if required():
            pytest.fail(f"{error}, and LRNNLAB_FENCE asks for it", pytrace=False)
        warnings.warn(f"NO TEST IN A FENCE: {error}", stacklevel=1)
        pytest.skip(f"NO TEST IN A FENCE: {error}")
