"""A proof is carried: its certificate is checked by plain Python, the net is read elsewhere, and nothing is believed."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lrnnlab.automata import language
from lrnnlab.models import exact_model
from lrnnlab.tasks import task
from lrnnlab.verification import check_certificate, digest, load_proof, quantise, save_proof, verify

CHECK = Path(__file__).resolve().parents[3] / "lrnnlab/verification/semantics/certificate.py"
SUM = task("Sum(5)")


@pytest.fixture(scope="module")
def net():
    return quantise(exact_model(SUM.machine), SUM)


@pytest.fixture(scope="module")
def text(net):
    return verify(net, SUM.specification).certificate


def test_a_certificate_is_small_and_checked_without_torch(text, tmp_path):
    assert len(text) < 1000
    (tmp_path / "sum.json").write_text(text)
    code = f"""
import runpy, sys
sys.modules["torch"] = sys.modules["numpy"] = None  # an import of them fails
sys.argv = ["", "sum.json"]
runpy.run_path({str(CHECK)!r}, run_name="__main__")
"""
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.stdout == "6 places, closed, every answer right\n", said.stderr


def altered(text):
    """Every certificate with one place less, one place, arrow, answer or start moved, of the net and of the task."""
    found = json.loads(text)
    for i, _ in enumerate(found["places"]):
        yield "place", found | {"places": found["places"][:i] + found["places"][i + 1 :]}
        yield "place moved", found | {"places": [*found["places"][:i], [i, (i + 1) % 6], *found["places"][i + 1 :]]}
    for part in ("net", "task"):
        for state, row in enumerate(found[part]["arrows"]):
            for change in ("arrow", "answer", "start"):
                for v in range(len(row) if change == "arrow" else 1):
                    twin = copy.deepcopy(found)
                    if change == "arrow":
                        twin[part]["arrows"][state][v] = row[v] % 5 + 1
                    elif change == "answer":
                        twin[part]["answers"][state] = (twin[part]["answers"][state] + 1) % 5
                    else:
                        twin[part]["start"] = state
                    if twin != found and not (part == "net" and (change, state) == ("answer", 0)):  # the start's is not asked
                        yield f"{part} {change}", twin


def test_every_tampered_certificate_is_refused(text):
    tried = {}
    for what, twin in altered(text):
        tried[what] = tried.get(what, 0) + 1
        with pytest.raises(ValueError, match="no proof: "):
            check_certificate(json.dumps(twin), SUM.specification)
    assert tried == {"place": 6, "place moved": 6, "net arrow": 30, "net answer": 5, "net start": 5,
                     "task arrow": 30, "task answer": 6, "task start": 5}  # fmt: skip


def test_a_certificate_says_what_is_wrong_with_it(text, net):
    assert check_certificate(text, SUM.specification, digest=digest(net))["places"][0] == [0, 0]
    for change, said in [
        (lambda t: t.replace('"format"', '"places":[[0,0]],"format"'), "a key twice among places, format"),
        (lambda t: t.replace("certificate 1", "certificate 2"), "not of the format 'lrnnlab certificate 1'"),
        (lambda t: t.replace('"places"', '"proved":true,"places"'), "not of the format"),
        (lambda t: t.replace("[[0,0],", "[[false,0],"), "the places are no pairs of states"),
        (lambda t: t.replace("[[0,0],", "[[0.0,0],"), "the places are no pairs of states"),
        (lambda t: t.replace("[[0,0],", "[[9,0],[0,0],"), "a place has a state that there is not"),
        (lambda t: t.replace("[[0,0],", "["), "the start is not among the places"),
        (lambda t: t.replace('"0","1"', '"1","1"'), "the letters are not distinct texts"),
        (lambda t: t.replace('"net":{', '"net":{"note":"",'), "the net has other keys"),
        (lambda t: t.replace('0,"arrows":[[1,2,3,4,5]', '0,"arrows":[[-1,2,3,4,5]'), "the task is no table of states"),
        (lambda t: '[[-1,2,3,4,5]'.join(t.rsplit('[[1,2,3,4,5]', 1)),
         "letter '0' leads from the place [0, 0] to nowhere, though the task asks for answers beyond"),
        (lambda t: t.replace('"answers":[-1,0,1,2,3,4]', '"answers":[-1,-1,-1,-1,-1,-1]'), "the task never asks"),
        (lambda t: t[:-1], "no certificate: "),
        (lambda t: "[" * 100_000, "no certificate: "),
        (lambda t: "7", "not of the format"),
    ]:  # fmt: skip
        changed = change(text)
        assert changed != text
        with pytest.raises(ValueError) as refused:
            check_certificate(changed)
        assert said in str(refused.value)
    with pytest.raises(ValueError, match="it is about another task"):
        check_certificate(text, task("parity").specification)
    with pytest.raises(ValueError, match="it is about another net, 'sha256 "):
        check_certificate(text, digest="sha256 of another")


def test_the_digest_is_of_numbers_and_options(net):
    twin = copy.deepcopy(net)
    assert digest(twin) == digest(net) != digest(net.restarted(2))
    twin.code0[0, 0] += 1e-12
    assert digest(twin) != digest(net)
    assert digest(torch.nn.LayerNorm(3)) != digest(torch.nn.LayerNorm(3, eps=1e-6))


def test_what_is_refuted_or_not_followed_has_no_certificate(net):
    assert verify(net, task("Sum(5)").specification).certificate
    wrong = quantise(exact_model(task("parity").machine), task("parity"))
    assert verify(wrong, language("Tomita 1").machine).certificate == ""


class Mine(torch.nn.Module):
    """A net of one's own that counts modulo 2, by an LSTM's gates set by hand: what nobody has but who wrote it."""

    vocab_size = classes = 2

    def __init__(self):
        super().__init__()
        self.one = torch.nn.Parameter(torch.tensor([[1.0], [-1.0]]))
        self.readout = torch.nn.Linear(1, 2)
        with torch.no_grad():
            self.readout.weight.copy_(torch.tensor([[1.0], [-1.0]]))
            self.readout.bias.zero_()

    def initial_state(self, batch):
        return torch.ones(batch, 1, dtype=self.one.dtype)

    def step(self, state, tokens):
        state = torch.tanh(3 * self.one[tokens] * state)
        return state, self.readout(state)


@pytest.fixture(scope="module")
def carried(tmp_path_factory):
    file = tmp_path_factory.mktemp("proof") / "mine.pt"
    parity = task("parity")
    model = quantise(Mine(), parity, every=2)
    return file, model, save_proof(file, model, parity.specification)


def test_a_net_of_ones_own_is_proved_on_another_machine_that_does_not_have_its_class(carried):
    file, model, verdict = carried
    code = f"""
