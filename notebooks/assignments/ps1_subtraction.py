# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Problem set 1 · Subtraction and expressivity
#
# Five tasks, 16 points, about an hour and a half. They belong to chapter 01: what a linear recurrence $x_k =
# A\,x_{k-1} + v_{u_k}$ can and cannot represent.
#
# Each answer is a **function** with the name given here; fill in its body, and run the test below it. You may add
# cells and functions of your own. A function must take and return plain data: numbers, text, lists, tuples, arrays.
# When this is graded, the tests below run again, and others with inputs that you have not seen.
#
# Before you hand in: *Kernel, Restart and Run All*, save, and `lrnnlab course validate ps1.ipynb`.

# %% nbgrader={"grade_id": "ps1-setup", "locked": true}
import itertools

import numpy as np

from lrnnbook.content.exercises import call, claim, expect, numbers

# %% [markdown]
# ## ps1.1 · The state of an expression
# *★ · 10 minutes · 3 points. Teaches: what "one transition for all letters" means (chapter 01, section 1: A proof that says no)*
#
# A layer with one $A$ for all letters reads the expression $a - b - c$ letter by letter: the digit $a$, the minus,
# the digit $b$, and so on. Each letter does $x \leftarrow A x + v$, where $v$ is `digits[d]` for the digit $d$, and
# `minus` for the minus. The state before the first letter is 0.
#
# Write `state_after(A, digits, minus, operands)`. `A` is a list of $D$ rows, `digits` holds a vector for each digit,
# `minus` is a vector; `operands` is, for example, `(4, 0, 1)` for $4 - 0 - 1$. Return the $D$ numbers of the state
# after the last digit.
#
# <details><summary>Hint</summary>The minus is a letter like any other: five letters for three operands.</details>


# %% nbgrader={"grade_id": "ps1_1", "solution": true}
def state_after(A, digits, minus, operands):
    """The state (D numbers) after the expression operands[0] - operands[1] - ..."""
    ### BEGIN SOLUTION
    # Every letter multiplies what is there by A and adds its own vector; a minus stands before all digits but one.
    A, x = np.array(A, dtype=float), np.zeros(len(A))
    for place, digit in enumerate(operands):
        if place > 0:
            x = A @ x + np.array(minus)
        x = A @ x + np.array(digits[digit])
    return x
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps1_1_seen", "grade": true, "points": 1}
expect(state_after, [
    (([[1]], [[0], [1], [2]], [0], (2, 1, 2)), [5]),  # a counter
    (([[10]], [[0], [1], [2]], [7], (2, 1)), [271]),  # the digits of a number: 2, minus as 7, 1
])  # fmt: skip
print("ps1.1: right on the examples shown")


# %% nbgrader={"grade_id": "ps1_1_hidden", "grade": true, "points": 2}
# Further cases, run when this is graded: several dimensions, one operand, A that is not symmetric.
### BEGIN HIDDEN TESTS
# says: several dimensions, one operand, or an A that is not symmetric
def _by_powers(A, digits, minus, operands):
    """The same as one sum: the letter j steps before the end arrives multiplied by A^j."""
    letters = [np.array(digits[operands[0]])]
    for digit in operands[1:]:
        letters += [np.array(minus), np.array(digits[digit])]
    return sum(np.linalg.matrix_power(np.array(A), age) @ letter for age, letter in enumerate(reversed(letters)))


_turn, _pairs = [[0.6, -0.8], [0.5, 0.1]], [[0.0, 1.0], [1.0, 0.5], [-2.0, 3.0]]
for _operands in ((2,), (1, 2), (0, 1, 2), (2, 2, 1, 0, 1)):
    for _minus in ([0.25, -1.0], [0.0, 0.0]):
        _case = (_turn, _pairs, _minus, _operands)
        expect(state_after, [(_case, _by_powers(*_case))])
expect(state_after, [(([[2]], [[0], [1]], [1], (1, 1, 0, 1)), [123])])
### END HIDDEN TESTS

