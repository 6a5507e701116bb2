"""Every public callable of the rooms below the experiments, with arguments that are right: what the fuzz starts from.

A call is (room, name, function, arguments); ``arguments()`` makes a fresh dict, so that no call spoils the next one.
Options of models are found by annotation; what else there is stands in tables, by the names of methods and arguments.
"""

import inspect
import tempfile
import typing
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import torch

from lrnnlab import automata, scans, tasks, training, verification
from lrnnlab.models import (
    MODELS,
    Net,
    PairClassifier,
    block_diagonal,
    blocks,
    build,
    exact_model,
    network,
    reads_numbers,
    snap,
    symbol_transitions,
)
from lrnnlab.models.block import Block
from lrnnlab.models.lru import LRU
from lrnnlab.models.regular_gpt import RegularGPT
from lrnnlab.models.relu_rnn import ReluRNN
from lrnnlab.models.transformer import RelativeTransformer
from lrnnlab.tasks import listops
from lrnnlab.training.recipes import Mend, Phase, Recipe


class Call(NamedTuple):
    room: str
    name: str
    function: typing.Callable
    arguments: typing.Callable[[], dict]


def generator():
    return torch.Generator().manual_seed(0)


TOKENS = torch.tensor([[0, 1, 1], [1, 0, 1]])


# --- scans ------------------------------------------------------------------------------------------------------------


def scan_calls():
    diagonal = {"A": torch.ones(2, 3, 4), "b": torch.ones(2, 3, 4), "x0": torch.ones(2, 4), "backend": "auto"}
    block = {"A": torch.ones(2, 7, 2, 3, 3), "b": torch.ones(2, 7, 2, 3), "x0": torch.ones(2, 2, 3), "backend": "cpu"}
    table = {"A_table": torch.ones(2, 4), "b_table": torch.ones(2, 4), "tokens": TOKENS, "x0": torch.ones(2, 4)}
    blocks = {"A_table": torch.ones(2, 2, 3, 3), "b_table": torch.ones(2, 2, 3), "tokens": TOKENS,
              "x0": torch.ones(2, 2, 3), "backend": "reference"}  # fmt: skip
    keys = torch.ones(2, 3, 2, 4)
    rule = {"q": keys, "k": keys, "v": torch.ones(2, 3, 2, 5), "beta": torch.ones(2, 3, 2),
            "W0": torch.ones(2, 2, 5, 4), "form": "chunkwise", "chunk": 2, "return_state": False,
            "removal": True}  # fmt: skip
    convolved = {"u": torch.ones(2, 5, 3), "kernel": torch.ones(3, 5), "D": torch.ones(3), "future": torch.ones(3, 2)}
    modes = {"log_lambda": -torch.ones(3, 2), "C": torch.ones(3, 2), "L": 5, "part": "real", "dtype": torch.float32}
    return [
        ("linear_scan", scans.linear_scan, diagonal), ("linear_scan, blocks", scans.linear_scan, block),
        ("token_scan", scans.token_scan, table), ("token_scan, blocks", scans.token_scan, blocks),
        ("softmax_scan", scans.softmax_scan, {"raw": torch.ones(2, 3, 4, 2, 4), "x0": torch.ones(2, 2, 4)}),
        ("available", scans.available, {"device": "cpu"}), ("chosen", scans.chosen, {"A": torch.ones(2, 3, 4)}), ("delta_rule", scans.delta_rule, rule),
        ("long_conv", scans.long_conv, convolved), ("vandermonde", scans.vandermonde, modes),
    ]  # fmt: skip


# --- models -----------------------------------------------------------------------------------------------------------


@cache
def model(name):
    layers = {"layers": 2} if reads_numbers(name) else {}
    return build(name, vocab_size=2, classes=3, **layers)


@cache
def snapped():
    return snap(build("block_diagonal", vocab_size=2, classes=2, h=2, b=2, rule="softmax", drive="none", start="first"))


def methods(net):
    """Calls of a network that reads tokens."""
    is_net = isinstance(net, Net)
    found = {name: {"inputs" if is_net else "tokens": TOKENS} for name in ("forward", "trace", "states", "hidden")}
    if is_net:
        found["initial_state"] = {"batch": 2}
        with torch.no_grad():
            found["step"] = {"state": net.initial_state(2), "input_t": TOKENS[:, 0]}
        found["readout"] = {"states": net.states(TOKENS).detach()}
    return [(name, getattr(net, name), arguments) for name, arguments in found.items() if hasattr(net, name)]


