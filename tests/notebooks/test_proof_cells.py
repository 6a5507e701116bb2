"""The proofs stand in the chapters' cells: each runs alone and holds, and a fault in any step is caught at that step."""

import importlib

import pytest
from proof_cells import Fault, asserted, proofs, run, step_of

CHAPTERS = [f"{number:02d}" for number in range(1, 11)]
PROOFS = [(chapter, name) for chapter in CHAPTERS for name in proofs(chapter)]
FAULTS = [(chapter, fault) for chapter in CHAPTERS for fault in importlib.import_module(f"planted_steps.ch{chapter}").FAULTS]


@pytest.mark.parametrize("chapter,name", PROOFS)
def test_the_proof_holds(chapter, name):
    assert run(chapter, name) == ""


@pytest.mark.parametrize("chapter,fault", FAULTS, ids=lambda value: getattr(value, "proof", value))
def test_a_fault_is_caught_where_it_is(chapter, fault: Fault):
    assert step_of(run(chapter, fault.proof, (fault.old, fault.new))) == fault.step


@pytest.mark.parametrize("chapter,name", PROOFS)
def test_every_step_has_a_fault(chapter, name):
    steps = {step for source in proofs(chapter)[name] for step in asserted(source)}
    planted = {fault.step for where, fault in FAULTS if where == chapter and fault.proof == name}
    assert steps, "a proof without a step"
    assert steps - planted == set(), f"steps of {name} in which no fault is planted"
