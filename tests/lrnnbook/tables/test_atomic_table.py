"""Tables 1 and 6 of paper 004: what is planned, what one layer cannot do, what is printed and drawn."""

import numpy as np
import pytest
import torch
from scipy.linalg import null_space, sqrtm
from scipy.optimize import least_squares

from lrnnbook import tables
from lrnnbook.content.tables import dlr_table1
from lrnnbook.content.tables.dlr_table1 import TABLE
from lrnnlab.tasks.numbers.atomic import ATOMIC, unknowns
from lrnnlab.tasks.numbers.atomic_levels import trivial_level


def test_the_papers_budget_has_the_papers_sizes():
    printed = {"dlr_1": 1.1, "dss_1": 1.1, "attention_ff_1": 1.1, "dlr_6": 6.4, "attention_ff_2": 2.2}  # millions
    for row, millions in printed.items():
        net = dlr_table1.build_net(TABLE.setting(row, "cumsum-4096", "paper"), 0)
        assert abs(sum(p.numel() for p in net.parameters()) / 1e6 - millions) < 0.1
    for L, unknown in ((4096, 63), (512, 21)):
        setting = TABLE.setting("dlr_1", f"select-{L}", "paper")
        assert dlr_table1.build_task(setting).chosen == 32 and unknowns(L) == unknown
    assert TABLE.setting("dlr_1", "select-512", "desk")["chosen"] == [32]
    assert TABLE.setting("dss_1", "sort-512", "paper")["options"]["dt"] == [1e-4, 1e-2]


@pytest.mark.parametrize("name", ["cummax", "sort", "context_shift", "select"])
def test_with_fewer_numbers_there_are_two_inputs_that_look_alike_and_have_other_answers(name):
    L, draw = 12, np.random.default_rng(0)
    task = ATOMIC[name](*((2,) if name == "select" else ()))
    size = {"context_shift": L - 2, "select": L + 2}.get(name, L)
    free = np.arange(1, L + 1 if name == "select" else size)  # x_0 = -1 has the largest absolute value
    seen = draw.normal(size=(dlr_table1.needed({"task": name, "length": L}) - 1, size))  # what a layer hands on
    x = np.r_[-1, draw.uniform(-0.2, 0.2, size - 1)]
    v = null_space(seen[:, free])[:, 0]
    j = free[np.abs(v).argmax()]
    x[j] = 0.5  # the largest of the others
    y = x.copy()
    y[free] += 0.2 * v / np.abs(v).max()
    assert np.allclose(seen @ x, seen @ y) and np.abs(y).max() == 1

    def answers(x):
        values = torch.tensor(x)[:, None]
        if name == "sort":
            values = torch.cat([values, torch.zeros(L, 1, dtype=values.dtype)])
        if name == "context_shift":
            turn = 2 * np.pi * (L - 1 - (j + 2)) / L  # the last output is x_j
            values = torch.cat([torch.tensor([[np.cos(turn)], [np.sin(turn)]]), values])
        if name == "select":
            marks = torch.zeros_like(values)
            marks[[j, L + 1]] = 1
            values = torch.cat([torch.cat([values, marks], 1), torch.zeros(2, 2, dtype=values.dtype)])
        return np.array(task.answer(values))

    assert np.abs(answers(x) - answers(y)).max() > 0.1


