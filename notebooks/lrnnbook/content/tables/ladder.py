"""Every model on every machine: which recurrent rule can learn a finite automaton, and keep it past what it saw?

What its rows and metrics are, and what differs from the paper, is said in ``ladder_models_x_tasks.yaml``.

Letters: T time, V tokens, Q states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lrnnbook.content.tables.lrnn_fading import first_below, look
from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.automata.languages import language
from lrnnlab.expressivity.prediction import predict
from lrnnlab.expressivity.robustness import Counterexample
from lrnnlab.models import Net, build
from lrnnlab.tasks import TASKS, Batch, ModArith, StateTracking, Task
from lrnnlab.tasks.batch import answered
from lrnnlab.training import deterministic, rng
from lrnnlab.training.evaluation import at_rest
from lrnnlab.training.loop import ResumableSource, Trained, train
from lrnnlab.verification.black_box import answers

LENGTH, FAR, WINDOW, KNOWN = 40, 500, 10, 0.99
LOOK = {"strings": 128, "length": FAR, "window": WINDOW, "accuracy": KNOWN, "quantile": 0.99, "fits": ((10, 100),)}
BACK = (0.7, 0.9)  # a net that falls below the first and rises above the second aliases

FAMILY: dict[str, tuple[str, int | None]] = {  # row: the family of its transitions that is predicted, and its size
    **dict.fromkeys(("block_softmax", "one_hot"), ("blocks", 8)), "block_clip": ("blocks, clipped", 8),
    "pd": ("one-hot columns, phases", None),
    **dict.fromkeys(("diagonal_positive", "mamba2"), ("non-negative", None)), "diagonal_signed": ("signed", None),
    **dict.fromkeys(("diagonal_complex", "diagonal_unit", "phases"), ("complex", None)),
    **dict.fromkeys(("rwkv", "liquid_s4", "sgconv"), ("fading", None)), "ult": ("sums", None), "regulargpt": ("tree", None),
    **dict.fromkeys(("vanilla", "s4", "s4d", "rotrnn", "lru", "s5", "dlr", "dss"), ("constant", None)),
    **dict.fromkeys(("deltanet", "gated_deltanet"), ("reflection, beta <= 1", None)),
    **dict.fromkeys(("deltanet_negative", "gated_deltanet_negative"), ("reflection", None)),
    **dict.fromkeys(("rwkv7", "rwkv7_slower"), ("diagonal minus rank one", None)),
    "product_2": ("reflections", 2), "product_3": ("reflections", 3), "dictionary": ("dictionary", None),
    **dict.fromkeys(("lstm", "elman", "relu_rnn", "recurrent_delta"), ("non-linear", None)),
    **dict.fromkeys(("transformer", "attention", "alibi_transformer", "nlt"), ("attention", None)),
}  # fmt: skip
DEEP = " x2"  # ends the names of rows of two layers
DEPTH: dict[str, int] = {}  # of rows of one's own: how many layers


def _tracked(name: str) -> Callable[[], Task]:
    """The states of a language's machine."""
    return lambda: StateTracking(language(name).machine, name)


def flip_flop() -> StateTracking:
    """The last letter written; a tenth of the tokens write, so that something must be kept."""
    return StateTracking(MooreMachine.from_rule(0, "-ab", lambda s, v: v or s, lambda s: s), "flip-flop", (18, 1, 1))


def cycle() -> StateTracking:
    """A walk on a cycle of five: stay, forward, back."""
    return StateTracking(MooreMachine.from_rule(0, "0+-", lambda s, v: (s + (0, 1, -1)[v]) % 5, lambda s: s), "Cycle Navigation")


MACHINES: dict[str, Callable[[], Task]] = {
    # star-free
    "flip_flop": flip_flop, **{f"tomita_{n}": _tracked(f"Tomita {n}") for n in (1, 2, 4, 7)},
    **{f"d_{n}": _tracked(f"D_{n}") for n in (2, 3, 4)}, "evenpair": _tracked("EvenPair(5)"),
    # commutative groups, and what has such groups in it
    "parity": _tracked("Parity"), "tomita_5": _tracked("Tomita 5"), "tomita_6": _tracked("Tomita 6"),
    "z_5": _tracked("Sum(5)"), "cycle_navigation": cycle, "tomita_3": _tracked("Tomita 3"),
    # solvable groups, and one that is not
    "modarith_3": lambda: ModArith(3), "s_3": _tracked("S_3"), "s_4": _tracked("S_4"), "a_5": _tracked("A_5"),
}  # fmt: skip


