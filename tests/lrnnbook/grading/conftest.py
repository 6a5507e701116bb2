"""What tests of the grader share."""


import pytest
from fenced import the_fence
from planted import Handout


@pytest.fixture(scope="module")
def handout():
    return Handout.of("ps1")


@pytest.fixture(scope="module")
def fence():
    return the_fence()
