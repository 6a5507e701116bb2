"""Where the states, arrows and labels of a drawn automaton go.  Points in, points out; all lengths in inches.

States are on a circle, so no straight arrow between two of them can pass under a third.

Letters: Q states, V tokens, N points of a curve.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lrnnbook.content.show.style import PAGE
from lrnnlab.automata import MooreMachine

Edge = tuple[int, int]
MAX_STATES_DRAWN = 16  # states: more cannot be read on a page
ALONG = np.linspace(0, 1, 241)[:, None]  # where a curve is sampled


@dataclass(frozen=True)
class Plan:
    """A machine laid out: everything that :mod:`lrnnbook.content.show.automaton_figures` draws."""

    centres: np.ndarray
    size: float
    curves: dict[Edge, np.ndarray]
    entry: np.ndarray
    labels: dict[Edge, str]
    at: dict[Edge, np.ndarray]
    boxes: dict[Edge, np.ndarray]
    low: np.ndarray
    high: np.ndarray


def lay_out(machine: MooreMachine) -> Plan:
    """Lay out a machine; ValueError for more than 16 states."""
    if machine.num_states > MAX_STATES_DRAWN:
        raise ValueError(f"a diagram has room for {MAX_STATES_DRAWN} states, this machine has {machine.num_states}")
    labels = edge_labels(machine)
    size = max(0.19, 0.035 * max(map(len, machine.names)) + 0.07)
    joined = len({tuple(sorted(edge)) for edge in labels if edge[0] != edge[1]}) * 2 / machine.num_states
    apart = 2 * size + (0.35 + 0.24 * joined)  # from one state to the next on the circle
    widest = PAGE / 2 - size - 0.75  # with loops and their labels, this fills a page
    centres = place_states(machine, min(max(apart * machine.num_states / (2 * np.pi), 0.55), widest))
    bend = min(0.4, 0.75 / max(joined, 1))  # radians; more, and arrows from one state would cross
    curves = {(i, j): loop(centres[i], size) if i == j else
              arrow(centres[i], centres[j], size, bend if (j, i) in labels else 0.0) for i, j in labels}
    entry = entry_arrow(machine, centres, curves, size)
    boxes = {edge: np.array([0.04 * len(label) + 0.02, 0.075]) for edge, label in labels.items()}
    at = place_labels(curves, boxes, entry, centres, size)
    corners = [centres - size, centres + size, entry, *curves.values(),
               *(at[edge] + side * boxes[edge] for edge in at for side in np.array([[[-1, -1]], [[1, 1]]]))]
    covered = np.concatenate(corners)
    return Plan(centres, size, curves, entry, labels, at, boxes, covered.min(0), covered.max(0))


def edge_labels(machine: MooreMachine) -> dict[Edge, str]:
    """(from, to) -> its tokens as one label, "0,3": runs of three or more are "1…4", all but one of four or more tokens
    "not 3", all of three or more "any"."""
    tokens: dict[Edge, list[int]] = {}
    for token, state in np.ndindex(machine.transitions.shape):
        tokens.setdefault((state, int(machine.transitions[token, state])), []).append(token)
    return {edge: _label(found, machine.symbols) for edge, found in sorted(tokens.items())}


def _label(tokens: Sequence[int], symbols: Sequence[str]) -> str:
    if len(tokens) == len(symbols) > 2:
        return "any"
    if len(tokens) == len(symbols) - 1 > 2:
        return "not " + next(symbol for token, symbol in enumerate(symbols) if token not in tokens)
    parts = []
    for tokens_in_a_row in np.split(tokens, np.flatnonzero(np.diff(tokens) > 1) + 1):
        run = [symbols[token] for token in tokens_in_a_row]
        parts += [f"{run[0]}…{run[-1]}"] if len(run) > 2 else run
    return ",".join(parts)


def circle_order(machine: MooreMachine, states: Sequence[int]) -> list[int]:
    """``states`` in an order around a circle that keeps arrows short; a machine that counts comes out in order."""
    number = {state: i for i, state in enumerate(states)}
    n, weight = len(number), np.zeros((len(number), len(number)))
    for token, state in np.ndindex(machine.transitions.shape):
        ends = number.get(state), number.get(int(machine.transitions[token, state]))
        if None not in ends:
            weight[ends] += 1 / (token + 2)
    chord = np.sin(np.pi * np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / max(n, 1))

    def cost(order):
        return float((weight[np.ix_(order, order)] * chord).sum())

    order, best = _depth_first(machine, number), None
    while best is None or cost(order) < best - 1e-9:
        best = cost(order)
        for i in range(n):
            for j in range(i + 1, n):
                swapped = [*order[:i], order[j], *order[i + 1:j], order[i], *order[j + 1:]]
                turned = [*order[:i], *reversed(order[i:j + 1]), *order[j + 1:]]
                order = min((order, swapped, turned), key=lambda found: (round(cost(found), 9), found is not order))
    first = order.index(0)
    order = order[first:] + order[:first]
    return [states[i] for i in order]


def _depth_first(machine, number):
    order, stack = [], [*reversed(number), machine.initial]
    while stack:
        state = stack.pop()
        if state not in order:
            order.append(state)
            stack += reversed(machine.transitions[:, state].tolist())
    return [number[state] for state in order if state in number]


def place_states(machine: MooreMachine, radius: float) -> np.ndarray:
    """(Q, 2) centres around (0, 0).  An initial state that is never entered again is in the middle of four or more."""
    states = list(range(machine.num_states))
    alone = not (machine.transitions == machine.initial).any() and len(states) > 4
    ring = circle_order(machine, [s for s in states if not (alone and s == machine.initial)])
    centres = np.zeros((len(states), 2))
    if len(states) > 1:
        angles = np.pi / 2 - 2 * np.pi * np.arange(len(ring)) / len(ring) + (np.pi / 2 if len(ring) == 2 else 0)
        centres[ring] = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return centres


def arrow(start: np.ndarray, end: np.ndarray, size: float, bend: float) -> np.ndarray:
    """(N, 2) points from the rim of one state to that of another, leaving ``bend`` radians left of the straight way."""
    way = end - start
    middle = (start + end) / 2 + math.tan(bend) / 2 * np.array([-way[1], way[0]])
    points = (1 - ALONG) ** 2 * start + 2 * ALONG * (1 - ALONG) * middle + ALONG**2 * end
    outside = (np.linalg.norm(points - start, axis=1) > size) & (np.linalg.norm(points - end, axis=1) > size + 0.01)
    return points[outside]


def loop(centre: np.ndarray, size: float) -> np.ndarray:
    """(N, 2) points of an arrow from a state's rim to itself, on the side away from (0, 0)."""
    pull, far = 0.42, math.hypot(*centre)
    outward = centre / far if far > 1e-9 else np.array([0.0, 1.0])
    aside, half = np.array([-outward[1], outward[0]]), min(0.11, 0.7 * size)
    up = math.sqrt(size**2 - half**2)
    start, end = (centre + up * outward + side * half * aside for side in (1, -1))
    away, back = (point + pull * outward + side * pull / 3 * aside for point, side in ((start, 1), (end, -1)))
    points = ((1 - ALONG) ** 3 * start + 3 * ALONG * (1 - ALONG) ** 2 * away + 3 * ALONG**2 * (1 - ALONG) * back
              + ALONG**3 * end)
    return points[np.linalg.norm(points - centre, axis=1) > size + 0.01]


