"""Pictures that move, in a real browser without a network: their mathematics is Python's, pointer and keys move them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from browser import MS, artefacts, violations

from lrnnbook.content.chapters import ch01, ch02, ch03, ch05, ch08, ch09, fast_weight_solutions, golf, playground
from lrnnbook.content.exercises import check
from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNJUDGED, UNTRIED
from lrnnbook.content.show import atlas
from lrnnbook.content.show import interactive as moving
from lrnnbook.content.show.interactive import NAMES, module
from lrnnbook.content.show.interactive.export import page_net
from lrnnbook.content.tables import ladder_atlas, lrnn_film
from lrnnbook.content.tables.kernels import best_fit, kernel, spectrum
from lrnnbook.content.tables.word_actions import machine_of
from lrnnbook.machinery.book.site.answers import field
from lrnnbook.machinery.book.site.moving import moving_html, script
from lrnnlab import build, quantise, snap, verify
from lrnnlab.automata import MooreMachine
from lrnnlab.automata.parsing import acceptor
from lrnnlab.models import exact_model
from lrnnlab.tasks import Sum


def small(task, row):
    return ch08.small_films(task, [row], (0, 9))[row]


MADE = {
    "walk": lambda: moving.walk(Sum(5).machine, [0, 3]),
    "disc": lambda: ch05.modes_widget("shift by 7, half circle"),
    "simplex": lambda: ch02.simplex_widget("soft counter"),
    "killers": ch01.killers_widget,
    "levels": ch03.levels_widget,
    "film": ch02.film_widget,
    "fields": lambda: ch08.fields_widget({"parity": {row: small("parity", row)[9] for row in ("rnn", "lstm")}}),
    "clusters": lambda: ch08.clusters_widget({"parity": {"rnn": small("parity", "rnn")}, "cycle_navigation": {"lrnn": small("cycle_navigation", "lrnn")}}),
    "tree": ch08.filling_widget,
    "writes": ch09.writes_widget,
    "playground": lambda: playground.panel(playground.recorded()["nets"]),
    "atlas": atlas.panel,
    "golf": golf.panel,
    "answer": lambda: field('check("00.4", None)'),
}


def test_every_picture_is_tested():
    assert set(MADE) == set(NAMES) == set(AGREES) == set(PLANTED) == set(MOVES)


# --- mathematics -----------------------------------------------------------------------------------------------------

IMPORT = """async source => {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  window.mathematics = (await import(url)).default.mathematics;
}"""


@pytest.fixture(scope="module")
def ask(browser):
    """ask(source) evaluates a module; what it gives calls one of its functions: asked("run", machine, word)."""
    page = browser.new_page()
    page.set_default_timeout(MS)

    def ask(source):
        page.evaluate(IMPORT, source)
        return lambda name, *values: page.evaluate("([name, values]) => mathematics[name](...values)", [name, values])

    yield ask
    page.close()


def walk_agrees(asked):
    draw = np.random.default_rng(0)
    for _ in range(20):
        Q, V = draw.integers(1, 9), draw.integers(1, 4)
        machine = MooreMachine(draw.integers(Q, size=(V, Q)), draw.integers(2, size=Q), int(draw.integers(Q)), "abc"[:V])
        given = {"initial": machine.initial, "transitions": machine.transitions.tolist()}
        word = draw.integers(V, size=12).tolist()
        assert asked("run", given, word) == [machine.initial, *machine.run(word).tolist()]
        words = asked("shortest", given)
        by_length, length = {machine.initial: 0}, 0
        while len(by_length) > length and length < Q:  # how far each state is, by powers of the relation
            length += 1
            before = [q for q, far in by_length.items() if far == length - 1]
            for q in {int(moves[q]) for moves in machine.transitions for q in before} - set(by_length):
                by_length[q] = length
        for state, found in enumerate(words):
            assert (found is not None) == (state in by_length)
            if found is not None:
                assert len(found) == by_length[state] and [machine.initial, *machine.run(found)][-1] == state


def pairs(values):
    return np.stack([values.real, values.imag], 1).tolist()


def disc_agrees(asked):
    draw = np.random.default_rng(1)
    for N in (1, 2, 5, 12, 16):
        nodes = draw.uniform(0.3, 1.05, N) * np.exp(1j * draw.uniform(-np.pi, np.pi, N))
        weights = draw.normal(size=N) + 1j * draw.normal(size=N)
        impulse, u = [1, *[0] * 39], draw.normal(size=40)
        taps = asked("response", pairs(nodes), pairs(weights), impulse)
        assert np.allclose(taps, np.real(kernel(nodes, weights, 40)), rtol=1e-10, atol=1e-12)
        assert np.allclose(asked("response", pairs(nodes), pairs(weights), u.tolist()), np.convolve(taps, u)[:40])
        assert np.allclose(np.sum(asked("waves", pairs(nodes), pairs(weights), 40), 0), taps)
        assert np.allclose(asked("frequencies", taps[:24]), np.abs(np.fft.fft(taps[:24], 360))[:181], atol=1e-10)
        for L in (8, 24):
            found, wanted = asked("spectrum", pairs(nodes), L), spectrum(nodes, L)
            assert np.allclose(found["values"], wanted["values"], atol=1e-12 * wanted["values"][0])
            assert found["rank"] == wanted["rank"]
            if wanted["condition"] < 1e8:
                assert found["condition"] == pytest.approx(wanted["condition"], rel=1e-6)
            goal = draw.normal(size=L)
            fit, due = asked("fitted", pairs(nodes), goal.tolist()), best_fit(nodes, goal)
            made = np.real(kernel(nodes.tolist(), (np.array(fit) @ [1, 1j]).tolist(), L))
            assert np.linalg.norm(made - goal) == pytest.approx(np.linalg.norm(due.kernel - goal), abs=1e-5)
            if wanted["condition"] < 1e5:
                assert np.allclose(np.array(fit) @ [1, 1j], due.weights, atol=1e-7 * due.norm)
    grid, goal = np.exp(2j * np.pi * np.arange(12) / 12), np.eye(24)[7]
    assert asked("spectrum", pairs(grid), 24)["condition"] == spectrum(grid, 24)["condition"] == np.inf
    assert np.allclose(np.array(asked("fitted", pairs(grid), goal.tolist())) @ [1, 1j], best_fit(grid, goal).weights)  # the smallest


def simplex_agrees(asked):
    draw = np.random.default_rng(2)
    for soft in (0.1, 1.0, 5.0):
        A = draw.dirichlet([soft] * 3, size=3).T  # columns are distributions
        columns = A.T.tolist()
        found = asked("ways", columns, 60)
        for t in (0, 1, 2, 17, 60):
            power = np.linalg.matrix_power(A, t)
            assert np.allclose(found[t], power.T, atol=1e-12)
            gaps = {(i, j): abs(power[:, i] - power[:, j]).sum() / 2 for i, j in ((0, 1), (0, 2), (1, 2))}
            far, i, j = asked("farthest", found[t])
            assert far == pytest.approx(max(gaps.values()), abs=1e-12) and gaps[i, j] == pytest.approx(far, abs=1e-12)
        lost = asked("forgotten", columns, 1e-3, 1000)
        spread = [np.ptp(np.linalg.matrix_power(A, t), axis=1).max() for t in range(lost)]
        assert min(spread, default=1) > 1e-3 / 2  # while two states are apart, some entry of the power shows it
        assert np.ptp(np.linalg.matrix_power(A, lost), axis=1).max() <= 1e-3
        inside = asked("shares", [160 + 10 * soft, 200])
        assert sum(inside) == pytest.approx(1) and min(inside) >= 0
    assert asked("forgotten", np.eye(3).tolist(), 1e-3, 100) is None
    assert asked("shares", [160, -500]) == pytest.approx([1, 0, 0], abs=0.2)


def killers_agrees(asked):
    draw = np.random.default_rng(3)
    points = {letter: [point.real, point.imag] for letter, point in ch01.POINTS.items()}
    for _ in range(20):
        gates = dict(zip("01-", draw.choice(list(ch01.GATES), 3)))
        word, given = "".join(draw.choice(list("01-"), 9)), {letter: ch01.GATES[gate] for letter, gate in gates.items()}
        path = [0.75]
        for letter in word:
            size, degrees = given[letter]
            path.append(size * np.exp(1j * np.radians(degrees)) * path[-1] + (1 - size) * ch01.POINTS[letter])
        assert np.allclose(np.array(asked("channel", word, given, points)) @ [1, 1j], path, atol=1e-12)
        if all(size in (0, 1) for size, _ in given.values()):  # turns and resets alone: the killer words end in one state
            one, other = (asked("channel", killer, given, points)[-1] for killer in ch01.KILLERS)
            assert np.allclose(one, other, atol=1e-12)
        operands = "-".join(map(str, draw.integers(5, size=4)))
        assert np.allclose(asked("block", operands, 5), ch01.block_path(operands), atol=1e-12)


def fields_agrees(asked):
    draw = np.random.default_rng(4)
    for length in (1, 3, 5):
        machine = MooreMachine(draw.integers(4, size=(2, 4)), draw.integers(2, size=4), int(draw.integers(4)), "ab")
        given = {"initial": machine.initial, "transitions": machine.transitions.tolist(), "outputs": machine.outputs.tolist()}
        words = [*itertools.product(range(2), repeat=length)]
        answers, sizes = draw.integers(3, size=2**length), draw.integers(64, size=(2**length, length)) * draw.integers(2, size=(2**length, 1))
        net = {"answers": "".join(map(str, answers)), "gradients": "".join(ch08.DIGITS[size] for size in sizes.flat)}
        for word, answer, size in zip(words, answers, sizes):
            assert asked("answer", given, list(word)) == machine.answer(word)[-1] and asked("said", net, list(word)) == answer
            share = size / max(size.sum(), 1)
            assert asked("shares", net, list(word)) == pytest.approx(share.tolist())
            least = next((many for many in range(1, length + 1) if np.sort(share)[::-1][:many].sum() >= 0.5 - 1e-9), length)
            assert asked("half", share.tolist()) == (least if size.sum() else length)


def clusters_agrees(asked):
    draw = np.random.default_rng(7)
    for _ in range(10):
        labels, action = draw.integers(3, size=12).tolist(), draw.integers(3, size=12).tolist()
        parent, letter = [-1] * 4 + draw.integers(4, size=8).tolist(), [-1] * 4 + draw.integers(2, size=8).tolist()
        main = {}
        for label in sorted(set(labels)):
            held = [one for one, at in zip(action, labels) if at == label]
            main[label] = min(set(held), key=lambda one: (-held.count(one), one))
        ways = {}
        for i in range(4, 12):
            start = labels[parent[i]], letter[i]
            ways.setdefault(start, []).append((labels[i], main[labels[i]] != action[i]))
        wanted = {(*start, to): (len([1 for end, _ in ends if end == to]) / len(ends), sum(bad for end, bad in ends if end == to))
                  for start, ends in ways.items() for to, _ in ends}  # fmt: skip
        found = asked("arrows", labels, {"parent": parent, "letter": letter, "action": action})
        ways = {(one["from"], one["letter"], one["to"]): (one["share"], one["wrong"]) for one in found}
        assert ways.keys() == wanted.keys() and all(ways[way] == pytest.approx(wanted[way]) for way in wanted)


def after(machine, state, word):
    for token in word:
        state = int(machine.transitions[token, state])
    return state


def film_agrees(asked):
    draw = np.random.default_rng(5)
    A = draw.dirichlet([0.2] * 4, size=(3, 2, 4)).transpose(0, 1, 3, 2)  # (V, h, b, b), columns are distributions
    text = lrnn_film.written(A)
    for token in range(3):
        heads = np.array(asked("blocks", text, [3, 2, 4], token))
        assert np.abs(heads - A[token]).max() <= 0.5 / 63 + 1e-9
        for least in (0.5, 0.9):
            assert asked("pure", heads.tolist(), least) == (heads.max(1) >= least).sum()
    assert asked("read", "0_") == [0, 1]


def levels_agrees(asked):
    draw = np.random.default_rng(6)
    for L in (2, 4, 8, 16):
        A, b = draw.integers(-2, 3, L).tolist(), draw.integers(-3, 4, L).tolist()
        x = b[:1]
        for t in range(1, L):
            x.append(A[t] * x[-1] + b[t])
        moves = ch03.levels_widget().data["levels"][str(L)]
        rows, right = asked("rows", moves, A, b), asked("right", moves, L)
        assert rows[-1] == x and right == [2**level for level in range(len(moves) + 1)]
        for row, many in zip(rows, right):
            assert row[:many] == x[:many]


def tree_agrees(asked):
    draw = np.random.default_rng(7)
    for name, task in {"Parity": "Parity", "Cycle Navigation": "Cycle Navigation", "S₃": "S_3"}.items():
        given, machine = ch08.filling_widget().data["tasks"][name], machine_of(task)
        for length in (2, 16):
            word = draw.integers(machine.num_symbols, size=length)
            rows = asked("fill", given, word.tolist())
            for depth, row in enumerate(rows):
                for i, element in enumerate(row):
                    here = word[i * 2**depth : (i + 1) * 2**depth]
                    answer = machine.answer(here)[-1]
                    assert given["answers"][element] == answer
            assert [len(row) for row in rows] == [length >> depth for depth in range(len(rows))] and len(rows[-1]) == 1


def writes_agrees(asked):
    """A memory with one key, read after every write, with all its values and with each of them alone."""
    draw = np.random.default_rng(8)
    for beta in (None, 0.0, 0.25, 1.0, 1.5, 2.0):
        values = draw.integers(-3, 6, 7)
        parts = asked("left", values.tolist(), beta)
        rule, strengths = ("sum", None) if beta is None else ("delta", [Fraction(beta)] * 7)

        def answers(kept):
            layer = fast_weight_solutions.table([[1]] * 7, [[1]] * 7, kept[:, None], strengths)
            return fast_weight_solutions.outputs(layer, range(7), rule)[:, 0].astype(float)

        assert np.allclose([sum(row) for row in parts], answers(values))
        for s in range(7):
            alone = answers(np.where(np.arange(7) == s, values, 0))
            assert np.allclose([row[s] if s < len(row) else 0 for row in parts], alone)
            assert np.allclose(ch09.left_of(values, beta)[:, s], alone)
        for row in parts:
            places = asked("stacked", row)
            assert np.allclose([to - at for at, to in places], row)
            for sign in (-1, 1):  # those of one sign stand on one another, the first on 0
                ends = [0, *(to for (_, to), part in zip(places, row) if sign * part > 0)]
                assert np.allclose(ends[:-1], [at for (at, _), part in zip(places, row) if sign * part > 0])


RULES = {  # nets of one layer whose step has other operations each
    "block_diagonal": {"h": 2, "b": 3}, "diagonal": {"kind": "complex"}, "rotrnn": {}, "lstm": {}, "elman": {}, "mamba2": {}, "rwkv7": {},
    "gated_deltanet": {"allow_negative_eigenvalues": True},
    "deltanet": {"householders": 2, "allow_negative_eigenvalues": True, "feature_map": "unit"},
}  # fmt: skip


def playground_agrees(asked):
    """Nets whose weights are drawn give torch's numbers; blocks and codes give ``verify``'s verdicts."""
    draw, sum3 = torch.Generator().manual_seed(9), Sum(3)
    for seed, (rule, options) in enumerate(RULES.items()):
        net = build(rule, sum3, seed=seed, **options).eval()
        word = torch.randint(3, (1, 12), generator=draw)
        with torch.no_grad():
            logits = net.double()(word)[0].numpy()
        assert np.allclose(asked("logits", page_net(net, sum3.specification), word[0].tolist()), logits, rtol=1e-4, atol=1e-4), rule
    for seed, head in itertools.product(range(6), ("linear", "mlp")):
        net = build("block_diagonal", sum3, h=3, b=3, rule="softmax", drive="none", start="first", head=head, seed=seed, gain=5.0)
        same_verdict(asked("snapped", page_net(net, sum3.specification)), verify(snap(net), sum3.specification))
    for net in (exact_model(sum3.machine), build("diagonal", sum3, kind="unit", drive="none", seed=1)):
        made = quantise(net, sum3)
        given, words = page_net(net, sum3.specification, made), torch.randint(3, (4, 30), generator=draw)
        same_verdict(asked("restarted", given), verify(made, sum3.specification))
        assert asked("answers", given, words.tolist(), True) == made(words).argmax(-1).tolist()


def same_verdict(found, verdict):
    """``proved`` alike, and a shortest wrong string of the same length."""
    assert found["closed"] == verdict.proved
    assert len(found["word"] or []) == len(verdict.counterexample or [])


def atlas_agrees(asked):
    for states in (1, 2, 3):
        assert asked("tables", states) == [list(table) for table in ladder_atlas.tables(states)]
    for text in ("", "a", "(ab*a|b)*", "(a|b)*abb", "a?b+", "(aa)*|(bbb)*", ".(ab|ba)*.", "((a|b)(a|b))*b"):
        table, pattern = asked("typed", text), text.replace(".", "(a|b)") or "()"
        moves = np.array(table).reshape(-1, 2).T
        assert len(moves[0]) == acceptor(pattern, "ab").num_states, text
        # the same answers under some way to name states as accepting: those of the library's own machine
        own, reached = acceptor(pattern, "ab"), {}
        for word in (w for n in range(7) for w in itertools.product(range(2), repeat=n)):
            state = after(own, own.initial, word)
            assert reached.setdefault(state, (here := _through(moves, word))) == here
        turn = asked("turning", table)
        map_of = lambda word, moves=moves: [_through(moves, ["ab".index(letter) for letter in word], q) for q in range(len(moves[0]))]
        if turn is None:
            assert all(_settles(map_of(word)) for n in range(1, 6) for word in map("".join, itertools.product("ab", repeat=n)))
        else:
            front = asked("wayTo", table, turn["state"])
            assert _through(moves, ["ab".index(letter) for letter in front]) == turn["state"] and not _settles(map_of(turn["word"]))


def _through(moves, word, state=0):
    for token in word:
        state = int(moves[token][state])
    return state


def _settles(power):
    """Whether a map's powers become one map."""
    many = power
    for _ in power:
        many = [power[q] for q in many]
    return [power[q] for q in many] == many


