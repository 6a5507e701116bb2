"""A net that nobody here has seen, evaluated, restarted, proved, extracted and exchanged; and what is refused, and how."""

import numpy as np
import pytest
import torch
from torch import nn

from lrnnlab import evaluate, extract, quantise, task, train, verify
from lrnnlab.tasks import StateTracking
from lrnnlab.verification.interchange import interchange

PARITY = task("sum", 2, length=12)
STATES = StateTracking(PARITY.machine, "parity")


class Mine(nn.Module):
    """An embedding, a recurrence of torch's (states with layers first) and a readout, as everybody writes them."""

    vocab_size = classes = 2

    def __init__(self, kind, layers=1, batch_first=True):
        super().__init__()
        self.kind, self.layers, self.batch_first = kind, layers, batch_first
        self.embedding, self.rnn = nn.Embedding(2, 16), kind(16, 16, layers, batch_first=batch_first)
        self.readout = nn.Linear(16, 2)

    def initial_state(self, batch):
        zeros = self.readout.weight.new_zeros(self.layers, batch, 16)
        return (zeros, zeros) if self.kind is nn.LSTM else zeros

    def step(self, state, tokens):
        x = self.embedding(tokens)
        y, state = self.rnn(x[:, None] if self.batch_first else x[None], state)
        return state, self.readout(y[:, 0] if self.batch_first else y[0])


class Reads(Mine):
    def forward(self, tokens):
        return self.readout(self.rnn(self.embedding(tokens))[0])


class Zeros(Mine):
    """A start of torch's own type, as everybody writes it, which forward asks for too."""

    def initial_state(self, batch):
        zeros = torch.zeros(self.layers, batch, 16)
        return (zeros, zeros) if self.kind is nn.LSTM else zeros

    def forward(self, tokens):
        return self.readout(self.rnn(self.embedding(tokens), self.initial_state(len(tokens)))[0])


class Plain:
    """Parity without a module of torch: the state is one number."""

    vocab_size = classes = 2

    def initial_state(self, batch):
        return {"odd": torch.zeros(batch, 1, dtype=torch.float64)}

    def step(self, state, tokens):
        odd = (state["odd"] - tokens.double()[:, None]).abs()
        return {"odd": odd}, torch.cat([1 - odd, odd], 1)


@pytest.mark.parametrize("kind, layers", [(nn.RNN, 1), (nn.GRU, 2), (nn.LSTM, 1)], ids=lambda x: getattr(x, "__name__", x))
def test_a_net_of_torchs_own_cells_is_proved(kind, layers):
    torch.manual_seed(0)
    net = Reads(kind, layers)
    train(net, PARITY, steps=300, lr=1e-2, batch_size=64, clip=1.0, progress=False)
    by_steps = Mine(kind, layers, batch_first=False)  # without forward
    by_steps.load_state_dict(net.state_dict())
    for one in (net, by_steps):
        assert evaluate(one, PARITY, length=100, strings=32).accuracy_last == 1
        found = quantise(one, PARITY)
        assert verify(found, PARITY.specification).proved
        assert evaluate(found, PARITY, length=500, strings=8).accuracy_last == 1
        assert interchange(one, STATES, position=9, strings=16).swapped == 1


def test_what_is_no_module_of_torch_is_taken_too():
    net = Plain()
    assert evaluate(net, PARITY, length=50, strings=8).accuracy_last == 1
    assert verify(quantise(net, PARITY), PARITY.specification).proved
    assert interchange(net, STATES, position=9, strings=16).swapped == 1


def test_l_star_asks_a_net_of_ones_own():
    pytest.importorskip("aalpy", reason="aalpy IS MISSING: pip install 'aalpy>=1.4'")
    for asked in (Plain(), lambda words: words.cumsum(1) % 2, PARITY.machine.answer):
        assert extract(asked, PARITY.symbols, seconds=120).machine.num_states == 2


DOORS = {
    "evaluate": lambda net: evaluate(net, PARITY),
    "quantise": lambda net: quantise(net, PARITY),
    "interchange": lambda net: interchange(net, STATES, position=9),
    "extract": lambda net: extract(net, "01"),
}


@pytest.mark.parametrize("kind", (nn.RNN, nn.GRU, nn.LSTM))
def test_a_start_in_torchs_own_type_is_that_of_the_weights(kind):
    torch.manual_seed(0)
    net, other = Zeros(kind), Reads(kind)
    other.load_state_dict(net.state_dict())
    one, two = (quantise(each, PARITY, rounds=0) for each in (net, other))
    assert torch.equal(one.codebook, two.codebook) and one.codebook.dtype == torch.float64
    assert net.initial_state(1)[0].dtype == torch.float32  # the net itself is left as it was


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", ("initial_state", "step"))
def test_what_is_missing_is_named_and_shown(door, name):
    incomplete = type("Incomplete", (nn.Module,), {key: value for key, value in vars(Plain).items() if key[0] != "_" and key != name})
    with pytest.raises(TypeError, match=f"Incomplete has no {name}: {door} takes a net with\n.*V and C\n.*initial_state.*\n.*def step"):
        DOORS[door](incomplete())
    with pytest.raises(TypeError, match="and Plain is a class: make one"):
        DOORS[door](Plain)


@pytest.mark.parametrize("door", DOORS)
def test_a_step_that_returns_something_else_is_told(door):
    class Turned(Plain):
        def step(self, state, tokens):
            return super().step(state, tokens)[::-1]

    class Narrow(Plain):
        def step(self, state, tokens):
            state, logits = super().step(state, tokens)
            return state, logits[:, :1]

    class Alone(Plain):
        def step(self, state, tokens):
            return super().step(state, tokens)[1]

    for wrong in (Turned(), Narrow(), Alone()):
        with pytest.raises(ValueError, match=rf"the step of {type(wrong).__name__} must return \(state, logits \(\d+, 2\)\), got"):
            DOORS[door](wrong)


def test_a_state_without_an_axis_of_strings_is_told():
    class One(Plain):
        def initial_state(self, batch):
            return {"odd": torch.zeros(1, 1, dtype=torch.float64)}

    with pytest.raises(ValueError, match=r"state of One, a tensor \(2?1?, ?1\).*no axis of length batch"):
        quantise(One(), PARITY)


def test_sizes_are_asked_for_where_they_are_needed():
    class Unsized:
        initial_state, step = Plain.initial_state, Plain.step

    assert evaluate(Unsized(), PARITY, length=9, strings=4).accuracy_last == 1
    with pytest.raises(TypeError, match="Unsized has no vocab_size: quantise takes a net with"):
        quantise(Unsized(), PARITY)
    words = np.array([[1, 1, 0, 1]])
    assert evaluate(Unsized(), PARITY, length=4, strings=1).per_position.shape == words.shape[1:]
