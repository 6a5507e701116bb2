"""The proofs of a chapter as its own cells: found by their tags, run alone, and run with a fault planted in one line.

A cell of a proof has the tag ``proof-NAME`` (``# %% tags=["proof-lemma_3"]`` in the source).  Its steps are ``assert``
statements whose message begins with ``Lemma 3, step N``; a cell that breaks a hypothesis does so under
``with show.expect_failure("Lemma 3, step N"):``.  A proof runs alone: the chapter's import cell, then its own cells in order.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jupytext

PY = Path(__file__).resolve().parents[2] / "notebooks" / "py"


@dataclass(frozen=True)
class Fault:
    """A line of a proof made false: ``old`` stands once in the proof's cells, and ``new`` makes ``step`` fail first."""

    proof: str
    old: str
    new: str
    step: str


def faults(table: str) -> list[Fault]:
    """Read a table: a proof's name, and below it a fault a line, as ``  step 1: x «+→-» 1``; ``\\n`` ends a line of code."""
    found, proof = [], ""
    for line in table.splitlines():
        if line.startswith("  "):
            step, _, change = line.strip().replace(r"\n", "\n").partition(": ")
            old, new = (re.sub("«(.*?)→(.*?)»", kept, change, flags=re.DOTALL) for kept in (r"\1", r"\2"))
            found.append(Fault(proof, old, new, step))
        elif not line.startswith("#"):
            proof = line
    return found


def sources(chapter: str) -> list[Path]:
    """The sources of a chapter: its sitting, then the lettered notebooks behind it."""
    return sorted(PY.glob(f"{chapter}_*.py")) + sorted(PY.glob(f"deeper/{chapter}[a-z]_*.py"))


@cache
def proofs(chapter: str) -> dict[str, tuple[str, ...]]:
    """The sources of each proof's cells, in order; before them its notebook's first cell, which imports."""
    found: dict[str, list[str]] = {}
    for path in sources(chapter):
        imports, *cells = (cell for cell in jupytext.read(path).cells if cell.cell_type == "code")
        for cell in cells:
            for tag in cell.metadata.get("tags", ()):
                if tag.startswith("proof-"):
                    found.setdefault(tag.removeprefix("proof-"), [imports.source]).append(cell.source)
    return {name: tuple(texts) for name, texts in found.items()}


def run(chapter: str, name: str, replace: tuple[str, str] | None = None) -> str:
    """Run a proof alone; the message of the first ``assert`` that fails, or "" where none does."""
    texts = list(proofs(chapter)[name])
    if replace is not None:
        old, new = replace
        where = [n for n, source in enumerate(texts) for _ in range(source.count(old))]
        assert len(where) == 1, f"{old!r} stands {len(where)} times in the proof {name!r} of chapter {chapter}, not once"
        texts[where[0]] = texts[where[0]].replace(old, new)
    space: dict = {"__name__": "__main__"}
    for number, source in enumerate(texts):
        try:
            exec(compile(source, f"chapter {chapter}, {name}, cell {number}", "exec"), space)
        except AssertionError as failed:
            return str(failed) or "an assert without a step"
    return ""


def step_of(message: str) -> str:
    """The step that an assert names: ``"step 3"`` of ``"Lemma 3, step 3: the start does not cancel"``."""
    return message.partition(":")[0].rpartition(", ")[2]


def asserted(source: str) -> list[str]:
    """The steps that a cell asserts outside of ``with show.expect_failure(...)``, in order."""
    found = []

    def visit(node):
        if isinstance(node, ast.With) and any("expect_failure" in ast.unparse(item.context_expr) for item in node.items):
            return
        if isinstance(node, ast.Assert) and node.msg is not None:
            said = re.match(r"f?['\"](?:[^:'\"]*, )?(step \d+\w*)", ast.unparse(node.msg))
            found.extend([said.group(1)] if said else [])
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(source))
    return found
