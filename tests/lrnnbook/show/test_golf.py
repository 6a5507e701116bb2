"""State golf: twelve machines are held, wrong entries are answered with two strings, rounded turns are refused, the board is judged."""

import math
import re
import shutil

import numpy as np
import pytest
from browser import ROOT, artefacts, violations

from lrnnbook.content.chapters import golf
from lrnnbook.machinery.book.command import main
from lrnnbook.machinery.book.sync import read_source
from lrnnlab.automata import transition_monoid

BOARD = golf.recorded_folder() / "golf"
PAR = {name: (BOARD / f"{name}.txt").read_text(encoding="utf-8") for name in golf.HOLES}
NEXT = {"1": "-1", "-1": "0", "0": "1"}


def run(hole, text, word):
    """Where a word leads the machine, and the numbers: no search."""
    start, moves = golf.read(text, hole.machine.symbols)
    x, state = np.array(start, dtype=object), hole.machine.initial
    for token in map(hole.machine.symbols.index, word.split()):
        A, b = moves[token]
        x, state = np.array(A, dtype=object) @ x + np.array(b, dtype=object), hole.machine.transitions[token, state]
    return state, x.tolist()


def wrong(text):
    """The entry with one number changed, each in turn."""
    for at, one in enumerate(parts := text.split(" ")):
        bare = one.rstrip(";\n")
        if bare in NEXT and ":" not in one:
            yield " ".join([*parts[:at], one.replace(bare, NEXT[bare]), *parts[at + 1 :]])


@pytest.mark.parametrize("name", golf.HOLES)
def test_every_hole_is_proved_at_par_and_a_wrong_entry_has_two_strings(name):
    hole = golf.HOLES[name]
    assert hole.judge(hole.start).proved
    found = hole.judge(PAR[name])
    assert found.proved and found.numbers == hole.par >= hole.least
    clashes = 0
    for text in wrong(PAR[name]):
        found = hole.judge(text)
        if found.clash:
            (one, x), (other, y) = (run(hole, text, word) for word in found.clash)
            assert one != other and x == y
            clashes += 1
        if clashes == 3:
            break
    assert clashes


ORDERS = (1, 2, 12, 48)  # of finite groups of n x n matrices of fractions: at most so many elements


def test_fewer_numbers_than_the_bound_are_not_enough():
    """A group as large as the machine's, a fifth root of 1, or so many states on the way before a word stays."""
    for name, hole in golf.HOLES.items():
        machine, Q = hole.machine, hole.machine.num_states
        reached = transition_monoid(machine).elements
        fast = 0
        for word in reached:
            path = [machine.initial]
            while path[-1] not in path[:-1]:
                path.append(int(word[path[-1]]))
            fast = max(fast, path.index(path[-1]))
        group = all(len(set(row)) == Q for row in machine.transitions.tolist())
        by_order = next(n for n, order in enumerate(ORDERS) if order >= Q) if group and max(ORDERS) >= Q else len(ORDERS) * group
        by_root = 4 * (group and Q % 5 == 0)
        assert hole.least == max(1, fast, by_order, by_root) or name == "q_8", name  # of which `why` says more


@pytest.mark.parametrize("digits", [2, 6, 15])
@pytest.mark.parametrize("name, turn", [("z_3", 3), ("z_5", 5), ("z_6", 6)])
def test_a_rounded_turn_is_refused_and_told_why(name, turn, digits):
    hole, moves = golf.HOLES[name], {}
    for symbol in hole.machine.symbols:
        c, s = (round(f(2 * math.pi * int(symbol) / turn), digits) for f in (math.cos, math.sin))
        moves[symbol] = [[c, -s], [s, c]], []
    found = hole.judge(golf.written([1, 0], moves))
    assert not found.proved and not found.clash and found.never[1].denominator > 1


