# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Problem set 4 · Long range
#
# Five tasks, 17 points, about an hour and a half. They belong to chapter 07: what long-range benchmarks ask, and what a
# good score says.
#
# Each answer is a **function** with the name given here; fill in its body, and run the test below it. You may add
# cells and functions of your own. A function must take and return plain data: numbers, text, lists, tuples, arrays.
# When this is graded, the tests below run again, and others with inputs that you have not seen.
#
# Before you hand in: *Kernel, Restart and Run All*, save, and `lrnnlab course validate ps4.ipynb`.

# %% nbgrader={"grade_id": "ps4-setup", "locked": true}
import numpy as np

from lrnnbook.content.exercises import agree, call, claim, expect, numbers

# %% [markdown]
# ## ps4.1 · Find the bug: a score
# *★ · 10 minutes · 3 points. Teaches: what a score is compared with (chapter 07, section 2: How much can you score without the skill?)*
#
# `((found - wanted) ** 2).mean() / (wanted ** 2).mean()`, taken from 1, is what somebody reported as $R^2$. On
# answers whose mean is not 0 one constant scores well in it. Write `r2(found, wanted)` as chapter 07 defines it: one
# mean for *all* answers. Both are lists of rows.
#
# <details><summary>Hint</summary>Which constant must score 0?</details>


# %% nbgrader={"grade_id": "ps4_1", "solution": true}
def r2(found, wanted):
    """1 - sum of squared errors / sum of squared distances from the one mean of all answers."""
    ### BEGIN SOLUTION
    found, wanted = np.array(found, dtype=float), np.array(wanted, dtype=float)
    return 1 - ((found - wanted) ** 2).sum() / ((wanted - wanted.mean()) ** 2).sum()
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps4_1_seen", "grade": true, "points": 1}
expect(r2, [(([[1, -1]], [[1, -1]]), 1), (([[0, 0]], [[1, -1]]), 0)])
print("ps4.1: right where the mean is 0")


# %% nbgrader={"grade_id": "ps4_1_hidden", "grade": true, "points": 2}
# Run when this is graded: answers whose mean depends on the place.
### BEGIN HIDDEN TESTS
# says: answers whose mean depends on the place
def _slowly(found, wanted):
    flat = [number for row in wanted for number in row]
    middle = sum(flat) / len(flat)
    errors = [(a - b) ** 2 for one, other in zip(found, wanted) for a, b in zip(one, other)]
    return 1 - sum(errors) / sum((number - middle) ** 2 for number in flat)


_seed = 1  # vary: 100 to 1000000
_draw = np.random.default_rng(_seed)
_wanted = (_draw.normal(size=(5, 4)) + [0, 3, 6, 9]).round(2)
agree(r2, _slowly, [((_wanted + _off).tolist(), _wanted.tolist()) for _off in (0, 0.5, -2)])
agree(r2, _slowly, [([[0, 3, 6, 9]] * 5, _wanted.tolist()), ([[4.5] * 4] * 5, _wanted.tolist())])
### END HIDDEN TESTS

# %% [markdown]
# ## ps4.2 · Break a model: too few channels
# *★★ · 20 minutes · 4 points. Teaches: that what is not handed on cannot be answered (chapter 07, section 4: Lags against channels)*
#
# A layer hands on the $H$ numbers $k_h \cdot x$, with `kernels` of $L > H$ numbers each. Whatever is made of them,
# it cannot tell $x$ from $x + v$ where no kernel sees $v$. Write `unseen(kernels)`: such a change $v \ne 0$.
#
# <details><summary>Hint</summary>The last rows of V in a singular value decomposition. Some kernels may be alike.</details>


# %% nbgrader={"grade_id": "ps4_2", "solution": true}
def unseen(kernels):
    """A list of L numbers, not all 0, whose scalar product with every kernel is 0."""
    ### BEGIN SOLUTION
    # The full V has L rows; those behind the H-th belong to no kernel.
    _, _, rows = np.linalg.svd(np.array(kernels, dtype=float), full_matrices=True)
    return rows[-1]
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps4_2_seen", "grade": true, "points": 2}
def hides(function, kernels):
    """Claims that function(kernels) is a change that no kernel sees."""
    v = numbers(call(function, kernels), (len(kernels[0]),), "the change", real=True).astype(float)
    claim(np.isfinite(v).all() and np.abs(v).max() > 1e-6, f"kernels {kernels!r:.80}: the change is nothing")
    sees = np.abs(np.array(kernels) @ v).max() / np.abs(v).max()
    claim(sees < 1e-8, f"kernels {kernels!r:.80}: one of them sees {sees:.3g}")


hides(unseen, [[1, 0]])
hides(unseen, [[1, 1, 0], [0, 0, 1]])
print("ps4.2: unseen by one kernel, and by two")

# %% nbgrader={"grade_id": "ps4_2_hidden", "grade": true, "points": 2}
# Run when this is graded: more kernels, and some that are alike.
### BEGIN HIDDEN TESTS
# says: more than two kernels, kernels that are alike, or one of zeros
_seed = 2  # vary: 100 to 1000000
_draw = np.random.default_rng(_seed)
for _H, _L in ((1, 5), (4, 5), (7, 12), (31, 32)):
    hides(unseen, _draw.normal(size=(_H, _L)).tolist())
hides(unseen, [[1, 2, 3, 4], [2, 4, 6, 8], [1, 2, 3, 4]])
hides(unseen, [[0, 0, 0], [0, 1, 0]])
### END HIDDEN TESTS

