# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Problem set 3 · Scans and length generalisation
#
# Six tasks, 18 points, about two hours. They belong to chapter 03 and to the question of the whole book: does what
# was learned on short strings hold on long ones?
#
# Each answer is a **function** with the name given here; fill in its body, and run the test below it. You may add
# cells and functions of your own. A function must take and return plain data: numbers, text, lists, tuples, arrays.
# When this is graded, the tests below run again, and others with inputs that you have not seen.
#
# Before you hand in: *Kernel, Restart and Run All*, save, and `lrnnlab course validate ps3.ipynb`.

# %% nbgrader={"grade_id": "ps3-setup", "locked": true}
import numpy as np

from lrnnbook.content.exercises import agree, call, claim, expect, numbers

# %% [markdown]
# ## ps3.1 · The operator of the scan
# *★ · 10 minutes · 3 points. Teaches: that two steps are one step, which is all a parallel scan needs (chapter 03, section 1: Two steps are one step)*
#
# A step $x \leftarrow A x + b$ is the pair $(A, b)$. Write `combine(second, first)`: the pair that does `first` and
# then `second`. $A$ is a matrix (a list of rows), $b$ a vector.
#
# <details><summary>Hint</summary>Put the first step into the second; matrices do not commute.</details>


# %% nbgrader={"grade_id": "ps3_1", "solution": true}
def combine(second, first):
    """The pair (A, b) of: first `first`, then `second`."""
    ### BEGIN SOLUTION
    # A2 (A1 x + b1) + b2 = (A2 A1) x + (A2 b1 + b2)
    (A2, b2), (A1, b1) = ([np.array(part, dtype=float) for part in pair] for pair in (second, first))
    return A2 @ A1, A2 @ b1 + b2
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps3_1_seen", "grade": true, "points": 1}
def combines(function, second, first):
    """Claims that the pair does to some states what the two steps do."""
    given = call(function, second, first)
    claim(isinstance(given, (tuple, list)) and len(given) == 2, f"a pair (A, b) is asked for, got {given!r:.60}")
    n = len(first[1])
    A, b = numbers(given[0], (n, n), "A", real=True), numbers(given[1], (n,), "b", real=True)
    for x in (np.zeros(n), *np.eye(n)):
        wanted = np.array(second[0]) @ (np.array(first[0]) @ x + np.array(first[1])) + np.array(second[1])
        claim(np.abs(A @ x + b - wanted).max() < 1e-9, f"combine({second}, {first}) sends x = {x} to {A @ x + b}, "
                                                       f"the two steps to {wanted}")  # fmt: skip


combines(combine, ([[2]], [5]), ([[3]], [1]))
print("ps3.1: right for one number")

# %% nbgrader={"grade_id": "ps3_1_hidden", "grade": true, "points": 2}
# Run when this is graded: matrices that do not commute.
### BEGIN HIDDEN TESTS
# says: matrices that do not commute
_seed = 31  # vary: 100 to 1000000
_draw = np.random.default_rng(_seed)
for _n in (1, 2, 3, 5):
    _second, _first = ((_draw.normal(size=(_n, _n)).tolist(), _draw.normal(size=_n).tolist()) for _ in range(2))
    combines(combine, _second, _first)
### END HIDDEN TESTS

# %% [markdown]
# ## ps3.2 · Doubling
# *★★ · 25 minutes · 4 points. Teaches: how log2 T levels replace T steps (chapter 03, section 2: Build one, and race it)*
#
# All steps are scalar, $x_t = a_t x_{t-1} + b_t$. Write `levels(a, b)`: a list of levels; level $k$ is a list of $T$
# pairs, and its entry $t$ is the pair of the last $2^k$ steps up to $t$ (of all steps up to $t$, if there are fewer).
# Level 0 is the steps themselves; the last level is the first with $2^k \ge T$. The second numbers of the last level
# are the states, from $x_{-1} = 0$.
#
# <details><summary>Hint</summary>Entry t of level k + 1 combines the entries t and t - 2^k of level k.</details>


