"""Nets whose step is no function of state and token: each is refused, or what runs afterwards is what was proved."""

import copy
import functools
import os
import random
import threading
import time
import weakref

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine
from lrnnlab.models import build, exact_model, snap
from lrnnlab.models.base import Recurrence
from lrnnlab.models.exact import TokenBlocks
from lrnnlab.tasks import Sum
from lrnnlab.verification import Quantised, quantise, verify
from lrnnlab.verification.semantics.traced import TracedStep

TASK = Sum(3)
HELD: list = [0]


def net_of(change, **parts):
    """The exact net of Sum(3), whose step is changed: (mixer, new state, answer, state before, letter) -> (state, answer)."""

    class Changed(TokenBlocks):
        def step(self, state, z):
            return change(self, *super().step(state, z), state, z)

        def initial(self, batch):
            return super().initial(batch).clone()  # which a step may overwrite

        forward, mix = Recurrence.forward, Recurrence.mix  # step after step

    net = exact_model(TASK.machine)
    mixer = Changed(net.layers[0].table, net.layers[0].x0)
    for name, part in parts.items():
        setattr(mixer, name, part)
    net.blocks[0].mixer = mixer
    return net


def flipped(wrong, y):
    return y.flip(-1) if wrong else y


def counts(mixer, new, y, state, z):
    mixer.calls = getattr(mixer, "calls", 0) + 1
    return new, flipped(mixer.calls > 3000, y)


def counts_soon(mixer, new, y, state, z):
    mixer.calls = getattr(mixer, "calls", 0) + 1
    return new, flipped(mixer.calls > 5, y)


def counts_in_a_global(mixer, new, y, state, z):
    HELD[0] += 1
    return new, flipped(HELD[0] % 7 == 0, y)


def counts_in_a_buffer(mixer, new, y, state, z):
    mixer.n.add_(1)
    return new, torch.where(mixer.n > 3000, y.flip(-1), y)


def counts_in_data(mixer, new, y, state, z):
    mixer.n.data += 1
    return new, torch.where(mixer.n > 3000, y.flip(-1), y)


def keeps_its_state(mixer, new, y, state, z):
    kept = mixer.__dict__.get("kept")
    if kept is not None and kept.shape == new.shape:
        new = kept
    mixer.__dict__["kept"] = new
    return new, new.flatten(1)


def keeps_weakly(mixer, new, y, state, z):
    there = mixer.__dict__.get("weak", lambda: None)() is not None
    mixer.__dict__["weak"] = weakref.ref(mixer)
    return new, flipped(there, y)


def keeps_by_thread(mixer, new, y, state, z):
    held = THREAD.__dict__
    held["n"] = held.get("n", 0) + 1
    return new, flipped(held["n"] > 9, y)


THREAD = threading.local()


@functools.lru_cache
def cached(size):
    return torch.rand(()) > 0.5


def caches(mixer, new, y, state, z):
    return new, torch.where(cached(len(y)), y.flip(-1), y)


def in_time(mixer, new, y, state, z):
    return new, flipped(int(time.perf_counter() * 1e6) % 2, y)


def by_environment(mixer, new, y, state, z):
    return new, flipped(os.environ.get("LRNNLAB_TEST_FLIP"), y)


def random_of_python(mixer, new, y, state, z):
    return new, flipped(random.random() < 0.3, y)


def random_of_numpy(mixer, new, y, state, z):
    return new, y * torch.from_numpy(np.sign(np.random.rand(1) - 0.3))


def random_whole(mixer, new, y, state, z):
    return torch.where((torch.randint(0, 100, (len(y),)) == 0)[:, None, None], new.flip(-1), new), y


def random_by_generator(mixer, new, y, state, z):
    return new, y + torch.randn(y.shape, generator=mixer.draw, dtype=y.dtype)


def drops(mixer, new, y, state, z):
    return new, F.dropout(y, 0.3, True)


def lazy_noise(mixer, new, y, state, z):
    if "noise" not in mixer.__dict__:
        mixer.__dict__["noise"] = 3 * torch.randn(3)
    return new, y + mixer.noise


def decides(mixer, new, y, state, z):
    return new, y.flip(-1) if y[0, 0] > 2 else y


def takes_an_item(mixer, new, y, state, z):
    return new, y * y.sum().item()


def counts_items(mixer, new, y, state, z):
    return new, y[:, [int(y[0].argmax()), 1, 2]]


def through_numpy(mixer, new, y, state, z):
    return new, torch.from_numpy(np.flip(y.numpy(), -1).copy())


def through_lists(mixer, new, y, state, z):
    return new, torch.tensor(y.tolist(), dtype=y.dtype)


class Numpy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.from_numpy(x.numpy() * 1)


