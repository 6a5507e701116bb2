# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Problem set 5 · The ladder
#
# Five tasks, 15 points, about an hour and a half. They belong to chapter 10: what algebra says of a machine before
# any training. `arrows[v][q]` is the state that token $v$ leads to from state $q$.
#
# Each answer is a **function** with the name given here; fill in its body, and run the test below it. You may add
# cells and functions of your own. A function must take and return plain data: numbers, text, lists, tuples, arrays.
# When this is graded, the tests below run again, and others with inputs that you have not seen.
#
# Before you hand in: *Kernel, Restart and Run All*, save, and `lrnnlab course validate ps5.ipynb`.

# %% nbgrader={"grade_id": "ps5-setup", "locked": true}
import itertools
import math

from lrnnbook.content.exercises import expect

# %% [markdown]
# ## ps5.1 · Exact weights
# *★ · 10 minutes · 3 points. Teaches: that one-hot columns are a machine (chapter 10, section 3: Three reasons to say no, or yes)*
#
# Write `one_hot(arrows)`: for each token the matrix whose column $q$ has its 1 in the row that $q$ is led to.
#
# <details><summary>Hint</summary>Column $q$ says where state $q$ goes.</details>


# %% nbgrader={"grade_id": "ps5_1", "solution": true}
def one_hot(arrows):
    """For each token a list of rows of 0 and 1."""
    ### BEGIN SOLUTION
    return [[[int(leads[q] == row) for q in range(len(leads))] for row in range(len(leads))] for leads in arrows]
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps5_1_seen", "grade": true, "points": 1}
expect(one_hot, [(([[1, 0], [0, 1]],), [[[0, 1], [1, 0]], [[1, 0], [0, 1]]])])
print("ps5.1: right on the examples shown")

# %% nbgrader={"grade_id": "ps5_1_hidden", "grade": true, "points": 2}
# Run when this is graded: other inputs.
### BEGIN HIDDEN TESTS
# says: several strings at once, or a letter that no string has
expect(one_hot, [(([[1, 2, 0]],), [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]])])
expect(one_hot, [(([[0, 0, 2], [2, 2, 2]],), [[[1, 1, 0], [0, 0, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 0], [1, 1, 1]]])])
### END HIDDEN TESTS

# %% [markdown]
# ## ps5.2 · How many reflections
# *★★ · 15 minutes · 3 points. Teaches: what a permutation costs (chapter 10, section 1: A network of mirrors)*
#
# `g[q]` is where the permutation sends point $q$. Write `reflections(g)`: how many reflections its matrix takes.
#
# <details><summary>Hint</summary>Points less cycles; a fixed point is a cycle.</details>


# %% nbgrader={"grade_id": "ps5_2", "solution": true}
def reflections(g):
    """The number of points less the number of cycles."""
    ### BEGIN SOLUTION
    seen, cycles = set(), 0
    for start in range(len(g)):
        cycles += start not in seen
        point = start
        while point not in seen:
            seen.add(point)
            point = g[point]
    return len(g) - cycles
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps5_2_seen", "grade": true, "points": 1}
expect(reflections, [(([1, 0],), 1), (([0, 1],), 0)])
print("ps5.2: right on the examples shown")

# %% nbgrader={"grade_id": "ps5_2_hidden", "grade": true, "points": 2}
# Run when this is graded: other inputs.
### BEGIN HIDDEN TESTS
# says: several cycles, or one of length 1
_first, _second = ([1, 2, 0, 4, 3, 5], 3), ([1, 2, 3, 4, 0], 4)  # vary: ([1, 0, 3, 4, 2], 3), ([2, 0, 1, 3], 2) | ([0, 2, 1, 4, 3], 2), ([3, 2, 1, 0], 2)
expect(reflections, [((_first[0],), _first[1]), ((_second[0],), _second[1]), (([1, 0, 3, 2],), 2)])
expect(reflections, [((list(range(50)),), 0), (([9, *range(9)],), 9), (([2, 1, 0],), 1), (([3, 1, 2, 0],), 1)])
### END HIDDEN TESTS

# %% [markdown]
# ## ps5.3 · A quotient?
# *★★ · 15 minutes · 3 points. Teaches: what a net may track in place of the machine (chapter 10b, section 2: From the net back to a machine)*
#
# `blocks[q]` is the block of state $q$. Write `is_quotient(arrows, blocks)`: do two states of one block always lead
# to one block?
#
# <details><summary>Hint</summary>Compare all pairs of states.</details>


# %% nbgrader={"grade_id": "ps5_3", "solution": true}
def is_quotient(arrows, blocks):
    """True where every token leads states of one block to one block."""
    ### BEGIN SOLUTION
    for leads in arrows:
        for p, q in itertools.product(range(len(leads)), repeat=2):
            if blocks[p] == blocks[q] and blocks[leads[p]] != blocks[leads[q]]:
                return False
    return True
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps5_3_seen", "grade": true, "points": 1}
expect(is_quotient, [(([[1, 2, 3, 0]], [0, 1, 0, 1]), True), (([[1, 2, 3, 0]], [0, 0, 1, 1]), False)])
print("ps5.3: right on the examples shown")