def drawn_at_random(kind: str, states: int, draw: int) -> StateTracking:
    """A machine of two letters that are drawn as maps (``maps``) or permutations (``turns``) of so many states, all reached."""
    dice = np.random.default_rng((states, draw, kind == "turns"))
    while True:
        moves = [dice.permutation(states) if kind == "turns" else dice.integers(states, size=states) for _ in range(2)]
        found = minimise(MooreMachine(np.stack(moves), np.arange(states), 0, ("a", "b")))
        if found.num_states == states:
            return StateTracking(found, f"{kind} of {states} states, {draw}")


def recall(keys: int, values: int) -> StateTracking:
    """Which value was written last at each key; half of the tokens write nothing, so that something must be kept."""
    writes = [(key, value) for key in range(keys) for value in range(values)]

    def step(state: tuple, v: int) -> tuple:
        return tuple(writes[v - 1][1] if v and writes[v - 1][0] == key else kept for key, kept in enumerate(state))

    symbols = "-" + "".join("abcdefgh"[key] if not value else "ABCDEFGH"[key] for key, value in writes)
    shown = lambda state: sum(kept * values**key for key, kept in enumerate(state))
    found = MooreMachine.from_rule((0,) * keys, symbols, step, shown)
    return StateTracking(found, f"recall of {keys} keys", (len(writes), *[1] * len(writes)))


@cache
def ladder_task(name: str) -> Task:
    """The task of a column, made once; "maps_8_0" and "turns_8_0" are drawn at random, "recall_3" has so many keys."""
    if name in MACHINES:
        return MACHINES[name]()
    if name in TASKS:
        found = TASKS[name]()  # of one's own
        if not isinstance(found, Task):
            raise ValueError(f"the ladder asks for a Task, which answers tokens from a language; {name!r} makes {found}")
        return found
    kind, *numbers = name.split("_")
    if kind not in ("recall", "maps", "turns"):
        raise ValueError(f"no machine {name!r}")
    return recall(int(numbers[0]), 2) if kind == "recall" else drawn_at_random(kind, *map(int, numbers))


def depth(row: str) -> int:
    """How many layers the nets of a row have."""
    return DEPTH.get(row, 2 if row.endswith(DEEP) else 1)


@cache
def predicted(row: str, task: str) -> str:
    """Whether the net of a cell can last by what algebra says of its machine: "can", "cannot" or "open"."""
    if row.removesuffix(DEEP) not in FAMILY:
        return "open"
    try:
        machine = ladder_task(task).machine
    except (ValueError, AttributeError):  # a column of one's own
        return "open"
    (family, size), layers = FAMILY[row.removesuffix(DEEP)], depth(row)
    found = predict(machine, family, size=size)
    if found.least is None or found.least > layers:
        return "cannot"
    return "can" if found.layers is not None and found.layers <= layers else "open"


def words_against(row: str, task: str) -> Counterexample | None:
    """Two words to ask a net of a row, if algebra says that it cannot last and knows such words."""
    if predicted(row, task) != "cannot":
        return None
    family, size = FAMILY[row.removesuffix(DEEP)]
    found = predict(ladder_task(task).machine, family, size=size)
    return (found.deeper if depth(row) > 1 else None) or found.counterexample


def refuted(net: torch.nn.Module, row: str, task: str) -> dict | None:
    """Ask a trained net its :func:`words_against`, for n = 1, 2, ..., up to 500 tokens."""
    asked, counterexample = ladder_task(task), words_against(row, task)
    if counterexample is None:
        return None
    asked_before, n = None, 1
    while (words := counterexample.words(n)) != asked_before and max(map(len, words)) <= FAR:
        for word in words:
            said = answers(net)(np.array([word]))[0]
            if said[-1] != asked.machine.run(np.array(word))[-1]:
                return {"n": n, "words": ["".join(asked.symbols[token] for token in one) for one in words]}
        asked_before, n = words, n + 1
    return {"n": None, "words": []}


def row_of(setting: dict) -> str:
    """The row that a setting is of."""
    net = setting["model"], setting["options"]
    cells = ((row, table.setting(row, table.tasks[0], "live")) for table in (TABLE, GATED) for row in table.rows)
    return next((row for row, cell in cells if (cell["model"], cell["options"]) == net), setting["model"])  # one's own is no row