def test_likewise_for_mips():
    L, draw = 3, np.random.default_rng(1)
    seen = draw.normal(size=(dlr_table1.needed({"task": "mips", "length": L}) - 1, 4 * L))

    def unit(x):
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    v, q, k = (unit(draw.normal(size=(L, 4))) for _ in range(3))
    sphere = np.zeros((L, 4 * L))
    for i in range(L):
        sphere[i, 4 * i : 4 * i + 4] = v[i]
    aside = null_space(np.vstack([seen, sphere]))[:, 0]

    def off(w):
        return np.r_[seen @ (w - v.ravel()), (w.reshape(L, 4) ** 2).sum(1) - 1, aside @ (w - v.ravel()) - 0.1]

    found = least_squares(off, v.ravel() + 0.1 * aside, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert np.abs(found.fun).max() < 1e-7
    other = found.x.reshape(L, 4)
    j = np.abs(other - v).max(1).argmax()
    q[-1] = k[j]
    one, two = (ATOMIC["mips"]().answer(torch.tensor(np.hstack([q, k, w]))) for w in (v, other))
    assert np.abs(np.subtract(one[-1], two[-1])).max() > 1e-3


@pytest.mark.parametrize("N", [2, 3, 7])
def test_likewise_for_solve(N):
    draw, L = np.random.default_rng(N), N * (N + 2)
    D = dlr_table1.needed({"task": "solve", "length": L}) - 1
    of_A, of_b = draw.normal(size=(D, N * N)), draw.normal(size=(D, N))
    skew = [np.eye(N * N)[N * i + j] - np.eye(N * N)[N * j + i] for i in range(N) for j in range(i)]
    null = null_space(np.hstack([of_A @ np.array(skew).T, of_b]))[:, 0]
    null /= 4 * np.abs(null).max() * N
    S, db = (null[: len(skew)] @ np.array(skew)).reshape(N, N), null[len(skew) :]
    A = sqrtm(np.eye(N) + S @ S / 4).real + S / 2
    B = A - S
    for orthogonal in (A, B):
        assert np.allclose(orthogonal @ orthogonal.T, np.eye(N))
    along = db / np.linalg.norm(db)
    side = null_space(along[None])[:, 0]
    height = np.linalg.norm(db) / 2
    b = height * along + np.sqrt(1 - height**2) * side
    c = b - db
    assert np.isclose(np.linalg.norm(c), 1) and np.allclose(of_A @ A.ravel() + of_b @ b, of_A @ B.ravel() + of_b @ c)
    one, two = (
        ATOMIC["solve"]().answer(torch.tensor(np.r_[np.c_[M, right].ravel(), np.zeros(N)])[:, None])
        for M, right in ((A, b), (B, c))
    )
    assert np.abs(np.subtract(one, two)).max() > 1e-3


@pytest.mark.parametrize("budget", ["live", "desk", "paper"])
def test_too_few_numbers_are_said_to_be_so_where_they_are(budget):
    """The cells that the YAML names are those of one layer of convolutions that ``needed`` says; a CumMax position sees its own."""
    for table, kernels in ((TABLE, {"dlr_1", "dss_1", "sgconv_1", "dlr_real_1"}), (tables.get("dlr/width"), {"8", "16", "32", "64"})):
        if budget not in table.budgets:
            continue
        entries = [one for one in table.declared.found["why"]["not_expressible"] if "too few numbers" in one["proof"]]
        whens = [{key: wanted for key, wanted in one.items() if key != "proof"} for one in entries]
        for task in (*table.tasks, *table.extra.get(budget, ())):
            for row in table.rows:
                setting = table.setting(row, task, budget)
                own = {"cummax": 1, "context_shift": 1, "mips": 12}.get(setting["task"], 0)
                few = row in kernels and dlr_table1.needed(setting) > setting["width"] + own
                asked = task.endswith(("-32", "-64", "-128")) and budget == "paper"  # lengths that the paper has not
                assert asked or few == any(table.declared.holds(when, row, task, budget) for when in whens), (task, row)


def test_levels_beside_the_papers_numbers():
    for name, levels in dlr_table1.PAPER_LEVELS.items():
        assert abs(trivial_level(ATOMIC[name](), 512) - levels[512]) < 6e-4
    maxima = ATOMIC["cummax"]().sample(2000, 4096, torch.Generator().manual_seed(0)).targets[..., 0].double()
    at_position = 1 - maxima.var(0).mean() / maxima.var()
    assert abs(float(at_position) - dlr_table1.PAPER_LEVELS["cummax"][4096]) < 0.01