import torch
from lrnnlab.tasks import task
from lrnnlab.verification import digest, load_proof
model, verdict = load_proof({str(file)!r}, task("parity").specification)
tokens = torch.randint(2, (8, 50), generator=torch.Generator().manual_seed(0))
print(verdict, digest(model), (model(tokens).argmax(-1) == tokens.cumsum(1) % 2).all().item(), sep="\\n")
"""
    said = subprocess.run([sys.executable, "-c", code], cwd=file.parent, capture_output=True, text=True, check=False)
    assert said.stdout.splitlines() == [str(verdict), digest(model), "True"], said.stderr


def test_codes_of_another_type_than_the_first_state_are_no_proof(carried):
    """Beside each other in one tensor they were proved in the wider type, and ran in the shorter one."""
    model, _ = load_proof(carried[0])
    model.code0 = model.code0.half()
    with pytest.raises(ValueError, match="its codes are of another type or size"):
        verify(model, task("parity").specification)


def test_a_tampered_file_is_refused(carried, tmp_path):
    held = torch.load(carried[0], weights_only=True)
    (name,) = [key for key in held["net"] if key.endswith("readout_weight")]
    nodes = held["net"]["_extra_state"]["graph"]

    def with_node(at, *new):
        state = held["net"]["_extra_state"] | {"graph": [*nodes[:at], *new, *nodes[at + 1 :]]}
        return held | {"net": held["net"] | {"_extra_state": state}}

    call = next(i for i, node in enumerate(nodes) if node[0] == "call_function")
    ran = tmp_path / "ran"
    cases = {
        "another net than its certificate": held | {"net": held["net"] | {name: -held["net"][name]}},
        "no proof: it is about another task": held | {"certificate": held["certificate"].replace('["0","1"]', '["a","b"]')},
        "format 'mine'": held | {"format": "mine"},
        "'torch._dynamo.reset' is no operation": with_node(call, (*nodes[call][:2], "torch._dynamo.reset", *nodes[call][3:])),
        "is no name": with_node(0, ("placeholder", "x", f"x=open({str(ran)!r},'w')", (), {})),
        "'aten.from_file.default' is no operation that a proof knows":
            with_node(call, ("call_function", "x", "aten.from_file.default", [str(ran), True, 8], {})),
        "'aten.manual_seed.default' is no op": with_node(call, ("call_function", "x", "aten.manual_seed.default", [5], {})),
        "'aten.resize.default' is no op": with_node(call, ("call_function", "x", "aten.resize.default", [nodes[call][3][0], [9]], {})),
        "'aten.stride.int' is no op": with_node(call, ("call_function", "x", "aten.stride.int", [nodes[call][3][0], 0], {})),
        "is given to an operation": with_node(call, (*nodes[call][:3], [{"torch": "save"}], {})),
        "'call_module' is no part of a graph": with_node(call, ("call_module", *nodes[call][1:])),
        "holds no proof: ": [],
    }
    for said, changed in cases.items():
        torch.save(changed, tmp_path / "changed.pt")
        with pytest.raises(ValueError) as refused:
            load_proof(tmp_path / "changed.pt", task("parity").specification)
        assert said in str(refused.value)
    assert not ran.exists()
    torch.save(Mine(), tmp_path / "changed.pt")  # a pickle that would run code
    with pytest.raises(ValueError, match="holds no proof"):
        load_proof(tmp_path / "changed.pt")


def test_only_what_is_proved_is_saved(net, tmp_path):
    wrong = quantise(exact_model(task("parity").machine), task("parity"))
    with pytest.raises(ValueError, match="there is no proof to save: refuted by a string of"):
        save_proof(tmp_path / "wrong.pt", wrong, language("Tomita 1").machine)
    assert not (tmp_path / "wrong.pt").exists()