@dataclass
class Growing(ResumableSource):
    """Batches of one length each, from 4 to ``longest`` in the first 60 % of ``steps``; a source for ``train``."""

    task: Task
    batch: int
    longest: int
    steps: int
    generator: torch.Generator
    drawn: int = 0
    KEPT = ("drawn",)

    @property
    def identity(self) -> str:
        """What is trained on, and how."""
        return f"{self.batch} of {self.task.identity}, lengths up to {self.longest} in {self.steps} steps"

    def length(self) -> int:
        """Of the next batch."""
        return 4 + round((self.longest - 4) * min(1, self.drawn / (0.6 * self.steps)))

    def __call__(self, _: torch.Generator | None = None) -> Batch:
        """The next batch, from its own generator."""
        length = self.length()
        self.drawn += 1
        return self.task.sample_near(self.batch, length, self.generator)


def trained(setting: dict, seed: int, checkpoint: Path | None = None, **how: Any) -> tuple[Trained, int]:
    """The net of the first try that knows the training length, else the one that knows most of it; and which try."""
    asked, found = ladder_task(setting["task"]), []
    for number, (rate, steps) in enumerate(setting["tries"]):
        net = build(setting["model"], asked, seed=1000 * number + seed, **setting["options"])
        one = None if checkpoint is None else checkpoint.with_suffix(f".try{number}")
        drawn = rng(seed, f"ladder/train/{number}")
        made = train(net, Growing(asked, 64, LENGTH, steps, drawn), steps=steps, lr=rate, clip=1.0,
                     warmup=min(50, steps - 1), generator=drawn, checkpoint=one, **how)  # fmt: skip
        right = by_position(net, asked, LENGTH, 256, rng(seed, f"ladder/try/{number}"))
        found.append((float(windows(right)[-1]), -number, made))
        if found[-1][0] >= KNOWN:
            break
    _, number, made = max(found, key=lambda one: one[:2])
    return made, -number


@torch.no_grad()
@deterministic()
def by_position(
    net: torch.nn.Module, asked: Task, length: int, strings: int, generator: torch.Generator
) -> np.ndarray:
    """(2, T): how many answers are right at each position of fresh strings, and how many are asked for."""
    batch = asked.sample_near(strings, length, generator)
    with at_rest(net):
        found = torch.cat([answered(net(part), asked.classes) for part in batch.inputs.split(32)])
    return np.stack([((found == batch.targets) & batch.mask).sum(0), batch.mask.sum(0)]).astype(float)


def windows(right: np.ndarray) -> np.ndarray:
    """(T - 9,): the accuracy over every ten positions in a row, of ``by_position``."""
    ten = np.lib.stride_tricks.sliding_window_view(right, WINDOW, axis=1).sum(-1)
    return ten[0] / ten[1]


def kind(accuracy: np.ndarray) -> str:
    """How a net fails, from ``windows``."""
    if accuracy[LENGTH - WINDOW] < KNOWN:
        return "never learned"
    if (accuracy >= KNOWN).all():
        return "lasts"
    low = np.flatnonzero(accuracy < BACK[0])
    return "aliases" if len(low) and (accuracy[low[0] :] > BACK[1]).any() else "drifts"


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train, then ask at 500."""
    made, number = trained(setting, seed, **how)
    asked = ladder_task(setting["task"])
    accuracy = windows(by_position(made.net, asked, FAR, 128, rng(seed, "ladder/test")))
    metrics = {
        "trained": float(accuracy[LENGTH - WINDOW]), "far": float(accuracy[-1]), "kind": kind(accuracy),
        "first": first_below(accuracy, KNOWN, 1), "tries": number + 1, "rate": setting["tries"][number][0], "steps": made.steps,
        "loss": made.losses[-1][1] if made.losses else None, "chance": asked.chance,
        "majority": asked.majority(asked.near(FAR)), "parameters": sum(p.numel() for p in made.net.parameters()),
    }  # fmt: skip
    if isinstance(made.net, Net) and asked.answers == "every" and metrics["kind"] != "never learned":
        metrics["horizon"] = look(made.net, asked, LOOK, seed)["metrics"]["predicted"].get("10-100")
    if metrics["kind"] == "lasts" and (asked_words := refuted(made.net, row_of(setting), setting["task"])):
        metrics["refuted"] = asked_words
    return {"metrics": metrics, "accuracy_by_ten": [round(share, 4) for share in accuracy[::WINDOW].tolist()],
            "cpu_seconds": round(made.cpu_seconds, 2)}  # fmt: skip


TABLE, GATED = (load(name, by_setting(measure)) for name in ("ladder/models_x_tasks", "ladder/gated"))
ROWS = tuple(dict.fromkeys((*TABLE.rows, *GATED.rows)))
