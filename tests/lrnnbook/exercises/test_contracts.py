"""Builds: every contract lets right cells of any style through and tells wrong ones where; what is right is kept."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from lrnnbook.content.exercises import building, check, library
from lrnnbook.content.exercises.building import builds, mine, run, verdict
from lrnnbook.content.exercises.checking import told
from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNJUDGED, UNTRIED
from lrnnbook.content.exercises.progress import FILE, note
from lrnnbook.machinery import copies
from lrnnbook.machinery.cli import main

GIVEN = {"RIGHT": {}, "WRONG": {}}
for file in sorted(Path(__file__).parent.glob("contracts_ch*.py")):
    names = runpy.run_path(str(file))
    for kind, found in GIVEN.items():
        found |= names[kind]
SCAN = "import torch\n\n\ndef step(x, A):\n    return (A @ x.unsqueeze(-1)).squeeze(-1)\n\n\ndef scan(A, tokens, x0):\n"
SCAN += "    x, states = x0.expand(len(tokens), *x0.shape), []\n    for token in tokens.T:\n        x = step(x, A[token])\n"
SCAN += "        states.append(x)\n    return torch.stack(states, 1)\n"
SEARCH = """def search(goes, answer, machine):
    seen, level = set(), [((0,) * goes.shape[1], machine.initial, ())]
    while level:
        heads, q, word = level.pop(0)
        for token, table in enumerate(goes.tolist()):
            new = tuple(row[s] for row, s in zip(table, heads)), machine.transitions[token][q]
            if answer(new[0]) != machine.outputs[machine.transitions[token, q]]:
                return *word, token
            if new not in seen:
                seen.add(new)
                level.append((*new, (*word, token)))
