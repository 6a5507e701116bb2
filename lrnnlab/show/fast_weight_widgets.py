"""What a delta-rule layer can and cannot count (chapter 09), under sliders: eigenvalues and parity, the leak, the reset.

Letters: T time, n size of a key; k key, beta write strength, g = 1 - beta |k|^2 the eigenvalue along it, w what the
memory answers to it; e leak, m depth.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnnlab.show.style import FAINT, GRID, INK, SMALL, label_ends, new_figure, styled
from lrnnlab.algebra.delta_counters import breaks_at, leaky, tokens
from lrnnlab.algebra.delta_spectrum import softmax
from lrnnlab.algebra.fast_weights import outputs, table
from lrnnlab.algebra.parity_by_reflection import first_error, margin_life, run
from lrnnlab.algebra.token_counts import BRACKETS, depth_since_reset, reset_counter

STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 1.9, 1.95, 1.99, 2.0, 2.05, 2.1, 2.25, 2.5)
KEYS = {"unit": np.eye(4)[0], "sharp softmax": softmax(np.array([3.0, 0, 0, 0])), "flat softmax": np.full(4, 0.25)}
NOISES = (0.0, 1e-4, 1e-2, 1e-1)
STEPS = 60  # tokens of the parity counter
LEAKS = {"1/10": 10, "1/30": 30, "1/100": 100, "1/300": 300, "1/1000": 1000, "1/10000": 10_000}  # 1/e
DEPTHS, DEEPEST = (1, 2, 3, 5, 7, 8, 10, 12, 13, 15, 20, 23, 30, 50, 71, 100), 100
RESET_LEAKS = {"1/4": 4, "1/10": 10, "1/100": 100}
LONGEST = 30  # brackets that are played
ADDER, DELTA, WRONG = "#009E73", "#E69F00", "#8B0000"  # the additive memory, the delta rule, a wrong answer


def along(beta: float, key: str) -> float:
    """g = 1 - beta |k|^2, the eigenvalue along the key of that name in ``KEYS``.

    >>> along(2.0, "unit"), along(2.0, "flat softmax")
    (-1.0, 0.5)
    """
    return float(1 - beta * (KEYS[key] ** 2).sum())


def counted(beta: float, key: str, noise: float, bits: str) -> tuple[np.ndarray, np.ndarray]:
    """Bits repeated up to 60 tokens, and the counter's answers (60,): a 1 writes v = 1/2, a 0 nothing; seeded noise.

    ``ValueError`` for a text that is not made of 0 and 1.

    >>> counted(2.0, "unit", 0.0, "101")[1][:4].tolist()
    [1.0, 1.0, 0.0, 1.0]
    """
    if not bits or set(bits) - set("01"):
        raise ValueError(f"the counter reads strings of 0 and 1, got {bits!r}")
    numbers = np.resize([int(bit) for bit in bits], STEPS)
    disturbed = noise * np.random.default_rng(0).normal(size=STEPS)
    return numbers, run(numbers, 1 - along(beta, key), kind=np.float64, noise=disturbed)


@styled
def parity_picture(beta: float, key: str, noise: float, bits: str) -> Figure:
    """Left, the two eigenvalues of I - beta k k^T on a line; right, what the counter says after every token.

    Dots are right (above 1/2 if the 1s so far are odd), crosses wrong.  ``ValueError`` as in :func:`counted`.

    >>> [axes.get_title("left") for axes in parity_picture(2.0, "unit", 0.0, "1").axes]
    ['eigenvalues', "the counter's state"]
    """
    figure, (line, panel) = new_figure(2.9, columns=2, left=0.25, right=0.2, top=0.4, bottom=0.55, gap=0.6,
                                       gridspec_kw={"width_ratios": (1, 1.5)})  # fmt: skip
    _eigenvalues(line, beta, key)
    numbers, w = counted(beta, key, noise, bits)
    t, right = np.arange(1, STEPS + 1), (w > 0.5) == numbers.cumsum() % 2
    right &= w != 0.5
    shown = w.clip(-0.95, 1.95)
    panel.axhline(0.5, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    panel.plot(t, shown, color=GRID, lw=1.2, zorder=1)
    panel.plot(t[right], shown[right], "o", color=INK, ms=4)
    panel.plot(t[~right], shown[~right], "x", color=WRONG, ms=6, mew=1.6)
    panel.set(xlim=(0, STEPS + 1), ylim=(-1, 2), xlabel="token", title="the counter's state")
    panel.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    return figure


def _eigenvalues(axes: Axes, beta: float, key: str) -> None:
    g = along(beta, key)
    axes.axvspan(-1, 1, color="#009E73", alpha=0.13, lw=0)
    axes.axhline(0, color=INK, lw=1)
    axes.plot([1], [0], "o", ms=11, mfc="white", mec=INK, mew=1.8, zorder=3)
    axes.plot([g], [0], "o", ms=8, color=INK if abs(g) <= 1 + 1e-12 else WRONG, zorder=4)
    axes.annotate(f"{g:.2f}", (g, 0), (0, 12), textcoords="offset points", ha="center", fontsize=10, fontweight="bold")
    axes.annotate("1, three times", (1, 0), (4, -20), textcoords="offset points", ha="right", fontsize=SMALL)
    axes.annotate("stable", (-0.95, 0.8), fontsize=SMALL, color="#005B43")
    axes.set(xlim=(-1.75, 1.25), ylim=(-1, 1), xlabel=r"eigenvalues of $I - \beta k k^\top$", title="eigenvalues")
    axes.set_xticks([-1, 0, 1], ["\N{MINUS SIGN}1", "0", "1"])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(False)


def parity_sentence(beta: float, key: str, noise: float, bits: str) -> str:
    """What the eigenvalue does to the counter, and how long it lasted.

    >>> parity_sentence(2.0, "unit", 0.0, "1")[:62]
    'The eigenvalue along the key is <b>-1.00</b>: a 1 reflects the'
    """
    g = along(beta, key)
    numbers, w = counted(beta, key, noise, bits)
    if abs(g - 1) < 1e-12:
        does = "a 1 writes nothing"
    elif abs(g + 1) < 1e-12:
        does = "a 1 reflects the state at ½, and parity is kept"
    elif g < -1:
        does = "a 1 turns the state round and takes it further away, without end"
    elif g < 0:
        does = (f"a 1 turns the state round and shrinks its distance from ½, which halves every "
                f"{margin_life(1 - g):.3g} ones")  # fmt: skip
    else:
        does = "a 1 pulls the state towards ½ from below, and never to the other side"
    wrong = first_error(w, numbers)
    lasted = f"all {STEPS} tokens are answered rightly" if wrong is None else f"the first wrong answer is at token {wrong}"
    return f"The eigenvalue along the key is <b>{g:.2f}</b>: {does}. Here {lasted}."


def leaked(e: float, deepest: int) -> np.ndarray:
    """The counter after (^m )^m for m = 1..deepest (deepest,), by running all of them side by side.

    >>> leaked(0.5, 2).tolist()
    [-0.5, -1.125]
    """
    m, w = np.arange(1, deepest + 1), np.zeros(deepest)
    for t in range(2 * deepest):
        moved = (1 - e) * w + np.where(t < m, 1, -1)
        w = np.where(t < 2 * m, moved, w)
    return w


@styled
def leak_picture(over: int, m: int) -> Figure:
    """Left, the counter and the depth on (^m )^m; right, how far below 0 it ends, for all m: simulated (dots), formula (line).

    over : 1/e.

    >>> [axes.get_title("left") for axes in leak_picture(100, 20).axes]
    ['reading (^20 )^20', 'below 0, after (^m )^m']
    """
    e, t = 1 / over, np.arange(2 * m + 1)
    figure, (left, right) = new_figure(3.1, columns=2, left=0.6, right=0.95, top=0.4, bottom=0.5, gap=1.4)
    depth, w = np.minimum(t, 2 * m - t), [0.0]
    for step in t[1:]:
        w.append((1 - e) * w[-1] + (1 if step <= m else -1))
    left.plot(t, depth, color=FAINT)
    left.plot(t, w, color=DELTA)
    left.axhline(0, color=INK, lw=0.8)
    left.set(xlim=(0, 2 * m), title=f"reading (^{m} )^{m}", xlabel="token")
    label_ends(left, [(0.0, "depth", FAINT), (w[-1], "counter", DELTA)])
    every = np.arange(1, DEEPEST + 1)
    right.plot(every, (1 - (1 - e) ** every) ** 2 / e, color=INK, lw=1.2)
    right.plot(every[::3], -leaked(e, DEEPEST)[::3], "o", color=DELTA, ms=4)
    right.plot([m], [-w[-1]], "o", mfc="none", mec=INK, mew=2, ms=11)
    right.axhline(0.5, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    right.set(xlim=(0, DEEPEST + 1), yscale="log", ylim=(5e-5, 3e2), xlabel="depth m", title="below 0, after (^m )^m")
    right.set_yticks([1e-4, 1e-2, 1, 100], ["0.0001", "0.01", "1", "100"])
    right.minorticks_off()
    label_ends(right, [(0.5, "wrong above", FAINT)])
    return figure


def leak_sentence(over: int, m: int) -> str:
    """Where the counter ends, and from which depth on it is wrong.

    >>> leak_sentence(100, 20)[:62]
    'After (^20 )^20 the counter says <b>-3.32</b> and not 0: minus'
    """
    e, end = Fraction(1, over), float(leaky(Fraction(1, over), m))
    verdict = "<b>wrong</b> by more than ½" if end < -0.5 else "still nearer to 0 than to -1"
    return (f"After (^{m} )^{m} the counter says <b>{end:.2f}</b> and not 0: minus (1 - (1 - e)^m)² / e, {verdict}. With "
            f"e = 1/{over} it breaks at depth {breaks_at(e)}, about 1/√(2e) = {(over / 2) ** 0.5:.1f}.")  # fmt: skip


def check_brackets(text: str) -> str:
    """The text; ``ValueError`` unless it is 1 to 30 of ``( ) 1`` and closes nothing that is not open.

    >>> check_brackets("())")
    Traceback (most recent call last):
    ValueError: token 3 of '())' closes what is not open
    """
    if not 1 <= len(text) <= LONGEST or set(text) - set(BRACKETS):
        raise ValueError(f"1 to {LONGEST} tokens among ( ) 1 are read, got {len(text)}: {text!r}")
    for end in range(1, len(text) + 1):
        if depth_since_reset(text[:end]) < 0:
            raise ValueError(f"token {end} of {text!r} closes what is not open")
    return text


def both_counters(text: str, over: int, added: int) -> dict[str, np.ndarray]:
    """Depth since the reset, the delta counter with leak 1/over, and the adder whose value at 1 is ``added``; each (T,).

    >>> {name: y.round(2).tolist() for name, y in both_counters("((1(", 100, -1).items()}
    {'depth': [1.0, 2.0, 0.0, 1.0], 'delta rule': [1.0, 1.99, 0.0, 1.0], 'sum': [1.0, 2.0, 1.0, 2.0]}
    """
    word = tokens(check_brackets(text))
    depth = [depth_since_reset(text[:end]) for end in range(1, len(text) + 1)]
    delta = outputs(reset_counter(Fraction(1, over)), word, "delta")[:, 0]
    adder = outputs(table([[1]] * 3, [[1]] * 3, [[1], [-1], [added]]), word, "sum")[:, 0]
    return {"depth": np.array(depth, float), "delta rule": delta.astype(float), "sum": adder.astype(float)}


@styled
def reset_picture(text: str, over: int, added: int) -> Figure:
    """Above, both counters and the true depth; below, the labels: open or not since the last 1, crosses where wrong.

    ``ValueError`` as in :func:`check_brackets`.

    >>> len(reset_picture("((1()", 100, -1).axes)
    2
    """
    found, t = both_counters(text, over, added), np.arange(1, len(text) + 1)
    figure, (above, below) = new_figure(3.9, rows=2, left=0.95, right=0.95, top=0.15, bottom=0.35, gap=0.35,
                                        gridspec_kw={"height_ratios": (2.2, 1)}, sharex=True)  # fmt: skip
    colours = {"depth": FAINT, "delta rule": DELTA, "sum": ADDER}
    for name, y in found.items():
        above.plot(t, y, color=colours[name], lw=5 if name == "depth" else 1.8, alpha=0.4 if name == "depth" else 1)
    above.axhline(0.5, color=INK, lw=0.8, ls=(0, (4, 3)))
    above.set(xlim=(0.5, len(text) + 0.5), ylabel="counter")
    label_ends(above, [(float(y[-1]), name, colours[name]) for name, y in found.items()])
    truth = found["depth"] > 0.5
    for row, (name, y) in enumerate(found.items()):
        says = y > 0.5
        good, bad = says == truth, says != truth
        below.scatter(t[good], np.full(good.sum(), row), s=60, c=np.where(says[good], INK, "white"), edgecolors=INK, lw=1)
        below.scatter(t[bad], np.full(bad.sum(), row), s=60, marker="x", c=WRONG, linewidths=2)
    below.set(ylim=(2.6, -0.6))
    below.set_yticks(range(3), ["truth", "delta rule", "sum"])
    below.set_xticks(t, list(text), family="monospace", fontsize=11)
    below.tick_params(length=0)
    below.grid(False)
    return figure


def reset_sentence(text: str, over: int, added: int) -> str:
    """How many labels each of the two gets wrong.

    >>> reset_sentence("((1()", 100, -1)[:60]
    'Wrong labels of 5: delta rule <b>0</b>, sum <b>2</b>. The su'
    """
    found = both_counters(text, over, added)
    wrong = {name: int(((y > 0.5) != (found["depth"] > 0.5)).sum()) for name, y in found.items()}
    seen = f"{text.count('(')} times (, {text.count(')')} times ) and {text.count('1')} times 1"
    return (f"Wrong labels of {len(text)}: delta rule <b>{wrong['delta rule']}</b>, sum <b>{wrong['sum']}</b>. The sum "
            f"knows no more than {seen}, in any order, and that the last was {text[-1]}.")  # fmt: skip