# %% [markdown]
# ## ps4.3 · Lags
# *★★ · 15 minutes · 3 points. Teaches: why SelectFixed is easy and Reverse is hard (chapter 07, section 4: Lags against channels)*
#
# A task copies numbers: the pair $(r, w)$ reads place $r$ and writes place $w \ge r$. A kernel with a single 1 serves
# all pairs of one lag. Write `lags(pairs)`: the different lags, smallest first, as a list.
#
# <details><summary>Hint</summary>Two pairs of one lag count once.</details>


# %% nbgrader={"grade_id": "ps4_3", "solution": true}
def lags(pairs):
    """The different numbers of steps between reading and writing, growing."""
    ### BEGIN SOLUTION
    return sorted({written - read for read, written in pairs})
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps4_3_seen", "grade": true, "points": 1}
expect(lags, [(([(1, 2), (0, 3)],), [1, 3])])
print("ps4.3: right for Reverse of two numbers")

# %% nbgrader={"grade_id": "ps4_3_hidden", "grade": true, "points": 2}
# Run when this is graded: shifts, Reverse, and pairs in any order.
### BEGIN HIDDEN TESTS
# says: several lags, a lag of 0, or pairs in another order
expect(lags, [(([(place, place + 7) for place in range(20)],), [7])])
expect(lags, [(([(9 - place, 10 + place) for place in range(10)],), [2 * place + 1 for place in range(10)])])
expect(lags, [(([(0, 9), (3, 5), (4, 6), (1, 1)],), [0, 2, 9])])
### END HIDDEN TESTS

# %% [markdown]
# ## ps4.4 · The value of every bracket
# *★★ · 25 minutes · 4 points. Teaches: what ListOps-SubTrees asks at each position (chapter 07b, section 3: Two tasks, and trees)*
#
# `[MAX 2 6 [MIN 4 8 ] ]` is an expression over digits; `SM` is the sum modulo 10. Write `bracket_values(text)`: the
# values of all brackets, in the order in which they close, so `[4, 6]` here. Brackets nest as deep as they like.
#
# <details><summary>Hint</summary>A stack: what is open, and the values that it has so far.</details>


# %% nbgrader={"grade_id": "ps4_4", "solution": true}
def bracket_values(text):
    """The values of the brackets of an expression with MAX, MIN and SM, in the order of the closing brackets."""
    ### BEGIN SOLUTION
    rules = {"[MAX": max, "[MIN": min, "[SM": lambda values: sum(values) % 10}
    open_ones, found = [], []
    for token in text.split():
        if token in rules:
            open_ones.append((rules[token], []))
        elif token == "]":
            rule, values = open_ones.pop()
            found.append(rule(values))
            if open_ones:
                open_ones[-1][1].append(found[-1])
        else:
            open_ones[-1][1].append(int(token))
    return found
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps4_4_seen", "grade": true, "points": 1}
expect(bracket_values, [(("[MAX 2 6 [MIN 4 8 ] ]",), [4, 6])])
print("ps4.4: right on the example shown")

# %% nbgrader={"grade_id": "ps4_4_hidden", "grade": true, "points": 3}
# Run when this is graded: all three operators, brackets side by side, and many levels.
### BEGIN HIDDEN TESTS
# says: another operator, brackets side by side, or more levels
expect(bracket_values, [(("[SM 7 8 ]",), [5]), (("[MIN 3 ]",), [3])])
expect(bracket_values, [(("[SM [MAX 1 9 ] [MIN 5 7 ] 8 ]",), [9, 5, 2])])
expect(bracket_values, [(("[MIN [SM 5 5 ] [MAX [SM 9 9 ] 1 ] 4 ]",), [0, 8, 8, 0])])
_deep = "[SM 1 " * 300 + "0 " + "] " * 300
expect(bracket_values, [((_deep,), [(level + 1) % 10 for level in range(300)])])
### END HIDDEN TESTS

# %% [markdown]
# ## ps4.5 · Macro F1
# *★★ · 15 minutes · 3 points. Teaches: a score that a large class cannot buy (chapter 07b, section 4: Pictures)*
#
# Write `macro_f1(found, wanted, classes)`: the mean over the classes $0, 1, \dots$ of $\frac{2PR}{P+R}$, with
# precision $P$ and recall $R$; 0 for a class of which nothing is right.
#
# <details><summary>Hint</summary>2 PR / (P + R) is twice what is right over what was said and what there is.</details>


# %% nbgrader={"grade_id": "ps4_5", "solution": true}
def macro_f1(found, wanted, classes):
    """The mean of the classes' F1."""
    ### BEGIN SOLUTION
    scores = []
    for one in range(classes):
        right = sum(a == b == one for a, b in zip(found, wanted))
        scores.append(2 * right / (list(found).count(one) + list(wanted).count(one)) if right else 0.0)
    return sum(scores) / classes
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps4_5_seen", "grade": true, "points": 1}
expect(macro_f1, [(([0, 0, 1, 1], [0, 0, 1, 1], 2), 1), (([0, 1, 1, 0], [0, 0, 1, 1], 2), 0.5)])
print("ps4.5: right on two examples")

# %% nbgrader={"grade_id": "ps4_5_hidden", "grade": true, "points": 2}
# Run when this is graded: three classes, one of which is never said.
### BEGIN HIDDEN TESTS
# says: a class that is never said, or never asked for
expect(macro_f1, [(([0] * 100, [0] * 94 + [1] * 4 + [2] * 2, 3), 2 * 94 / 194 / 3)])
expect(macro_f1, [(([1, 1, 2, 0], [1, 0, 2, 2], 3), (0 + 2 / 3 + 2 / 3) / 3), (([1], [0], 2), 0)])
expect(macro_f1, [(([0, 0], [0, 1], 3), 2 / 9), (([0], [0], 3), 1 / 3)])
### END HIDDEN TESTS
