"""What the contracts of chapter 10 are tried on: right ones of another style, and wrong ones with a word of what they are told."""

import torch
from torch.nn.functional import normalize


def mirrors(k, beta, *, unit=True, first_left=False, whole=False, total=False):
    k = normalize(k, dim=-1) if unit else k
    one, two = (torch.eye(k.shape[-1], dtype=k.dtype) - (2 if whole else b[..., None, None]) * torch.einsum("vhi,vhj->vhij", d, d)
                for d, b in zip(k, beta))  # fmt: skip
    return one @ two if first_left else one + two if total else two @ one


def by_loops(k, beta):
    letters = []
    for v in range(k.shape[1]):
        heads = []
        for head in range(k.shape[2]):
            A = torch.eye(k.shape[3]).to(k)
            for direction, strength in zip(k[:, v, head], beta[:, v, head]):
                A = A - strength * torch.outer(direction, direction @ A) / (direction @ direction)
            heads.append(A)
        letters.append(torch.stack(heads))
    return torch.stack(letters)


class Rule(torch.nn.Module):
    def __init__(self, letters, sizes=(16,)):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(letters, *sizes))


def rotation(sign):
    class Rotation(Rule):
        def forward(self):
            c, s = self.weight.cos(), self.weight.sin()
            return torch.stack([torch.stack([c, sign * s], -1), torch.stack([s, c], -1)], -2)

    return Rotation


class Gates(Rule):
    def forward(self):
        return torch.diag_embed(self.weight.tanh()).unsqueeze(1)


class NotUnit(Rule):
    def __init__(self, letters):
        super().__init__(letters, (8, 4))

    def forward(self):
        return torch.eye(4) - 2 * self.weight.unsqueeze(-1) * self.weight.unsqueeze(-2)


class Double(Gates):
    def forward(self):
        return super().forward().double()


class SameForAll(Rule):
    def forward(self):
        return torch.diag_embed(self.weight[:1].tanh().expand_as(self.weight)).unsqueeze(1)


class Vectors(Rule):
    def forward(self):
        return self.weight.tanh()


class Unused(Gates):
    def __init__(self, letters):
        super().__init__(letters)
        self.bias = torch.nn.Parameter(torch.zeros(3))


class Detached(Gates):
    def forward(self):
        return super().forward().detach()


class Noisy(Gates):
    def forward(self):
        return super().forward() + 0.01 * torch.randn(1)


def no_class(letters):
    return lambda: torch.zeros(letters, 1, 2, 2)


RIGHT = {"two_reflections": [mirrors, by_loops], "my_rule": [rotation(-1), Gates]}
WRONG = {
    "two_reflections": [
        (lambda k, beta: mirrors(k, beta, unit=False), "divide each by its own"),
        (lambda k, beta: mirrors(k / k.norm(), beta, unit=False), "divide each by its own"),
        (lambda k, beta: mirrors(k.double(), beta), "of float32 you make matrices of float64"),
        (lambda k, beta: mirrors(k, beta, first_left=True), "and should get"),
        (lambda k, beta: mirrors(k, beta, whole=True), "and should get"),
        (lambda k, beta: mirrors(k, beta, total=True), "and should get"),
        (lambda k, beta: mirrors(k, beta).detach(), "no gradient flows"),
        (lambda k, beta: mirrors(k, beta.detach()), "to the strengths"),
        (lambda k, beta: mirrors(k[:, 0], beta[:, 0]), "raised"),
    ],
    "my_rule": [
        (Double, "of float32 you make matrices of float64"),
        (rotation(1), "has grown from 1"), (NotUnit, "has grown from 1"), (SameForAll, "the same matrices"), (Vectors, "shape"),
        (Unused, "no gradient flows to the weight bias"), (Detached, "no gradient"), (Noisy, "two answers"), (no_class, "Module"),
    ],
}  # fmt: skip
