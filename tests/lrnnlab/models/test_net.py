"""The net around a mixer: its equations, padding, pools, dropout, stepping, sizes and groups of parameters."""

import math
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import gap, normal, same, seeded, strings
from torch import nn
from torch.func import functional_call

import lrnnlab
from lrnnlab import models
from lrnnlab.models.block import GATES, PLACES, Block, SharedDropout, normalise
from lrnnlab.training.loop import parameter_groups

D, V, C = 4, 6, 3
MIXERS = {
    "rotrnn": partial(models.layers.RotRNN, state=8, heads=2),
    "rotrnn random start": partial(models.layers.RotRNN, state=8, heads=2, start="random"),
    "lru": partial(models.layers.LRU, state=3),
    "s4d": partial(models.layers.S4D, state=4),
    "vanilla": models.layers.Vanilla,
    "rotrnn, bidirectional": partial(models.layers.RotRNN, state=8, heads=2, bidirectional=True),
    "lru, bidirectional": partial(models.layers.LRU, state=3, bidirectional=True),
    "s5, bidirectional": partial(models.layers.S5, state=8, blocks=2, bidirectional=True),
}
def net_of(mixer, seed=0, layers=2, block=(), **options):
    options = {"vocab_size": V, "encoder": "linear", "pool": "mean", **options}
    net = seeded(lambda: models.Net(models.blocks(MIXERS[mixer], D, layers, **{**models.block.PAPER_001, **dict(block)}), C, D, **options), seed=seed)
    with torch.no_grad():  # batch norm as after some training
        for norm in net.modules():
            if isinstance(norm, nn.BatchNorm1d):
                norm.running_mean.copy_(torch.linspace(-1, 1, D))
                norm.running_var.copy_(torch.linspace(0.5, 2, D))
                norm.bias.copy_(torch.linspace(0.3, -0.3, D))
    return net.double()


# --- the block ------------------------------------------------------------------------------------------------------


class Twice(nn.Module):
    """A mixer without memory: y = 2 z - 1."""

    def forward(self, z):
        return 2 * z - 1


ACTIVATED = {
    "gelu": lambda y: 0.5 * y * (1 + torch.erf(y / math.sqrt(2))),
    "gelu_tanh": lambda y: 0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3))),
    "relu": lambda y: y.clamp(min=0), "identity": lambda y: y,
}  # fmt: skip


def gated(block, a):
    """The gates of the released code, one formula each."""
    w = dict(block.gate.named_parameters())

    def linear(name):
        return a @ w[f"{name}.weight"].T + w.get(f"{name}.bias", 0)

    glu = 1 / (1 + torch.exp(-linear("gate"))) if "gate.weight" in w else 1
    return (linear("value") if "value.weight" in w else a) * glu


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("norm", ["batch", "layer", "none"])
@pytest.mark.parametrize("gate, activation, ff", [
    *((gate, "gelu", 2) for gate in GATES), *(("half_glu1", name, 0) for name in ACTIVATED),
])  # fmt: skip
def test_a_block_is_its_formula(gate, place, norm, ff, activation):
    block = seeded(lambda: PLACES[place](Twice(), D, norm=norm, gate=gate, activation=activation, ff=ff)).double()
    x = normal(2, 5, D)

    def normed(x):
        if norm == "none":
            return x
        over = (0, 1) if norm == "batch" else (2,)
        centred = x - x.mean(over, keepdim=True)
        return centred / (centred.square().mean(over, keepdim=True) + 1e-5).sqrt()

    def fed(a):
        w = dict(block.ff.named_parameters())
        return (a @ w["up.weight"].T + w["up.bias"]).clamp(min=0) @ w["down.weight"].T + w["down.bias"]

    y = gated(block, ACTIVATED[activation](2 * (normed(x) if place == "pre" else x) - 1))
    a = {"pre": lambda: x + y, "post": lambda: normed(x + y), "skip": lambda: normed(x) + y}[place]()
    if ff:
        a = normed(a + fed(a)) if place == "post" else a + fed(normed(a))
    same(block(x), a)
    same(block(x, torch.ones(2, 5, dtype=torch.bool)), a)
    block.residual = False
    assert gap(block(x), a) > 1e-2


def test_batch_norm_counts_true_positions_and_keeps_0_95():
    norm, z = models.blocks(lambda _: Twice(), D, 1, norm="batch")[0].norm.double(), normal(3, 6, D)
    mask = torch.arange(6) < torch.tensor([[6], [2], [1]])
    out = normalise(norm, z, mask)
    true = torch.cat([z[0], z[1, :2], z[2, :1]])
    same(out[mask], (true - true.mean(0)) / (true.var(0, unbiased=False) + 1e-5).sqrt())
    assert not out[~mask].any()
    same(norm.running_mean, 0.05 * true.mean(0))
    same(norm.running_var, 0.95 + 0.05 * true.var(0))


