"""What the contracts of chapter 03 are tried on: right ones of another style, and wrong ones with a word of what they are told."""

import torch


def doubling(a, b, x0, *, a_first=False, start=True, rounded=False, shifts=99):
    T = b.shape[1]
    if rounded and T & (T - 1):
        more = (1 << T.bit_length()) - T
        a, b = (torch.cat([one, one.new_zeros(len(one), more, one.shape[2])], 1) for one in (a, b))
    if start:
        b = torch.cat([a[:, :1] * x0[:, None] + b[:, :1], b[:, 1:]], 1)
    shift = 1
    while shift < b.shape[1] and shift <= shifts:
        longer = torch.cat([a[:, :shift], a[:, shift:] * a[:, :-shift]], 1)
        by = longer if a_first else a
        b = torch.cat([b[:, :shift], by[:, shift:] * b[:, :-shift] + b[:, shift:]], 1)
        a, shift = longer, 2 * shift
    return b


def halves(a, b, x0):
    """Evens from odds, recursively: as few rounds, less work."""

    def states(a, b):  # from the start 0
        T = a.shape[1]
        if T == 1:
            return b
        even = T // 2 * 2
        inner = states(a[:, 1:even:2] * a[:, 0:even:2], a[:, 1:even:2] * b[:, 0:even:2] + b[:, 1:even:2])
        before = torch.cat([torch.zeros_like(b[:, :1]), inner], 1)[:, : (T + 1) // 2]
        outer = a[:, 0::2] * before + b[:, 0::2]
        return torch.stack([outer[:, : T // 2], inner], 2).flatten(1, 2) if T == even else torch.cat(
            [torch.stack([outer[:, :-1], inner], 2).flatten(1, 2), outer[:, -1:]], 1)  # fmt: skip

    return states(torch.cat([x0.new_zeros(len(x0), 1, x0.shape[1]), a], 1), torch.cat([x0[:, None], b], 1))[:, 1:]


def padded(a, b, x0):
    """Rolls and masks in place of slices."""
    b, where, shift = torch.cat([a[:, :1] * x0[:, None] + b[:, :1], b[:, 1:]], 1), torch.arange(b.shape[1]), 1
    while shift < b.shape[1]:
        there = (where >= shift)[None, :, None]
        b = b + torch.where(there, a * b.roll(shift, 1), 0)
        a = torch.where(there, a * a.roll(shift, 1), a)
        shift *= 2
    return b


def loop(a, b, x0):
    x, states = x0, []
    for t in range(a.shape[1]):
        x = a[:, t] * x + b[:, t]
        states.append(x)
    return torch.stack(states, 1)


def in_place(a, b, x0):
    with torch.no_grad():
        b[:, 0] += a[:, 0] * x0
    return doubling(a, b, x0, start=False)


def over_the_gates(a, b, x0):
    a *= 1
    return doubling(a, b, x0)


RIGHT = {"doubling_scan": [halves, padded]}
WRONG = {"doubling_scan": [
    (lambda a, b, x0: doubling(a, b, x0, a_first=True), "T = 2"), (lambda a, b, x0: doubling(a, b, x0, rounded=True), "the states have the shape (1, 4, 1), and should"),
    (lambda a, b, x0: doubling(a, b, x0, start=False), "T = 1"), (loop, "nine rounds are enough"), (in_place, "has been changed"),
    (lambda a, b, x0: doubling(a, b, x0, shifts=4), "T = 13"), (lambda a, b, x0: doubling(a, b.detach(), x0), "the gradient of b"), (over_the_gates, "it writes into what it was given"),
    (lambda a, b, x0: doubling(a.real, b.real, x0.real).to(a.dtype), "complex"), (lambda a, b, x0: doubling(a, b, x0)[0], "the states have the shape"),
]}  # fmt: skip