def golf_agrees(asked):
    """The page judges as Python does: entries at par, ones with a number changed, and what cannot be read."""
    draw, kinds = np.random.default_rng(12), []
    for name, hole in golf.HOLES.items():
        text = (golf.recorded_folder() / "golf" / f"{name}.txt").read_text(encoding="utf-8")
        head, body = text.split("start:")
        for _ in range(8):
            kinds.append(same_judgement(asked, hole, text))
            numbers = body.split(" ")
            numbers[draw.integers(1, len(numbers))] = str(draw.choice(["0", "1", "-1", "2", "1/2", "0.3", "-7/3", "x", "1/0", "1\n"]))
            text = f"{head}start:{' '.join(numbers)}"
    assert all(kinds.count(kind) >= 5 for kind in ("proved", "refuted", "never", "not", "cannot")), kinds


def same_judgement(asked, hole, text):
    """Judge in both, compare, and say what came out in a word."""
    machine = {"transitions": hole.machine.transitions.tolist(), "initial": int(hole.machine.initial), "symbols": list(hole.machine.symbols)}
    found = asked("judge", machine, text)
    try:
        judged = hole.judge(text)
    except ValueError as error:
        assert found == {"fault": str(error)}, text
        return "cannot"
    spell = lambda word: " ".join(machine["symbols"][token] for token in word)
    clash = found["clash"] and tuple(map(spell, found["clash"]))
    never = found["never"] and (spell(found["never"][0]), Fraction(found["never"][1]))
    assert golf.Judged(found["numbers"], found["proved"], found["values"], clash, never) == judged, text
    return str(judged).split(":")[0].split(" ")[0]