@pytest.mark.parametrize("text, said", [
    ("0: 1\n1: -1", "no line for start"), ("start: 1\n0: 1", "no line for 1"), ("start: 1\n0: 1\n1: 0 1", "1 needs 1 rows of 1 numbers"),
    ("start:\n0: 1\n1: 1", "start has 0 numbers"), ("start: 1\n0: 1\n1: 1e3", "1e3 is no fraction"), ("start: 1\n2: 1", "2 is no letter"),
    ("start: 1\n0: 1\n0: 1", "0 is given twice"), ("start 1", "start 1: a line is"), ("start: 1/0\n0: 1\n1: 1", "1/0 is no fraction"),
])  # fmt: skip
def test_an_entry_that_cannot_be_read_is_told_why(text, said):
    with pytest.raises(ValueError, match=said):
        golf.HOLES["parity"].judge(text)


def test_a_minus_that_was_copied_is_read():
    assert golf.HOLES["parity"].judge(PAR["parity"].replace("-", "\u2212")).proved


def test_a_counter_is_not_closed():
    found = golf.HOLES["tomita_7"].judge("start: 0\n0: 1 + 1\n1: 1 + 7")
    assert not found.proved and found.never is None


# --- the puzzles of notebook 10d -------------------------------------------------------------------------------------


def given(name, **changed):
    """The board's entry in Python's numbers, each letter's as another kind of row."""
    start, moves = golf.read(PAR[name], symbols := golf.HOLES[name].machine.symbols)
    moves = dict(zip(symbols, moves))
    kinds = [list, lambda rows: np.array(rows, dtype=object), lambda rows: [[float(one) for one in row] for row in rows]]
    numbers = {"start": start, "A": {letter: kinds[i % 3](A) for i, (letter, (A, _)) in enumerate(moves.items())},
               "b": {letter: b for letter, (_, b) in moves.items() if any(b)}}  # fmt: skip
    return golf.puzzle(name, **numbers | changed)


def test_the_notebook_has_every_hole_once_and_none_is_tried(monkeypatch):
    asked = []
    cells = read_source(ROOT / "notebooks/py/deeper/10d_recurrence_puzzles.py").cells
    for cell in (cell.source for cell in cells if cell.source.startswith("# ")):
        if "puzzle(" in cell:
            number, name = re.match(r"# (\d+) [^\n]*\npuzzle\(\"(\w+)\"", cell).groups()
            hole, verdict = golf.HOLES[name], eval(cell, {"puzzle": golf.puzzle})
            assert verdict.outcome == "not tried yet" and int(number) == len(asked) + 1
            assert re.findall(r'"(.)": \[\[', cell) == list(hole.machine.symbols) and f"Par {hole.par}" in cell
            names = re.search(r"  States (.*?)[.,(]", cell)
            assert (set(names[1].split()) == {*hole.machine.names}) if names else f"{hole.machine.num_states} states" in cell
            asked.append(name)
    assert asked == [*golf.HOLES]


@pytest.mark.parametrize("name", golf.HOLES)
def test_a_puzzle_is_right_with_the_board_s_numbers_and_its_readout_is_judged(name):
    verdict, names = given(name), {}
    assert verdict.outcome == "right" and verdict.says.endswith("Par") and golf.HOLES[name].why in golf.par(name)
    for _, value, state in golf.HOLES[name].judge(PAR[name]).reached:
        names[value] = golf.HOLES[name].machine.names[state]
    assert given(name, readout=lambda x: names[tuple(x)]).outcome == "right"
    last = [*names][-1]
    wrong = given(name, readout=lambda x: names[tuple(x)] if tuple(x) != last else "lost")
    word = re.match(r"after (.*) the state is (.*): the readout says 'lost', and the machine is in", wrong.says)
    assert wrong.outcome == "not yet" and run(golf.HOLES[name], PAR[name], word[1])[1] == list(last)


