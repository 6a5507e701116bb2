# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05c · Where the modes start
#
# What is good about the paper's start, what do its decays spoil, and what does training make of a start? *It takes* about 15 min to read. Read [chapter 05](../05_diagonal_kernels.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch05
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import kernels
from lrnnlab import models, training

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 The paper's grid
#
# A DLR (diagonal linear RNN) is $x_k = \mathrm{diag}(\Lambda)\,x_{k-1} + \mathbf 1\cdot u_k$, $y_k = \langle w, x_k\rangle$. Its kernel is $K_j = \sum_n w_n\lambda_n^{\,j}$, of which a layer keeps the real part.
#
# > **The paper, section 2.3.** The angles start at $2\pi n/N$. "At this initialization with $(\log\Lambda)_{\mathrm{re}} = \mathbf 0$ and $L = N$ we would have $K = \mathrm{DFT}\cdot w$. As DFT is invertible and well-conditioned, there is a $w$ for any arbitrary
# > length-$N$ kernel".
#
# **Step 1 (rows are orthogonal).** Let $z = e^{2\pi\mathrm i k/N}$. Then $\sum_n \lambda_n^{\,k} = \sum_n z^n$ is $N$ where $z = 1$, that is if $N$ divides $k$; and otherwise 0, since $(z - 1)\sum_n z^n = z^N - 1 = 0$. So different rows of the table $\lambda_n^{\,k}$, $k < N$, are orthogonal, and all have the same length: its condition number (largest over smallest singular value) is 1. **All $N < 10$:** `root_sum` adds up roots of unity exactly.

# %% tags=["proof-dft_start"]
z = sp.Symbol("z")
for N in range(2, 10):
    assert sp.expand((z - 1) * sum(z**n for n in range(N)) - (z**N - 1)) == 0, (
        "The DFT start, step 1: the sum"
    )
    rows = [kernels.root_sum([n * k for n in range(N)], N) for k in range(2 * N)]
    assert rows == [N if k % N == 0 else 0 for k in range(2 * N)], "The DFT start, step 1: the rows"
    table = np.exp(2j * np.pi * np.outer(np.arange(N), np.arange(N)) / N)
    assert abs(np.linalg.cond(table) - 1) < 1e-10, (
        "The DFT start, step 1: the condition number, in floats"
    )
print("N = 9: products of row 0 with rows 0 to 17:", rows)

# %% [markdown]
# **Step 2 (a shift is cheap).** The weights $w_n = \lambda_n^{-S}/N$ make the shift by $S$: all waves agree at lag
# $S$. Every weight has size $1/N$.
#
# **Step 3 (the end).** $\lambda_n^{\,N} = 1$: past $N$ the kernel repeats.
#
# **Step 4 (the FFT).** $K$ is $N$ times the inverse DFT of $w$. **Float.**

# %% tags=["proof-dft_start"]
for N in range(2, 10):
    for S in range(N):
        hot = [
            kernels.root_sum([n * (k - S) for n in range(N)], N) / sp.Integer(N)
            for k in range(3 * N)
        ]
        assert hot[:N] == [int(k == S) for k in range(N)], "The DFT start, step 2: a one-hot at S"
        assert hot[N : 2 * N] == hot[:N] == hot[2 * N :], (
            "The DFT start, step 3: the kernel repeats after N"
        )
w = np.random.default_rng(0).standard_normal((2, 64)).T @ [1, 1j]
nodes = np.exp(2j * np.pi * np.arange(64) / 64)
assert abs((nodes ** np.arange(64)[:, None]) @ w - 64 * np.fft.ifft(w)).max() < 1e-10, (
    "The DFT start, step 4: the kernel is N times the inverse DFT"
)
print("N = 9, S = 8:", hot[:18])

# %% [markdown]
# **Break a hypothesis.** The proof needs *all* $N$ roots. Take only every second one, each twice, and the rows are
# no longer orthogonal (here $N = 6$).

# %% tags=["proof-dft_start"]
with show.expect_failure("The DFT start, step 1"):
    rows = [kernels.root_sum([2 * n * k for n in range(6)], 6) for k in range(12)]
    assert rows == [6 if k % 6 == 0 else 0 for k in range(12)], f"The DFT start, step 1: {rows}"

