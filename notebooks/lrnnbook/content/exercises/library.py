"""A reader's own library: one file with the five steps of chapter 02 that trains Sum(5) and proves it, with torch alone."""

import ast
import inspect
from pathlib import Path

from lrnnbook.content.exercises.building import build, own
from lrnnlab.files import put

STEPS = ("columns", "scan", "training_step", "snap", "search")
FILE = "my_library.py"
_NEEDED = ("import sys", "from collections import deque", "from types import SimpleNamespace", "import torch")
_GLUE = '''

class Net(torch.nn.Module):  # h heads of b states, tokens and answers 0 to M - 1
    def __init__(self, M, h=1, b=8):
        super().__init__()
        self.raw = torch.nn.Parameter(torch.randn(M, h, b, b) / 4)
        self.norm, self.head = torch.nn.LayerNorm(h * b), torch.nn.Linear(h * b, M)
        self.x0 = torch.eye(b)[[0] * h]

    def forward(self, tokens):
        return self.head(self.norm(scan(columns(4 * self.raw), tokens, self.x0).flatten(2)))


def prove(M=5, seed=0):
    torch.manual_seed(seed)
    net = Net(M)
    optimiser = torch.optim.Adam(net.parameters(), 1e-2)
    goes = {v: [(v + q) % M for q in range(M)] for v in range(M)}
    goes |= {(v, q): row[q] for v, row in goes.items() for q in range(M)}  # goes[v][q] or goes[v, q]
    machine = SimpleNamespace(initial=0, transitions=goes, outputs=list(range(M)))
    answer = lambda heads: int(net.head(net.norm(torch.eye(8)[list(heads)].flatten())).argmax())
    for step in range(1, 4001):
        tokens = torch.randint(M, (64, 40))
        loss = training_step(net, optimiser, tokens, tokens.cumsum(1) % M)
        if step % 100 == 0:
            with torch.no_grad():
                wrong = search(torch.as_tensor(snap(columns(4 * net.raw))), answer, machine)
            print(f"step {step}, loss {loss:.4f}:", f"snapped, wrong on {wrong}" if wrong else "proved for every string", flush=True)
            if wrong is None:
                return net
    print("not proved in 4,000 steps: try another seed")


if __name__ == "__main__":
    prove(*map(int, sys.argv[1:]))  # python my_library.py 5 0: modulus and seed
'''


def write(place: Path) -> dict[str, str]:
    """Write the library to ``place``; return of each step why it is not the reader's, or an empty text.

    FileExistsError where something is there, ValueError where two of the reader's cells give one name to different things.
    """
    if place.exists():
        raise FileExistsError(f"{place} is there already: give another name with --out, or move it away")
    imports, parts, names, whys = list(_NEEDED), [], {}, {}
    for step in STEPS:
        text, _, whys[step] = own(step)
        text = text or inspect.getsource(build(step).reference)
        for node in ast.parse(text).body:
            code = ast.get_source_segment(text, node)
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports += [code] * (code not in imports)
                continue
            name = getattr(node, "name", code)
            if names.setdefault(name, code) != code:
                raise ValueError(f"two of your cells define {name!r}, each in its own way: rename it in the cell of {step}")
            parts.append(code)
    ours = ", ".join(step for step in STEPS if not whys[step]) or "nothing yet"
    head = f'"""Trains Sum(M) on 40 digits until all strings are proved, for 4,000 steps at most. Mine: {ours}."""\n\n'
    put(place, (head + "\n".join(imports) + "\n\n\n" + "\n\n\n".join(parts) + "\n" + _GLUE).encode())
    return whys