# %% nbgrader={"grade_id": "ps3_2", "solution": true}
def levels(a, b):
    """The levels of the scan of x_t = a_t x_(t-1) + b_t by doubling, each a list of T pairs."""
    ### BEGIN SOLUTION
    # The entry at t already covers the last `reach` steps; the entry `reach` places before covers those in front.
    found, reach = [list(zip(a, b))], 1
    while reach < len(a):
        old = found[-1]
        new = old[:reach]  # these cover everything up to t already
        for t in range(reach, len(a)):
            (a2, b2), (a1, b1) = old[t], old[t - reach]
            new.append((a2 * a1, a2 * b1 + b2))
        found.append(new)
        reach *= 2
    return found
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps3_2_seen", "grade": true, "points": 2}
expect(levels, [
    (([2, 3], [1, 1]), [[(2, 1), (3, 1)], [(2, 1), (6, 4)]]),
    (([1, 1, 1], [1, 1, 1]), [[(1, 1)] * 3, [(1, 1), (1, 2), (1, 2)], [(1, 1), (1, 2), (1, 3)]]),
])  # fmt: skip
print("ps3.2: right for two and three steps")


# %% nbgrader={"grade_id": "ps3_2_hidden", "grade": true, "points": 2}
# Run when this is graded: one step, powers of two and others; the last level against the loop.
### BEGIN HIDDEN TESTS
# says: one step, a length that is a power of two, or one that is not
def _by_windows(a, b):
    """Each entry by its definition, step by step through its window."""
    found, reach = [], 1
    while True:
        level = []
        for t in range(len(a)):
            A, c = 1, 0
            for s in range(max(0, t - reach + 1), t + 1):
                A, c = a[s] * A, a[s] * c + b[s]
            level.append((A, c))
        found.append(level)
        if reach >= len(a):
            return found
        reach *= 2


_seed = 32  # vary: 100 to 1000000
_draw = np.random.default_rng(_seed)
agree(levels, _by_windows, [(_draw.integers(-2, 3, T).tolist(), _draw.integers(-3, 4, T).tolist())
                            for T in (1, 2, 4, 5, 8, 13, 16, 17)])  # fmt: skip
### END HIDDEN TESTS

# %% [markdown]
# ## ps3.3 · What the depth costs
# *★★ · 10 minutes · 2 points. Teaches: work against depth (chapter 03, section 4: Depth against work)*
#
# Count: how many times does your doubling combine two pairs for $T$ steps, if nothing is combined that need not be?
# Write `doubling_work(T)`. (The loop needs $T - 1$.) It must be quick for $T = 10^{15}$.
#
# <details><summary>Hint</summary>At the level with reach r, how many entries change?</details>


# %% nbgrader={"grade_id": "ps3_3", "solution": true}
def doubling_work(T):
    """How many pairs are combined for T steps."""
    ### BEGIN SOLUTION
    # With reach r the first r entries stay, the other T - r are combined; r doubles as long as it is below T.
    work, reach = 0, 1
    while reach < T:
        work, reach = work + T - reach, 2 * reach
    return work
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps3_3_seen", "grade": true, "points": 1}
expect(doubling_work, [((2,), 1), ((4,), 5)], rtol=0, atol=0)  # a count is exact
print("ps3.3: right for 2 and 4 steps")


# %% nbgrader={"grade_id": "ps3_3_hidden", "grade": true, "points": 1}
# Run when this is graded: other lengths.
### BEGIN HIDDEN TESTS
# says: another length
def _counted(T):
    """T log2 T minus the sum of the reaches, a geometric series."""
    depth = (T - 1).bit_length()
    return T * depth - (2**depth - 1)


agree(doubling_work, _counted, [(T,) for T in (1, 3, 5, 8, 9, 500, 512, 513, 10**15)], rtol=0, atol=0)
### END HIDDEN TESTS

# %% [markdown]
# ## ps3.4 · Accuracy by position
# *★ · 10 minutes · 3 points. Teaches: to look at where a network fails, not only how often (chapter 00: Train one yourself)*
#
# `predictions` and `targets` are lists of strings of labels, all $T$ long; `asked` says for each of the $T$ positions
# whether a label is asked for there. Write `accuracy_by_position(predictions, targets, asked)`: for each position the
# share of strings that are right there, and `None` where nothing is asked.
#
# <details><summary>Hint</summary>Go through the positions, not through the strings.</details>


