"""The whole repository is clean under the rules, and the types, that pyproject.toml chooses."""

import importlib.util
import inspect
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import lrnnlab

ROOT = Path(__file__).resolve().parents[2]


def found(tool, *arguments, folder=ROOT):
    """(whether ``python -m tool`` is content, what it says)."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed (the extra [test] brings it)")
    run = subprocess.run([sys.executable, "-m", tool, *arguments], cwd=folder, capture_output=True, text=True)
    return run.returncode == 0, run.stdout + run.stderr


def test_ruff():
    clean, said = found("ruff", "check", "--output-format", "concise", ".")
    assert clean, said


def test_nothing_is_left_of_a_merge():
    left = re.compile(r"^(<{7} .*|={7}|>{7} .*)$", re.MULTILINE)
    assert left.search("a\n=======\nb")
    rooms = [ROOT, ROOT / "data/records", *map(ROOT.joinpath, ("lrnnlab", "notebooks/lrnnbook/content/chapters", "notebooks", "notebooks/py", "notebooks/py/deeper"))]
    files = [*(ROOT / "lrnnlab").rglob("*.py"), *(ROOT / "tests").glob("*.py")]
    files += [path for room in rooms for end in ("py", "md") for path in room.glob(f"*.{end}")]
    assert not [str(path) for path in files if left.search(path.read_text(encoding="utf-8"))]


def test_what_is_left_to_a_thorough_run_is_there():
    """A name that no file and no function has would leave out nothing."""
    lists, tests = runpy.run_path(str(ROOT / "tests" / "conftest.py")), sorted((ROOT / "tests").rglob("test_*.py"))
    defined = {path.stem for path in tests}.union(*(re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.M) for path in tests))
    assert lists["THOROUGH"] | lists["THIRD"] | set(lists["LONGEST"]) <= defined


def test_mypy():
    clean, said = found("mypy")
    assert clean, said


# --- types for who uses the library: what an editor sees ---------------------------------------------------------------

BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
GIVEN = """
import torch
import lrnnlab
from lrnnlab import build, evaluate, linear_scan, snap, task, train, verify
from lrnnlab.automata import minimise
from lrnnlab.models.layers import LRU
from lrnnlab.scans import delta_rule
from lrnnlab.verification import quantise
parity, x = task("sum", 2), torch.ones(1, 3, 2)
net = build("lstm", parity)
made = train(net, parity, steps=1)
"""
RIGHT = """
print(snap(made.net), verify(snap(net), parity.specification).proved, parity.with_length(9).train_length)
print(build("one of my own", task("one of my own")).state_dict(), task(parity).specification.num_states, x.grad)
print(quantise(made.net, parity).codebook, linear_scan(x, x).shape, delta_rule(x, x, x, x).shape)
print(delta_rule(x, x, x, x, return_state=True)[1].shape, minimise(parity.machine).num_states, LRU(3, state=4)(x))
train(net, parity, steps=1, watch=lambda net, step: {"width": net.width}, watch_every=1)
"""
WRONG = """
linear_scan(1, "no", backnd=3)
linear_scan(x)
delta_rule(x, x, x, x).append(1)
train(net, parity)
train(net, parity, steps="many")
made.nett
evaluate(net, parity, lenght=9)
snap("net")
verify(net, parity)
quantise(net)
task("sum", 2).specfication
task(parity, 5)
build(parity)
minimise("abc")
LRU("wide")
lrnnlab.trian
"""


def complaints(tool, folder, **files):
    """{file: the lines in which ``tool`` finds a fault}; it runs in ``folder``, as for code that uses the package."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    paths = [str(folder / f"{name}.py") for name in files]
    if tool == "mypy":
        said = found("mypy", "--config-file", "pyproject.toml", *paths)[1]
        lines = re.findall(r"(\w+)\.py:(\d+): error:", said)
    else:
        setting = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT)]}
        (folder / "pyrightconfig.json").write_text(json.dumps(setting), encoding="utf-8")
        said = found(tool, "--outputjson", "--pythonpath", sys.executable, *paths, folder=folder)[1]
        told = [one for one in json.loads(said)["generalDiagnostics"] if one["severity"] == "error"]
        lines = [(Path(one["file"]).stem, one["range"]["start"]["line"] + 1) for one in told]
    return {name: sorted({int(line) for file, line in lines if file == name}) for name in files}


@pytest.mark.parametrize("tool", ["mypy", "basedpyright"])
def test_a_right_call_passes_a_type_checker_and_a_wrong_one_does_not(tool, tmp_path):
    blocks = {f"block_{number}": block for number, block in enumerate(BLOCKS)}
    say = complaints(tool, tmp_path, readme="\n\n".join(BLOCKS), right=GIVEN + RIGHT, wrong=GIVEN + WRONG, **blocks)
    first = GIVEN.count("\n") + 2
    assert say.pop("wrong") == list(range(first, first + WRONG.count("\n") - 1))
    assert not any(say.values()), say


def test_completion_sees_the_signatures():
    jedi = pytest.importorskip("jedi")
    for name in lrnnlab.__all__:
        shown = jedi.Script(f"from lrnnlab import {name}\n{name}(").get_signatures()
        wanted = list(inspect.signature(inspect.unwrap(getattr(lrnnlab, name))).parameters)
        assert wanted in [[one.name for one in way.params] for way in shown], name
    attributes = {one.name for one in jedi.Script("import lrnnlab\nlrnnlab.snap(net).").complete()}
    assert {"initial_state", "readout", "state_dict"} <= attributes