def through_a_function(mixer, new, y, state, z):
    return new, Numpy.apply(y)


def by_mask(mixer, new, y, state, z):
    return new, y[y >= 0].view(y.shape)


def unfilled(mixer, new, y, state, z):
    return new, y + torch.empty(3)


def grows(mixer, new, y, state, z):
    return torch.cat([new, new], 1), y


def other_type(mixer, new, y, state, z):
    return new.to(torch.float16 if new.dtype == torch.float64 else torch.float64), y


def own_operation(mixer, new, y, state, z):
    return new, torch.ops.lrnnlab_test.add(y, y)


def minus_the_mean(mixer, new, y, state, z):
    return new, y - y.mean(0, keepdim=True)


def minus_the_states_mean(mixer, new, y, state, z):
    return new - new.mean(0, keepdim=True), y


def softmax_over_strings(mixer, new, y, state, z):
    return new, (5 * y).softmax(0)


def normed_over_strings(mixer, new, y, state, z):
    return new, F.batch_norm(y, None, None, training=True) if len(y) > 1 else y


def alone_otherwise(mixer, new, y, state, z):
    return new, flipped(len(y) == 1, y)


def in_64_otherwise(mixer, new, y, state, z):
    return new, flipped(len(y) == 64, y)


def the_next_string(mixer, new, y, state, z):
    return new, y.roll(1, 0)


def in_training(mixer, new, y, state, z):
    return new, flipped(mixer.training, y)


def with_gradients(mixer, new, y, state, z):
    return new, flipped(torch.is_grad_enabled(), y)


def into_the_state(mixer, new, y, state, z):
    return state.copy_(new), y


def into_the_letter(mixer, new, y, state, z):
    z.mul_(0)
    return new, y


def the_start_itself(mixer, new, y, state, z):
    return new, y + 0 * mixer.initial(len(y)).flatten(1)


def nothing(mixer, new, y, state, z):
    return new, y


def changes_a_weight(mixer, new, y, state, z):
    mixer.scale.data.mul_(0.999)
    return new, y * mixer.scale


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3, bias=False))
        with torch.no_grad():
            self.linear.parametrizations.weight.original.copy_(torch.eye(3))


def spectral(mixer, new, y, state, z):
    return new, mixer.norm.linear(y)


REFUSED = {  # what is wrong, and a word of the reason
    counts_soon: "what it keeps between calls", counts_in_a_global: "what it keeps between calls",
    counts_in_a_buffer: "changes blocks_0_mixer_n", counts_in_data: "no list of torch's operations", keeps_its_state: "keeps between calls",
    keeps_weakly: "keeps between calls", keeps_by_thread: "keeps between calls", random_whole: "draws random numbers",
    random_of_python: "random numbers", random_by_generator: "draws random numbers", drops: "draws random numbers",
    decides: "no list of torch's operations", takes_an_item: "no list", counts_items: "no list", through_numpy: "numpy",
    through_lists: "no list", through_a_function: "numpy", by_mask: "decides", unfilled: "nobody has filled", grows: "grows",
    other_type: "state", own_operation: "no operation of torch's own", minus_the_mean: "other strings of the batch",
    minus_the_states_mean: "other strings", softmax_over_strings: "other strings", normed_over_strings: "other strings of the batch",
    alone_otherwise: "in a batch of 2", in_64_otherwise: "in a batch of 64", the_next_string: "other strings",
    changes_a_weight: "it changes",
}  # fmt: skip
HARMLESS = (counts, caches, in_time, by_environment, random_of_numpy, lazy_noise, in_training, with_gradients, into_the_state,
            into_the_letter, the_start_itself, nothing, spectral)  # fmt: skip
PARTS = {
    counts_in_a_buffer: lambda: {"n": nn.Buffer(torch.zeros(1))}, counts_in_data: lambda: {"n": nn.Buffer(torch.zeros(1))},
    random_by_generator: lambda: {"draw": torch.Generator()}, changes_a_weight: lambda: {"scale": nn.Parameter(torch.ones(1))},
    spectral: lambda: {"norm": Norm()},
}  # fmt: skip


@torch.library.custom_op("lrnnlab_test::add", mutates_args=())
def _add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


@_add.register_fake
def _(x, y):
    return torch.empty_like(x)


def right(found, seed=0):
    """Whether a net is right in batches and lengths of all sizes, in either mode."""
    draw = torch.Generator().manual_seed(seed)
    for batch, length in ((1, 40), (2, 7), (5, 60), (256, 20), (1, 500)):
        tokens = torch.randint(0, 3, (batch, length), generator=draw)
        said = found.train(bool(batch % 2))(tokens).argmax(-1).numpy()
        if (said != TASK.specification.answer(tokens.numpy())).any():
            return False
    return True


