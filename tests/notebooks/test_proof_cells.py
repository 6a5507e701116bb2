"""The proofs stand in the chapters' cells: each runs alone and holds, and a fault in any step is caught at that step."""

import ast
import importlib

import pytest
from proof_cells import PY, Fault, asserted, proofs, run, sources, step_of

CHAPTERS = [
    path.stem[-2:] for path in sorted((PY.parents[1] / "tests" / "support" / "planted_steps").glob("ch*.py"))
]  # the chapters whose proofs have moved into their cells
PROOFS = [(chapter, name) for chapter in CHAPTERS for name in proofs(chapter)]
FAULTS = [
    (chapter, fault)
    for chapter in CHAPTERS
    for fault in importlib.import_module(f"planted_steps.ch{chapter}").FAULTS
]


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


@pytest.mark.parametrize("chapter,name", PROOFS)
def test_no_cell_of_a_proof_is_a_bare_call(chapter, name):
    for source in proofs(chapter)[name][1:]:
        body = ast.parse(source).body
        assert "assert " in source or "with show.expect_failure(" in source or len(body) > 1, source


def test_no_chapter_calls_a_proof_from_the_package():
    for chapter in CHAPTERS:
        for path in sources(chapter):
            assert "steps(" not in path.read_text(encoding="utf-8").replace("_steps(", ""), path.name