# %% [markdown]
# ## ps1.2 · Refute every readout
# *★★ · 20 minutes · 3 points. Teaches: Theorem A, by its own construction (chapter 01, section 3: A layer that escapes stores everything)*
#
# The counter $x \leftarrow x + d$ (and a minus adds nothing) cannot compute subtraction modulo an odd $M \ge 3$: it
# sends two expressions of $n$ numbers to one state, and then no readout can be right.
#
# Write `collision(M, n)` for $n \ge 2$. Return two *different* expressions $s$, $t$ (tuples of $n$ digits $0 \dots
# M-1$) with the same state whose values differ modulo $M$.
#
# <details><summary>Hint</summary>The state is the sum of the digits. Which digit counts with a plus?</details>


# %% nbgrader={"grade_id": "ps1_2", "solution": true}
def collision(M, n):
    """Two different expressions of n operands in one state of the counter that no readout can answer both."""
    ### BEGIN SOLUTION
    # The same digits in another order have the same sum. Their first digits differ, and the first counts with a plus:
    # 1 - 0 = 1 and 0 - 1 = -1, which differ modulo every M >= 3.
    rest = (0,) * (n - 2)
    return (1, 0, *rest), (0, 1, *rest)
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps1_2_seen", "grade": true, "points": 1}
def refutes(function, M, n):
    """Claims that function(M, n) is a pair as asked for."""
    s, t = numbers(call(function, M, n), (2, n), "the pair of expressions").tolist()
    claim(all(digit in range(M) for digit in s + t), f"M={M}: {s} and {t} are not made of digits 0..{M - 1}")
    claim(s != t, f"M={M}, n={n}: the expressions are the same, {s}")
    claim(sum(s) == sum(t), f"M={M}, n={n}: {s} and {t} are in different states, {sum(s)} and {sum(t)}")
    values = [(2 * word[0] - sum(word)) % M for word in (s, t)]
    claim(values[0] != values[1], f"M={M}, n={n}: {s} and {t} have the same value, {values[0]}")


refutes(collision, 5, 2)
print("ps1.2: right for M = 5, n = 2")

# %% nbgrader={"grade_id": "ps1_2_hidden", "grade": true, "points": 2}
# Further cases, run when this is graded: other M and n.
### BEGIN HIDDEN TESTS
# says: n larger than 2
_moduli, _lengths = (3, 5, 7, 11), (2, 3, 4, 9)  # vary: (3, 9, 13), (3, 6, 8) | (5, 7, 15, 21), (2, 4, 7) | (3, 17, 19), (2, 5, 10)
for _M, _n in itertools.product(_moduli, _lengths):
    refutes(collision, _M, _n)
### END HIDDEN TESTS

# %% [markdown]
# ## ps1.3 · How many states does Sum need?
# *★★ · 15 minutes · 3 points. Teaches: Theorem B, and a prediction (chapter 01b, section 2: Theorem B)*
#
# One layer with one $A$ that computes Sum($M$), with any readout, takes at least so many states on strings of length
# $n$, and the counter takes no more. Predict before you compute: does the number grow like $n$, like $\log n$, like
# $M^n$?
#
# Write `sum_states(M, n)`, the least number of different states on the strings of length exactly $n \ge 1$, and
# `sum_bits(M, n)`, the bits that are enough to number them.
#
# <details><summary>Hint</summary>The state is the sum of n digits. Of k states, the largest number is k - 1.</details>


# %% nbgrader={"grade_id": "ps1_3", "solution": true}
def sum_states(M, n):
    """The least number of states of one constant layer for Sum(M) on strings of length n."""
    ### BEGIN SOLUTION
    # n sets of M points each add up to at least n (M - 1) + 1 points; the sums 0 ... n (M - 1) are exactly so many.
    return n * (M - 1) + 1
    ### END SOLUTION