@pytest.mark.parametrize("changed, outcome, said", [
    ({"A": {"0": 1, "1": 1}, "b": None}, "not yet", "after nothing and after 1 the state is the same"),
    ({"A": {"0": 1}}, "cannot be judged", "no line for 1"), ({"A": [[1]]}, "cannot be judged", "A is a dict"),
    ({"b": {"2": 1}}, "cannot be judged", "got also 2"), ({"A": {"0": [[1, 0]], "1": 1}}, "cannot be judged", "A of 0 is 1 rows of 1, got [[1, 0]]"),
    ({"start": [1j]}, "cannot be judged", "1j is no fraction"), ({"readout": lambda x: x[1]}, "cannot be judged", "raised IndexError"),
    ({"start": [...]}, "not tried yet", "where the dots are"), ({"start": 1, "A": {0: 1, 1: -1}, "b": {1: [0]}}, "right", "Par"),
    ({"A": {"0": 1, "1": [["1/2"]]}}, "not yet", "never closes"), ({"start": [0, 1], "A": {"0": np.eye(2), "1": np.eye(2)[::-1]}}, "right", "par is 1"),
])  # fmt: skip
def test_a_puzzle_s_answer_of_another_kind_is_told_what_is_wrong(changed, outcome, said):
    verdict = given("parity", **changed)
    assert verdict.outcome == outcome and said in verdict.says


# --- the board -------------------------------------------------------------------------------------------------------


def test_the_board_is_what_its_entries_give():
    assert (BOARD / "README.md").read_text(encoding="utf-8") == golf.page_of(BOARD)


def test_an_entry_that_is_not_proved_stays_off_the_board(tmp_path):
    folder = shutil.copytree(BOARD, tmp_path / "golf")
    (folder / "z_3.txt").write_text(PAR["z_3"].replace("-1 1", "-1 2"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"z_3.txt: (refuted|never|not)"):
        golf.page_of(folder)
    (folder / "z_3.txt").write_text(PAR["z_3"].replace("hole: z_3", "hole: z_9"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"z_3.txt: hole: z_9 is none of parity"):
        golf.page_of(folder)


@pytest.mark.parametrize("name, instead", [("last_two", "flip_flop"), ("flip_flop", "s_3")])
def test_a_trained_net_is_proved_for_its_own_hole_only(tmp_path, name, instead):
    folder = shutil.copytree(BOARD, tmp_path / "golf")
    file = folder / f"{name}_trained.txt"
    assert golf.judged(file).proved and golf.judged(file).numbers >= golf.HOLES[name].least
    file.write_text(file.read_text(encoding="utf-8").replace(f"hole: {name}", f"hole: {instead}"), encoding="utf-8")
    with pytest.raises(ValueError, match="holds no proof"):
        golf.judged(file)


# --- the page --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    out = tmp_path_factory.mktemp("alone") / "golf.html"
    assert main(["golf", "--out", str(out)]) == 0
    return out


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (1280, "light")])
def test_the_page_alone_proves_refutes_and_keeps_the_score(visit, alone, width, scheme):
    page = visit(alone, width, scheme)
    said, box = page.get_by_role("status"), page.get_by_role("textbox")
    assert "Proved: 2 numbers" in said.inner_text()
    box.fill(PAR["parity"].replace("-", "\u2212"))  # a minus that was copied from the page
    assert "Proved: 1 number holds" in said.inner_text() and "Par." in said.inner_text()
    box.fill("start: 1\n0: 1\n1: 1")
    assert "After nothing and after 1 your state is the same" in said.inner_text()
    page.get_by_role("button", name="5 Count to six").click()
    box.fill("start: 1 0\n0: 1 0; 0 1\n1: 0.5 -0.866025; 0.866025 0.5")
    assert "never closes" in said.inner_text() and "1 1 has the trace" in said.inner_text()
    box.fill(PAR["z_6"])
    page.screenshot(path=artefacts() / f"golf_{width}_{scheme}.png", full_page=True)
    assert page.get_by_role("row").filter(has_text="Parity").inner_text().split()[-1] == "1"
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert violations(page) == []
