# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Problem set 0 · Practice: nothing is at stake
#
# Fifteen minutes, once, before the first set that counts: open, answer, check, hand in, read what comes back. Three small tasks,
# 4 points that nobody adds to anything.
#
# Each answer is a **function** with the name given here, or a text. Fill in the body where it says `raise NotImplementedError`, and
# run the cell below it (**Shift + Enter**), which says right, or shows an input on which your function is wrong.
#
# 1. Answer ps0.1 and ps0.2. Write two sentences in ps0.3 (double-click the cell).
# 2. *Kernel, Restart and Run All*, then save (**Ctrl + S**).
# 3. Run the last cell. It says in plain words what a grader would choke on, or that it found nothing.
# 4. Hand in this file, `ps0.ipynb`, where your course takes hand-ins. Do not rename it, and hand in again if you like: the last one counts.

# %% nbgrader={"grade_id": "ps0-setup", "locked": true}
from lrnnbook.content.exercises import claim, expect

# %% [markdown]
# ## ps0.1 · The answer after every digit
# *★ · 5 minutes · 2 points. Teaches: what Sum(5) asks for (chapter 00: One equation)*
#
# Write `answers(digits)`: after each digit, the sum so far modulo 5. For `[0, 3, 2, 4]` that is `[0, 3, 0, 4]`.
#
# <details><summary>Hint</summary>Keep a running total; % 5 gives the rest.</details>


# %% nbgrader={"grade_id": "ps0_1", "solution": true}
def answers(digits):
    """The sum so far, modulo 5, after each digit."""
    ### BEGIN SOLUTION
    return [sum(digits[: t + 1]) % 5 for t in range(len(digits))]
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps0_1_seen", "grade": true, "points": 1}
expect(answers, [(([0, 3, 2, 4],), [0, 3, 0, 4])])
print("ps0.1: right on the example")

# %% nbgrader={"grade_id": "ps0_1_hidden", "grade": true, "points": 1}
# Further cases, run when this is graded: other strings. You do not see them; your page says how it went.
### BEGIN HIDDEN TESTS
# says: a string of one digit, a long one, or none at all
expect(answers, [(([4],), [4]), (([],), []), (([4] * 100,), [(4 * (t + 1)) % 5 for t in range(100)])])
### END HIDDEN TESTS

# %% [markdown]
# ## ps0.2 · How many strings?
# *★ · 3 minutes · 1 point. Teaches: why nobody tests all strings (chapter 00: Not sampled, but proved)*
#
# How many strings of 40 digits 0 to 4 are there? Return the number from `strings()`.
#
# <details><summary>Hint</summary>Five choices, 40 times. Python's ** is exact.</details>


# %% nbgrader={"grade_id": "ps0_2", "solution": true}
def strings():
    """The number of strings of 40 digits."""
    ### BEGIN SOLUTION
    return 5**40
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps0_2_seen", "grade": true, "points": 1}
expect(lambda: len(str(strings())), [((), 28)])
claim(strings() % 5 == 0 and strings() % 3 == 1, f"{strings()} has 28 digits, and is not the number of strings")
print("ps0.2: right")

# %% [markdown]
# ## ps0.3 · In words
# *★ · 5 minutes · 1 point. Teaches: that some answers are read by a person*
#
# Two sentences: what do you hope to learn, and what worries you?

# %% [markdown] nbgrader={"grade_id": "ps0_3", "solution": true, "grade": true, "points": 1}
# ### BEGIN SOLUTION
# 1 point: for any two sentences.
# ### END SOLUTION
