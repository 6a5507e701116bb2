"""The packages as houses: a room imports only from the rooms that pyproject.toml puts below it, in functions too."""

import subprocess
import sys
from pathlib import Path

import pytest

import lrnnlab

ROOT = Path(__file__).resolve().parents[2]


def test_the_order_of_the_rooms_holds():
    pytest.importorskip("importlinter")
    program = Path(sys.executable).with_name("lint-imports")
    said = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_library_does_without_the_workbook():
    rooms = "scans, automata, expressivity, tasks, models, training, verification"
    code = f"import sys; from lrnnlab import {rooms}; print([name for name in sys.modules if name.startswith('lrnnbook')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_name_of_the_package_loads_its_room_alone():
    assert set(lrnnlab.__all__) == set(lrnnlab.ROOMS)
    code = "import sys, lrnnlab; lrnnlab.linear_scan; print(sorted({'sympy', 'aalpy', 'lrnnlab.tasks'} & {*sys.modules}))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_machines_and_predictions_need_no_torch():
    code = """
import sys
sys.modules["torch"] = None  # an import of it fails
from lrnnlab import extract, predict
from lrnnlab.automata import classify, language, minimise
from lrnnlab.expressivity import construct
machine = minimise(language("Tomita 4").machine)
print(len(predict(machine)) > 1, construct(language("Parity").machine, "signed").family, classify(machine).aperiodic)
try:
    minimise(range(3))
except TypeError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert said.stdout.splitlines() == ["True signed True", "minimise: machine must be a MooreMachine, got range(0, 3)"], said.stderr
