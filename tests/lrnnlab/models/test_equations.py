"""Each layer is its equation: forward pass, step, gradients, kernel, states against the one page that says what models are."""

from functools import partial

import pytest
import torch
from mixers import MIXERS, PAPER_003, disturbed
from tensors import gap, normal, same, strings

from lrnnlab import models as M
from lrnnlab.models import equations
from lrnnlab.models.base import BACKENDS
from lrnnlab.models.layers.attention import BLOCKS, PADDING, POSITIONS
from lrnnlab.models.layers.fast_weights import GATED_BACKENDS, RULE_BACKENDS

LAYERS = {**MIXERS, **PAPER_003}
SMALL = {"width": 8, "heads": 2}


def fallen(*sizes):
    """KERPLE with a weight below its least, which is to be told the way up."""
    net = M.layers.RelativeTransformer(*sizes, layers=2, position="kerple", **SMALL)
    net.position.r.data[0, 0] = -3.0
    return net


NETS = {
    "kerple, fallen": fallen,
    **{f"relu_rnn {every}": partial(M.layers.ReluRNN, width=8, every=every) for every in (False, True)},
    **{f"regulargpt {c} {form} {padding} {block}": partial(M.layers.RegularGPT, chunk=c, form=form, block=block, padding=padding, **SMALL)
       for c in (2, 3, 12, 40) for form in PADDING for padding in PADDING.values() for block in BLOCKS},
    **{f"regulargpt, {K} layers, {form} {padding}": partial(M.layers.RegularGPT, chunk=c, thickness=K, form=form, padding=padding, **SMALL)
       for c, K in ((2, 3), (3, 2)) for form in PADDING for padding in PADDING.values()},
    **{f"{position} {block}": partial(M.layers.RelativeTransformer, layers=2, position=position, block=block, **SMALL)
       for position in POSITIONS for block in BLOCKS},
}  # fmt: skip
NO_SLOPE = {"block hard", "pd", "pd without phases"}  # straight through, or none
GROWING = {"srwm elu": 9, "recurrent elu": 24}  # beyond, what they stretch is rounding


def slopes_of(y, wanted):
    found = torch.autograd.grad((y * y).sum(), wanted, allow_unused=True, retain_graph=True)
    return [torch.zeros_like(p) if slope is None else slope for slope, p in zip(found, wanted)]


def same_slopes(given, due, wanted):
    return all(gap(a, b) <= 1e-7 * (1 + float(b.abs().max())) for a, b in zip(slopes_of(given, wanted), slopes_of(due, wanted)))


def backends_of(layer):
    if isinstance(layer, M.layers.FastWeights):
        return [backend for backend in RULE_BACKENDS if backend != "fla" and (backend, layer.rule) != ("cpu", "normalised")]
    return GATED_BACKENDS if isinstance(layer, (M.layers.GatedDeltaNet, M.layers.Mamba2, M.layers.RWKV7)) else BACKENDS if hasattr(layer, "backend") else [None]


@pytest.mark.parametrize("name, T", [(name, T) for name in LAYERS for T in (1, 9, 24, 70) if T <= GROWING.get(name, T)])
def test_a_layer_is_its_equation(name, T):
    layer, table, tokens = disturbed(LAYERS[name], 6), normal(9, 6, seed=1), strings(9, 3, T)
    z = table[tokens].requires_grad_()
    due, tolerance = equations.outputs_of(layer, z), 1e-9 if isinstance(layer, M.layers.S4) else 1e-11
    for backend in backends_of(layer):
        if backend:
            layer.backend = backend
        given = layer(z)
        same(given, due, tolerance)
        same(layer(table, tokens), due, tolerance)
        assert name in NO_SLOPE or same_slopes(given, due, [z, *layer.parameters()]), backend
        if "both ways" not in name:
            state, steps = layer.initial(3), []
            for z_t in z.unbind(1):
                state, y = layer.step(state, z_t)
                steps.append(y)
            same(torch.stack(steps, 1), due, tolerance)