@pytest.mark.parametrize("change", REFUSED, ids=lambda change: change.__name__)
def test_a_step_that_is_no_function_of_its_string_is_refused(change):
    net = net_of(change, **PARTS.get(change, dict)())
    with pytest.raises(ValueError, match=REFUSED[change]):
        quantise(net, TASK)


@pytest.mark.parametrize("change", HARMLESS, ids=lambda change: change.__name__)
def test_what_is_proved_is_right_in_every_batch_at_every_length(change, monkeypatch):
    try:
        found = quantise(net_of(change, **PARTS.get(change, dict)()), TASK)
    except ValueError:
        assert change in (in_time, caches, random_of_numpy, lazy_noise)  # as chance will have it
        return
    monkeypatch.setenv("LRNNLAB_TEST_FLIP", "1")
    assert right(found) or not verify(found, TASK.specification).proved
    assert change not in (counts, nothing, in_training, into_the_state) or verify(found, TASK.specification).proved


def test_forward_and_step_that_differ_are_named():
    net = net_of(nothing)
    type(net.blocks[0].mixer).forward = lambda self, z, tokens=None: torch.zeros(*tokens.shape, 3, dtype=z.dtype)
    with pytest.raises(ValueError, match="forward and step of Net differ"):
        quantise(net, TASK)


class Liar(Quantised):
    def forward(self, tokens):
        return torch.zeros(*tokens.shape, 3)


def shadowed(found):
    found.forward = lambda tokens: torch.zeros(*tokens.shape, 3)


def step_shadowed(found):
    found.steps.step = lambda state, token: (state, torch.zeros(len(token), 3))


def nearest_shadowed(found):
    found.nearest = lambda after, logits: (torch.zeros(len(logits), dtype=torch.int64), logits[:, 0])


def subclass(found):
    found.__class__ = Liar


def hooked(found):
    found.register_forward_hook(lambda module, given, out: out.flip(-1))


def hooked_below(found):
    found.steps.graph.register_forward_pre_hook(lambda module, given: given)


def hooked_everywhere(found):
    return nn.modules.module.register_module_forward_hook(lambda module, given, out: out)


def calls_python(found):
    graph = found.steps.graph.graph
    last = graph.output_node()
    with graph.inserting_before(last):
        new = graph.call_function(lambda x: x.flip(-1), (last.args[0][0],))
    last.args = ((new, *last.args[0][1:]),)


def parametrized(found):
    nn.utils.parametrize.register_parametrization(found.steps.graph, "head_0_weight", nn.Softplus(), unsafe=True)


def another_part(found):
    found.more = nn.Linear(1, 1)


@pytest.mark.parametrize("change, reason", [
    (shadowed, "its own forward"), (step_shadowed, "its own step"), (nearest_shadowed, "its own nearest"), (subclass, "is a Liar"),
    (hooked, "forward hooks"), (hooked_below, "forward hooks"), (hooked_everywhere, "hooks on every module"),
    (calls_python, "no operation of torch's own"), (parametrized, "is a"), (another_part, "more is a Linear"),
])  # fmt: skip
def test_a_quantised_net_that_was_changed_is_refused_with_the_reason(change, reason):
    found = quantise(net_of(nothing), TASK)
    handle = change(found)
    try:
        with pytest.raises(ValueError, match=reason):
            verify(found, TASK.specification)
    finally:
        if handle:
            handle.remove()


def test_what_runs_is_what_stands_in_the_graph_and_in_its_numbers():
    found = quantise(net_of(nothing), TASK)
    type(found.steps.graph).forward = lambda self, token, state: (torch.zeros(3, dtype=torch.float64), state)
    assert verify(found, TASK.specification).proved and right(found)  # what was put over the graph is gone
    found.steps.graph.head_0_weight.copy_(found.steps.graph.head_0_weight.flip(0))
    assert not verify(found, TASK.specification).proved and not right(found)


def test_verdicts_are_the_same_in_every_mode():
    found, snapped = quantise(net_of(nothing), TASK), snap(
        build("block_diagonal", vocab_size=3, classes=3, h=2, b=3, rule="softmax", drive="none", start="first", seed=0))

    net = net_of(nothing)

    def verdicts():
        return [str(verify(one, TASK.specification)) for one in (found, quantise(net, TASK), snapped)]

    plain = verdicts()
    assert "restarted after every token, in float64" in plain[0] and "snapped, in float64" in plain[2]
    for mode in (torch.inference_mode(), torch.enable_grad(), torch.autocast("cpu", torch.bfloat16), torch.device("meta")):
        with mode:
            assert verdicts() == plain
    torch.set_default_dtype(torch.float64)
    try:
        assert verdicts() == plain
    finally:
        torch.set_default_dtype(torch.float32)
    found.train()
    assert str(verify(found, TASK.specification)) == plain[0]