# %% nbgrader={"grade_id": "ps5_3_hidden", "grade": true, "points": 2}
# Run when this is graded: other inputs.
### BEGIN HIDDEN TESTS
# says: letters that disagree, one block for all states, or one for each
expect(is_quotient, [(([[1, 2, 3, 0], [0, 1, 0, 1]], [0, 1, 0, 1]), True), (([[0, 1], [1, 1]], [0, 0]), True)])
expect(is_quotient, [(([[0, 1, 2], [2, 0, 2]], [0, 0, 1]), False), (([[2, 1, 0], [0, 1, 2]], [0, 1, 2]), True)])
expect(is_quotient, [(([[0, 0, 1]], [0, 1, 0]), False), (([[0, 1, 0, 1]], [0, 1, 1, 0]), False)])
### END HIDDEN TESTS

# %% [markdown]
# ## ps5.4 · Does a word turn states?
# *★★★ · 30 minutes · 4 points. Teaches: when no gates between 0 and 1 last (chapter 10, section 3: Three reasons to say no, or yes)*
#
# Theorem 2 of chapter 10 forbids gates in $[0, 1]$ where some word moves states around in a cycle of more than one.
# Write `turns(arrows)`: is there such a word?
#
# <details><summary>Hint</summary>Collect what words do to all states; then raise each to its powers.</details>


# %% nbgrader={"grade_id": "ps5_4", "solution": true}
def turns(arrows):
    """True where some word leads states around in a cycle of more than one."""
    ### BEGIN SOLUTION
    actions, row = set(), [tuple(range(len(arrows[0])))]
    while row:
        made = {tuple(leads[q] for q in action) for action in row for leads in arrows} - actions
        actions |= made
        row = list(made)
    for action in actions:
        power = action
        for _ in range(len(action)):
            power = tuple(action[q] for q in power)
        if tuple(action[q] for q in power) != power:
            return True
    return False
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps5_4_seen", "grade": true, "points": 2}
expect(turns, [(([[1, 0], [0, 1]],), True), (([[0, 0], [1, 1]],), False)])
print("ps5.4: right on the examples shown")

# %% nbgrader={"grade_id": "ps5_4_hidden", "grade": true, "points": 2}
# Run when this is graded: other inputs.
### BEGIN HIDDEN TESTS
# says: a word of several letters, or a cycle of one state
expect(turns, [(([[1, 2, 2], [2, 0, 2]],), False), (([[1, 2, 0]],), True), (([[0, 1]],), False)])
expect(turns, [(([[1, 3, 0, 3], [2, 0, 3, 3]],), False), (([[2, 3, 2, 3], [0, 0, 1, 0]],), True)])
expect(turns, [(([[3, 2, 0, 3], [1, 1, 3, 0]],), True), (([[4, 3, 1, 4, 4], [2, 1, 1, 1, 0]],), True)])
expect(turns, [(([[5, 1, 2, 1, 3, 4], [2, 1, 5, 0, 3, 1]],), True)])  # the shortest such word has 8 letters
### END HIDDEN TESTS

# %% [markdown]
# ## ps5.5 · When does a phase come back?
# *★ · 10 minutes · 2 points. Teaches: that one length is no test (chapter 10b, section 1: How long? The error horizon)*
#
# A phase should turn by a half turn a token and turns by $d$ more, and $0 < d < \frac12$. All tokens are 1. Write
# `right_at(d, t)`: is the sign of its real part right after $t$ tokens?
#
# <details><summary>Hint</summary>The phase is off by $d\,t$.</details>


# %% nbgrader={"grade_id": "ps5_5", "solution": true}
def right_at(d, t):
    """True where the cosine of d t is above 0."""
    ### BEGIN SOLUTION
    return math.cos(d * t) > 0
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps5_5_seen", "grade": true, "points": 1}
expect(right_at, [((0.02, 10), True), ((0.02, 100), False)])
print("ps5.5: right on the examples shown")

# %% nbgrader={"grade_id": "ps5_5_hidden", "grade": true, "points": 1}
# Run when this is graded: other inputs.
### BEGIN HIDDEN TESTS
# says: t beyond the first quarter turn
_d, _quarter = 0.02, 78  # vary: 0.03, 52 | 0.05, 31 | 0.01, 157
expect(right_at, [((_d, _quarter), True), ((_d, _quarter + 1), False), ((_d, 3 * _quarter + 3), True), ((0.4, 4), False), ((0.4, 15), True)])
expect(right_at, [((0.02, 400), False), ((0.4, 20), False), ((0.4, 1000), False)])
### END HIDDEN TESTS