# %% nbgrader={"grade_id": "ps3_4", "solution": true}
def accuracy_by_position(predictions, targets, asked):
    """T numbers: the share of right labels at each position, None where no label is asked for."""
    ### BEGIN SOLUTION
    # zip(*rows) turns strings into positions.
    found = []
    for given, wanted, is_asked in zip(zip(*predictions), zip(*targets), asked):
        right = sum(g == w for g, w in zip(given, wanted))
        found.append(right / len(given) if is_asked else None)
    return found
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps3_4_seen", "grade": true, "points": 1}
expect(accuracy_by_position, [(([[0, 1], [0, 2]], [[0, 1], [1, 1]], [True, True]), [0.5, 0.5])])
print("ps3.4: right on the example shown")

# %% nbgrader={"grade_id": "ps3_4_hidden", "grade": true, "points": 2}
# Run when this is graded: on strings of the package's own tasks.
### BEGIN HIDDEN TESTS
# says: positions at which nothing is asked
import torch

from lrnnlab.tasks import ModArith, Sum

for _task, _length in ((Sum(5), 12), (ModArith(5), 13)):
    _batch = _task.sample(7, _length, torch.Generator().manual_seed(34))
    _asked = _task.mask(_length).tolist()
    _said = torch.randint(5, _batch.targets.shape, generator=torch.Generator().manual_seed(35))
    _said = torch.where(torch.arange(_length) < 6, _batch.targets, _said)
    _right = (_said == _batch.targets).double().mean(0).tolist()
    _wanted = [share if is_asked else None for share, is_asked in zip(_right, _asked)]
    expect(accuracy_by_position, [((_said.tolist(), _batch.targets.tolist(), _asked), _wanted)])
### END HIDDEN TESTS

# %% [markdown]
# ## ps3.5 · A proof over all strings
# *★★★ · 30 minutes · 4 points. Teaches: how a finite search settles infinitely many lengths (chapter 02, section 5: Snap it and prove it)*
#
# A network with finitely many states *is* an automaton: in state $q$ the digit $s$ leads to state `step[q][s]`, and
# state $q$ answers `answers[q]`. It starts in state 0. It is to compute Sum($M$), the sum of the digits $0 \dots M-1$
# modulo $M$, after every digit.
#
# Write `first_failure(step, answers, M)`: a *shortest* list of digits (at least one) after which the answer is wrong,
# or `None` if it is right on all strings of every length. No sampling: your function must be certain.
#
# <details><summary>Hint</summary>Search the pairs (state, sum modulo M), nearest first.</details>


# %% nbgrader={"grade_id": "ps3_5", "solution": true}
def first_failure(step, answers, M):
    """A shortest list of digits on which the automaton's answer is not the sum modulo M, or None."""
    ### BEGIN SOLUTION
    # Breadth first over pairs: what a string does from here on depends on its pair alone, so one string for each is
    # enough, and the first wrong one found is a shortest.
    seen, row = {(0, 0)}, [((0, 0), [])]
    while row:
        next_row = []
        for (state, total), word in row:
            for digit in range(M):
                pair, longer = (step[state][digit], (total + digit) % M), word + [digit]
                if answers[pair[0]] != pair[1]:
                    return longer
                if pair not in seen:
                    seen.add(pair)
                    next_row.append((pair, longer))
        row = next_row
    return None
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps3_5_seen", "grade": true, "points": 2}
def settles(function, step, answers, M, length):
    """Claims that function finds a failure of this length (None: that there is none)."""
    given = call(function, step, answers, M)
    if length is None or given is None:
        there = "there is none" if length is None else f"there is one of {length} digits"
        claim(given is length, f"M={M}, step={step}: {there}, got {given!r:.60}")
        return
    word = numbers(given, (None,), "the digits").tolist()
    claim(len(word) == length, f"M={M}, step={step}: {word} has {len(word)} digits, a shortest failure has {length}")
    claim(all(digit in range(M) for digit in word), f"M={M}: {word} is not made of digits 0..{M - 1}")
    state = 0
    for digit in word:
        state = step[state][int(digit)]
    claim(answers[state] != sum(word) % M, f"M={M}, step={step}: the automaton is right on {word}")


