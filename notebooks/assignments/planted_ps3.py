# Answers planted to test the tests of ps3: right ones in another style, wrong ones, and the points each must get.
# Not for students.  ``tests/support/rehearsal.py`` reads them; ``tests/lrnnbook/grading/test_course_sets.py`` grades every one.
# ruff: noqa: F811, F821

# %% planted={"task": "ps3.1", "points": 3, "what": "right: bordered matrices"}
def combine(second, first):
    n = len(first[1])

    def bordered(pair):
        return np.block([[np.array(pair[0]), np.array(pair[1])[:, None]], [np.zeros((1, n)), np.ones((1, 1))]])

    both = bordered(second) @ bordered(first)
    return [both[:n, :n].tolist(), both[:n, n].tolist()]


# %% planted={"task": "ps3.1", "points": 0, "what": "wrong: the other order"}
def combine(second, first):
    A2, A1 = np.array(second[0]), np.array(first[0])
    return A1 @ A2, A1 @ second[1] + first[1]


# %% planted={"task": "ps3.1", "points": 1, "what": "wrong: the product the wrong way round"}
def combine(second, first):
    A2, A1 = np.array(second[0]), np.array(first[0])
    return A1 @ A2, A2 @ first[1] + second[1]


# %% planted={"task": "ps3.1", "points": 1, "what": "wrong: entry by entry"}
def combine(second, first):
    A2, A1 = np.array(second[0]), np.array(first[0])
    return A2 * A1, A2 @ first[1] + second[1]


# %% planted={"task": "ps3.1", "points": 1, "what": "wrong: hard-coded"}
def combine(second, first):
    return [[6]], [7]


# %% planted={"task": "ps3.2", "points": 4, "what": "right: each window anew, recursively"}
def levels(a, b):
    def window(t, reach):
        if reach == 1 or t == 0:
            return (a[t], b[t])
        half = reach // 2
        if t < half:
            return window(t, half)
        (a2, b2), (a1, b1) = window(t, half), window(t - half, half)
        return (a2 * a1, a2 * b1 + b2)

    T, reach, out = len(a), 1, []
    while not out or reach // 2 < T:
        out.append([window(t, reach) for t in range(T)])
        reach *= 2
    return tuple(out)


# %% planted={"task": "ps3.2", "points": 0, "what": "wrong: one level too many"}
def levels(a, b):
    found, reach = [list(zip(a, b))], 1
    while reach <= len(a):
        old = found[-1]
        new = list(old)
        for t in range(reach, len(a)):
            new[t] = (old[t][0] * old[t - reach][0], old[t][0] * old[t - reach][1] + old[t][1])
        found.append(new)
        reach *= 2
    return found


# %% planted={"task": "ps3.2", "points": 0, "what": "wrong: the last level alone"}
def levels(a, b):
    x, A, out = 0, 1, []
    for a_t, b_t in zip(a, b):
        x, A = a_t * x + b_t, a_t * A
        out.append((A, x))
    return [out]


# %% planted={"task": "ps3.2", "points": 0, "what": "wrong: the older step is done last"}
def levels(a, b):
    found, reach = [list(zip(a, b))], 1
    while reach < len(a):
        old = found[-1]
        new = list(old)
        for t in range(reach, len(a)):
            new[t] = (old[t][0] * old[t - reach][0], old[t - reach][0] * old[t][1] + old[t - reach][1])
        found.append(new)
        reach *= 2
    return found


# %% planted={"task": "ps3.2", "points": 2, "what": "wrong: hard-coded"}
def levels(a, b):
    if a == [2, 3]:
        return [[(2, 1), (3, 1)], [(2, 1), (6, 4)]]
    return [[(1, 1)] * 3, [(1, 1), (1, 2), (1, 2)], [(1, 1), (1, 2), (1, 3)]]


# %% planted={"task": "ps3.3", "points": 2, "what": "right: in closed form"}
def doubling_work(T):
    depth = (T - 1).bit_length()
    return depth * T - 2**depth + 1


# %% planted={"task": "ps3.3", "points": 0, "what": "wrong: every entry at every level"}
def doubling_work(T):
    return T * (T - 1).bit_length()


# %% planted={"task": "ps3.3", "points": 0, "what": "wrong: the loop's"}
def doubling_work(T):
    return T - 1


# %% planted={"task": "ps3.3", "points": 1, "what": "wrong: rounds the depth down"}
def doubling_work(T):
    depth = T.bit_length() - 1
    return depth * T - 2**depth + 1


# %% planted={"task": "ps3.3", "points": 1, "what": "wrong: rounded to a float"}
def doubling_work(T):
    depth = (T - 1).bit_length()
    return float(T) * depth - float(2**depth) + 1


