"""Chapter 03, the race of the scans: the model counts what algorithms do, and the picture shows what model and record say."""

import itertools
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.chapters import ch03
from lrnnbook.content.exercises.ch03 import LEAST_PROCESSORS
from lrnnbook.content.show import bench_figures


def loop_words(T):
    """x_0, ..., x_T of x_t = A_t x_(t-1) + u_t as sets of words."""
    states = [frozenset({"u0"})]
    for t in range(1, T + 1):
        states.append(frozenset({f"A{t}{word}" for word in states[-1]} | {f"u{t}"}))
    return states


def multiplications(T, b, h):
    """Of the loop and of PScan, from a recursion: half the length a level less, and its words once more."""

    def made(k):  # products for 2^k - 1 matrices: every second row is taken out, each of the others is lengthened
        return 0 if k < 2 else made_rows(2**k - 1, 1)

    def made_rows(rows, words):
        taken = (rows + 1) // 2
        return 0 if rows == 1 else (taken - 1) * words + made_rows(rows - taken, 2 * words)

    k = math.ceil(math.log2(T + 1))
    return b * b * h * T, b**3 * h * made(k) + b * b * h * k * 2 ** (k - 1)


class Count:
    """The tree on words, node by node and recursively, counting what it does: an oracle that shares no formula."""

    def __init__(self, T):
        self.T, self.products, self.applications, self.ready = T, 0, 0, {}
        self.span = 1 << (T - 1).bit_length()  # of the root, which covers inputs 1..span
        self.states, self.depth = {}, 0

    def run(self):
        self.down(1, self.span, frozenset({"u0"}), 0)
        return self.states, (self.products, self.applications, self.depth)

    def pair(self, first, span):
        """(word of the product, what the node makes of 0, level at which both are known); of inputs first..."""
        if (first, span) in self.ready:
            return self.ready[first, span]
        if span == 1:
            return f"A{first}", frozenset({f"u{first}"}), 0
        half = span // 2
        word1, made1, known1 = self.pair(first, half)
        word2, made2, known2 = self.pair(first + half, half)
        self.products, self.applications = self.products + 1, self.applications + 1
        made = frozenset(word2 + word for word in made1) | made2
        self.ready[first, span] = word2 + word1, made, max(known1, known2) + 1
        return self.ready[first, span]

    def down(self, first, span, state, known):
        if first > self.T:
            return
        word, made, up = self.pair(first, span) if span == 1 else (None, None, 0)
        if span == 1:
            self.applications += 1
            self.states[first] = frozenset(word + old for old in state) | made
            self.depth = max(self.depth, known + 1)
            return
        half = span // 2
        self.down(first, half, state, known)
        if first + half <= self.T:
            word, made, up = self.pair(first, half)
            self.applications += 1
            self.down(first + half, half, frozenset(word + old for old in state) | made, max(known, up) + 1)


@pytest.mark.parametrize("T", [*range(1, 34), 63, 100])
def test_the_tree_computes_the_loop_and_takes_what_is_counted(T):
    states, (products, applications, depth) = Count(T).run()
    assert states == {t: words for t, words in enumerate(loop_words(T)) if t}
    counted = ch03.tree_counts(T)
    assert counted[:2] == (products, applications)
    # the count waits for the whole up-pass before going down; the oracle for nothing that it does not need
    assert depth <= counted[2] == max(1, 2 * math.ceil(math.log2(T)))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5000), st.integers(1, 16), st.integers(1, 5000))
def test_the_model_counts_what_the_proof_counts(T, b, h):
    loop, scan = multiplications(T, b, h)
    assert ch03.cost("loop", T, b, h).multiplications == ch03.cost("token table", T, b, h).multiplications == loop
    assert ch03.cost("PScan", T, b, h).multiplications == scan
    assert [ch03.cost(way, T, b, h).depth for way in ("loop", "PScan", "token table")] == [T, ch03.levels(T), T]
    assert ch03.tree_counts(T)[0] < T
    assert ch03.cost("token table", T, b, h).numbers <= ch03.cost("loop", T, b, h).numbers


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 5000), st.integers(1, 16), st.integers(1, 5000), st.integers(1, 10**9))
def test_without_a_memory_it_is_the_proofs_model(T, b, h, P):
    loop, scan = multiplications(T, b, h)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ch03, "BALANCE", 0)
        found = [ch03.ticks(ch03.cost(way, T, b, h), P)[0] for way in ("loop", "PScan")]
    assert found == pytest.approx([max(loop / P, T), max(scan / P, math.ceil(math.log2(T + 1)))])


