# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08h · Gradients
#
# The paper reads from gradients how far back a net looks. What can a gradient tell, and what not? *It takes* about 10 min to read. Behind [chapter 08](08_working_memory_in_depth.ipynb).

# %% tags=["hide-input"]
import math

import numpy as np
import sympy as sp

import lrnnlab
from workbook import show
from workbook.chapters import ch08
from workbook.show import regulargpt_figures
from workbook.show.widgets import explore

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run "
        "bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Figure 4 again
#
# > **The paper, section 7.4.** "Ideally, we would like to see the receptive field covering the whole input sequence for the case of
# > regular languages because every single bit in the input sequence is important for the final results. This is equivalent to a
# > slanted line going from the lower right to the upper left, which is validated in Figure 4a."
#
# The tool: the size of the gradient of the answer by the vector of each letter, added up from the last letter to the first, as a
# share of the whole. A straight line says that all count alike. Recorded, at length 500, for four nets and three tasks: Parity
# (all bits count), Even Pairs (the first and the last do), and the parity of the last four bits.

# %% tags=["hide-input"]
gradient_runs = ch08.recorded("regulargpt/fig4")
if len(gradient_runs):
    show.figure(
        regulargpt_figures.gradients(gradient_runs),
        alt="Three panels, Parity, Even Pairs and the last four bits, with cumulative "
            "gradients over 500 positions for RegularGPT, Transformer, RNN and block-diagonal "
            "LRNN. The grey line is the straight one.",
        caption="Recorded, three seeds, the first one thick. What to see: near the grey line "
                "every letter counts alike. The legend says how many answers are right: a curve "
                "of a net that errs is no explanation of a right answer.",
    )  # fmt: skip

# %% [markdown]
# ## 2 What a gradient cannot tell
#
# It says where a small change of a letter's *vector* would change the logits. That is not where the answer comes from. Here is a
# recurrence that is right on Parity for strings of every length and has almost no gradient to letters far back. Write a bit as
# $s = \pm 1$ (minus for a one), and let $x_t = \tanh(3\,s_t\,x_{t-1})$ from $x_0 = 1$; the answer is the sign of $x_T$.
#
# **Step 1.** $\tanh$ is odd and keeps the sign. So $\mathrm{sign}(x_t) = s_t\,\mathrm{sign}(x_{t-1})$, and turning *any one* letter turns the
# answer, of a string of any length. **All 64 letters** of one string.

# %% tags=["proof-gradient"]
u = sp.Symbol("u", real=True)
assert sp.simplify(sp.tanh(-3 * u) + sp.tanh(3 * u)) == 0, "The gradient, step 1: odd"
signs = 1 - 2 * np.random.default_rng(0).integers(2, size=64)


def run(signs):
    x = [1.0]
    for s in signs:
        x.append(math.tanh(3 * s * x[-1]))
    return x


for t in range(64):
    turned = np.where(np.arange(64) == t, -signs, signs)
    assert run(turned)[-1] == -run(signs)[-1] != 0, "The gradient, step 1: one letter turned"
print("each of 64 letters turns the answer")

# %% [markdown]
# **Step 2.** $|x_t| = \tanh(3\,|x_{t-1}|)$ does not depend on the letters, so the sizes of all slopes are the same for every string.
# $\partial x_T / \partial s_t$ has a factor $3(1 - x_k^2)$ for each later step, which is below 0.1 once $|x|$ has settled: 99 % of the
# gradient lies on the last four of 64 letters. $\blacksquare$

# %% tags=["proof-gradient"]
x = np.array(run(signs))
assert np.array_equal(np.abs(x), run(np.ones(64))), (
    "The gradient, step 2: the sizes are those of every string"
)
slopes = 3 * (1 - x[1:] ** 2)  # of x_t by s_t x_(t-1)
by_letter = np.array([slopes[t] * abs(x[t]) * np.prod(slopes[t + 1 :]) for t in range(64)])
assert slopes[10:].max() < 0.1 and by_letter[-4:].sum() > 0.99 * by_letter.sum(), (
    "The gradient, step 2: 99 % lies on the last four letters"
)
print(f"on the last four letters lies {by_letter[-4:].sum() / by_letter.sum():.4%} of the gradient")

# %% [markdown]
# **Break it:** without the saturation, $x_t = s_t x_{t-1}$, the same answer has the same gradient everywhere.

# %% tags=["proof-gradient"]
with show.expect_failure("The gradient, step 2"):
    slopes, x = np.ones(64), np.cumprod([1, *signs])
    by_letter = np.array([slopes[t] * abs(x[t]) * np.prod(slopes[t + 1 :]) for t in range(64)])
    assert by_letter[-4:].sum() > 0.99 * by_letter.sum(), (
        f"The gradient, step 2: {by_letter[-4:].sum() / by_letter.sum():.1%}"
    )

# %% [markdown]
# ## 3 Trained nets
#
# The trained nets show it too. Look at Parity, where all letters count alike for any net that is right:

# %%
for found in gradient_runs.query("task == 'parity'").itertuples():
    print(
        f"{found.row:14s} seed {found.seed}: right at 500: {found.accuracy:6.1%}; "
        f"of the gradient {found.last4:5.1%} on the last four letters"
    )

# %% [markdown]
# A straight line is only a hint, and its absence is not even that. Of the three RegularGPTs that know the last four bits, one
# has a straighter line than any that knows Parity (blue, on the right). It looks at what it does not need.
#
# A picture to play with: four of the small nets of the sitting, trained live on strings of up to 16 bits, looked at on 64.

# %%
small = {name: ch08.small_nets(name) for name in ("parity", "suffix")}

# %% tags=["nbval-ignore-output"]
positions = (3, 7, 11, 15, 23, 31, 47, 63)
readers = {
    "Parity": ch08.small_readers("parity", small["parity"], positions),
    "the last four": ch08.small_readers("suffix", small["suffix"], positions),
}
show.figure(
    ch08.fields(readers["the last four"], 63),
    alt="Cumulative gradients over 64 positions of four small nets that were trained on the "
        "parity of the last four bits.",
    caption="Live. What to see: to be right it is enough to look at the last four. A net may "
            "look further back all the same.",
)  # fmt: skip

# %% tags=["hide-input"]
fields_widget = explore(
    lambda task, position: ch08.fields(readers[task], position),
    {"task": list(readers), "position": list(positions)},
    initial={"task": "Parity", "position": 31},
    sentence=lambda task, position: ch08.fields_sentence(readers[task], position),
    alt="Cumulative gradients of the answer at the chosen position, for RegularGPT, "
    "Transformer, RNN and LRNN.",
)
fields_widget