settles(first_failure, [[0, 1], [1, 0]], [0, 1], 2, None)  # right on all strings
settles(first_failure, [[0, 1], [1, 1]], [0, 1], 2, 2)  # it never goes back: wrong on 1 1
print("ps3.5: right for two automata")


# %% nbgrader={"grade_id": "ps3_5_hidden", "grade": true, "points": 2}
# Run when this is graded: counters that fail late, and one that never does though it has more states than M.
### BEGIN HIDDEN TESTS
# says: a failure that comes late, or states that count on beyond M
def _counter(M, turns):
    """Counts to turns * M, then begins anew: right for ever, with more states than it needs."""
    Q = turns * M
    return [[(q + digit) % Q for digit in range(M)] for q in range(Q)], [q % M for q in range(Q)]


for _M, _turns in ((2, 3), (3, 2), (5, 4)):
    settles(first_failure, *_counter(_M, _turns), _M, None)
for _M, _turns in ((2, 5), (3, 7), (5, 20)):
    _step, _answers = _counter(_M, _turns)
    _answers[-1] = 0  # wrong in its last state only: (Q - 1) / (M - 1) digits away, rounded up
    settles(first_failure, _step, _answers, _M, -(-(_turns * _M - 1) // (_M - 1)))
_runs = [(parity, zeros) for parity in (0, 1) for zeros in range(4)]  # wrong after three zeros in a row
_step = [[4 * parity + min(zeros + 1, 3), 4 * (1 - parity)] for parity, zeros in _runs]
settles(first_failure, _step, [parity ^ (zeros == 3) for parity, zeros in _runs], 2, 3)
settles(first_failure, [[0, 1, 2], [1, 2, 0], [2, 2, 1]], [0, 1, 2], 3, 2)  # wrong on 2 1, in a state seen before
settles(first_failure, [[1, 0], [0, 1]], [0, 1], 2, 1)  # wrong on the digit 0 alone
settles(first_failure, [[0, 1], [1, 0]], [1, 0], 2, 1)  # every answer is wrong
### END HIDDEN TESTS

# %% [markdown]
# ## ps3.6 · How far can a float count?
# *★★ · 10 minutes · 2 points. Teaches: that a counter which is exact on paper ends at a length (chapter 03d, section 2: Other brackets, other digits)*
#
# The counter $x \leftarrow x + 1$ of chapter 01 runs in floating point with $p$ binary digits (float16 has 11,
# bfloat16 8, float32 24). Write `counts_to(p)`: the largest $n$ such that it counts right up to $n$. Predict first:
# for float16, is that below the 500 digits of the test?
#
# <details><summary>Hint</summary>Which whole number is the first that p binary digits cannot hold?</details>


# %% nbgrader={"grade_id": "ps3_6", "solution": true}
def counts_to(p):
    """The largest n that the counter reaches in floating point with p binary digits."""
    ### BEGIN SOLUTION
    # From 2^p on neighbours are 2 apart: 2^p + 1 lies in the middle and is rounded back (to even), for ever.
    return 2**p
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps3_6_seen", "grade": true, "points": 1}
expect(counts_to, [((11,), 2048)], rtol=0, atol=0)  # a count is exact
print("ps3.6: right for float16")

# %% nbgrader={"grade_id": "ps3_6_hidden", "grade": true, "points": 1}
# Run when this is graded: other formats.
### BEGIN HIDDEN TESTS
# says: another number of binary digits
import torch

for _digits, _type in ((8, torch.bfloat16), (11, torch.float16)):
    _x, _n = torch.tensor(0.0, dtype=_type), 0
    while float(_x + 1) == _n + 1:
        _x, _n = _x + 1, _n + 1
    expect(counts_to, [((_digits,), _n)], rtol=0, atol=0)
expect(counts_to, [((24,), 16777216), ((53,), 2**53)], rtol=0, atol=0)
### END HIDDEN TESTS
