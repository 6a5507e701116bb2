# Answers planted to test the tests of ps5: right ones in another style, wrong ones, and the points each must get.
# Not for students.  ``tests/support/rehearsal.py`` reads them; ``tests/lrnnbook/grading/test_course_sets.py`` grades every one.
# ruff: noqa: F811, F821, SIM110

# %% planted={"task": "ps5.1", "points": 3, "what": "right: with numpy"}
import numpy as np


def one_hot(arrows):
    return [np.eye(len(leads), dtype=int)[list(leads)].T for leads in arrows]


# %% planted={"task": "ps5.1", "points": 1, "what": "wrong: transposed"}
def one_hot(arrows):
    return [[[int(leads[row] == q) for q in range(len(leads))] for row in range(len(leads))] for leads in arrows]


# %% planted={"task": "ps5.1", "points": 0, "what": "wrong: the first token alone"}
def one_hot(arrows):
    return [[int(arrows[0][q] == row) for q in range(len(arrows[0]))] for row in range(len(arrows[0]))]


# %% planted={"task": "ps5.3", "points": 1, "what": "wrong: neighbours alone"}
def is_quotient(arrows, blocks):
    return not any(
        blocks[q] == blocks[q + 1] and blocks[leads[q]] != blocks[leads[q + 1]] for leads in arrows for q in range(len(leads) - 1)
    )


# %% planted={"task": "ps5.1", "points": 1, "what": "wrong: two states"}
def one_hot(arrows):
    return [[[int(leads[q] == row) for q in (0, 1)] for row in (0, 1)] for leads in arrows]


# %% planted={"task": "ps5.2", "points": 3, "what": "right: exchanges that sort it"}
def reflections(g):
    g, count = list(g), 0
    for q in range(len(g)):
        while g[q] != q:
            other = g[q]
            g[q], g[other] = g[other], g[q]
            count += 1
    return count


# %% planted={"task": "ps5.2", "points": 1, "what": "wrong: points that move, halved"}
def reflections(g):
    return sum(a != b for a, b in enumerate(g)) // 2


# %% planted={"task": "ps5.2", "points": 0, "what": "wrong: points that move"}
def reflections(g):
    return sum(a != b for a, b in enumerate(g))


# %% planted={"task": "ps5.2", "points": 1, "what": "wrong: points that move, less one"}
def reflections(g):
    return max(0, sum(a != b for a, b in enumerate(g)) - 1)


# %% planted={"task": "ps5.2", "points": 1, "what": "wrong: exchanges of neighbours"}
def reflections(g):
    return sum(g[i] > g[j] for i in range(len(g)) for j in range(i + 1, len(g)))


# %% planted={"task": "ps5.3", "points": 3, "what": "right: a table of blocks"}
def is_quotient(arrows, blocks):
    for leads in arrows:
        if len({(blocks[q], blocks[to]) for q, to in enumerate(leads)}) != len(set(blocks)):
            return False
    return True


# %% planted={"task": "ps5.3", "points": 1, "what": "wrong: the first token alone"}
def is_quotient(arrows, blocks):
    return len({(blocks[q], blocks[to]) for q, to in enumerate(arrows[0])}) == len(set(blocks))


# %% planted={"task": "ps5.3", "points": 0, "what": "wrong: always"}
def is_quotient(arrows, blocks):
    return True


# %% planted={"task": "ps5.3", "points": 0, "what": "wrong: blocks must stay"}
def is_quotient(arrows, blocks):
    return all(blocks[q] == blocks[to] for leads in arrows for q, to in enumerate(leads))


# %% planted={"task": "ps5.4", "points": 4, "what": "right: images of each state, word by word"}
def turns(arrows):
    found, row = set(), {tuple(leads) for leads in arrows}
    while row:
        found |= row
        row = {tuple(leads[q] for q in one) for one in row for leads in arrows} - found
    for one in found:
        for q in range(len(one)):
            p = one[q]
            for _ in range(len(one)):
                if p == q and one[q] != q:
                    return True
                p = one[p]
    return False


# %% planted={"task": "ps5.4", "points": 2, "what": "wrong: letters alone"}
def turns(arrows):
    return any(len({*leads}) == len(leads) and list(leads) != sorted(leads) for leads in arrows)


# %% planted={"task": "ps5.4", "points": 2, "what": "wrong: words of one and two letters"}
def turns(arrows):
    words = [*arrows, *([second[q] for q in first] for first in arrows for second in arrows)]
    for word in words:
        for q in range(len(word)):
            p = word[q]
            for _ in range(len(word)):
                if p == q and word[q] != q:
                    return True
                p = word[p]
    return False


# %% planted={"task": "ps5.4", "points": 2, "what": "wrong: words no longer than the number of states"}
def turns(arrows):
    n, row = len(arrows[0]), [list(range(len(arrows[0])))]
    for _ in range(n):
        row = [[leads[q] for q in word] for word in row for leads in arrows]
        for word in row:
            power = word
            for _ in range(n):
                power = [word[q] for q in power]
            if [word[q] for q in power] != power:
                return True
    return False


# %% planted={"task": "ps5.4", "points": 0, "what": "wrong: never"}
def turns(arrows):
    return False


# %% planted={"task": "ps5.4", "points": 0, "what": "wrong: always"}
def turns(arrows):
    return True


# %% planted={"task": "ps5.5", "points": 2, "what": "right: by the phase"}
def right_at(d, t):
    import math

    off = d * t % (2 * math.pi)
    return off < math.pi / 2 or off > 3 * math.pi / 2


# %% planted={"task": "ps5.5", "points": 1, "what": "wrong: it never comes back"}
def right_at(d, t):
    return d * t < 1.5708


# %% planted={"task": "ps5.5", "points": 1, "what": "wrong: it comes back once"}
def right_at(d, t):
    return d * t < 1.5708 or d * t > 4.7124


# %% planted={"task": "ps5.5", "points": 0, "what": "wrong: the sine"}
def right_at(d, t):
    import math

    return math.sin(d * t) < 0


# %% planted={"task": "ps5.5", "points": 0, "what": "wrong: always"}
def right_at(d, t):
    return True
