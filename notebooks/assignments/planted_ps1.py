# Answers planted to test the tests of ps1: right ones in another style, wrong ones, and the points each must get.
# Not for students.  ``tests/support/rehearsal.py`` reads them; ``tests/lrnnbook/grading/test_course_sets.py`` grades every one.
# ruff: noqa: F811, F821

# %% planted={"task": "ps1.1", "points": 3, "what": "right: plain lists, the minus merged into the next digit's step"}
def state_after(A, digits, minus, operands):
    n = len(minus)

    def times(x):
        return [sum(A[i][j] * x[j] for j in range(n)) for i in range(n)]

    x = list(digits[operands[0]])
    for digit in operands[1:]:
        x = times([p + q for p, q in zip(times(x), minus)])
        x = [p + q for p, q in zip(x, digits[digit])]
    return tuple(x)


# %% planted={"task": "ps1.1", "points": 0, "what": "wrong: the minus is not read"}
def state_after(A, digits, minus, operands):
    x = np.zeros(len(minus))
    for digit in operands:
        x = np.array(A) @ x + digits[digit]
    return x


# %% planted={"task": "ps1.1", "points": 0, "what": "wrong: A after adding"}
def state_after(A, digits, minus, operands):
    A, x = np.array(A), np.zeros(len(minus))
    for place, digit in enumerate(operands):
        if place:
            x = A @ (x + minus)
        x = A @ (x + digits[digit])
    return x


# %% planted={"task": "ps1.1", "points": 1, "what": "wrong: transposed"}
def state_after(A, digits, minus, operands):
    A, x = np.array(A).T, np.zeros(len(minus))
    for place, digit in enumerate(operands):
        if place:
            x = A @ x + minus
        x = A @ x + digits[digit]
    return x


# %% planted={"task": "ps1.1", "points": 1, "what": "wrong: hard-coded"}
def state_after(A, digits, minus, operands):
    return [5] if operands == (2, 1, 2) else [271]


# %% planted={"task": "ps1.2", "points": 3, "what": "right: another pair, found by search"}
def collision(M, n):
    seen = {}
    for last in range(M):
        for first in range(M):
            word = [first] + [0] * (n - 2) + [last]
            other = seen.setdefault(first + last, word)
            if other != word:
                return np.array([other, word])


# %% planted={"task": "ps1.2", "points": 0, "what": "wrong: one state, and always one value"}
def collision(M, n):
    return (0,) * (n - 1) + (1,), (0,) * (n - 1) + (1,)


# %% planted={"task": "ps1.2", "points": 0, "what": "wrong: different states"}
def collision(M, n):
    return (1,) + (0,) * (n - 1), (2,) + (0,) * (n - 1)


# %% planted={"task": "ps1.2", "points": 1, "what": "wrong: hard-coded"}
def collision(M, n):
    return (4, 0), (0, 4)


# %% planted={"task": "ps1.2", "points": 0, "what": "wrong: a digit outside 0..M-1"}
def collision(M, n):
    return (M, 0) + (0,) * (n - 2), (0, M) + (0,) * (n - 2)


# %% planted={"task": "ps1.3", "points": 3, "what": "right: by counting, with fractions"}
from fractions import Fraction


def sum_states(M, n):
    return Fraction(1) + sum(Fraction(M - 1) for _ in range(n)) if n < 1000 else Fraction(n * (M - 1) + 1)


def sum_bits(M, n):
    return len(f"{int(sum_states(M, n)) - 1:b}") if int(sum_states(M, n)) > 1 else 0


# %% planted={"task": "ps1.3", "points": 0, "what": "wrong: off by one"}
def sum_states(M, n):
    return n * (M - 1)


def sum_bits(M, n):
    return (n * (M - 1) + 1).bit_length()


# %% planted={"task": "ps1.3", "points": 0, "what": "wrong: nearly a whole number"}
def sum_states(M, n):
    return n * (M - 1) + 1.0000001


def sum_bits(M, n):
    return (n * (M - 1)).bit_length()


# %% planted={"task": "ps1.3", "points": 1, "what": "wrong: a logarithm, wrong at powers of two"}
def sum_states(M, n):
    return n * (M - 1) + 1


def sum_bits(M, n):
    return int(np.ceil(np.log2(n * (M - 1))))


# %% planted={"task": "ps1.3", "points": 1, "what": "wrong: hard-coded"}
def sum_states(M, n):
    return 2001


def sum_bits(M, n):
    return 11


# %% planted={"task": "ps1.4", "points": 3, "what": "right: longer words"}
def killer_words(n):
    return ["ab", "ab" * 2 + "a", "b", "aabb" if n > 1 else "abab"]


def harmless_words(n):
    return ["ab", "a", "b", ""]


# %% planted={"task": "ps1.4", "points": 0, "what": "wrong: both words are in the language"}
def killer_words(n):
    return "", "ab", "ab", "ab"


def harmless_words(n):
    return "", "a", "b", ""


# %% planted={"task": "ps1.4", "points": 0, "what": "wrong: w lacks a letter"}
def killer_words(n):
    return "", "a", "b", ""


def harmless_words(n):
    return "", "a", "b", ""


# %% planted={"task": "ps1.4", "points": 1, "what": "wrong: two deep, so not for n = 1"}
def killer_words(n):
    return "", "aab", "b", "ab"


def harmless_words(n):
    return "", "a", "b", ""


# %% planted={"task": "ps1.4", "points": 1, "what": "wrong: the hypothesis is not broken"}
def killer_words(n):
    return "", "a", "b", "ab"


def harmless_words(n):
    return "", "a", "b", "ab"


# %% planted={"task": "ps1.5", "points": 4, "what": "right: roots of unity, turned the other way, from another start"}
def turns(M):
    roots = [np.exp(-2j * np.pi * s / M) for s in range(M)]
    return [3.0, 4.0], [[[z.real, -z.imag], [z.imag, z.real]] for z in roots]


# %% planted={"task": "ps1.5", "points": 4, "what": "right: in 32 bits, as torch has it"}
import torch


def turns(M):
    a = 2 * torch.pi * torch.arange(M) / M
    rows = torch.stack([a.cos(), -a.sin()], -1), torch.stack([a.sin(), a.cos()], -1)
    return torch.tensor([1.0, 0.0]), torch.stack(rows, -2)


# %% planted={"task": "ps1.5", "points": 0, "what": "wrong: complex numbers where real ones are asked"}
def turns(M):
    return [1.0, 1.0], [np.diag([np.exp(2j * np.pi * s / M), 1]) for s in range(M)]


# %% planted={"task": "ps1.5", "points": 0, "what": "wrong: a turn by s radians"}
def turns(M):
    return [1.0, 0.0], [[[np.cos(s), -np.sin(s)], [np.sin(s), np.cos(s)]] for s in range(M)]


# %% planted={"task": "ps1.5", "points": 0, "what": "wrong: the start is the centre"}
def turns(M):
    angles = 2 * np.pi * np.arange(M) / M
    return [0.0, 0.0], [[[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]] for a in angles]


# %% planted={"task": "ps1.5", "points": 2, "what": "wrong: hard-coded for M = 5"}
def turns(M):
    angles = 2 * np.pi * np.arange(5) / 5
    return [1.0, 0.0], [[[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]] for a in angles]


# %% planted={"task": "ps1.5", "points": 2, "what": "wrong: angles rounded, so that long strings drift"}
def turns(M):
    angles = np.round(2 * np.pi * np.arange(M) / M, 4)
    return [1.0, 0.0], [[[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]] for a in angles]