def sum_bits(M, n):
    """The least number of bits that tell these states apart."""
    ### BEGIN SOLUTION
    # Whole numbers, no logarithm: a float's rounding would be wrong near the powers of two.
    return (sum_states(M, n) - 1).bit_length()
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps1_3_seen", "grade": true, "points": 1}
M, n, states, bits = 5, 500, 2001, 11  # vary: 7, 300, 1801, 11 | 3, 999, 1999, 11 | 9, 40, 321, 9 | 4, 777, 2332, 12
expect(sum_states, [((M, n), states)], rtol=0, atol=0)  # a count is exact
expect(sum_bits, [((M, n), bits)], rtol=0, atol=0)
print(f"ps1.3: right for {n} digits modulo {M}")

# %% nbgrader={"grade_id": "ps1_3_hidden", "grade": true, "points": 2}
# Further cases, run when this is graded: all small ones by counting, and large ones.
### BEGIN HIDDEN TESTS
# says: every small M and n, counted one by one, or an n near a power of two
for _M, _n in itertools.product((2, 3, 5), (1, 2, 3, 4)):
    _sums = {sum(word) for word in itertools.product(range(_M), repeat=_n)}
    expect(sum_states, [((_M, _n), len(_sums))], rtol=0, atol=0)
    _bits = next(bits for bits in itertools.count() if 2**bits >= len(_sums))
    expect(sum_bits, [((_M, _n), _bits)], rtol=0, atol=0)
expect(sum_bits, [((2, 7), 3), ((2, 8), 4), ((2, 2**60), 61), ((2, 2**60 - 1), 60)], rtol=0, atol=0)
### END HIDDEN TESTS

# %% [markdown]
# ## ps1.4 · Killer words
# *★★ · 20 minutes · 3 points. Teaches: Theorem D, and where its hypothesis is needed (chapter 01, section 4: The clock of chapter 00 is a turn)*
#
# $D_n$ holds the words over `a` (open) and `b` (close) that are balanced and never deeper than $n$. By Theorem D a
# diagonal layer with finitely many states cannot tell $p\,u\,v\,w$ from $p\,v\,u\,w$, if all letters of $u$ and $v$
# occur in $w$.
#
# Write `killer_words(n)`: four texts $p, u, v, w$ such that one of $p\,u\,v\,w$ and $p\,v\,u\,w$ is in $D_n$ and the
# other is not. **And break the hypothesis:** `harmless_words(n)` gives such four texts again, but now $w$ must *not*
# contain all letters of $u$ and $v$, so that the theorem says nothing.
#
# <details><summary>Hint</summary>Two brackets in the wrong order are wrong at any depth.</details>


# %% nbgrader={"grade_id": "ps1_4", "solution": true}
def killer_words(n):
    """Texts p, u, v, w that rule out every diagonal layer with finitely many states for D_n."""
    ### BEGIN SOLUTION
    # abab is balanced and no deeper than 1; baab closes what was never opened.
    return "", "a", "b", "ab"
    ### END SOLUTION


def harmless_words(n):
    """Texts p, u, v, w with other answers for puvw and pvuw, and a w that lacks a letter of u or v."""
    ### BEGIN SOLUTION
    # ab is balanced, ba is not; w is empty, so a layer with a reset may tell them apart.
    return "", "a", "b", ""
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps1_4_seen", "grade": true, "points": 1}
def in_language(word, n):
    """Is the word in D_n?"""
    depths = list(itertools.accumulate((1 if letter == "a" else -1 for letter in word), initial=0))
    return min(depths) >= 0 and max(depths) <= n and depths[-1] == 0


def kills(function, n, covered):
    """Claims that function(n) is p, u, v, w as asked for; ``covered`` says whether w must hold all letters."""
    words = call(function, n)
    claim(isinstance(words, (tuple, list)) and len(words) == 4, f"n={n}: four texts are asked for, got {words!r:.60}")
    claim(all(isinstance(word, str) and len(word) < 10**4 and not set(word) - {"a", "b"} for word in words),
          f"n={n}: {words!r:.60} are not words over a and b")  # fmt: skip
    p, u, v, w = words
    first, second = p + u + v + w, p + v + u + w
    claim(in_language(first, n) != in_language(second, n), f"n={n}: {first!r:.40}, {second!r:.40} have one answer")
    claim((set(u + v) <= set(w)) == covered, f"n={n}: w = {w!r:.40} {'lacks a' if covered else 'has each'} letter")


