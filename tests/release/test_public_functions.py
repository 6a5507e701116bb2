"""A public function refuses an argument of a wrong kind, shape or type in a sentence that names it or shows what came."""

import math

import pytest
import torch

from lrnnlab import automata, models, scans, tasks, training, verification
from lrnnlab.training import Phase, Recipe

ELMAN = models.build("elman", vocab_size=2, classes=2, width=4)
PARITY = tasks.task("parity")
RECIPE = Recipe((Phase(steps=1, lr=1e-3),), batch_size=2, length=3)
T = torch.ones

CALLS = {
    "delta_rule, beta": (lambda: scans.delta_rule(T(2, 3, 2, 4), T(2, 3, 2, 4), T(2, 3, 2, 5), T(2, 3)), "beta"),
    "build, sizes": (lambda: models.build("lstm", vocab_size=0, classes=2), "vocab_size"),
    "net, beyond": (lambda: ELMAN(torch.tensor([[0, 2]])), "token 2"),
    "net, numbers": (lambda: ELMAN(T(1, 3)), "tokens must be"),
    "snap": (lambda: models.snap(ELMAN), "softmax"),
    "task, name": (lambda: tasks.task("nothing"), "nothing"),
    "task, length": (lambda: tasks.task("sum", length=2.5), "length"),
    "sample, batch": (lambda: PARITY.sample(-1, 5, torch.Generator()), "batch"),
    "Sum": (lambda: tasks.Sum(1), "1"),
    "MooreMachine": (lambda: automata.MooreMachine([[0, 7]], [0, 1], 0, "a"), "7"),
    "minimise": (lambda: automata.minimise("abc"), "abc"),
    "Phase": (lambda: Phase(steps=0, lr=1e-3), "steps"),
    "Phase, rate": (lambda: Phase(steps=1, lr=math.nan), "lr"),
    "fit, seed": (lambda: training.fit(lambda seed: ELMAN, PARITY, RECIPE, seed="a", progress=False), "seed"),
    "train, net": (lambda: training.train(torch.nn.Identity(), PARITY, steps=1, progress=False), "net with parameters"),
    "evaluate": (lambda: training.evaluate(ELMAN, PARITY, length=0), "length"),
    "verify": (lambda: verification.verify(ELMAN, PARITY.specification), "Nonlinear|layer"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_refused_by_name(name):
    call, says = CALLS[name]
    with pytest.raises((TypeError, ValueError), match=says):
        call()
