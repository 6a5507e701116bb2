"""Every mixer in every kind of option, by a name: MIXERS[name](6) makes one of width 6."""

from functools import partial

from tensors import normal, seeded

from lrnnlab.models import layers as M
from lrnnlab.models.base import FEATURE_MAPS, POSITIVE

BLOCKS = M.BlockDiagonal.of_width
ROT, HEADS = {"state": 8, "heads": 2}, {"heads": 2, "head_size": 4}
AUTOMATON = {"rule": "softmax", "drive": "none", "start": "first"}
BEYOND = {"allow_negative_eigenvalues": True, "feature_map": "unit"}
MIXERS = {
    **{f"block {rule}": partial(BLOCKS, b=3, hidden=8, rule=rule) for rule in M.transitions.COLUMN_RULES},
    "block automaton": partial(BLOCKS, b=3, hidden=8, stay=2.0, **AUTOMATON),
    "block linear drive": partial(BLOCKS, b=2, hidden=8, drive="linear", p=1.0),
    "blocks of one": partial(BLOCKS, b=1, hidden=8, p=float("inf")),
    "vanilla": M.Vanilla,
    **{f"diagonal {kind}": partial(M.Diagonal, kind=kind) for kind in ("positive", "signed", "complex", "unit")},
    "diagonal phases": partial(M.Diagonal, kind="unit", drive="none"),
    "pd": partial(M.OneHotColumns, b=3), "pd without phases": partial(M.OneHotColumns, b=3, phases=False),
    "dictionary": partial(M.Dictionary, matrices=3, state=4),
    "elman": partial(M.Nonlinear, cell="elman"), "lstm": partial(M.Nonlinear, cell="lstm"),
    "rotrnn": partial(M.RotRNN, **ROT), "rotrnn released": partial(M.RotRNN, **ROT, init="released"),
    "rotrnn absorbed": partial(M.RotRNN, **ROT, rotation="absorbed"),
    "rotrnn pairs": partial(M.RotRNN, state=6, heads=3, rotation="absorbed"),
    "rotrnn paper, c = 1/2": partial(M.RotRNN, **ROT, normaliser="paper", c=0.5),
    "rotrnn random start, c = 2": partial(M.RotRNN, **ROT, start="random", c=2.0),
    "rotrnn both ways": partial(M.RotRNN, state=6, heads=1, bidirectional=True),
    "lru": partial(M.LRU, state=5), "lru one state": partial(M.LRU, state=1),
    "lru recomputed, both ways": partial(M.LRU, state=5, normaliser="recomputed", bidirectional=True),
    "s5": partial(M.S5, state=6), "s5 blocks, both ways": partial(M.S5, state=8, blocks=2, bidirectional=True),
    **{f"dlr {kind}": partial(M.DLR, state=5, kind=kind) for kind in ("real", "imag", "sum", "prod", "real_prod")},
    **{f"dlr {kind}, both ways": partial(M.DLR, state=5, kind=kind, bidirectional=True) for kind in ("real", "real_prod")},
    "dlr half circle": partial(M.DLR, state=4, init="half_circle", dt=(1e-4, 1e-2)),
    **{f"dlr-r{', both ways' * both}": partial(M.DLR, state=5, eigenvalues="real", bidirectional=both) for both in (False, True)},
    **{f"dlr short{', both ways' * both}": partial(M.DLR, state=5, kind="prod", max_kernel=7, bidirectional=both)
       for both in (False, True)},
    "dss": partial(M.DSS, state=5), "dss both ways": partial(M.DSS, state=5, bidirectional=True),
    "dss two_pi": partial(M.DSS, state=5, init="two_pi", dt=(0.01, 1.0)), "dss short": partial(M.DSS, state=5, max_kernel=7),
    "sgconv": partial(M.SGConv, length=20, piece=3, alpha=(0.5, 0.9)),
    "sgconv both ways": partial(M.SGConv, length=20, piece=3, alpha=(0.5, 0.9), bidirectional=True),
    "s4": partial(M.S4, state=4, dt=(0.01, 1.0)), "s4 of 16": partial(M.S4, state=16),
    **{f"s4d {init}": partial(M.S4D, state=4, init=init) for init in ("lin", "inv", "legs")},
    "liquid_s4": partial(M.LiquidS4, state=4), "rwkv": M.RWKV,
    "rotary bare": partial(M.RotaryAttention, **HEADS, bare=True, ff=5),
    **{f"rotary{', ff' * (ff > 0)}{' both ways' * (not causal)}": partial(M.RotaryAttention, **HEADS, ff=ff, causal=causal)
       for ff in (0, 5) for causal in (True, False)},
    **{f"local {c}{', ff' * (ff > 0)}{' both ways' * (not causal)}": partial(M.LocalAttention, **HEADS, chunk=c, ff=ff, causal=causal)
       for c, ff in ((1, 0), (3, 0), (8, 0), (3, 5)) for causal in (True, False)},
    "causal attention": M.CausalAttention,
    "gated deltanet": M.GatedDeltaNet,
    "gated deltanet, to 2": partial(M.GatedDeltaNet, allow_negative_eigenvalues=True, heads=3),
    "mamba2": M.Mamba2, "rwkv7": M.RWKV7, "rwkv7, heads of one": partial(M.RWKV7, heads=6),
}  # fmt: skip
PAPER_003 = {
    **{f"ult {phi}": partial(M.FastWeights, rule="sum", feature_map=phi) for phi in FEATURE_MAPS},
    **{f"nlt {phi}": partial(M.FastWeights, rule="normalised", feature_map=phi) for phi in POSITIVE},
    **{f"delta {phi}": partial(M.FastWeights, feature_map=phi) for phi in FEATURE_MAPS},
    "delta, chunks of 5": partial(M.FastWeights, chunk=5),
    "delta, beyond": partial(M.FastWeights, heads=3, **BEYOND),
    "delta, near a sum": partial(M.FastWeights, write_start=-2.0),
    "deltaproduct": partial(M.FastWeights, householders=2, **BEYOND),
    "deltaproduct, near a translation": partial(M.FastWeights, householders=2, write_start=1.0, **BEYOND),
    **{f"recurrent {phi}": partial(M.RecurrentDelta, feature_map=phi) for phi in FEATURE_MAPS},
    "recurrent, full": partial(M.RecurrentDelta, recurrence="full"),
    "recurrent, near a sum": partial(M.RecurrentDelta, write_start=-2.0),
    "recurrent, beyond": partial(M.RecurrentDelta, heads=3, **BEYOND),
    "recurrent, heads of one": partial(M.RecurrentDelta, heads=6),
    **{f"srwm {phi}": partial(M.SelfReferential, feature_map=phi) for phi in FEATURE_MAPS},
    "srwm, one rate": partial(M.SelfReferential, rates=1), "srwm, heads of one": partial(M.SelfReferential, heads=6),
    "e-lstm": M.ElementWiseLSTM, "e-lstm of another width": lambda width: M.ElementWiseLSTM(width + 1, inputs=width),
}  # fmt: skip


def disturbed(made, *sizes, by=0.3, seed=5):
    """In double precision, away from the start, which has zeros where a mistake would not show."""
    made = seeded(made, *sizes, seed=seed).double()
    for number, p in enumerate(made.parameters()):
        p.data.add_(by * normal(*p.shape, seed=number))
    return made