def test_all_that_a_quantised_net_knows_is_saved_and_loaded_or_refused(tmp_path):
    found = quantise(build("lstm", TASK, seed=0), TASK, every=3, rounds=2)
    tokens = torch.randint(0, 3, (4, 20), generator=torch.Generator().manual_seed(0))
    torch.save(found, tmp_path / "net.pt")
    torch.save(found.state_dict(), tmp_path / "numbers.pt")
    for twin in (copy.deepcopy(found), torch.load(tmp_path / "net.pt", weights_only=False)):
        assert torch.equal(twin(tokens), found(tokens)) and str(verify(twin, TASK.specification)) == str(verify(found, TASK.specification))
    kept = [part for name, part in found.state_dict().items() if name != "_extra_state"]
    assert len({part.data_ptr() for part in kept}) == len(kept)
    other = copy.deepcopy(found).restarted(1)
    for part in other.buffers():
        if part.is_floating_point():
            part.add_(1)
    other.load_state_dict(torch.load(tmp_path / "numbers.pt"))
    assert torch.equal(other(tokens), found(tokens)) and other.every == 3 and other.words == found.words
    another = quantise(build("elman", TASK, seed=0), TASK)
    for strict in (True, False):
        before = another(tokens)
        with pytest.raises(ValueError, match="numbers of another quantised net"):
            another.load_state_dict(found.state_dict(), strict=strict)
        assert torch.equal(another(tokens), before)
    for move in (lambda q: q.float(), lambda q: q.half(), lambda q: q.to("meta")):
        with pytest.raises(TypeError, match="as it was traced, in torch"):
            move(copy.deepcopy(found))
    assert torch.equal(found.double().cpu()(tokens), other(tokens))


def test_a_specification_that_never_asks_is_refused_for_every_kind_of_net():
    spec = TASK.specification
    silent = MooreMachine(spec.transitions, np.full(spec.num_states, -1), spec.initial, spec.symbols)
    at_first = MooreMachine(np.ones((3, 2), int), np.array([0, -1]), 0, spec.symbols)
    for net in (quantise(net_of(nothing), TASK), snap(build("block_diagonal", vocab_size=3, classes=3, h=2, b=3, rule="softmax",
                                                            drive="none", start="first"))):  # fmt: skip
        for machine in (silent, at_first):
            with pytest.raises(ValueError, match="after no string"):
                verify(net, machine)
        with pytest.raises(ValueError, match="reads 3 symbols, the automaton 2"):
            verify(net, Sum(2).specification)


@pytest.mark.parametrize("every", (0, -1, 1.5, True))
def test_a_restart_that_is_no_whole_number_is_refused(every):
    found = quantise(net_of(nothing), TASK)
    with pytest.raises((ValueError, TypeError), match="every"):
        found.every = every


class Own(nn.Module):
    """A net that knows nothing of ours: torch's own cells."""

    vocab_size = classes = 3

    def __init__(self, cell):
        super().__init__()
        self.embedding, self.cell, self.readout = nn.Embedding(3, 8), cell(8, 8), nn.Linear(8, 3)

    def initial_state(self, batch):
        zeros = self.embedding.weight.new_zeros(batch, 8)
        return (zeros, zeros) if isinstance(self.cell, nn.LSTMCell) else zeros

    def step(self, state, tokens):
        state = self.cell(self.embedding(tokens), state)
        return state, self.readout(state[0] if isinstance(state, tuple) else state)


@pytest.mark.parametrize("cell", (nn.RNNCell, nn.GRUCell, nn.LSTMCell))
def test_any_module_that_steps_is_decided(cell):
    torch.manual_seed(0)
    verdict = verify(quantise(Own(cell), TASK, rounds=2), TASK.specification)
    assert not verdict.unknown and verdict.counterexample


def test_a_module_without_a_step_is_told_what_is_missing():
    with pytest.raises(TypeError, match="Linear has no vocab_size: quantise takes a net with"):
        quantise(nn.Linear(2, 2), TASK)


def test_no_strings_are_read_as_none():
    found = quantise(net_of(nothing), TASK)
    assert found(torch.zeros(0, 4, dtype=torch.int64)).shape == (0, 4, 3) and found(torch.zeros(4, 0, dtype=torch.int64)).shape == (4, 0, 3)
    with pytest.raises(ValueError, match="token 3"):
        found(torch.full((1, 2), 3))
    assert isinstance(found.steps, TracedStep) and "aten" in found.steps.graph.code