def test_dropout_has_one_mask_for_all_positions():
    dropout, x = SharedDropout(0.25), torch.ones(400, 7, 10)
    ratio = seeded(lambda: dropout(x))
    assert (ratio == ratio[:, :1]).all()
    same(ratio.unique(), torch.tensor([0, 1 / 0.75]))
    assert abs(float((ratio == 0).double().mean()) - 0.25) < 0.04  # 4000 draws: 6 deviations
    assert torch.equal(dropout(x[:, 0]), x[:, 0])  # a step
    assert torch.equal(dropout.eval()(x), x)


def test_a_block_drops_before_and_after_its_gate():
    """Of a linear gate's outputs a share is zero, and their inputs had zeros too."""
    (block,) = models.blocks(lambda _: Twice(), 200, 1, gate="linear", dropout=0.5)
    seen = []
    block.double().gate.value.register_forward_hook(lambda module, given, out: seen.append(given[0]))
    z = normal(1, 5, 200)
    added = seeded(lambda: block(z)) - z
    for x in (seen[0], added):
        assert 0.3 < float((x == 0).float().mean()) < 0.7
        assert ((x == 0) == (x[:, :1] == 0)).all()


# --- the network ----------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(list(MIXERS)), st.sampled_from(["mean", "max", "last", "none"]), st.sampled_from(["batch", "layer"]),
    st.sampled_from(["pre", "post"]), st.lists(st.integers(1, 70), min_size=1, max_size=4), st.integers(0, 9),
    st.integers(0, 10**6),
)  # fmt: skip
def test_padding_cannot_change_the_result(mixer, pool, norm, place, lengths, more, seed):
    """Each string alone, without padding, gives what it gives in a padded batch."""
    net = net_of(mixer, seed % 5, block={"norm": norm, "place": place}, pool=pool, final_norm=True).eval()
    tokens, lengths = strings(V, len(lengths), max(lengths) + more, seed), torch.tensor(lengths)
    with torch.no_grad():
        together = net(tokens, lengths)
        for row, T in enumerate(lengths.tolist()):
            alone = net(tokens[row : row + 1, :T])[0]
            same(together[row, :T] if pool == "none" else together[row], alone, 1e-8)


@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("pool", ["mean", "max", "last"])
def test_padding_cannot_change_training(mixer, pool):
    """Not what stands in the padding, nor how much of it there is: not the outputs, nor a gradient, nor batch norm."""
    lengths, seen = torch.tensor([9, 4, 1]), []
    for T, filling in ((9, 0), (9, 5), (14, 2)):
        net, tokens = net_of(mixer, pool=pool), torch.full((3, T), filling)
        for row, length in enumerate(lengths.tolist()):
            tokens[row, :length] = strings(V, 3, 9)[row, :length]
        out = net(tokens, lengths)
        out.square().sum().backward()
        seen.append([out, *(p.grad for p in net.parameters() if p.grad is not None), *net.buffers()])
    for other in seen[1:]:
        for p, q in zip(seen[0], other, strict=True):
            same(p, q, 1e-8)


@pytest.mark.parametrize("place", PLACES)
def test_padding_of_numbers_may_be_anything(place):
    lengths, seen = torch.tensor([5, 3]), []
    for filling in (0, math.nan):
        net, x = net_of("lru", block={"place": place, "ff": 2}, vocab_size=None, columns=2), normal(2, 5, 2)
        x[1, 3:] = filling
        out = net(x, lengths)
        seen.append([out, *torch.autograd.grad(out.square().sum(), list(net.parameters()))])
    for p, q in zip(*seen):
        assert torch.equal(p, q)


def test_pools_by_hand():
    lengths, x = torch.tensor([5, 3, 1]), normal(3, 5, 2)
    nets = {pool: net_of("rotrnn", pool=pool, vocab_size=None, columns=2).eval()
            for pool in ("none", "mean", "max", "last")}  # fmt: skip
    z = nets["none"].encode(x)
    for row, T in enumerate(lengths.tolist()):
        for pool, wanted in {
            "mean": z[row, :T].sum(0) / T,
            "max": z[row, :T].max(0).values,
            "last": z[row, T - 1],
        }.items():
            same(nets[pool].encode(x, lengths)[row], wanted)
    same(nets["mean"](x), nets["mean"].readout(z.mean(1)))
    same(nets["max"](x), nets["max"].readout(z.amax(1)))
    same(nets["last"](x), nets["last"].readout(z[:, -1]))