def answer_agrees(asked):
    """What is typed on a page is judged as Python judges the same answer, in the same words."""
    draw, outcomes = np.random.default_rng(13), []
    kinds = {"words": ("00.2", five_words), "matrix": ("00.4", leaning)}
    for case in range(400):
        kind = ("words", "matrix")[case % 2]
        id, make = kinds[kind]
        answer = make(draw, case)
        texts = [str(answer), *(["; ".join(" ".join(map(str, row)) for row in answer)] if kind == "matrix" else [" ".join(answer)] if all(answer) else [])]
        verdict = check(id, answer)
        for text in texts:
            found = asked("judge", kind, text)
            assert (found["outcome"], found["says"]) == (verdict.outcome, verdict.says), text
        outcomes.append((kind, verdict.outcome, verdict.says[:9]))
    assert len({*outcomes}) >= 9 and all(sum(one[:2] == (kind, RIGHT) for one in outcomes) > 20 for kind in kinds), {*outcomes}
    for kind, text, outcome in (("words", " ", UNTRIED), ("matrix", "1 x; 0 1", UNJUDGED), ("matrix", ".9 .1\n1/10 \u22121e-30", NOT_YET),
                                ("matrix", "[[9/10, .1], [1/10, 0.9]]", RIGHT), ("words", "'0', \"1\" (2, 3) 4", RIGHT)):  # fmt: skip
        assert asked("judge", kind, text)["outcome"] == outcome, text