# %% [markdown]
# ## 2 With decays
#
# The proof also needs modes that do *not decay*. By default the paper starts with $|\lambda| = e^{-dt/2}$, $dt$ log-uniform between .0005 and .5, "to induce locality bias". Is the table then still "well-conditioned"?
#
# First let all modes decay alike. The panel opens at $L = N$, where the paper's start has every kernel. What does $|\lambda| = 0.9$ cost? And which arc is
# best at $L = 2N$?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
decay_widget = explore(
    lambda **at: ch05.start_spectrum(*at.values()),
    {"arc": [180, 210, 240, 270, 300, 330, 360], "N": [4, 8, 16, 32], "L / N": [1, 1.5, 2, 3], "|λ|": [0.9, 0.97, 1.0]},
    initial={"arc": 360, "N": 16, "L / N": 1, "|λ|": 0.97},
    sentence=lambda **at: ch05.start_sentence(*at.values()),
    alt="Modes on an arc of a circle with their mirror images, and the singular values of their table of powers.",
)  # fmt: skip
decay_widget

# %% [markdown]
# Without the cast to reals, at $N = L = 128$. **Float.**
#
# **Step 1 (one modulus).** If all $|\lambda_n| = r$, the table is $\mathrm{diag}(r^k)$ times the DFT, and its condition number is $r^{1-N}$.
#
# **Step 2 (the default decays).** In three random draws of the default decays the condition number is above $10^4$.
#
# **Step 3 (the atomic tasks).** For its atomic tasks (Shift is one of them) the paper sets $dt = 10^{-5}$, and
# the condition number stays below 1.01.

# %% tags=["proof-decays"]
N, draw = 128, np.random.default_rng(0)


def condition(nodes):
    return kernels.spectrum(nodes, N, cast=False)["condition"]


grid = kernels.arc_nodes(N, offset=0)
assert abs(condition(0.98 * grid) / 0.98 ** (1 - N) - 1) < 1e-6, (
    "Decays, step 1: the condition number is r^(1 - N)"
)
spread = [condition(kernels.decayed_nodes(N, 0.0005, 0.5, draw)) for _ in range(3)]
assert min(spread) > 1e4, "Decays, step 2: the default is badly conditioned"
assert condition(np.exp(-1e-5 / 2) * grid) < 1.01, "Decays, step 3: dt = 1e-5 is well conditioned"
print(
    f"r = 0.98: {condition(0.98 * grid):.4g}; default decays: all above 10^4; dt = 1e-5: below 1.01"
)

# %% [markdown]
# ## 3 Before and after training
#
# The best *achievable* error is not what training finds. Here all modes and weights are trained by Adam on the kernel itself. Each panel has two errors: after training, and the least that is possible with the modes of the start.

# %%
N, L = 16, 32
goals = {name: goal for name, goal in kernels.targets(L).items() if name != "shift by L/4"}
wanted = torch.tensor(np.array(list(goals.values())), dtype=torch.float32)
flat = {"dt": (1e-5, 1e-5)}
kinds = {
    "real": {"eigenvalues": "real"},
    "DFT grid": flat,
    "half circle": {"init": "half_circle", **flat},
    "with decays": {},
}
# float32 angles are off by 1e-7, and least squares would make use of that, with weights in the millions
exact_nodes = {
    "DFT grid": kernels.families(N)["circle (DFT)"],
    "half circle": kernels.families(N)["half circle"],
}
columns, after = {}, {}
for kind, options in kinds.items():
    torch.manual_seed(0)
    layer = models.layers.DLR(len(goals), state=N, **options)
    nodes = exact_nodes.get(kind, layer.modes()[0].detach().exp().numpy())
    least = [kernels.best_fit(nodes, goal).error for goal in goals.values()]
    before = layer.kernel(L).detach().numpy()
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.03, fused=True)
    with training.deterministic():
        for _ in range(200):
            optimiser.zero_grad()
            (layer.kernel(L) - wanted).square().sum().backward()
            optimiser.step()
    trained = layer.kernel(L).detach().numpy()
    after[kind] = np.linalg.norm(trained - wanted.numpy(), axis=1) / np.linalg.norm(
        wanted.numpy(), axis=1
    )
    columns[kind] = {
        "before": before,
        "after": trained,
        "errors": [f"{got:.2f} / {best:.2f}" for got, best in zip(after[kind], least)],
    }

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
show.figure(
    ch05.kernel_gallery(goals, columns),
    alt="Sixteen small panels: four target kernels by four families of modes, each with the "
        "kernel before and after training. The half circle lies on all targets. The other "
        "complex families lie on them after training, the real family on none.",
    caption="Live. Grey: wanted. Pink: before training. Green: after 200 steps. Written in: "
            "error after training / least error with the modes of the start. What to see: the "
            "half circle has nothing to learn but weights; the other complex families must "
            "move their modes, and do. The real modes end above what they could reach, by as much as the two numbers say.",
)  # fmt: skip

# %% tags=["varies", "nbval-ignore-output"]
worst, best = after["half circle"].max(), after["real"].min()
assert worst < 0.05 and best > 0.15, "the half circle learns all four, real modes none"
print(f"half circle: the worst of the four is missed by {worst:.1%}; real modes: the best by {best:.0%}")