@pytest.mark.parametrize("T", [1, 2, 40, 131])
@pytest.mark.parametrize("name", [name for name in MIXERS if name.startswith(("dlr", "dss", "sgconv", "s4"))])
def test_a_kernel_is_the_answer_to_one_input(name, T, monkeypatch):
    monkeypatch.setattr(equations, "gated_readout", lambda m, y, z: y)
    layer, impulse = disturbed(LAYERS[name], 6), torch.zeros(1, 2 * T + 1, 6, dtype=torch.float64)
    impulse[:, T] = 1
    if not layer.gated:
        layer.skip.data.zero_()
    due = equations.outputs_of(layer, impulse)[0].detach().T  # (D,2T+1)
    K, lags = layer.kernel(T), min(T, layer.max_kernel or T)
    assert K.shape == (*[2] * layer.bidirectional, 6, lags)
    for found, wanted in zip(K.view(-1, 6, lags), (due[:, T:], due[:, :T].flip(1))):
        assert gap(found, wanted[:, :lags]) < (1e-9 if isinstance(layer, M.layers.S4) else 1e-12) * max(1, float(wanted.abs().max()))


DENSE = [name for name in MIXERS if name.startswith(("rotrnn", "lru", "s5"))]


@pytest.mark.parametrize("name", [name for name in DENSE if "both ways" not in name])
def test_a_dense_kernel_is_the_answer_to_inputs_one_at_a_time(name):
    layer, T = disturbed(LAYERS[name], 6), 9
    impulses = torch.zeros(6, T, 6, dtype=torch.float64)
    impulses[:, 0] = torch.eye(6)
    rest = equations.outputs_of(layer, torch.zeros_like(impulses))
    answers = equations.outputs_of(layer, impulses) - rest - layer.skip * impulses  # (in, T, out)
    same(layer.kernel(T).permute(2, 0, 1), answers)


@pytest.mark.parametrize("name", DENSE)
def test_hidden_states_are_what_the_outputs_are_read_from(name):
    """As wide as this, different states have different outputs."""
    layer, z = disturbed(LAYERS[name], 20), normal(2, 13, 20)
    x, y = layer.hidden(z), layer.skip * z
    for one, C in zip(x.chunk(layer.directions, -1), layer.C):
        assert torch.linalg.matrix_rank(C.flatten(1)) == C.shape[1:].numel()
        y = y + (one @ C.T if isinstance(layer, M.layers.RotRNN) else (1 + isinstance(layer, M.layers.S5)) * (one @ equations.pairs(C).T).real)
    same(y, equations.outputs_of(layer, z))
    if isinstance(layer, M.layers.RotRNN):  # without inputs a state is turned by the transition
        rest = layer.hidden(torch.cat([z[:, :1], torch.zeros_like(z)], 1)).chunk(layer.directions, -1)[0]
        same(rest[:, 1:], rest[:, :-1] @ torch.block_diag(*layer.transition()).T)


@pytest.mark.parametrize("T", [1, 2, 23])
@pytest.mark.parametrize("name", NETS)
def test_a_net_of_paper_002_is_its_equation(name, T):
    net, tokens = disturbed(NETS[name], 5, 3), strings(5, 4, T, seed=2)
    due = equations.outputs_of(net, tokens)
    for training in (True, False):
        given = net.train(training)(tokens)
        same(given, due, 1e-11)
        assert same_slopes(given, due, list(net.parameters()))


def test_every_model_is_on_the_page_and_tried():
    mixers = {getattr(M.layers, name) for name in M.layers.__all__}
    page = (equations.EQUATIONS, equations.FED_BACK, equations.ATTENTION, equations.NETS)
    assert mixers == {kind for part in page for kind in part}
    assert mixers == {type(made(6)) for made in LAYERS.values()} | {type(made(5, 3)) for made in NETS.values()}