def five_words(draw, case):
    """Words of digits, mostly with different sums; some of another number, or with another letter."""
    words = ["".join(draw.choice(list("01234"), draw.integers(0, 6))) for _ in range(5)]
    for place, word in enumerate(words):
        words[place] = word + str((place - sum(map(int, word))) % 5)
    words = [words[i] for i in draw.permutation(5)]
    if case % 3 == 1:
        words[draw.integers(5)] = str(draw.choice(["7", "0a", "x'y", "12", "", "4\u0661", "\xb2"]))
    return words[: draw.integers(3, 6)] if case % 5 == 0 else [*words, "0"] if case % 11 == 0 else words


def leaning(draw, case):
    """Columns that are distributions, mostly near the identity; some are none, or no matrix of two rows."""
    p, q = (float(round(one, 4)) for one in draw.choice([0.1, 0.09, 0.02, 0.003, 0.0, 0.3], 2) * draw.choice([1, draw.uniform()], 2))
    A = [[1 - p, q], [p, 1 - q]]
    if case % 4 == 0:
        A[draw.integers(2)][draw.integers(2)] = float(draw.choice([-0.1, 0.5, 2.0, 1e-7, 123456.0]))
    return [*A, [0.5, 0.5]] if case % 13 == 0 else A[:1] if case % 17 == 0 else [A[0], [q]] if case % 19 == 0 else A