def entry_arrow(machine: MooreMachine, centres: np.ndarray, curves: Mapping[Edge, np.ndarray],
                size: float) -> np.ndarray:  # fmt: skip
    """(N, 2) points of the short arrow to the initial state, from where it is farthest from all other arrows."""
    at = centres[machine.initial]
    far = math.hypot(*at)
    turns = np.linspace(0, 2 * np.pi, 72, endpoint=False) if far < 1e-9 else \
        math.atan2(at[1], at[0]) + np.linspace(1.3, -1.3, 27)
    ways = np.stack([np.cos(turns), np.sin(turns)], axis=1)[:, None]
    lines = at + ways * np.linspace(size + 0.35, size + 0.01, 40)[:, None]  # (turns, N, 2)
    others = np.delete(centres, machine.initial, axis=0)
    taken = np.concatenate([others, *(curve[::4] for curve in curves.values())])
    gaps = np.linalg.norm(lines[:, :36:5, None] - taken, axis=-1).min(2)  # (turns, points)
    return lines[int(np.argmax(np.minimum(gaps, 0.3).mean(1)))]  # the mean: better to cross one than to run beside it


def place_labels(curves: Mapping[Edge, np.ndarray], boxes: Mapping[Edge, np.ndarray], entry: np.ndarray,
                 centres: np.ndarray, size: float) -> dict[Edge, np.ndarray]:
    """(from, to) -> centre of its label: on its own arrow, as far as can be from other arrows, states and labels."""
    at = {edge: curve[len(curve) // 2] for edge, curve in curves.items()}
    for (i, j), apex in at.items():
        if i == j:  # beyond the apex, by as much of the box as lies in that direction
            outward = (apex - centres[i]) / np.linalg.norm(apex - centres[i])
            at[i, j] = apex + outward * (np.abs(outward) @ boxes[i, j] + 0.04)
    moving = sorted((edge for edge in curves if edge[0] != edge[1]), key=lambda edge: len(curves[edge]))
    places = np.linspace(0.2, 0.8, 17)
    for edge in moving * 2:  # two rounds: in the second, every label sees where the others went
        rest = [other for other in curves if other != edge]
        lines = np.concatenate([entry[::5], *(curves[other][::8] for other in rest)])
        points = np.concatenate([lines, centres, *(at[other][None] for other in rest)])  # (N, 2)
        grown = np.concatenate([np.zeros((len(lines) + len(centres), 2)), *(boxes[other][None] for other in rest)])
        round_ = np.repeat([0, size, 0], [len(lines), len(centres), len(rest)])
        choices = curves[edge][(places * (len(curves[edge]) - 1)).astype(int)]  # (K, 2)
        gaps = _outside(points - choices[:, None], boxes[edge] + grown) - round_  # (K, N)
        room = np.minimum(gaps.min(1), 0.12)  # more than enough is enough: then rather in the middle
        at[edge] = choices[int(np.argmax(room - 0.03 * np.abs(places - 0.5)))]
    return at


def _outside(offsets, box):
    """Distance of points (..., 2), relative to its centre, from a box (half width, half height); negative inside."""
    x, y = np.moveaxis(np.abs(offsets) - box, -1, 0)
    return np.hypot(np.maximum(x, 0), np.maximum(y, 0)) + np.minimum(np.maximum(x, y), 0)