"""
STUB = "def scan(A, tokens, x0):\n    raise NotImplementedError  # your lines\n"


def test_every_build_has_two_right_and_three_wrong_ones():
    for name in builds():
        assert len(GIVEN["RIGHT"][name]) >= 2 and len(GIVEN["WRONG"][name]) >= 3, name


@pytest.mark.parametrize("name", builds())
def test_a_contract_takes_the_reference_and_every_style(name):
    one = builds()[name]
    for answer in (one.reference, *GIVEN["RIGHT"][name]):
        found = verdict(name, answer)
        assert found.outcome == RIGHT and found.says == one.says, (answer, found)
    assert check(one.exercise, one.reference).outcome == RIGHT and told(one.exercise).hints


@pytest.mark.parametrize("name", builds())
def test_a_contract_tells_a_wrong_one_where(name):
    for answer, words in GIVEN["WRONG"][name]:
        found = verdict(name, answer)
        assert found.outcome in (NOT_YET, UNJUDGED) and words in found.says and "the test met" not in found.says, (words, found)
    assert {verdict(name, wrong).outcome for wrong, _ in GIVEN["WRONG"][name]} & {NOT_YET}


@pytest.mark.parametrize("name", builds())
def test_a_stub_is_not_attempted(name):
    def stub(*given):
        raise NotImplementedError

    assert verdict(name, stub).outcome == verdict(name, None).outcome == UNTRIED


@pytest.fixture
def copy(tmp_path, monkeypatch):
    (tmp_path / copies.AS_MADE / copies.DEEPER).mkdir(parents=True)
    (tmp_path / copies.DEEPER).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(building, "_session", {})
    monkeypatch.setattr(building, "_helpers", set())
    return tmp_path


def a_new_kernel(folder):
    """What ``mine("scan")`` is in another process that runs in ``folder``: what it prints, and where its code is from."""
    code = "from lrnnbook.content.exercises import mine; print(mine('scan').__code__.co_filename)"
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_what_is_right_is_kept_over_kernels_and_a_changed_file_is_not_used(copy, capsys):
    shell, file = InteractiveShell(), copy / "mine" / "scan.py"
    assert run(shell, "scan", STUB).outcome == UNTRIED and not file.exists()
    assert "contracts.py" in a_new_kernel(copy) and "until yours is right (exercise 02." in a_new_kernel(copy)
    assert run(shell, "scan", SCAN.replace("A @", "A.mT @")).outcome == NOT_YET and not file.exists()
    assert run(shell, "scan", "1 / 0") is None and "ZeroDivisionError" in capsys.readouterr().out
    assert run(shell, "scan", SCAN).outcome == RIGHT and file.read_text() == SCAN
    assert a_new_kernel(copy / copies.DEEPER) == f"scan: yours, from mine/scan.py\n{file}\n"  # with its helper, from a lettered chapter too
    assert run(shell, "scan", STUB).outcome == UNTRIED and file.read_text() == SCAN  # the last right one stays
    misspelt = run(shell, "scan", SCAN.replace("def scan", "def scam"))  # the scan of the run before is not judged again
    assert (misspelt.outcome, misspelt.says) == (NOT_YET, "this cell defines no scan") and file.read_text() == SCAN
    (entry,) = json.loads((copy / FILE).read_text()).values()
    assert entry["outcome"] == RIGHT and len(entry["kept"]) == 64
    file.write_text(SCAN + "# mended\n")
    said = a_new_kernel(copy)
    assert "the package's, for mine/scan.py was changed since it was found right" in said and "contracts.py" in said
    assert run(shell, "scan", SCAN + "# mended\n").outcome == RIGHT and str(file) in a_new_kernel(copy)


def test_what_is_kept_stands_alone(copy, capsys):
    shell = InteractiveShell()
    shell.run_cell("import numpy as np\n\n\ndef largest(A):\n    return A.argmax(-2)")
    snap = "import torch\n\n\ndef snap(A):\n    {}\nprint('tried')"
    for line, lacks in (("return torch.from_numpy(np.argmax(A.numpy(), -2))", "np"), ("return largest(A)", "largest"),
                        ("return A.argmax(-2) if A.dim() == 4 else np.zeros(1)", "np")):  # fmt: skip
        found = run(shell, "snap", snap.format(line))
        assert found.outcome == NOT_YET and f"`{lacks}` is neither imported nor defined in this cell" in found.says
    found = run(shell, "snap", snap.format("return A.argmax(-2)") + "\nnp.zeros(1)")
    assert found.outcome == NOT_YET and "`np` is" in found.says and not (copy / "mine" / "snap.py").exists()
    capsys.readouterr()
    assert run(shell, "snap", snap.format("return A.argmax(-2)")).outcome == RIGHT and capsys.readouterr().out == "tried\n"  # once
    found = run(shell, "snap", snap.format("return A.argmax(7)"))  # the reader's own line is shown
    assert found.outcome == UNJUDGED and found.says.endswith("(at: return A.argmax(7))")
    assert run(shell, "scan", SCAN).outcome == RIGHT
    shell.run_cell("def step(*given):\n    1 / 0")  # a name of the notebook that a helper has as well
    assert verdict("scan", mine("scan")).outcome == RIGHT
    shell.run_cell("def table(net):\n    return 7")
    cell = "def table(A):\n    return A.argmax(-2)\n\n\ndef snap(A):\n    return table(A)\n"
    assert run(shell, "snap", cell).outcome == RIGHT and verdict("snap", shell.user_ns["snap"]).outcome == RIGHT
    assert shell.user_ns["table"](0) == 7  # which other cells of the notebook call


def test_a_kept_file_that_fails_or_was_changed_is_told_why(copy, capsys):
    text, file = b"def snap(A):\n    return np.argmax(A, -2)\n", copy / "mine" / "snap.py"
    copies.put(file, text)
    note(builds()["snap"].exercise, RIGHT, building._digest(text))
    assert mine("snap") is builds()["snap"].reference
    assert "for mine/snap.py cannot be used (`np` is neither imported" in capsys.readouterr().out
    file.write_bytes(text + b"# mended\n")
    assert main(["copy", "export"]) == 0
    told = capsys.readouterr().out.splitlines()[-1]
    assert told.startswith("snap: the package's, for mine/snap.py was changed") and "copy your change into the cell of exercise 02." in told


@pytest.mark.parametrize("name, loop", [("scan", "x0 = x0 + 0"), ("doubling_scan", "pass"), ("collide", "seen = [*seen[-9:], n]"), ("my_rule", "pass")])
def test_a_loop_that_does_not_end_is_told(name, loop):
    given = {"scan": "A, tokens, x0", "doubling_scan": "a, b, x0", "collide": "A, code, n, seen=()", "my_rule": "self, letters"}[name]
    text = f"    def __init__({given}):\n        while True:\n            {loop}\n" if name == "my_rule" else ""
    text = f"class my_rule:\n{text}" if text else f"def {name}({given}):\n    while True:\n        {loop}\n"
    found = run(InteractiveShell(), name, text)
    assert found.outcome == UNJUDGED and "came to no end: does a loop go on for ever? (at: " in found.says


def test_without_a_copy_a_build_lasts_as_long_as_its_kernel(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(building, "_session", {})
    shell = InteractiveShell()
    assert run(shell, "scan", SCAN).outcome == RIGHT
    assert mine("scan") is shell.user_ns["scan"] and capsys.readouterr().out == "scan: yours\n" and not list(tmp_path.iterdir())


def test_a_name_that_nobody_builds_is_told_what_there_is():
    with pytest.raises(ValueError, match=r"there is no build 'scam'; there are collide, columns, scan, "):
        mine("scam")


def test_a_build_cell_in_a_notebook_is_run_by_the_magic(tmp_path):
    code = ("from IPython.core.interactiveshell import InteractiveShell as S\nshell = S.instance()\n"
            "shell.run_cell('from lrnnbook.content.exercises import mine')\n"
            f"print(repr(shell.run_cell('%%build scan\\n' + {SCAN!r}).result))\nshell.run_cell('%%build scam\\nx = 1')\n")  # fmt: skip
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    said = told.stdout + told.stderr
    assert re.search("right: .*gradient", said)
    assert "there is no build 'scam'; there are collide, " in said and "Traceback" not in said


def test_a_reader_s_library_is_one_page_that_trains_and_proves_with_torch_alone(copy, capsys):
    assert run(InteractiveShell(), "scan", SCAN).outcome == RIGHT
    assert main(["copy", "export"]) == 0
    assert "yours are scan; the package's are columns, training_step, snap, search" in capsys.readouterr().out
    text = (copy / library.FILE).read_text()
    assert SCAN[SCAN.index("def scan") :] in text and text.count("import torch\n") == 1
    assert len(text.splitlines()) <= 80 + 4  # four are the reader's helper
    alone = f"import sys, runpy; sys.modules.update(lrnnlab=None, lrnnbook=None); runpy.run_path({library.FILE!r}, run_name='__main__')"
    said = subprocess.run([sys.executable, "-c", alone], cwd=copy, capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1].endswith("proved for every string")
    names = {"__name__": "mine"}
    exec(text.replace("4001", "2"), names)
    names["prove"]()
    assert capsys.readouterr().out == "not proved in 4,000 steps: try another seed\n"
    assert run(InteractiveShell(), "snap", "def snap(A):\n    return A.argmax(-2).tolist()\n").outcome == RIGHT
    assert run(InteractiveShell(), "search", SEARCH).outcome == RIGHT
    assert main(["copy", "export", "--out", "own.py"]) == 0
    said = subprocess.run([sys.executable, "own.py"], cwd=copy, capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.splitlines()[-1].endswith("proved for every string")
    assert main(["copy", "export"]) == 2 and (copy / library.FILE).read_text() == text
    assert f"{library.FILE} is there already" in capsys.readouterr().err


def test_two_cells_that_give_one_name_to_different_things_are_told_apart(copy):
    shell = InteractiveShell()
    assert run(shell, "scan", SCAN).outcome == RIGHT
    assert run(shell, "snap", "def step(A):\n    return A.argmax(-2)\n\n\ndef snap(A):\n    return step(A)\n").outcome == RIGHT
    with pytest.raises(ValueError, match="two of your cells define 'step', each in its own way: rename it in the cell of snap"):
        library.write(copy / "own.py")
