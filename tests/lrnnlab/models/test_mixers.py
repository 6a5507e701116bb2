"""What every mixer keeps: causal, of any length and batch, tables of symbols, single precision; equations: test_equations.py."""

import pytest
import torch
from mixers import MIXERS
from tensors import gap, normal, seeded

from lrnnlab import models
from lrnnlab.scans.convolution import MAX_DENSE_LENGTH

D = 6
ONE_WAY = [name for name in MIXERS if "both ways" not in name]
SMOOTH = [name for name in MIXERS if name not in ("block hard", "pd", "pd without phases")]  # no straight-through gradient


def make(name):
    return seeded(MIXERS[name], D).double()


def stepped(layer, z):
    state, out = layer.initial(len(z)), []
    for z_t in z.unbind(1):
        state, y = layer.step(state, z_t)
        out.append(y)
    return torch.stack(out, 1)


@pytest.mark.parametrize("name", ONE_WAY)
def test_forward_is_stepping_in_single_precision(name):
    """At both sides of the length where convolutions change their method."""
    layer = make(name).float()
    with torch.no_grad():
        for T in (MAX_DENSE_LENGTH, MAX_DENSE_LENGTH + 1):
            z = normal(2, T, D, dtype=torch.float32)
            y = layer(z)
            assert gap(stepped(layer, z), y) < 1e-4 * (1 + float(y.abs().max()))


@pytest.mark.parametrize("name", MIXERS)
@pytest.mark.parametrize("T", [5, 70])
def test_causal_in_one_direction_only(name, T):
    """The last input moves the last output; those before it only where a layer runs both ways."""
    layer, z = make(name), normal(2, T, D)
    other = z.clone()
    other[:, -1] += 1
    with torch.no_grad():
        change = (layer(other) - layer(z)).abs().amax((0, 2))
    assert change[-1] > 0 or name.startswith(("block hard", "pd without"))
    assert change[:-1].max() > 1e-6 if name not in ONE_WAY else change[:-1].max() < 1e-12


@pytest.mark.parametrize("name", MIXERS)
def test_tokens_any_length_and_any_batch(name):
    layer, table = make(name), normal(4, D)
    tokens = torch.randint(4, (3, 70), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        y = layer(table[tokens])
        assert gap(layer(table, tokens), y) < 1e-9
        assert gap(layer.trace(table, tokens)[1], y) < 1e-9
        assert gap(layer(table[tokens][1:2]), y[1:2]) < 1e-9
        if hasattr(layer, "backend") and not isinstance(layer, models.layers.Vanilla):
            layer.backend = "reference"
            assert gap(layer(table[tokens]), y) < 1e-9
        for z in (normal(2, 0, D), normal(2, 5, D)[:0]):
            assert layer(z).shape == z.shape
        if name in ONE_WAY:
            for T in (1, 2, 65):
                assert gap(layer(table, tokens[:, :T]), y[:, :T]) < 1e-8


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_in_single_precision_at_length(name):
    single, double = make(name).float(), make(name)
    z, g = normal(2, 300, D), normal(2, 300, D, seed=1)
    (single(z.float()) * g.float()).sum().backward()
    (double(z) * g).sum().backward()
    for (key, p), q in zip(single.named_parameters(), double.parameters()):
        assert q.grad.abs().max() > 0 or name == "block free", key
        assert p.grad.isfinite().all() and gap(p.grad, q.grad) < 1e-2 * float(q.grad.abs().max()) + 1e-4, key


# --- what is called by itself is checked by itself --------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in MIXERS if isinstance(make(name), models.LinearRecurrence) and name != "vanilla"])
@pytest.mark.parametrize("wrong", [4, -1, 1 << 40])
def test_a_layer_reads_no_symbol_that_its_table_has_not(name, wrong):
    layer, tokens = make(name), torch.zeros(3, 70, dtype=torch.int64)
    tokens[1, 3] = wrong
    block = models.block.PreNorm(layer, D, residual=False).double()
    for call in (layer, layer.forward, layer.trace, lambda table, tokens: block(table, None, tokens), block.trace):
        with pytest.raises(ValueError, match=rf"token {wrong} is outside the table of 4 symbols \(0..3\)"):
            call(normal(4, D), tokens)


class Rule(models.LinearRecurrence):
    """Blocks of 2 x 2 that someone wrote; ``spoil`` changes what they give."""

    def __init__(self, spoil):
        super().__init__()
        self.spoil, self.x0 = spoil, torch.ones(3, 2)

    def transition(self, z):
        b = z.unflatten(-1, (3, 2))
        return self.spoil(b.unsqueeze(-1).expand(*b.shape, 2), b)


@pytest.mark.parametrize("spoil, error, message", [
    (lambda A, b: (A[..., :1, :, :], b), ValueError, r"takes A.*, got A.* \(4?.*1, 2, 2\), b"),
    (lambda A, b: (A, b[..., :2, :]), ValueError, "takes A.*, got A"),
    (lambda A, b: (A, b[..., 0]), ValueError, "takes A.*, got A"),
    (lambda A, b: (A, b[:1]), ValueError, "takes A.*, got A"),
    (lambda A, b: (A[..., 0, 0], b[..., 0]), ValueError, r"takes A.*, x0 \(2, 3, 2\)"),
    (lambda A, b: (A.double(), b), ValueError, "must have one type and one device"),
    (lambda A, b: (A.double(), b.double()), ValueError, "must have one type and one device.*x0.* is torch.float32"),
    (lambda A, b: (A.to("meta"), b), ValueError, "must have one type and one device"),
    (lambda A, b: (A.tolist(), b), TypeError, r"A.* must be a dense torch.Tensor, got \[\["),
    (lambda A, b: (A, b.numpy()), TypeError, "b.* must be a dense torch.Tensor, got a NumPy array"),
    (lambda A, b: (A.to_sparse(), b), TypeError, "must be a dense torch.Tensor, got a tensor .*sparse"),
])  # fmt: skip
def test_a_rule_of_ones_own_is_refused_before_it_is_run(spoil, error, message):
    rule = Rule(spoil)
    for given in ((normal(2, 9, D).float(),), (normal(4, D).float(), torch.zeros(2, 9, dtype=torch.int64))):
        for backend in ("auto", "reference", "cpu"):
            rule.backend = backend
            with pytest.raises(error, match=message):
                rule(*given)
    for z in (normal(9, D), normal(2, 2, 9, D)):
        with pytest.raises(ValueError, match="linear_scan takes A"):
            Rule(lambda A, b: (A, b))(z.float())
