"""Every model under torch.func (gradients of each sample, stacks of nets) and under torch.compile, beside torch plainly run."""

import subprocess
import sys

import pytest
import torch
from torch.func import functional_call, grad, stack_module_state, vmap

from lrnnlab import build, task
from lrnnlab.models import MODELS
from lrnnlab.models.layers.recurrent import element_wise, recurrent_delta, self_referential
from lrnnlab.scans import linear_scan, softmax_scan, token_scan

OPTIONS = {"local_attention": {"chunk": 5}, "sgconv": {"length": 16, "piece": 4},
           **{f"{position}_transformer": {"layers": 2} for position in ("xl", "kerple", "t5", "alibi")}}  # fmt: skip
CONVOLUTIONS = ("s4", "s4d", "dlr", "dss", "sgconv")


def net_of(name, seed=0, **options):
    return build(name, task("sum", 3), seed=seed, **{"width": 16, **OPTIONS.get(name, {}), **options})


def strings(B, T):
    return torch.randint(0, 3, (B, T), generator=torch.Generator().manual_seed(T))


def loss(net, weights, tokens, **options):
    return functional_call(net, weights, (tokens,), options).square().sum()


def gradients(net, tokens, **options):
    """By plain autograd; zero for a weight that is not used."""
    net.zero_grad()
    net(tokens, **options).square().sum().backward()
    return {k: torch.zeros_like(p) if p.grad is None else p.grad.clone() for k, p in net.named_parameters()}


def close(found, wanted):
    for name, value in wanted.items():
        torch.testing.assert_close(found[name], value, atol=1e-4, rtol=1e-3)


def each_sample(net, tokens):
    """The gradients of every string alone are those of a loop over the strings."""
    found = vmap(grad(lambda weights, row: loss(net, weights, row[None])), (None, 0))(dict(net.named_parameters()), tokens)
    for k, row in enumerate(tokens):
        close({name: value[k] for name, value in found.items()}, gradients(net, row[None]))


def stacked(nets, tokens):
    """Outputs and gradients of a stack of nets are those of each net."""
    state = stack_module_state(nets)
    outputs = vmap(lambda w, b: functional_call(nets[0], (w, b), (tokens,)))(*state)
    found = vmap(grad(lambda w, b: functional_call(nets[0], (w, b), (tokens,)).square().sum()))(*state)
    for k, net in enumerate(nets):
        torch.testing.assert_close(outputs[k], net(tokens), atol=1e-5, rtol=1e-4)
        close({name: value[k] for name, value in found.items()}, gradients(net, tokens))


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_each_sample(name):
    net, tokens = net_of(name), strings(3, 12)
    each_sample(net, tokens)
    close(grad(lambda weights: loss(net, weights, tokens))(dict(net.named_parameters())), gradients(net, tokens))


@pytest.mark.parametrize("name", MODELS)
def test_a_stack_of_nets(name):
    stacked([net_of(name, seed) for seed in range(3)], strings(2, 12))


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_long_convolutions(name):
    """From 65 positions on a convolution goes by the FFT."""
    each_sample(net_of(name), strings(2, 70))
    stacked([net_of(name, seed) for seed in range(2)], strings(2, 70))


@pytest.mark.parametrize("rule", ["clip", "release", "softmax", "free"])
def test_frozen_heads_and_rules_of_columns(rule):
    """Which heads stand still may differ from net to net of a stack."""
    for p in (1.0, 1.2, 3.0):
        nets = [net_of("block_diagonal", seed, rule=rule, p=p, b=4, drive="none", layers=2) for seed in range(2)]
        for k, net in enumerate(nets):
            net.layers[1].freeze(torch.arange(4) < k)
            net.layers[0].freeze(torch.arange(4) == 3 - k)
        stacked(nets, strings(2, 9))