def options_of(made):
    """The annotated options of a model's maker: of a mixer's network, those of the mixer, the block and the net too."""
    hints = {}
    for part in (made.args[0], network, blocks, Block, Net) if getattr(made, "func", None) is network else (made,):
        part = part.func if isinstance(part, partial) else part
        kinds = typing.get_type_hints(part.__init__ if inspect.isclass(part) else part)
        chosen = inspect.signature(part).parameters.values()
        hints |= {p.name: kinds[p.name] for p in chosen if p.kind is p.KEYWORD_ONLY and p.name in kinds}
    return hints


def model_calls():
    calls = []
    for name, made in MODELS.items():
        if made in (RegularGPT, ReluRNN) or getattr(made, "func", None) is RelativeTransformer:
            continue  # below
        common = {"name": name, "vocab_size": 2, "classes": 3, "seed": 0}
        hints = {option: None for option in options_of(made) if option not in common}
        calls.append((f"build {name}", build, common))
        calls += [(f"build {name}", partial(build, **common), {option: ...}) for option in hints]
        calls += [(f"{name}.{method}", *rest) for method, *rest in methods(model(name))]
    others = {
        "RegularGPT": (RegularGPT, {"vocab_size": 2, "classes": 3, "chunk": 2, "width": 8, "heads": 2, "thickness": 1,
                                    "depths": None, "form": "tree", "padding": None, "block": "post_norm"}),
        "RelativeTransformer": (RelativeTransformer, {"vocab_size": 2, "classes": 3, "width": 8, "heads": 2,
                                                      "layers": 1, "position": "xl", "block": "post_norm"}),
        "ReluRNN": (ReluRNN, {"vocab_size": 2, "classes": 3, "width": 8}),
    }  # fmt: skip
    for name, (kind, options) in others.items():
        calls.append((name, kind, options))
        calls += [(f"{name}.{method}", *rest) for method, *rest in methods(kind(**options))]
    lengths, made = torch.tensor([3, 2]), partial(blocks, partial(LRU, state=2), 4, 1)
    net, numbers = Net(made(), 3, 4, vocab_size=2, pool="mean"), Net(made(), None, 4, columns=3, pool="last")
    pair = PairClassifier(Net(made(), None, 4, vocab_size=2, pool="max"), 2)
    return [
        *calls, ("Net.forward", net.forward, {"inputs": TOKENS, "lengths": lengths}),
        ("Net.forward, numbers", numbers.forward, {"inputs": torch.ones(2, 3, 3), "lengths": lengths}),
        ("PairClassifier.forward", pair.forward, {"a": TOKENS, "b": TOKENS, "lengths": (lengths, lengths)}),
        ("exact_model", exact_model, {"machine": parity(), "classes": 2}), ("reads_numbers", reads_numbers, {"name": "lstm"}),
        ("snap", snap, {"model": snapped()}), ("symbol_transitions", symbol_transitions, {"model": snapped()}),
        ("BlockDiagonal", block_diagonal.BlockDiagonal, {"h": 2, "b": 2, "rule": "clip", "p": 1.2, "hidden": 4}),
        ("LRU", LRU, {"width": 4, "state": 2, "modulus": (0.5, 0.9), "phase": 1.0}),
    ]  # fmt: skip


# --- tasks and automata -----------------------------------------------------------------------------------------------


def parity():
    return tasks.Sum(2).machine


@cache
def all_tasks():
    return {name: tasks.task(name) for name in tasks.TASKS}


def task_methods(name, task):
    length = task.near(1024 if isinstance(task, tasks.Pathfinder) else 24)
    found = {"sample": {"batch": 2, "length": length, "generator": generator()}, "check_length": {"length": length}}
    if not isinstance(task, tasks.Pathfinder):
        found["majority"] = {"length": length}
    if isinstance(task, tasks.ContinuousTask):
        values = task.draw(2, length, generator())
        found |= {"targets": {"values": values}, "answer": {"values": values[0]}}
    elif not isinstance(task, tasks.Pathfinder):
        tokens = task.sample(2, length, generator()).tokens
        found |= {"write": {"tokens": tokens[0]}, "answer": {"tokens": tokens[0]}, "read": {"text": task.write(tokens[0])},
                  "targets": {"tokens": tokens}}  # fmt: skip
    return [(f"{name}.{method}", getattr(task, method), arguments) for method, arguments in found.items() if hasattr(task, method)]