kills(killer_words, 2, covered=True)
print("ps1.4: killer words for D_2")

# %% nbgrader={"grade_id": "ps1_4_hidden", "grade": true, "points": 2}
# Run when this is graded: other depths, and the broken hypothesis.
### BEGIN HIDDEN TESTS
# says: another n, for both functions
for _n in (1, 2, 3, 5, 12):
    kills(killer_words, _n, covered=True)
    kills(harmless_words, _n, covered=False)
### END HIDDEN TESTS

# %% [markdown]
# ## ps1.5 · Sum by turns
# *★★ · 20 minutes · 4 points. Teaches: that transitions by letter make Sum finite (chapter 01, section 5: A block of size 2)*
#
# With a transition for each letter, two real numbers are enough for Sum($M$): a block of size 2.
#
# Write `turns(M)`: a start `x0` (two numbers) and a list of $M$ matrices $2 \times 2$, one for each digit. Nothing is
# driven: $x_k = A_{u_k} x_{k-1}$. After a string of digits the state must depend on the sum modulo $M$ **only**, and
# different sums must be at least $1/M$ apart, *at any length*.
#
# <details><summary>Hint</summary>The state lives on a circle.</details>


# %% nbgrader={"grade_id": "ps1_5", "solution": true}
def turns(M):
    """(x0, [A_0, ..., A_(M-1)]): two numbers that count modulo M."""
    ### BEGIN SOLUTION
    # The digit s turns by s of M equal parts of the circle. M parts are a whole turn, so only the sum modulo M is left.
    angles = 2 * np.pi * np.arange(M) / M
    return np.array([1.0, 0.0]), [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps1_5_seen", "grade": true, "points": 2}
def counts(function, M, words):
    """Claims that the states after the words are a function of the sum modulo M, and 1/M apart."""
    given = call(function, M)
    claim(isinstance(given, (tuple, list)) and len(given) == 2, f"M={M}: a start and a list of matrices are asked for")
    x0 = numbers(given[0], (2,), "the start", real=True)
    A = numbers(given[1], (M, 2, 2), "the matrices", real=True)
    first = {}
    for word in words:
        x = x0
        for digit in word:
            x = A[digit] @ x
        value = sum(word) % M
        claim(np.abs(x - first.setdefault(value, x)).max() < 1e-3, f"M={M}: the sum {value} has two states, {x} "
                                                                   f"and {first[value]}")  # fmt: skip
    for (a, x), (b, y) in itertools.combinations(first.items(), 2):
        claim(np.linalg.norm(x - y) >= 1 / M, f"M={M}: the sums {a} and {b} are {np.linalg.norm(x - y):.3g} apart")
    claim(len(first) == M, f"M={M}: the words reach {len(first)} sums")


counts(turns, 5, [word for n in (1, 2, 3) for word in itertools.product(range(5), repeat=n)])
print("ps1.5: right modulo 5, up to three digits")

# %% nbgrader={"grade_id": "ps1_5_hidden", "grade": true, "points": 2}
# Run when this is graded: other M, and long strings.
### BEGIN HIDDEN TESTS
# says: an M or a string that is longer
_moduli = (2, 3, 7, 12)  # vary: (4, 6, 9, 11) | (2, 8, 13) | (3, 10, 14) | (6, 7, 15)
for _M in _moduli:
    _draw = np.random.default_rng(_M)
    counts(turns, _M, [(digit,) for digit in range(_M)] + _draw.integers(_M, size=(30, 300)).tolist())
### END HIDDEN TESTS