def test_exercise_03_6_asks_for_the_least_number_of_processors_with_which_pscan_wins():
    loop, scan = multiplications(500, 8, 8)
    for strings, least in zip((1, 128), LEAST_PROCESSORS):
        wins = [max(strings * scan / P, 9) < max(strings * loop / P, 500) for P in range(least - 2, least + 2)]
        assert wins == [False, False, True, True]


def test_products_as_the_paper_counts_them():
    assert [ch03.matrix_products(T) for T in (1, 3, 7, 15, 500, 511)] == [0, 1, 5, 17, 1793, 1793]


@pytest.mark.parametrize("way", ch03.WAYS)
def test_time_falls_with_processors_down_to_the_depth(way):
    of = ch03.cost(way, 500, 8, 1024)
    times = [ch03.ticks(of, 2**k) for k in range(40)]
    assert all(a >= b for (a, _), (b, _) in itertools.pairwise(times))
    assert times[0][0] == max(of.multiplications, ch03.BALANCE * of.numbers) and times[-1] == (of.depth, "its depth")


def test_numbers_moved_by_the_loop():
    """By hand: A (b^2) and b_t (b) in, x_t (b) out."""
    assert ch03.cost("loop", 7, 4, 3).numbers == 3 * 7 * (16 + 4 + 4)
    assert ch03.cost("token table", 7, 4, 3).numbers == 3 * 7 * (1 + 4)


def test_few_processors_want_the_loop_and_many_pscan():
    for T, b, chains in itertools.product((40, 500, 16384), ch03.SIZES, ch03.CHAINS):
        assert ch03.winner(T, b, chains, 1) == "loop"
        assert ch03.winner(T, b, chains, 10**15) == "PScan"


@pytest.mark.parametrize("b, chains, gpu, regions", [(1, 8, "PScan", ["loop", "PScan"]), (8, 8, "loop", ["loop"]), (1, 1024, "loop", ["loop"])])
def test_the_race_says_and_draws_who_is_first_on_machines_that_exist(b, chains, gpu, regions):
    said = ch03.race_sentence(b, chains)
    assert "one CPU core: <b>loop</b>" in said and f"H200: <b>{gpu}</b>" in said
    axes = ch03.scan_race(b, chains).axes[0]
    names = [text.get_text() for text in axes.texts]
    assert names == [*regions, *ch03.MACHINES.values()] and axes.get_xlim() == (1, 1e5)


def test_what_notebook_03c_says_of_the_gpu_is_recorded():
    source = Path(ch03.__file__).parents[3] / "py" / "deeper" / "03c_benchmark.py"
    text, table = " ".join(source.read_text(encoding="utf-8").replace("\n#", " ").split()), ch03.gpu_table()
    blocks = [line for line in table if line["case"].startswith(("blocks", "token"))]

    def shares(part, *wanted):  # a case has one word of each group
        return [int(line[part].rstrip("%")) for line in blocks
                if all(any(word in line["case"] for word in group) for group in wanted)]

    many = ("blocks, ",), ("B = 128,",), ("T = 500", "T = 4,096")
    large, small = ("b = 8,", "b = 16,"), ("b = 2,", "b = 4,")
    for found in (shares("forward", ("T = 40",)), shares("forward", ("B = 1,",)), shares("forward", *many, large),
                  shares("both", *many, large), shares("forward", *many, small)):  # fmt: skip
        assert f"{min(found)} to {max(found)} %" in text
    assert all(line["times ours"] > 1 for line in table)
    peers = [bench_figures.found(bench_figures.recorded(device="cuda")[1], f"block B=128 T=500 h=8 b={b}") for b in (2, 4, 8, 16)]
    ratios = [one["PScan of the paper"]["forward"]["median"] / one["loop (unbind)"]["forward"]["median"] for one in peers]
    assert "{:.2f}, {:.2f}, {:.2f} and {:.2f} times".format(*ratios) in text
