"""The packages as houses: a room imports only from the rooms that pyproject.toml puts below it, in functions too."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_order_of_the_rooms_holds():
    pytest.importorskip("importlinter")
    program = Path(sys.executable).with_name("lint-imports")
    said = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_library_does_without_the_workbook():
    rooms = "scans, automata, expressivity, tasks, models, training, verification"
    code = f"import sys; from lrnnlab import {rooms}; print([name for name in sys.modules if name.startswith('workbook')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
