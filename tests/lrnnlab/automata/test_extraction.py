"""Network to machine: L* gives back the machine that answers, and keeps its bounds; quotients say what is tracked."""


import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.chapters.ch10 import linear_probe
from lrnnbook.content.tables import ladder
from lrnnlab.automata import NO_LABEL, MooreMachine, equivalent, lstar, minimise
from lrnnlab.automata.algebra import quotient_scores
from lrnnlab.automata.languages import language
from lrnnlab.models import build as net_of
from lrnnlab.models import exact_model, snap
from lrnnlab.verification.black_box import answers, extract

pytest.importorskip("aalpy", reason="aalpy IS MISSING: pip install 'aalpy>=1.4'")
LONG = 120  # seconds, for machines that other work keeps busy
SIGN = [0, 1, 0, 1, 1, 0]  # of S_3, in the order of its machine's states


def drawn(seed, Q, V):
    draw = np.random.default_rng(seed)
    return MooreMachine(draw.integers(Q, size=(V, Q)), draw.integers(3, size=Q), 0, tuple("abc"[:V]))


def after_a_token(machine):
    """The machine, with no answer before the first token."""
    inner = machine.transitions
    return MooreMachine.from_rule(
        (machine.initial, False), machine.symbols, lambda state, v: (int(inner[v, state[0]]), True),
        lambda state: int(machine.outputs[state[0]]) if state[1] else NO_LABEL,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 3))
def test_a_machine_is_given_back(seed, Q, V):
    machine = drawn(seed, Q, V)
    asked = after_a_token(machine)
    differ = lambda other: equivalent(asked, other, where_labelled=True)
    found = lstar(machine.answer, machine.symbols, seconds=LONG, search=differ)
    assert found.exact and found.machine is not None
    assert equivalent(asked, found.machine, where_labelled=True) is None
    assert found.machine.num_states <= minimise(machine).num_states
    by_words = extract(machine.answer, machine.symbols, seconds=LONG)
    assert not by_words.exact and by_words.machine == found.machine


@pytest.mark.parametrize(
    "name, states", [("Parity", 2), ("Sum(5)", 5), ("S_3", 6), ("Tomita 5", 4), ("D_3", 5), ("A_5", 60)]
)
def test_the_languages_of_the_book(name, states):
    machine = language(name).machine
    found = extract(machine.answer, machine.symbols, seconds=LONG)
    assert found.machine.num_states == states
    assert equivalent(after_a_token(machine), found.machine, where_labelled=True) is None


def counting(words):
    """More a than b: no finite machine."""
    return (np.where(words == 0, 1, -1).cumsum(1) > 0).astype(int)


def test_the_bounds_are_kept():
    found = extract(counting, "ab", states=12, seconds=LONG)
    assert found.machine is None and not found.exact and 12 < found.states
    assert found.why == f"stopped at {found.states} states, more than 12, in round {found.rounds}"
    found = extract(counting, "ab", rounds=3, states=10_000, seconds=LONG)
    assert (found.machine, found.rounds) == (None, 3)
    assert str(found) == (f"no machine: stopped after 3 rounds, at {found.states} states, and a word was still answered "
                          "otherwise")  # fmt: skip
    found = extract(counting, "ab", rounds=1000, states=10_000, seconds=0.5, length=400)
    assert found.machine is None and found.why.startswith("stopped after 0.5 seconds at")
    assert extract(counting, "ab", seconds=0).why == "stopped after 0 seconds"


def test_exact_weights_give_back_their_machine():
    for name in ("S_3", "D_2"):
        machine = ladder.ladder_task(name.lower()).rule
        found = extract(exact_model(machine), machine.symbols, seconds=LONG)
        assert found.machine == machine


@pytest.mark.parametrize("seed", range(4))
def test_a_snapped_net_is_asked_exactly(seed):
    net = snap(net_of("block_diagonal", vocab_size=3, classes=3, h=2, b=3, rule="softmax", drive="none", start="first",
                      seed=seed))  # fmt: skip
    found = extract(net, "abc", seconds=LONG)
    words = np.random.default_rng(seed).integers(3, size=(200, 50))
    assert found.exact and (found.machine.answer(words) == answers(net)(words)).all()


def test_answers_that_know_the_sign_alone():
    draw = np.random.default_rng(0)
    truth = draw.integers(6, size=(200, 30))
    alike = np.array([[0, 2, 5], [1, 3, 4]])[np.array(SIGN)]  # (6, 3): the states of the same sign
    given = alike[truth, draw.integers(3, size=truth.shape)]
    one, sign, third, whole = quotient_scores(given, truth, [[0] * 6, SIGN, [0, 0, 1, 1, 2, 2], range(6)])
    assert (one.accuracy, sign.accuracy, sign.size) == (1.0, 1.0, 2)
    assert abs(whole.accuracy - 1 / 3) < 0.02 and abs(third.accuracy - 1 / 3) < 0.02
    assert abs(sign.chance - 1 / 2) < 0.02 and abs(third.chance - 1 / 3) < 0.02 and abs(whole.majority - 1 / 6) < 0.02


def test_a_linear_probe_does_not_see_the_sign_of_a_hexagon():
    """S_3 as the plane's turns and reflections: both signs have the mean 0, so no linear reading tells them apart."""
    machine = language("S_3").machine
    turn = np.array([[-1, -np.sqrt(3)], [np.sqrt(3), -1]]) / 2
    acts = {"s": np.diag([1.0, -1.0]), "t": turn}
    place = {machine.initial: np.array([np.cos(0.5), np.sin(0.5)])}
    for state in machine.reachable():
        for symbol, follower in zip(machine.symbols, machine.transitions[:, state].tolist()):
            place.setdefault(follower, acts[symbol] @ place[state])
    points, sign = np.array([place[state] for state in range(6)]), np.array(SIGN)
    assert np.allclose(points[sign == 0].mean(0), 0) and np.allclose(points[sign == 1].mean(0), 0)
    seen, labels = np.tile(points, (20, 1, 1)), np.tile(sign, (20, 1))
    assert linear_probe(seen, labels) < 0.7
    x, y = seen[..., :1], seen[..., 1:]
    assert linear_probe(3 * x**2 * y - y**3, labels) == 1.0
