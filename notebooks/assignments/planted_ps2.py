# Answers planted to test the tests of ps2: right ones in another style, wrong ones, and the points each must get.
# Not for students.  ``tests/support/rehearsal.py`` reads them; ``tests/lrnnbook/grading/test_course_sets.py`` grades every one.
# ruff: noqa: F811, F821

# %% planted={"task": "ps2.1", "points": 3, "what": "right: plain Python, column by column"}
def column_norms(A, p):
    columns = list(zip(*A))
    if p == float("inf"):
        return tuple(max(map(abs, column)) for column in columns)
    return tuple(sum(abs(x) ** p for x in column) ** (1 / p) for column in columns)


# %% planted={"task": "ps2.1", "points": 0, "what": "wrong: rows"}
def column_norms(A, p):
    return np.linalg.norm(np.array(A, dtype=float), p, axis=1)


# %% planted={"task": "ps2.1", "points": 1, "what": "wrong: the sign shows"}
def column_norms(A, p):
    return [sum(x**p for x in column) ** (1 / p) for column in zip(*A)]


# %% planted={"task": "ps2.1", "points": 1, "what": "wrong: no infinity"}
def column_norms(A, p):
    return (np.abs(np.array(A)) ** p).sum(0) ** (1 / p)


# %% planted={"task": "ps2.1", "points": 1, "what": "wrong: hard-coded"}
def column_norms(A, p):
    return [5, 1] if p == 2 else [7, 1]


# %% planted={"task": "ps2.2", "points": 3, "what": "right: in place, with torch"}
import torch


def clip_columns(A, p):
    A = torch.tensor(A, dtype=torch.float64)
    for j in range(A.shape[1]):
        length = torch.linalg.vector_norm(A[:, j], p)
        if length > 1:
            A[:, j] /= length
    return A


# %% planted={"task": "ps2.2", "points": 0, "what": "wrong: short columns are stretched"}
def clip_columns(A, p):
    A = np.array(A, dtype=float)
    return A / (np.abs(A) ** p).sum(0) ** (1 / p)


# %% planted={"task": "ps2.2", "points": 0, "what": "wrong: the whole block is divided by its longest column"}
def clip_columns(A, p):
    A = np.array(A, dtype=float)
    return A / max(1, ((np.abs(A) ** p).sum(0) ** (1 / p)).max())


# %% planted={"task": "ps2.2", "points": 1, "what": "wrong: always the 2-norm"}
def clip_columns(A, p):
    A = np.array(A, dtype=float)
    return A / np.maximum(1, np.sqrt((A**2).sum(0)))


# %% planted={"task": "ps2.2", "points": 1, "what": "wrong: hard-coded"}
def clip_columns(A, p):
    return [[0.6, 0.5], [0.8, 0]]


# %% planted={"task": "ps2.3", "points": 4, "what": "right: signs changed by a diagonal matrix, which keeps norms"}
def growing_block(p, b):
    signs = [(-1) ** i for i in range(b)]
    return [[signs[i] * signs[j] * b ** (-1 / p) for j in range(b)] for i in range(b)]


# %% planted={"task": "ps2.3", "points": 0, "what": "wrong: the identity does not grow"}
def growing_block(p, b):
    return np.eye(b)


# %% planted={"task": "ps2.3", "points": 0, "what": "wrong: columns too long"}
def growing_block(p, b):
    return np.ones((b, b))


# %% planted={"task": "ps2.3", "points": 2, "what": "wrong: hard-coded"}
def growing_block(p, b):
    return [[0.5**0.5, 0.5**0.5], [0.5**0.5, 0.5**0.5]]


# %% planted={"task": "ps2.3", "points": 0, "what": "wrong: an imaginary part, which does not count"}
def growing_block(p, b):
    return np.full((b, b), b ** (-1 / p)) + 5j


