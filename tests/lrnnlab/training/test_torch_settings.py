"""What torch is set to for a whole process (device, type, modes) changes nothing of what is computed from tensors that are there."""

import contextlib
import copy

import pytest
import torch
from tensors import generator

from lrnnlab import build, evaluate, snap, task, train
from lrnnlab.models import MODELS, exact_model, reads_numbers
from lrnnlab.scans import delta_rule, linear_scan, long_conv, softmax_scan, token_scan
from lrnnlab.tasks import TASKS
from lrnnlab.training import Mend, Phase, Recipe, fit
from lrnnlab.training.loop import with_seed

SUM, SHIFT = task("sum", 3), task("shift", length=24)
TOKENS = torch.randint(0, 3, (2, 20), generator=generator())
NUMBERS = SHIFT.sample(2, 24, generator()).inputs
NETS = {name: build(name, SUM).eval() for name in sorted(MODELS)}
READERS = {name: build(name, SHIFT).eval() for name in NETS if reads_numbers(name)}
SOFT = build("block_diagonal", SUM, rule="softmax", drive="none", start="first", head="linear")
A, b = torch.rand(2, 2, 20, 3, generator=generator())
BLOCKS, q, taps = (torch.rand(size, generator=generator()) / 3 for size in ((2, 20, 3, 2, 3), (2, 20, 1, 4), (3, 20)))


def fresh(net):
    with torch.inference_mode(False):
        return copy.deepcopy(net)


def gradients(function, *inputs):
    with torch.inference_mode(False), torch.enable_grad():
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        given = function(*leaves)
        found = given if isinstance(given, tuple) else (given,)
        sum(part.abs().sum() for part in found).backward()
        return [part.detach() for part in found] + [x.grad for x in leaves if x.grad is not None]


def scans():
    found = []
    for backend in ("auto", "reference", "paper"):
        found += gradients(lambda A, b, on=backend: linear_scan(A, b, backend=on), A, b)
        found += gradients(lambda A, b, on=backend: linear_scan(A, b, backend=on), A + 1j * b, b + 0j)
        found += gradients(lambda A, b, on=backend: linear_scan(A[0, 0], b, backend=on), BLOCKS.transpose(2, 3), BLOCKS[:, :, 0])
        found += gradients(lambda A, b, on=backend: token_scan(A, b, TOKENS, backend=on), A[0, :3], b[0, :3])
        found += gradients(lambda raw, on=backend: softmax_scan(raw, backend=on), BLOCKS)
    return [*found, *gradients(delta_rule, q, q, q, q[..., 0]), *gradients(long_conv, b, taps)]


def nets():
    found = [net(TOKENS) for net in NETS.values()] + [net(NUMBERS) for net in READERS.values()]
    found += [net.step(net.initial_state(2), TOKENS[:, 0])[1] for net in NETS.values() if hasattr(net, "step")]
    return [*found, snap(SOFT)(TOKENS)]


def tasks():
    batches = [task(name).training_batch(2, generator()) for name in TASKS]
    return [part for batch in batches for part in (batch.inputs, batch.targets, batch.mask) if part is not None]


def training():
    found = []
    for name in ("lstm", "block_diagonal", "dlr", "mamba2", "transformer", "regulargpt", "lru"):
        found += train(fresh(NETS[name]), SUM, steps=2, batch_size=2, progress=False).net.parameters()
    found += train(fresh(READERS["s4"]), SHIFT, steps=2, batch_size=2, progress=False).net.parameters()
    phase = Phase(steps=2, lr=1e-2, noise=0.1, purity=0.1, weight_decay=0.1)
    recipe = Recipe((phase,), batch_size=4, length=6, mend=Mend(phase=phase, rounds=1), average=0.5)
    made = fit(lambda seed: fresh(SOFT), SUM, recipe, seed=0, accept=lambda net: [(0, 1, 2)], watch=lambda net, step: {"score": step},
               watch_every=1, progress=False)  # fmt: skip
    found += [*made.net.parameters(), *made.best.parameters()]
    found += [evaluate(NETS["lstm"], SUM, length=20, strings=300).per_position]
    return found + [torch.tensor([evaluate(READERS["dlr"], SHIFT, strings=4).r2], device="cpu", dtype=torch.float64)]


@contextlib.contextmanager
def put_back(setting, value, before):
    setting(value)
    try:
        yield
    finally:
        setting(before)


SETTINGS = {
    "device": lambda: put_back(torch.set_default_device, "meta", None),
    "double": lambda: put_back(torch.set_default_dtype, torch.float64, torch.float32),
    "bfloat16": lambda: put_back(torch.set_default_dtype, torch.bfloat16, torch.float32),
    "deterministic": lambda: put_back(torch.use_deterministic_algorithms, True, False),
    "three threads": lambda: put_back(torch.set_num_threads, 3, 1),
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "anomaly": torch.autograd.detect_anomaly,
}


@pytest.fixture(scope="module")
def usual():
    return {work: [part.detach() for part in work()] for work in (scans, nets, tasks, training)}


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("work", [scans, nets, tasks, training])
@pytest.mark.parametrize("setting", [
    pytest.param(name, marks=[] if name in ("device", "double", "inference") else pytest.mark.thorough) for name in SETTINGS
])  # fmt: skip
def test_a_setting_of_the_process_changes_no_number(usual, setting, work):
    with SETTINGS[setting]():
        found = [part.detach() for part in work()]
    for before, after in zip(usual[work], found, strict=True):
        assert (after.dtype, after.device) == (before.dtype, before.device)
        assert torch.allclose(before.nan_to_num(), after.nan_to_num(), atol=1e-5)  # torch's LSTM has another kernel without gradients


def test_a_net_is_made_where_new_tensors_go_and_of_its_seed_alone():
    makers = {"build": lambda: build("s5", SUM), "seed": lambda: with_seed(lambda: torch.nn.Linear(2, 2), 5),
              "exact": lambda: exact_model(SUM.machine)}  # fmt: skip
    for make in makers.values():
        with SETTINGS["device"]():
            elsewhere = make()
        assert {weight.device.type for weight in elsewhere.state_dict().values()} == {"meta"}
        with torch.inference_mode():
            here = make()
        assert all(map(torch.equal, here.state_dict().values(), make().state_dict().values()))
    assert train(build("lstm", SUM), SUM, steps=1, progress=False).steps == 1
    with torch.inference_mode():
        net = build("lstm", SUM)
    assert train(net, SUM, steps=1, progress=False).steps == 1


def test_numbers_go_to_a_net_in_its_own_type():
    assert train(build("dlr", SHIFT).double(), SHIFT, steps=1, batch_size=2, progress=False).finished
    assert evaluate(build("dlr", SHIFT).double(), SHIFT, strings=4).r2 < 1
