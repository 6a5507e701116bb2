# Answers planted to test the tests of ps0: right ones in another style, wrong ones, and the points each must get.
# Not for students.  ``tests/support/rehearsal.py`` reads them; ``tests/lrnnbook/grading/test_course_sets.py`` grades every one.
# ruff: noqa: F811, F821

# %% planted={"task": "ps0.1", "points": 2, "what": "right: a running total"}
def answers(digits):
    total, found = 0, []
    for digit in digits:
        total = (total + digit) % 5
        found.append(total)
    return tuple(found)


# %% planted={"task": "ps0.1", "points": 0, "what": "wrong: the sums themselves"}
def answers(digits):
    return [sum(digits[: t + 1]) for t in range(len(digits))]


# %% planted={"task": "ps0.1", "points": 1, "what": "wrong: hard-coded"}
def answers(digits):
    return [0, 3, 0, 4]


# %% planted={"task": "ps0.1", "points": 0, "what": "wrong: before each digit"}
def answers(digits):
    return [sum(digits[:t]) % 5 for t in range(len(digits))]


# %% planted={"task": "ps0.2", "points": 1, "what": "right: multiplied out"}
def strings():
    found = 1
    for _ in range(40):
        found *= 5
    return found


# %% planted={"task": "ps0.2", "points": 0, "what": "wrong: a power the other way round"}
def strings():
    return 40**5


# %% planted={"task": "ps0.2", "points": 0, "what": "wrong: a float"}
def strings():
    return 5.0**40


# %% planted={"task": "ps0.2", "points": 0, "what": "wrong: hard-coded, near"}
def strings():
    return 9094947017729282379150390000