def task_calls():
    calls = [call for name, task in all_tasks().items() for call in task_methods(name, task)]
    batch = tasks.Sum(3).sample(2, 4, generator())
    makers = [(f"{kind.__name__}()", kind, {"modulus": 3}) for kind in (tasks.Sum, tasks.EvenPair, tasks.ModArith)]
    return [
        *calls, *makers, ("task", tasks.task, {"name": "sum", "length": 7}),
        ("MachineTask", tasks.MachineTask, {"machine": parity(), "name": "parity"}),
        ("WordProblem", tasks.WordProblem, {"generators": {"s": (1, 0)}, "name": "Z_2"}),
        ("Shift()", tasks.ATOMIC["shift"], {"copies": 2}), ("Select()", tasks.ATOMIC["select"], {"chosen": 2}),
        ("MIPS()", tasks.ATOMIC["mips"], {"width": 2}),
        ("ListOps()", tasks.ListOps, {"max_depth": 3, "max_args": 3, "shortest": 0.5}),
        ("best_of_checks", tasks.best_of_checks, {"level": 0.5, "checks": 3, "strings": 4}),
        ("blind_levels", tasks.blind_levels, {"batch": batch, "classes": 3}),
        ("whole_string_accuracy", tasks.whole_string_accuracy, {"predicted": batch.targets, "batch": batch}),
        ("listops.evaluate", listops.evaluate, {"text": "[MAX 1 2 ]"}),
    ]  # fmt: skip


def automata_calls():
    table = {"transitions": [[0, 1], [1, 0]], "outputs": [0, 1], "initial": 0, "symbols": ("0", "1"), "names": ()}
    rule = {"initial": 0, "symbols": "01", "step": lambda s, v: v, "output": lambda s: 0, "name": str,
            "limit": 10}  # fmt: skip
    return [
        ("MooreMachine", automata.MooreMachine, table), ("build", automata.build, rule),
        ("run", parity().run, {"tokens": [1, 0]}), ("answer", parity().answer, {"tokens": [1, 0]}),
        ("minimise", automata.minimise, {"machine": parity()}),
        ("equivalent", automata.equivalent, {"a": parity(), "b": parity(), "where_labelled": False}),
        ("one_hot_transitions", automata.one_hot_transitions, {"machine": parity()}),
        ("transition_monoid", automata.transition_monoid, {"machine": parity(), "limit": 10}),
        ("classify", automata.classify, {"machine": parity(), "limit": 10}),
    ]  # fmt: skip


# --- training, evaluation, verification, records ----------------------------------------------------------------------


def training_calls():
    phase, folder = Phase(steps=1, lr=1e-3), Path(tempfile.gettempdir())
    phases = {"steps": 1, "lr": 1e-3, "final_lr": 1e-4, "warmup": 0, "weight_decay": 0.0, "loss": "cross_entropy",
              "smoothing": 0.0, "noise": 0.0, "purity": 0.0, "until": None, "prune": None}  # fmt: skip
    recipe = {"phases": (phase,), "batch": 2, "optimiser": "adam", "betas": (0.9, 0.99), "clip": 1.0, "average": 0.0,
              "attempts": 1, "length": 3, "mend": None}  # fmt: skip
    run = {"make_model": lambda seed: model("elman"), "task": tasks.Sum(2), "seed": 0,
           "recipe": Recipe((phase,), batch=2, length=3), "accept": lambda model: True,
           "check": lambda model, step: {"score": 0.0}, "check_every": 0, "confirm": 1,
           "checkpoint": folder / "no such checkpoint", "save_seconds": 5.0, "progress": False}  # fmt: skip
    return [
        ("Phase", Phase, phases), ("Recipe", Recipe, recipe), ("Mend", Mend, {"phase": phase, "rounds": 1}),
        ("fit", training.fit, run), ("rng", training.rng, {"seed": 0, "purpose": "test"}),
        ("evaluate", training.evaluate, {"model": build("elman", vocab_size=2, classes=2), "task": tasks.Sum(2),
                                           "seed": 0, "length": 3, "strings": 2, "purpose": "test"}),
        ("accuracy_at_lengths", training.evaluation.accuracy_at_lengths, {
            "net": build("elman", vocab_size=2, classes=2), "task": tasks.task("parity"), "lengths": [3], "strings": 2,
            "generator": generator()}),
    ]  # fmt: skip


def verification_calls():
    read = {"model": snapped(), "specification": tasks.Sum(2).specification}
    return [("verify", verification.verify, {**read, "limit": 100, "wanted": 1, "depth": 2})]


ROOMS = {"scans": scan_calls, "models": model_calls, "tasks": task_calls, "automata": automata_calls,
         "training": training_calls, "verification": verification_calls}  # fmt: skip


@cache
def calls(room):
    return [Call(room, name, function, partial(dict, arguments)) for name, function, arguments in ROOMS[room]()]
