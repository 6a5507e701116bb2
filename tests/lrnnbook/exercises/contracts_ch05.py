"""Chapter 05's builds: right answers of different style, and wrong ones with a part of what they are told."""

import numpy as np

from lrnnbook.content.exercises.ch05 import fit_weights, kernel


def table(nodes, L):
    return np.array(nodes) ** np.arange(L)[:, None]


def ring(K, u, n):
    return np.fft.irfft(np.fft.rfft(K, n) * np.fft.rfft(u, n), n)[: len(u)]


def stepped(nodes, weights, L):
    """The recurrence's answer to a single 1."""
    x, taps = np.ones(len(nodes), complex), []
    for _ in range(L):
        taps.append(sum(w * one for w, one in zip(weights, x)).real)
        x = x * nodes
    return np.array(taps)


def with_mirrors(nodes, wanted):
    both = np.concatenate([nodes, np.conj(nodes)])
    return 2 * np.linalg.lstsq(table(both, len(wanted)), wanted, rcond=None)[0][: len(nodes)]


def by_parts(nodes, wanted, sign=-1):
    both = np.hstack([table(nodes, len(wanted)).real, sign * table(nodes, len(wanted)).imag])
    found = np.linalg.pinv(both, rcond=1e-10) @ wanted
    return np.array([complex(*pair) for pair in zip(found[: len(nodes)], found[len(nodes) :])])


RIGHT = {
    "kernel": [stepped, lambda nodes, w, L: np.einsum("n,ln->l", w, np.vander(nodes, L, increasing=True).T).real],
    "convolve": [lambda K, u: ring(K, u, 2 * len(u) - 1), lambda K, u: np.convolve(K, u)[: len(u)].tolist()],
    "fit_weights": [with_mirrors, by_parts],
}
WRONG = {
    "kernel": [
        (lambda nodes, w, L: kernel(nodes, w * nodes, L), "the kernel is"),
        (lambda nodes, w, L: kernel(nodes, w, L).tolist(), "an array is asked for"),
        (lambda nodes, w, L: np.abs(table(nodes, L) @ w), "the kernel is"),
        (lambda nodes, w, L: table(nodes, L) @ w, "should be real numbers"),
    ],
    "convolve": [
        (lambda K, u: ring(K, u, len(u)), "the output at 0 is"),
        (lambda K, u: np.fft.irfft(np.fft.rfft(K) * np.fft.rfft(u)), "T = 3"),
        (lambda K, u: np.convolve(K, u), "T = 3"),
        (lambda K, u: K * u, "the output at"),
    ],
    "fit_weights": [
        (lambda nodes, wanted: np.linalg.lstsq(table(nodes, len(wanted)), wanted, rcond=None)[0], "your weights miss it by"),  # without the cast
        (lambda nodes, wanted: [*by_parts(nodes, wanted)], "an array is asked for"),
        (lambda nodes, wanted: by_parts(nodes, wanted, sign=1), "your weights miss it by"),
        (lambda nodes, wanted: fit_weights(nodes, wanted).real, "your weights miss it by"),
    ],
}
