"""What the contracts of chapter 08 are tried on: right ones of another style, and wrong ones with a word of what they are told."""

import numpy as np
import torch


def chunked(row, C):
    return [row[start : start + C] for start in range(0, len(row), C)]


def fold(layer, chunk):
    made = chunk[0]
    for later in chunk[1:]:
        made = layer(made, later)
    return made


def relu_units(A, B):  # Lemma 1: errors go through
    return np.maximum(A[:, :, None] + B - 1, 0).sum(1)


def ramp_units(A, B):
    return np.clip(2 * (A[:, :, None] + B - 1) - 0.5, 0, 1).sum(1)


def by_recursion(leaves, C, merge):
    if len(leaves) == 1:
        return []
    full = [np.eye(len(leaves[0]))] * (-len(leaves) % C) + list(leaves)
    row = [merge(chunk) for chunk in chunked(full, C)]
    return [row, *by_recursion(row, C, merge)]


def filled(leaves, C, merge, before, behind=False):
    row, rows = list(leaves), []
    while len(row) > 1:
        more = [before] * (-len(row) % C)
        row = [merge(chunk) for chunk in chunked(row + more if behind else more + row, C)]
        rows.append(row)
    return rows


def for_ever(leaves, C, merge):
    row = [np.eye(len(leaves[0]))] + list(leaves)
    while len(row) > 1:
        row = [merge(row[:C])] + row[1:]


RIGHT = {
    "merge": [
        lambda chunk: fold(ramp_units, chunk),
        lambda chunk: fold(np.matmul, [np.round(one) for one in chunk]),
        lambda chunk: fold(ramp_units, [chunk[0], fold(ramp_units, chunk[1:])]),
    ],
    "tree": [
        by_recursion,
        lambda leaves, C, merge: tuple(torch.tensor(np.array(row)) for row in by_recursion(leaves, C, merge)),
    ],
}
WRONG = {
    "merge": [
        (lambda chunk: fold(relu_units, chunk), "each entry off by an eighth: you return"),
        (lambda chunk: fold(lambda A, B: ramp_units(B, A), chunk), "and the node should be"),
        (lambda chunk: fold(ramp_units, chunk[:2]), "and the node should be"),
        (lambda chunk: chunk[0], "the chunk [[1, 0], [0, 1]], [[0, 1], [1, 0]]: you return [[1.0, 0.0], [0.0, 1.0]]"),
        (lambda chunk: fold(np.matmul, chunk), "each entry off by an eighth"),
        (np.eye(2), "a function is asked for"), (lambda chunk: fold(ramp_units, chunk).tolist(), "make it an array"),
    ],
    "tree": [
        (lambda leaves, C, merge: filled(leaves, C, merge, np.zeros((len(leaves[0]),) * 2)),
         "Parity, C = 2, the word 100: at depth 0 the node over 1 should be [[0, 1], [1, 0]], what this word does (before it comes"),
        (lambda leaves, C, merge: filled(leaves, C, merge, np.eye(len(leaves[0])), behind=True), "at depth 0 the node over 1 should be"),
        (lambda leaves, C, merge: by_recursion(leaves[::-1], C, merge), "the node over"),
        (lambda leaves, C, merge: by_recursion(leaves, 2, merge), "S_3, C = 3"),
        (lambda leaves, C, merge: by_recursion(leaves, C, merge)[-1], "depth 0 should be real numbers of shape"),
        (lambda leaves, C, merge: by_recursion(leaves, C, lambda chunk: fold(np.matmul, chunk)), "is never called"),
        ("a tree", "a function is asked for"), (for_ever, "merge was called 10,000 times, and the root is not reached"),
        (lambda leaves, C, merge: [[node.tolist() for node in row] for row in by_recursion(leaves, C, merge)], "make it an array"),
        (lambda leaves, C, merge: by_recursion(leaves, C, lambda chunk: merge(one for one in chunk)), "merge takes a list of C = 2 matrices"),
    ],
}