AGREES = {"answer": answer_agrees, "golf": golf_agrees, "atlas": atlas_agrees, "playground": playground_agrees, "writes": writes_agrees, "tree": tree_agrees, "levels": levels_agrees, "film": film_agrees, "fields": fields_agrees, "clusters": clusters_agrees, "killers": killers_agrees, "walk": walk_agrees, "disc": disc_agrees, "simplex": simplex_agrees}
PLANTED = {
    "answer": ("sum(word) !== sum(other)", "sum(word) > sum(other)"),
    "golf": ("values[at].state !== state", "values[at].state > state"),
    "atlas": ("empty(x[1]) ? or(first", "!empty(x[1]) ? or(first"),
    "playground": ("x[i] * y[i] - x[i + 1] * y[i + 1]", "x[i] * y[i] + x[i + 1] * y[i + 1]"),
    "writes": ("beta * value * (1 - beta)", "value * (1 - beta)"),
    "tree": ("times[first][row[2 * i + 1]]", "times[row[2 * i + 1]][first]"),
    "walk": ("transitions[token][way.at(-1)]", "transitions[token][way[0]]"),
    "disc": ("[a * c - b * d, a * d + b * c]", "[a * c - b * d, a * d - b * c]"),
    "killers": ("c * x - s * y + (1 - size) * px", "c * x + s * y + (1 - size) * px"),
    "fields": ("gradients[at + k]", "gradients[at]"),
    "clusters": ("main.get(to) !== action[i]", "main.get(to) !== action[parent[i]]"),
    "film": ("DIGITS.indexOf(sign) / 63", "DIGITS.indexOf(sign) / 64"),
    "levels": ("* found.at(-1)[source]", "* row[target]"),
    "simplex": ("Math.abs(one - b[i]), 0) / 2", "Math.abs(one - b[i]), 0)"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_s_mathematics_is_python_s(ask, name):
    AGREES[name](ask(module(name)))


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_fault_in_it_is_caught(ask, name):
    right, wrong = PLANTED[name]
    assert module(name).count(right) == 1
    with pytest.raises(AssertionError):
        AGREES[name](ask(module(name).replace(right, wrong)))


# --- on a page without a server --------------------------------------------------------------------------------------


PAGE = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>{0}</title><main><h1>{0}</h1>{1}</main>'


@pytest.fixture(scope="module")
def made():
    return {name: make() for name, make in MADE.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, made):
    """A small site: a page for every picture, and one of all."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "moving").mkdir()
    figures = {name: moving_html(picture, f"moving/{name}.js") for name, picture in made.items()}
    for name, figure in {**figures, "all": "".join(figures.values())}.items():
        (folder / f"{name}.html").write_text(PAGE.format(name, figure), encoding="utf-8")
    for name in figures:
        (folder / "moving" / f"{name}.js").write_text(script(name), encoding="utf-8")
    return folder


def shown(page):
    """What can be seen: the drawing, and the sentence under it."""
    picture = page.locator(".moving-picture")
    return picture.locator(".panels").inner_html(), picture.get_by_role("status").inner_html()


def dragged(name, across, down):
    """Drag a slider by so many pixels, by the pointer."""

    def act(page):
        box = page.get_by_role("slider", name=name, exact=True).locator(".halo").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + across / 2, y + down / 2)
        page.mouse.move(x + across, y + down)
        page.mouse.up()

    return act


def pressed(name):
    return lambda page: page.get_by_role("button", name=name).click()


def played(until):
    """Play until the slider stands beyond a value."""

    def act(page):
        pressed("play")(page)
        page.wait_for_function(f"document.querySelector('.moving-picture input').value > {until}")
        pressed("pause")(page)

    return act


def from_the_start(page):
    """What stands at its end begins again."""
    pressed("play")(page)
    pressed("pause")(page)


MOVES = {  # name -> (by pointer, what has the focus, a key)
    "walk": (pressed("read 4"), "[role=group] button", "3"),
    "disc": (dragged("mode 3", -20, 15), "[aria-label='mode 5']", "ArrowDown"),
    "killers": (pressed("with a block"), "[aria-label^='gate of \u2212']", "End"),
    "fields": (pressed("letter 10"), "[aria-label^='letter 2,']", "Enter"),
    "clusters": (from_the_start, "input[type=range]", "ArrowRight"),
    "film": (played(20), "input[type=range]", "ArrowRight"),
    "levels": (played(1), "input[type=range]", "ArrowRight"),
    "tree": (pressed("letter 6"), "input[type=range]", "ArrowRight"),
    "writes": (played(3), "input[type=range]", "ArrowLeft"),
    "atlas": (pressed("machine 112001"), "[aria-label^='a word']", "b"),
    "golf": (pressed("6 S"), "textarea", "1"),
    "answer": (lambda page: page.get_by_role("textbox").fill("0.9 0.1; 0.1 0."), "input", "9"),
    "playground": (pressed("500 random letters"), "input[type=text]", "3"),
    "simplex": (dragged("column 2", 30, -40), "[aria-label='column 3']", "ArrowDown"),
}


@pytest.mark.parametrize("name", NAMES)
def test_pointer_and_keyboard_move_the_picture_and_its_sentence(visit, folder, name):
    page = visit(folder / f"{name}.html")
    by_pointer, focus, key = MOVES[name]
    assert page.locator(".moving-picture .controls > *").count() <= (4 if name != "playground" else 12)  # which is a page
    for act in (by_pointer, lambda page: page.locator(focus).first.press(key)):
        drawing, sentence = shown(page)
        act(page)
        now = shown(page)
        assert now[0] != drawing and now[1] != sentence


def test_weights_are_fitted_again_and_an_input_is_drawn(visit, folder):
    page = visit(folder / "disc.html")
    dragged("mode 3", -20, 15)(page)
    worse = page.get_by_role("status").inner_text()
    assert "would miss it by" in worse
    pressed("fit the weights again")(page)
    assert "no other weights do better" in page.get_by_role("status").inner_text()
    pad = page.get_by_role("slider", name="input", exact=True)
    output = page.locator("[aria-label='an input to draw, and its output'] > path").last
    before = output.get_attribute("d")
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowUp"):
        pad.press(key)
    assert pad.get_attribute("aria-valuetext").startswith("step 2: ") and output.get_attribute("d") != before
    box, drawn = pad.locator("rect").bounding_box(), output.get_attribute("d")
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 4, steps=6)
    page.mouse.up()
    assert output.get_attribute("d") != drawn and float(pad.get_attribute("aria-valuenow")) > 0.8


def test_a_state_under_a_label_or_an_arrow_can_be_pointed_at(visit, folder, made):
    page = visit(folder / "clusters.html")
    dot = page.locator(".panels circle[r='4']").last
    dot.hover(force=True)
    said = page.locator(".panels").inner_text()
    assert " does what " in said and any(word in said for word in made["clusters"].data["tasks"]["Parity"]["words"])
    assert page.evaluate("[...document.querySelectorAll('.panels text, .panels path')].every(node => getComputedStyle(node).pointerEvents === 'none')")


@pytest.mark.parametrize("width, scheme", [(390, "light"), (1280, "dark")])
def test_a_picture_fits_its_page_and_axe_finds_nothing(visit, folder, width, scheme):
    page = visit(folder / "all.html", width, scheme)
    assert page.locator(".moving-picture .panels").count() == len(NAMES)
    page.screenshot(path=artefacts() / f"moving_{width}_{scheme}.png", full_page=True)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert violations(page) == []


def test_without_scripts_the_page_says_what_could_be_seen(visit, folder, made):
    figures = visit(folder / "all.html", java_script_enabled=False).locator("figure").all_inner_texts()
    assert [picture.name for picture, said in zip(made.values(), figures, strict=True) if picture.alt not in said] == []