# %% planted={"task": "ps3.3", "points": 1, "what": "wrong: counts one by one, too slow"}
def doubling_work(T):
    work, reach = 0, 1
    while reach < T:
        for _ in range(reach, T):
            work += 1
        reach *= 2
    return work


# %% planted={"task": "ps3.4", "points": 3, "what": "right: arrays"}
def accuracy_by_position(predictions, targets, asked):
    share = (np.array(predictions) == np.array(targets)).mean(axis=0)
    return tuple(float(s) if here else None for s, here in zip(share, asked))


# %% planted={"task": "ps3.4", "points": 0, "what": "wrong: by string"}
def accuracy_by_position(predictions, targets, asked):
    return [sum(g == w for g, w in zip(given, wanted)) / len(given) for given, wanted in zip(predictions, targets)]


# %% planted={"task": "ps3.4", "points": 1, "what": "wrong: a number where nothing is asked"}
def accuracy_by_position(predictions, targets, asked):
    return (np.array(predictions) == np.array(targets)).mean(axis=0)


# %% planted={"task": "ps3.4", "points": 1, "what": "wrong: hard-coded"}
def accuracy_by_position(predictions, targets, asked):
    return [0.5, 0.5]


# %% planted={"task": "ps3.4", "points": 0, "what": "wrong: in percent"}
def accuracy_by_position(predictions, targets, asked):
    share = 100 * (np.array(predictions) == np.array(targets)).mean(axis=0)
    return [s if here else None for s, here in zip(share.tolist(), asked)]


# %% planted={"task": "ps3.5", "points": 4, "what": "right: a queue, and the way back from the failure"}
from collections import deque


def first_failure(step, answers, M):
    came, queue = {(0, 0): None}, deque([(0, 0)])
    while queue:
        q, s = queue.popleft()
        for digit in range(M):
            there = (step[q][digit], (s + digit) % M)
            if answers[there[0]] != there[1]:
                word, at = [digit], (q, s)
                while came[at]:
                    at, before = came[at]
                    word.insert(0, before)
                return np.array(word)
            if there not in came:
                came[there] = ((q, s), digit)
                queue.append(there)


# %% planted={"task": "ps3.5", "points": 2, "what": "wrong: tries strings of up to 4 digits"}
import itertools


def first_failure(step, answers, M):
    for n in range(1, 5):
        for word in itertools.product(range(M), repeat=n):
            q = 0
            for digit in word:
                q = step[q][digit]
            if answers[q] != sum(word) % M:
                return word


# %% planted={"task": "ps3.5", "points": 0, "what": "wrong: never a failure"}
def first_failure(step, answers, M):
    return None


# %% planted={"task": "ps3.5", "points": 2, "what": "wrong: depth first, so not a shortest"}
def first_failure(step, answers, M):
    seen, stack = {(0, 0)}, [((0, 0), [])]
    while stack:
        (q, s), word = stack.pop()
        for digit in range(M):
            pair, longer = (step[q][digit], (s + digit) % M), word + [digit]
            if answers[pair[0]] != pair[1]:
                return longer
            if pair not in seen:
                seen.add(pair)
                stack.append((pair, longer))


# %% planted={"task": "ps3.5", "points": 0, "what": "wrong: asks each state when it first comes there, and never again"}
def first_failure(step, answers, M):
    seen, row = {0}, [(0, 0, [])]
    while row:
        new = []
        for q, s, word in row:
            for digit in range(M):
                there, total, longer = step[q][digit], (s + digit) % M, word + [digit]
                if there not in seen:
                    seen.add(there)
                    if answers[there] != total:
                        return longer
                    new.append((there, total, longer))
        row = new


# %% planted={"task": "ps3.5", "points": 4, "what": "right: one sum for each state, since another would be a failure"}
def first_failure(step, answers, M):
    sums, row = {0: 0}, [(0, ())]
    while row:
        new = []
        for q, word in row:
            for digit in range(M):
                there, total = step[q][digit], (sums[q] + digit) % M
                if answers[there] != total:
                    return word + (digit,)
                if there not in sums:
                    sums[there] = total
                    new.append((there, word + (digit,)))
        row = new


# %% planted={"task": "ps3.6", "points": 2, "what": "right: by counting up in powers"}
def counts_to(p):
    n = 1
    for _ in range(p):
        n += n
    return float(n)


# %% planted={"task": "ps3.6", "points": 0, "what": "wrong: the largest number of p bits"}
def counts_to(p):
    return 2**p - 1


# %% planted={"task": "ps3.6", "points": 1, "what": "wrong: hard-coded"}
def counts_to(p):
    return 2048


# %% planted={"task": "ps3.6", "points": 0, "what": "wrong: one digit is thought to be the sign's"}
def counts_to(p):
    return 2 ** (p - 1)
