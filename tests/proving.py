"""The two tests that every paper's proofs have in common: each proof holds, and each planted fault is found."""

import pytest


def two_tests(proofs, faults, holding=None):
    """(test that each proof of ``holding`` holds, test that each fault (name, arguments, failing steps) is found).

    ``proofs`` : name -> function.   ``holding`` : the names of those that should hold; default: all.
    """

    @pytest.mark.parametrize("name", sorted(proofs if holding is None else holding))
    def holds(name):
        found = proofs[name]()
        assert found.holds, str(found)

    @pytest.mark.parametrize("name, arguments, failing", faults, ids=[f"{n}-{k}" for k, (n, *_) in enumerate(faults)])
    def fails(name, arguments, failing):
        found = proofs[name](**arguments)
        assert {k for k, step in enumerate(found.steps, 1) if not step.holds} == failing, str(found)

    return holds, fails
