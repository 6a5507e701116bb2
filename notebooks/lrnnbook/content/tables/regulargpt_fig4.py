"""Figure 4a of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023, Sec. 7.4): how far back does the answer look?

Letters: B batch, T time, D width, h blocks, n block size.
"""

import copy
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from lrnnbook.content.tables.regulargpt_table1 import make_network, training_of
from lrnnbook.content.tables.table import by_setting, load, options
from lrnnlab.automata import Language, MooreMachine
from lrnnlab.models import Net, build
from lrnnlab.models.layers.attention import ReluRNN
from lrnnlab.tasks import Task
from lrnnlab.tasks.regular import STRING_TASKS
from lrnnlab.training import rng
from lrnnlab.training.curriculum import train_strings
from lrnnlab.training.evaluation import accuracy_at_lengths

WINDOW = 4  # letters


def suffix_parity() -> Task:
    """1 if the number of 1s among the last four bits (of a shorter string: among all) is odd."""
    rule = MooreMachine.from_rule((0,) * WINDOW, "01", lambda state, token: (*state[1:], token), lambda state: sum(state) % 2)
    return Task(Language("SuffixParity", rule, lambda text: text[-WINDOW:].count("1") % 2), "last")


def build_task(name: str) -> Task:
    """The task of that name."""
    return suffix_parity() if name == "suffix" else STRING_TASKS[name]()


def build_net(setting: dict, task: Task, seed: int) -> nn.Module:
    """The untrained net of a setting; torch's own generator is left as it was."""
    if setting["row"] != "lrnn":
        return make_network(setting["row"], task, seed=seed, **setting["options"])
    return build("block_diagonal", vocab_size=task.vocab_size, classes=task.classes, seed=seed, **setting["options"])


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train and take the gradient: ``metrics``, ``gradient`` and ``training``."""
    task = build_task(setting["task"])
    net = build_net(setting, task, seed)
    made = train_strings(net, task, generator=rng(seed, "fig4/train"), **how,
                         **options(setting["training"]))  # fmt: skip
    length, test = setting["length"], partial(accuracy_at_lengths, net, task, generator=rng(seed, "fig4/test"))
    tokens = task.sample(setting["strings"], length, rng(seed, "fig4/look")).tokens
    share = cumulative_gradient(net, tokens)
    metrics = {"accuracy": test([length], strings=128)[length], "accuracy_seen": test([40], strings=512)[40],
               "majority": task.majority(length), **shape(share)}  # fmt: skip
    return {"metrics": metrics, "gradient": share.round(5).tolist(), "training": {**training_of(made), **made.summary()},
            "cpu_seconds": round(made.cpu_seconds, 2)}  # fmt: skip


def shape(share: np.ndarray) -> dict:
    """What a curve of ``cumulative_gradient`` (T,) looks like."""
    straight, padded = 1 - np.arange(len(share)) / len(share), np.r_[share, 0]
    half = min(len(share), len(share) - int((share >= 0.5).sum()) + 1)
    return {"bend": round(float(np.abs(share - straight).max()), 4), "half": half,
            "last4": round(float(share[-WINDOW:][0]), 4), "first": round(float(padded[0] - padded[1]), 4)}  # fmt: skip


def receptive_field(model: Callable[[Tensor], Tensor], inputs: Tensor, position: int = -1) -> np.ndarray:
    """(T,) the size (Frobenius) of d output[position] / d input[t] of a model (B,T,d_in) -> (B,T',d_out) whose strings do not see
    each other, averaged over the batch; for a linear layer of one channel |K_{position-t}| (paper 004, Sec. 2.3)."""
    return _fields(model, inputs, position).mean(0).numpy(force=True)


def _fields(model: Callable[[Tensor], Tensor], inputs: Tensor, position: int = -1) -> Tensor:
    """(B,T) of ``receptive_field``, of each string."""
    leaf = inputs.detach().clone().requires_grad_()
    size = inputs.new_zeros(inputs.shape[:2])
    for column in model(leaf)[:, position].sum(0):  # of one string each, as strings do not see each other
        (slope,) = torch.autograd.grad(column, leaf, retain_graph=True)
        size += slope.square().sum(-1)
    return size.sqrt()


def gradient_by_token(net: nn.Module, tokens: Tensor, position: int = -1) -> np.ndarray:
    """(position + 1,) the size of the derivative of the logits at ``position`` by the vector of each token."""
    return gradients_by_token(net, tokens[:, : position % tokens.shape[1] + 1]).mean(0)


def gradients_by_token(net: nn.Module, tokens: Tensor) -> np.ndarray:
    """(B,T) the same for each string, at its last position."""
    nothing, run = _nudged(net, tokens)
    return _fields(run, nothing).numpy(force=True).astype(np.float64)


def cumulative_gradient(net: nn.Module, tokens: Tensor, position: int = -1) -> np.ndarray:
    """The share of the gradient from each position on, of the answer at ``position``: (position + 1,), from 1 down."""
    share = gradient_by_token(net, tokens, position)[::-1].cumsum()[::-1]
    return share / share[0] if share[0] > 0 else share


def _nudged(net: Any, tokens: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Zeros (B,T,d), and the logits (B,T',C) as a function of what is added to the vectors of the tokens."""
    width = net.network.input_size if isinstance(net, ReluRNN) else net.embedding.weight.shape[1]
    nothing = next(net.parameters()).new_zeros(*tokens.shape, width)

    def run(nudge: Tensor) -> Tensor:
        if isinstance(net, Net):
            logits = _one_symbol_a_place(net, tokens, nudge)
        else:
            with _added(net, nudge):
                logits = net(tokens)
        return logits.unsqueeze(1) if logits.ndim == 2 else logits

    return nothing, run


def _one_symbol_a_place(net: Net, tokens: Tensor, nudge: Tensor) -> Tensor:
    """Its first layer looks vectors up by symbol; so every place of every string gets a symbol of its own."""
    own = copy.copy(net)  # shares all weights
    own.vocab_size = tokens.numel()
    places = torch.arange(tokens.numel(), device=tokens.device).view_as(tokens)
    return functional_call(own, {"encoder.weight": (net.embedding(tokens) + nudge).flatten(0, 1)}, (places,))


@contextmanager
def _added(net: Any, nudge: Tensor):
    """Within, ``nudge`` is added to what the embedding gives, or to the one-hot inputs of an RNN without one."""
    if isinstance(net, ReluRNN):
        hook = net.network.register_forward_pre_hook(lambda _, given: (given[0] + nudge, *given[1:]))
    else:
        hook = net.embedding.register_forward_hook(lambda _, given, vectors: vectors + nudge)
    try:
        yield
    finally:
        hook.remove()


TABLE = load("regulargpt/fig4", by_setting(measure))