# %% planted={"task": "ps2.3", "points": 0, "what": "wrong: not a number"}
def growing_block(p, b):
    return np.full((b, b), np.nan)


# %% planted={"task": "ps2.4", "points": 3, "what": "right: with log2, and a loop at the end"}
def overflow_step(p, b):
    if p == 1 or b == 1:
        return None
    bits = np.log2(float((2**24 - 1) * 2**104))
    step = int(bits / ((1 - 1 / p) * np.log2(b))) - 1
    while step * (1 - 1 / p) * np.log2(b) <= bits:
        step += 1
    return step


# %% planted={"task": "ps2.4", "points": 0, "what": "wrong: off by one"}
def overflow_step(p, b):
    rate = (1 - 1 / p) * math.log(b)
    return math.floor(math.log((2**24 - 1) * 2**104) / rate) if rate > 0 else None


# %% planted={"task": "ps2.4", "points": 1, "what": "wrong: divides by zero where nothing grows"}
def overflow_step(p, b):
    return math.floor(math.log((2**24 - 1) * 2**104) / ((1 - 1 / p) * math.log(b))) + 1


# %% planted={"task": "ps2.4", "points": 1, "what": "wrong: hard-coded"}
def overflow_step(p, b):
    return 256


# %% planted={"task": "ps2.4", "points": 0, "what": "wrong: no whole step"}
def overflow_step(p, b):
    rate = (1 - 1 / p) * math.log(b)
    return math.floor(math.log((2**24 - 1) * 2**104) / rate) + 1.0001 if rate > 0 else None


# %% planted={"task": "ps2.4", "points": 0, "what": "wrong: the exponent is 1/p"}
def overflow_step(p, b):
    return math.floor(math.log((2**24 - 1) * 2**104) / (math.log(b) / p)) + 1 if p > 1 < b else None


# %% planted={"task": "ps2.5", "points": 3, "what": "right: by repeated squaring of the affine map"}
def norm_after(gamma, trace, start, t):
    scale, shift, result = gamma * gamma, trace, start
    while t:
        if t & 1:
            result = scale * result + shift
        scale, shift, t = scale * scale, scale * shift + shift, t >> 1
    return result


# %% planted={"task": "ps2.5", "points": 1, "what": "wrong: a loop, too slow for many steps"}
def norm_after(gamma, trace, start, t):
    while t:
        start, t = gamma * gamma * start + trace, t - 1
    return start


# %% planted={"task": "ps2.5", "points": 0, "what": "wrong: gamma where its square belongs"}
def norm_after(gamma, trace, start, t):
    return gamma**t * start + trace * (t if gamma == 1 else (1 - gamma**t) / (1 - gamma))


# %% planted={"task": "ps2.5", "points": 0, "what": "wrong: the start is forgotten"}
def norm_after(gamma, trace, start, t):
    return trace * (t if gamma == 1 else (1 - gamma ** (2 * t)) / (1 - gamma**2))


# %% planted={"task": "ps2.5", "points": 1, "what": "wrong: divides by zero without decay"}
def norm_after(gamma, trace, start, t):
    return gamma ** (2 * t) * start + trace * (1 - gamma ** (2 * t)) / (1 - gamma**2)


# %% planted={"task": "ps2.6", "points": 2, "what": "right: as what is lacking"}
def drive(gamma, trace, c):
    lost = c - gamma * gamma * c
    return lost / trace


# %% planted={"task": "ps2.6", "points": 1, "what": "wrong: as printed"}
def drive(gamma, trace, c):
    return (1 - c * gamma**2) / trace


# %% planted={"task": "ps2.6", "points": 1, "what": "wrong: c is forgotten"}
def drive(gamma, trace, c):
    return (1 - gamma**2) / trace


# %% planted={"task": "ps2.6", "points": 0, "what": "wrong: xi and not its square"}
def drive(gamma, trace, c):
    return (c * (1 - gamma**2) / trace) ** 0.5
