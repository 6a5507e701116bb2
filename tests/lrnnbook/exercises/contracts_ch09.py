"""What the contract of chapter 09 is tried on: right ones of another style, and wrong ones with a word of what they are told."""

import numpy as np


def by_matrix(W, k, v, beta):
    return W @ (np.eye(len(k)) - beta * np.outer(k, k)) + beta * np.outer(v, k)


RIGHT = {
    "delta_step": [
        lambda W, k, v, beta: W + beta * (v - W @ k)[:, None] * k,
        lambda W, k, v, beta: W - beta * np.outer(W @ k, k) + beta * np.outer(v, k),
    ],
}
WRONG = {
    "delta_step": [
        (lambda W, k, v, beta: W + beta * np.outer(v, k), "W = [[2.0, 0.0]], k = [1.0, 0.0], v = [3.0], beta = 0.5: you return [[3.5, 0.0]]"),
        (lambda W, k, v, beta: W + np.outer(v - W @ k, k), "it should be [[2.5, 0.0]]"),
        (lambda W, k, v, beta: W - beta * np.outer(v - W @ k, k), "it should be [[3.0, 0.0]]"),
        (lambda W, k, v, beta: beta * np.outer(v - W @ k, k), "it should be [[2.5, 0.0]]"),
        (lambda W, k, v, beta: by_matrix(W, k, v, beta).T, "W should be numbers of shape (1, 2)"),
        (by_matrix, "somewhere it makes a matrix n x n"),
        (lambda W, k, v, beta: W - beta * W @ np.outer(k, k) + beta * np.outer(v, k), "somewhere it makes a matrix n x n"),
        (lambda W, k, v: W, "raised TypeError"), (lambda *given: by_matrix(*given).tolist(), "W is an array"),
        (lambda W, k, v, beta: v, "W should be numbers of shape (1, 2)"),
    ],
}
