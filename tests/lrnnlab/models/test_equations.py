"""Each layer is its equation: forward pass, step and gradients against the one page that says what the models are."""

from functools import partial

import pytest
import torch

from lrnnlab import models as M
from lrnnlab.models import equations
from lrnnlab.models.layers.attention import POSITIONS
from lrnnlab.training.loop import with_seed

MIXERS = {
    **{f"diagonal {kind}": partial(M.Diagonal, kind=kind) for kind in ("positive", "signed", "complex", "unit")},
    **{f"block {rule} {drive}": lambda width, rule=rule, drive=drive: M.BlockDiagonal(2, 4, rule=rule, drive=drive)
       for rule in M.COLUMN_RULES for drive in ("mlp", "none", "linear")},
    "block first": lambda width: M.BlockDiagonal(2, 4, start="first"),
    **{f"pd {phases}": partial(M.OneHotColumns, b=4, phases=phases) for phases in (True, False)},
    **{kind.__name__: kind for kind in (
        M.Dictionary, M.LiquidS4, M.Vanilla, M.LRU, M.S5, M.RotRNN, M.DLR, M.DSS, M.S4D, M.S4, M.GatedDeltaNet, M.Mamba2,
        M.RWKV7, M.ElementWiseLSTM, M.RecurrentDelta, M.SelfReferential, M.RWKV, M.CausalAttention)},
    "lru recomputed": partial(M.LRU, normaliser="recomputed"),
    "rotrnn random": partial(M.RotRNN, state=8, heads=2, start="random"),
    "rotrnn absorbed": partial(M.RotRNN, state=8, heads=2, rotation="absorbed", normaliser="paper", c=0.5),
    "dlr prod": partial(M.DLR, state=6, kind="prod"), "dlr sum": partial(M.DLR, state=6, kind="sum"),
    "dlr real": partial(M.DLR, state=6, eigenvalues="real"),
    "gated deltanet, to 2": partial(M.GatedDeltaNet, allow_negative_eigenvalues=True),
    "deltaproduct": partial(M.FastWeights, householders=2, allow_negative_eigenvalues=True),
    "deltanet near a sum": partial(M.FastWeights, write_start=-2.0),
    **{rule: partial(M.FastWeights, rule=rule) for rule in ("sum", "normalised", "delta")},
    **{f"delta of {phi}": partial(M.FastWeights, feature_map=phi) for phi in ("elu", "softmax", "unit")},
    **{cell: partial(M.Nonlinear, cell=cell) for cell in ("elman", "lstm")},
    "full feedback": partial(M.RecurrentDelta, recurrence="full"),
    "sgconv": partial(M.SGConv, length=16, piece=4),
    "rotary": partial(M.RotaryAttention, heads=2, head_size=4),
    "rotary bare": partial(M.RotaryAttention, heads=2, head_size=4, bare=True, ff=8),
    "local": partial(M.LocalAttention, heads=2, head_size=4, chunk=5),
}  # fmt: skip
NETS = {
    "relu_rnn": partial(M.ReluRNN, width=8),
    **{f"regulargpt {c} {form} {block}": partial(M.RegularGPT, width=8, heads=2, chunk=c, form=form, block=block, padding="masked")
       for c in (2, 3) for form in ("tree", "masks") for block in ("post_norm", "gpt2")},
    "regulargpt, two layers": partial(M.RegularGPT, width=8, heads=2, thickness=2, form="masks"),
    **{position: partial(M.RelativeTransformer, width=8, heads=2, layers=2, position=position) for position in POSITIONS},
}  # fmt: skip
NO_SLOPE = {*(f"block hard {drive}" for drive in ("mlp", "none", "linear")), "pd True", "pd False"}  # straight through


def close(a, b, tolerance=1e-9):
    a, b = a.detach(), b.detach()
    return float((a - b).abs().max()) <= tolerance * (1 + float(b.abs().max()))


def same_gradients(given, due, wanted):
    for a, b in zip(*(torch.autograd.grad((y * y).sum(), wanted, allow_unused=True) for y in (given, due))):
        none = torch.zeros(())
        assert close(none if a is None else a, none if b is None else b, 1e-7)


@pytest.mark.parametrize("name", MIXERS)
def test_a_layer_is_its_equation(name):
    layer = with_seed(lambda: MIXERS[name](8), 5).double()
    z = torch.randn(3, 23, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    given, due = layer(z), equations.outputs_of(layer, z)
    assert close(given, due)
    state, steps = layer.initial(3), []
    for z_t in z.unbind(1):
        state, y = layer.step(state, z_t)
        steps.append(y)
    assert close(torch.stack(steps, 1), due)
    if name not in NO_SLOPE:
        same_gradients(given, due, [z, *layer.parameters()])


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("length", [1, 2, 23])
def test_a_net_of_paper_002_is_its_equation(name, length):
    net = with_seed(lambda: NETS[name](5, 3), 5).double()
    for p in net.parameters():  # the released start has zeros where a mistake would not show
        p.data.add_(0.3 * torch.randn(p.shape, dtype=p.dtype, generator=torch.Generator().manual_seed(p.numel())))
    tokens = torch.randint(5, (4, length), generator=torch.Generator().manual_seed(2))
    given, due = net(tokens), equations.outputs_of(net, tokens)
    assert given.shape == due.shape and close(given, due)
    same_gradients(given, due, list(net.parameters()))


def test_every_model_is_on_the_page():
    mixers = {getattr(M, name) for name in M.__all__ if isinstance(getattr(M, name), type)}
    mixers -= {M.Net, M.PairClassifier, M.Recurrence, M.LinearRecurrence}
    page = (equations.EQUATIONS, equations.FED_BACK, equations.ATTENTION, equations.NETS)
    assert mixers == {kind for part in page for kind in part}