@pytest.mark.parametrize("count", [1, 3])
def test_last_outputs(count):
    whole, part = (net_of("lru", pool="none", last_outputs=n).eval() for n in (None, count))
    tokens, lengths = strings(V, 3, 8), torch.tensor([8, 3, 5])
    y = whole(tokens)
    same(part(tokens), y[:, -count:])
    for row, T in enumerate(lengths.tolist()):
        same(part(tokens, lengths)[row], y[row, T - count : T])


@pytest.mark.parametrize("mixer", ["rotrnn", "lru, bidirectional", "s5, bidirectional"])
@pytest.mark.parametrize("place, norm, gate", [("pre", "batch", "half_glu1"), ("post", "layer", "full_glu")])
def test_gradients(mixer, place, norm, gate):
    block = {"place": place, "norm": norm, "gate": gate}
    net = net_of(mixer, layers=1, block=block, vocab_size=None, columns=2, final_norm=True)
    x, lengths = normal(2, 5, 2).requires_grad_(), torch.tensor([5, 3])
    names, values = zip(*((key, p.detach().requires_grad_()) for key, p in net.named_parameters()))

    def run(x, *values):
        fresh = {key: b.clone() for key, b in net.named_buffers()}  # batch norm writes into them
        return functional_call(net, {**dict(zip(names, values)), **fresh}, (x, lengths))

    assert torch.autograd.gradcheck(run, (x, *values), fast_mode=True)


# --- pairs ----------------------------------------------------------------------------------------------------------


def pair_net(pool="mean", outputs=None):
    def make():
        made = models.blocks(MIXERS["lru, bidirectional"], D, 2, **models.block.PAPER_001)
        return models.PairClassifier(models.Net(made, outputs, D, vocab_size=V, encoder="linear", pool=pool), 2)

    return seeded(make).double()


def test_pairs_by_hand():
    net, a, b = pair_net().eval(), strings(V, 3, 8), strings(V, 3, 5, seed=1)
    p, q = net.encoder(a), net.encoder(b)
    first, _, second = net.readout
    features = torch.cat([p, q, p - q, p * q], -1)
    hidden = nn.functional.gelu(features @ first.weight.T + first.bias)
    same(net(a, b), hidden @ second.weight.T + second.bias)
    assert gap(net(a, b), net(b, a)) > 1e-6
    lengths = torch.tensor([8, 2, 3]), torch.tensor([1, 5, 4])
    for row in range(3):
        x, y = (s[row : row + 1, : n[row]] for s, n in zip((a, b), lengths))
        same(net(a, b, lengths)[row : row + 1], net(x, y))
    with pytest.raises(ValueError, match="got 3 and 1 strings"):
        net(a, b[:1])
    for options in ({"pool": "none"}, {"outputs": 7}):
        with pytest.raises(ValueError, match="a net with a pool and no readout"):
            pair_net(**options)


# --- parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mixer, options, wanted", [
    (partial(models.layers.RotRNN, state=128, heads=32), {}, 212_291),  # Table 3 and App. B.2 to the letter, half GLU
    (partial(models.layers.RotRNN, state=128, heads=32), {"gate": "full_glu"}, 268_163),
    (partial(models.layers.RotRNN, state=128, heads=32, bidirectional=True), {}, 286_019),  # as their sweep runs it
    (partial(models.layers.RotRNN, state=128, heads=32, bidirectional=True, rotation="absorbed"), {}, 282_947),
    (partial(models.layers.LRU, state=64, bidirectional=True, normaliser="recomputed"), {}, 283_139),
    (partial(models.layers.LRU, state=64, bidirectional=True), {}, 283_523),
    (partial(models.layers.S5, state=128, blocks=16, bidirectional=True), {}, 283_523),
])  # fmt: skip
def test_sizes_on_speech_commands(mixer, options, wanted):
    """Table 2 of paper 001 has 284K for RotRNN, 283K for LRU, 280K for S5: D = 96, N = 128, 6 layers, 35 classes."""
    net = models.Net(models.blocks(mixer, 96, 6, **{**models.block.PAPER_001, **options}), 35, 96, columns=1, pool="mean")
    assert sum(p.numel() for p in net.parameters()) == wanted


