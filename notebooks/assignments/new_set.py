# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Problem set PSN · A title
#
# Six tasks, 12 points, about an hour. They belong to chapter 00. Write a sentence on what they are about, and keep this one: each
# answer is a **function** with the name given here, or a text. A function must take and return plain data: numbers, text, lists,
# tuples, arrays. When this is graded, the tests below run again, and others with inputs that you have not seen.
#
# Before you hand in: *Kernel, Restart and Run All*, save, and run the last cell.

# %% nbgrader={"grade_id": "PSN-setup", "locked": true}
import numpy as np

from lrnnbook.content.exercises import call, claim, expect, numbers

M = 5  # vary: 3 | 7 | 11

# %% [markdown]
# ## PSN.1 · A function, against examples
# *★ · 5 minutes · 2 points. Teaches: sums modulo M, from left to right (chapter 00)*
#
# Write `my_sums(digits)`: the sum of the digits so far, modulo the `M` of the set-up, at every position.
#
# <details><summary>Hint</summary>One running total.</details>


# %% nbgrader={"grade_id": "PSN_1", "solution": true}
def my_sums(digits):
    """The sum of the digits so far, modulo M, at every position."""
    ### BEGIN SOLUTION
    return [sum(digits[: t + 1]) % M for t in range(len(digits))]
    ### END SOLUTION


# %% nbgrader={"grade_id": "PSN_1_seen", "grade": true, "points": 1}
expect(my_sums, [(([1, 1, 1],), [1, 2, 3 % M])])

# %% nbgrader={"grade_id": "PSN_1_hidden", "grade": true, "points": 1}
# Further cases, run when this is graded: long strings, and none at all.
### BEGIN HIDDEN TESTS
# says: a string without digits, or one longer than M
_seed = 1  # vary: 2 to 1000000
_digits = np.random.default_rng(_seed).integers(M, size=300).tolist()
expect(my_sums, [(([],), []), ((_digits,), (np.cumsum(_digits) % M).tolist())])
### END HIDDEN TESTS

# %% [markdown]
# ## PSN.2 · A function with many right answers
# *★★ · 10 minutes · 2 points. Teaches: a counterexample (chapter 00)*
#
# Write `my_pair(n)`: two different strings of n digits (n at least 2) with the same sum modulo `M` and different first digits.
#
# <details><summary>Hint</summary>Take from one digit what you add to another.</details>


# %% nbgrader={"grade_id": "PSN_2", "solution": true}
def my_pair(n):
    """Two strings of n digits: one sum, different first digits."""
    ### BEGIN SOLUTION
    return [0, 1, *[0] * (n - 2)], [1, 0, *[0] * (n - 2)]
    ### END SOLUTION


# %% nbgrader={"grade_id": "PSN_2_seen", "grade": true, "points": 1}
def is_pair(function, n):
    """Claims that function(n) is a pair as asked for; what a visible test defines, a hidden one may use."""
    s, t = numbers(call(function, n), (2, n), "the pair").astype(int).tolist()
    claim(all(0 <= digit < M for digit in s + t), f"n={n}: {s} and {t} are not made of digits 0 to {M - 1}")
    claim(s[0] != t[0], f"n={n}: both begin with {s[0]}")
    claim(sum(s) % M == sum(t) % M, f"n={n}: the sums modulo {M} are {sum(s) % M} and {sum(t) % M}")


is_pair(my_pair, 2)

# %% nbgrader={"grade_id": "PSN_2_hidden", "grade": true, "points": 1}
# Further cases, run when this is graded: other n.
### BEGIN HIDDEN TESTS
# says: n larger than 2
for _n in (3, 4, 9):
    is_pair(my_pair, _n)
### END HIDDEN TESTS

# %% [markdown]
# ## PSN.3 · A number
# *★ · 5 minutes · 2 points. Teaches: to count states (chapter 00)*
#
# How many states does a counter of sums modulo `M` need? Return the number from `my_states()`. (Only a hidden test gives points,
# else whoever runs the visible one knows the number.)


# %% nbgrader={"grade_id": "PSN_3", "solution": true}
def my_states():
    """How many states."""
    ### BEGIN SOLUTION
    return M
    ### END SOLUTION


# %% nbgrader={"grade_id": "PSN_3_hidden", "grade": true, "points": 2}
# The number, compared when this is graded.
### BEGIN HIDDEN TESTS
# says: each sum needs one, and no sum needs two
expect(my_states, [((), M)], rtol=0, atol=0)
### END HIDDEN TESTS

# %% [markdown]
# ## PSN.4 · A number that is measured
# *★★ · 10 minutes · 2 points. Teaches: how rare a string is (chapter 00)*
#
# What share of all strings of 6 digits 0 to `M` - 1 has the sum 0 modulo `M`? Return it from `my_share()`, to three digits.


# %% nbgrader={"grade_id": "PSN_4", "solution": true}
def my_share():
    """A number between 0 and 1."""
    ### BEGIN SOLUTION
    return 1 / M
    ### END SOLUTION


# %% nbgrader={"grade_id": "PSN_4_hidden", "grade": true, "points": 2}
# The share, compared when this is graded.
### BEGIN HIDDEN TESTS
# says: whatever the first five digits are, how many sixth digits give 0?
expect(my_share, [((), 1 / M)], rtol=5e-3)
### END HIDDEN TESTS

# %% [markdown]
# ## PSN.5 · An argument in words
# *★★ · 10 minutes · 2 points. Teaches: to say why fewer states are not enough (chapter 00)*
#
# Why can no counter of sums modulo `M` have fewer states than your number in PSN.3? Three sentences.

# %% [markdown] nbgrader={"grade_id": "PSN_5", "solution": true, "grade": true, "points": 2}
# ### BEGIN SOLUTION
# 1 point: two strings with different sums, in one state.
# 1 point: from one state comes one answer, so one of the two is wrong.
# ### END SOLUTION

# %% [markdown]
# ## PSN.6 · Find the wrong step
# *★★ · 10 minutes · 2 points. Teaches: to read a proof against its claim (chapter 00)*
#
# > (1) A network is right on all strings of 40 digits. (2) So its state after 40 digits tells the sum. (3) One more digit changes the sum
# > by that digit. (4) So it is right on all strings of 41 digits.
#
# Which step does not follow, and what would a network look like for which it is wrong? Two sentences.

# %% [markdown] nbgrader={"grade_id": "PSN_6", "solution": true, "grade": true, "points": 2}
# ### BEGIN SOLUTION
# 1 point: step (4): (3) is about the sum, and says nothing of where the network goes on a 41st digit.
# 1 point: for example one that counts its letters and breaks after 40.
# ### END SOLUTION
