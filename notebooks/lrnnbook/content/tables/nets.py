"""The nets of papers 001 and 004: a stack of blocks, each round one of these mixers."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from lrnnlab.models import Net, blocks
from lrnnlab.models.layers import LRU, S4, S4D, S5, LiquidS4, RotRNN
from lrnnlab.models.layers.attention import LocalAttention, RotaryAttention
from lrnnlab.models.layers.modes import DLR, DSS, SGConv

MIXERS: dict[str, Any] = {
    "dlr": DLR, "dss": DSS, "sgconv": SGConv, "attention": RotaryAttention, "transformer": RotaryAttention,
    "local_attention": LocalAttention, "rotrnn": RotRNN, "lru": LRU, "s5": S5, "s4d": S4D, "s4": S4, "liquid": LiquidS4,
}  # fmt: skip


def stack(setting: dict, classes: int | None, block: Mapping, **net: Any) -> Net:
    """The untrained net of a setting's ``mixer``, ``options``, ``layers`` and ``width``; its weights are drawn by torch."""
    mixer, width = partial(MIXERS[setting["mixer"]], **setting["options"]), setting["width"]
    return Net(blocks(mixer, width, setting.get("layers", 1), **block), classes, width, **net)