@pytest.mark.parametrize("name", ["diagonal", "lstm", "deltanet"])
@pytest.mark.parametrize("pool", ["none", "mean", "max", "last"])
def test_padded_strings(name, pool):
    net, tokens, lengths = net_of(name, pool=pool), strings(3, 12), torch.tensor([12, 5, 1])
    weights = dict(net.named_parameters())
    found = vmap(grad(lambda w, row, n: loss(net, w, row[None], lengths=n[None])), (None, 0, 0))(weights, tokens, lengths)
    for k, row in enumerate(tokens):
        close({n: value[k] for n, value in found.items()}, gradients(net, row[None], lengths=lengths[k : k + 1]))
    with pytest.raises(ValueError, match="lengths are in 1..12, got 1..13"):
        vmap(lambda row, n: net(row[None], lengths=n[None]))(tokens, lengths + torch.tensor([1, 0, 0]))


def test_a_training_regulargpt():
    net = net_of("regulargpt").train()
    each_sample(net, strings(3, 12))


def test_a_token_that_is_none_is_named():
    net = net_of("diagonal")
    with pytest.raises(ValueError, match="token 3 is outside this model's vocabulary 0..2"):
        vmap(lambda row: net(row[None]))(strings(3, 12) + 1)
    with pytest.raises(RuntimeError, match="a token is outside this model's vocabulary 0..2"):
        torch.compile(net, backend="eager")(strings(3, 12) + 1)


def test_compiled_backends_say_what_runs_instead():
    A, tokens = torch.rand(2, 9, 3), torch.zeros(2, 9, dtype=torch.int64)
    for call in (lambda b: linear_scan(A, b, backend="cpu"), lambda b: token_scan(A[0], b[0], tokens, backend="cpu")):
        with pytest.raises(ValueError, match="the cpu backend does not run within torch.func; reference, paper and auto do"):
            vmap(call)(torch.rand(4, 2, 9, 3))
    with pytest.raises(ValueError, match="does not run within torch.func"):
        vmap(lambda raw: softmax_scan(raw, backend="cpu"))(torch.rand(4, 2, 9, 3, 1, 3))
    slow = torch.zeros(2, 5, 2, 10)
    for call in (lambda x: recurrent_delta(slow + x, None, backend="cpu"), lambda x: element_wise(
            torch.zeros(2, 5, 2, 3) + x, torch.zeros(2, 3), torch.zeros(2, 3), backend="cpu"), lambda x: self_referential(
            torch.zeros(2, 5, 2, 3) + x, torch.zeros(2, 2, 13, 3), backend="cpu")):  # fmt: skip
        with pytest.raises(ValueError, match="backend 'cpu' does not run within torch.func; 'auto' and 'reference' do"):
            vmap(call)(torch.zeros(2))


def compiled(name, T, backend):
    torch._dynamo.reset()
    plain, other = net_of(name), net_of(name)
    found = torch.compile(other, backend=backend)(strings(2, T))
    found.square().sum().backward()
    wanted = gradients(plain, strings(2, T))
    torch.testing.assert_close(found, plain(strings(2, T)), atol=1e-5, rtol=1e-4)
    close({k: torch.zeros_like(p) if p.grad is None else p.grad for k, p in other.named_parameters()}, wanted)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_compiled(name):
    for T in (12, 1) if name == "attention" else (12,):
        compiled(name, T, "aot_eager")


@pytest.mark.thorough
def test_compiled_before_it_has_run():
    """In a fresh process, where numba and every loop are loaded while torch.compile traces."""
    done = subprocess.run([sys.executable, "-c", """
import torch
from lrnnlab import build, task
for name in ("e_lstm", "srwm", "recurrent_delta", "deltanet", "ult", "block_diagonal"):
    net, x = build(name, task("sum", 2), width=16), torch.randint(0, 2, (3, 12))
    compiled = torch.compile(net, backend="eager")(x)
    assert compiled.allclose(net(x), atol=1e-5), name
"""], capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