def test_parameter_groups():
    net = net_of("s5, bidirectional")
    names = {id(p): key for key, p in net.named_parameters()}
    regular, recurrent = parameter_groups(net, 1e-2, 0.0, 0.5)
    found = [names[id(p)] for p in regular["params"] + recurrent["params"]]
    assert sorted(found) == sorted(names.values())
    ends = {"Lambda_re", "Lambda_im", "log_step", "B"}
    assert {names[id(p)].split(".")[-1] for p in recurrent["params"]} == ends and len(recurrent["params"]) == 2 * 4
    before = {key: p.detach().clone() for key, p in net.named_parameters()}
    net(strings(V, 2, 5)).sum().backward()
    torch.optim.AdamW([regular, recurrent]).step()
    for key, p in net.named_parameters():
        assert torch.equal(p, before[key]) == (key.split(".")[-1] in ends), key
    net.blocks[0].mixer.recurrent_parameters = ("nu",)
    with pytest.raises(ValueError, match="S5 names 'nu' as recurrent but has no such parameter"):
        parameter_groups(net, 1, 1, 1)


# --- how far it is from a call to its kernel --------------------------------------------------------------------------


def entered(call):
    """The functions of lrnnlab that a call enters, each once, in order: (path, name)."""
    found, home = {}, Path(lrnnlab.__file__).parent

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(home)):
            found[frame.f_code] = Path(frame.f_code.co_filename).relative_to(home).as_posix(), frame.f_code.co_name

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(found.values())


@pytest.mark.parametrize("name, options", [
    ("block_diagonal", {"rule": "softmax", "drive": "none", "start": "first"}), ("pd", {}), ("lru", {}), ("rotrnn", {}),
    ("s5", {}), ("diagonal", {}), ("dictionary", {}), ("deltanet", {}), ("mamba2", {}),
])  # fmt: skip
def test_at_most_thirty_functions_lead_to_the_kernel(name, options):
    """Arguments are checked once, at the door: it was 61 functions, and 21 of them checks."""
    net, tokens = models.build(name, vocab_size=5, classes=5, **options), torch.zeros(8, 20, dtype=torch.int64)
    net(tokens)  # loads what is loaded at the first call
    functions = entered(lambda: net(tokens))
    kernel = max(i for i, (path, name) in enumerate(functions, 1) if "kernels/" in path and name in ("work", "forward"))
    assert [name for _, name in functions[:3]] == ["forward", "encode", "check"] and kernel <= 30, functions
    assert name != "block_diagonal" or len(functions) <= 30, functions


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["attention", "local_attention"])
def test_attention_to_the_padding_is_refused(name):
    net, tokens = models.build(name, vocab_size=V, classes=C, width=D, causal=False), strings(V, 2, 5)
    same(net(tokens, torch.tensor([5, 5])), net(tokens))
    with pytest.raises(ValueError, match=r"causal=False attends to the padding of strings of lengths \[5, 3\]"):
        net(tokens, torch.tensor([5, 3]))


# --- stepping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in models.MODELS if models.reads_numbers(name)])
def test_forward_is_stepping_on_numbers(name):
    """On tokens: test_models.py."""
    make, inputs = partial(models.network, *models.MODELS[name].args, **models.NUMBERS), normal(3, 9, 2)
    net = seeded(lambda: make(None, C, columns=2, width=8, layers=2)).double().eval()
    with torch.no_grad():
        state, outputs = net.initial_state(3), []
        for input_t in inputs.unbind(1):
            state, y = net.step(state, input_t)
            outputs.append(y)
        same(torch.stack(outputs, 1), net(inputs))


def test_the_first_mixer_works_once_a_symbol_or_once_a_position():
    """Same numbers; transitions one a symbol, or one a position.  Batch norm counts positions, so it never has a table."""
    tokens = strings(V, 3, 9)
    nets = [seeded(lambda: models.network(models.layers.Vanilla, V, C, width=D, by_symbol=way)).double() for way in (True, False)]
    same(nets[0](tokens), nets[1](tokens))
    traces = [net.trace(tokens) for net in nets]
    assert [len(trace.transitions[0]) for trace in traces] == [V, 3]
    same(traces[0].states, nets[0].states(tokens))
    assert not models.network(models.layers.Vanilla, V, C, width=D, norm="batch").by_symbol


def test_a_mixer_that_sees_the_padding_is_noticed(monkeypatch):
    """Where only the pool and the norm know of the lengths, a bidirectional mixer carries the padding back."""
    net, tokens, lengths = net_of("lru, bidirectional").eval(), strings(V, 2, 9), torch.tensor([6, 6])
    same(net(tokens, lengths), net(tokens[:, :6]))
    forward = Block.forward
    monkeypatch.setattr(Block, "forward", lambda block, x, mask, tokens: forward(block, x))
    assert gap(net(tokens, lengths), net(tokens[:, :6])) > 1e-3
