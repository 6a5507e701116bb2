# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03b · Paper listings
#
# Does the code that paper 000 prints do what its Figure 1 shows, and does ours agree with both? *It takes* about 30 min to read. It belongs to [chapter 03](../03_parallel_scans.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math

import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.exercises import hint, solution
from lrnnlab import scans
from lrnnlab.scans import linear_scan, paper

lrnnbook.needs("0.1")
scans.warm()


# %% [markdown]
# ## 1 The paper's listings
#
# **Claim.** The code of the paper's appendix A.2.1 makes the products that Figure 1 shows, in $\lceil\log_2 L\rceil$
# levels.
#
# > **The paper, appendix A.2.1.** `coef=x[::2]`, `remain=x[1::2]`, `coef_remain=np.core.defchararray.add(coef[1:],remain[:,-1:])`,
# > `remain=np.concatenate([remain,coef_remain],axis=1)`
#
# The listing keeps the products in rows, at first one row for each matrix. At each level it takes out every second
# row, beginning with the first: these are the words that the level needs. It lengthens each of the other rows to
# twice its size, with the words of the row after it, each multiplied by the last word of the row itself. The cell
# does that with words in place of matrices, as the paper does: `A3A2` is the product $A_3 A_2$.

# %% tags=["proof-schedule", "proof-pscan", "proof-work"]
def split(groups):
    coef, remain = groups[::2], groups[1::2]
    longer = [[word + run[-1] for word in row] for row, run in zip(coef[1:], remain)]
    return coef, [run + more for run, more in zip(remain, longer)]


def levels_of(L):
    """The words that each level needs, group by group, for x_0 and L - 1 matrices."""
    groups, levels = [[f"A{i}"] for i in range(1, L)], []
    while groups:
        coef, groups = split(groups)
        levels.append(coef)
    return levels


# %% [markdown]
# **Step 1.** For $L = 8$ these are the three lists that the paper prints.

# %% tags=["proof-schedule"]
printed = [
    [["A1"], ["A3"], ["A5"], ["A7"]],
    [["A2", "A3A2"], ["A6", "A7A6"]],
    [["A4", "A5A4", "A6A5A4", "A7A6A5A4"]],
]
print(*levels_of(8), sep="\n")
assert levels_of(8) == printed, "The listings, step 1: not the lists of the paper"

# %% [markdown]
# **Step 2.** A level leaves $(n - 1)/2$ of $n$ rows, so no row of $L - 1 = 2^k - 1$ is left after $k$ levels. The
# depth is $\log_2 L$; with zeros up to the next power of two it is $\lceil\log_2(T+1)\rceil$ for $T$ inputs. **All $L$ up to 1,024.**

# %% tags=["proof-schedule"]
n = sp.Symbol("n", integer=True, positive=True)
left_over = (2**n - 1 - 1) / 2
assert sp.simplify(left_over - (2 ** (n - 1) - 1)) == 0, "The listings, step 2: not 2^(n-1) - 1 rows are left"
levels = {L: len(levels_of(L)) for L in (2**k for k in range(1, 11))}
depths = {T: levels[1 << T.bit_length()] for T in range(1, 1024)}
print("levels for T inputs:", {T: depths[T] for T in (1, 2, 3, 7, 8, 40, 500, 1023)})
assert depths == {T: math.ceil(math.log2(T + 1)) for T in depths}, "The listings, step 2: another depth"

# %% [markdown]
# **Step 3.** The listing itself runs `int(np.ceil(np.log2(seq_len)))` times, without $x_0$. For `seq_len` $= 2^k - 1$ that is enough
# unless $k = 1$: one input needs one level and gets none. (The listing A.2.2 has it right. Run for $k$ up to 10.)
# $\blacksquare$

# %% tags=["proof-schedule"]
runs = {2**k - 1: int(np.ceil(np.log2(2**k - 1))) for k in range(1, 11)}
short = [seq_len for seq_len, count in runs.items() if count != len(levels_of(seq_len + 1))]
print("too few levels for seq_len in", short)
assert short == [1], "The listings, step 3: the listing falls short elsewhere"

# %% [markdown]
# A.2.2 runs the loop and the scan on the same random numbers and prints both. We draw the same numbers, from the
# same seed in the same order, and compare every scan of the package with the printout:

# %% tags=["varies", "nbval-ignore-output"]
given = torch.Generator().manual_seed(1)
A, u, x0 = (
    torch.randn(*shape, generator=given) for shape in ((1, 7, 2, 2), (1, 7, 2), (1, 2))
)
their_states = torch.tensor(
    [
        [0.8310, -0.2477],
        [0.5167, -1.4218],
        [1.1399, 1.3024],
        [0.9628, 1.3150],
        [-1.5308, -1.6903],
        [-3.6631, 1.6082],
        [1.7805, 7.1659],
        [2.5068, -0.6256],
    ]
)
for backend in scans.backends(A.unsqueeze(2)):
    states = linear_scan(A.unsqueeze(2), u.unsqueeze(2), x0.unsqueeze(1), backend=backend)
    states = states[0, :, 0]
    apart = (torch.cat([x0, states]) - their_states).abs().max()
    assert apart <= 0.5e-4 + 1e-6, f"{backend} is not the paper's printout"
    print(f"{backend:10s} differs from the paper's four decimals by {apart:.1e} at most: they are rounded to 5.0e-05")


# %% [markdown]
# ## 2 The listing does what the claim of chapter 03 says
#
# **Claim.** After level $l$, position $t$ holds what the loop gives if it is started anew at the beginning of $t$'s group of $2^l$.
#
# A state is the list of words that add up to it: `A2A1u0` is $A_2A_1u_0$, where $u_0$ is $x_0$ and $u_t$ is the input $b_t$. (Step 3,
# in symbols, is in chapter 03. In the cells levels count from 0.)
#
# **Step 1 (before the first level).** Every position holds its input, and so does the loop that starts there.

# %% tags=["proof-pscan"]
def loop(first, last):
    words = [f"u{first}"]
    for t in range(first + 1, last + 1):
        words = [f"A{t}{word}" for word in words] + [f"u{t}"]
    return words


print("the loop from 1 to 3:", " + ".join(loop(1, 3)))
assert all(loop(t, t) == [f"u{t}"] for t in range(64)), "PScan, step 1: a group of one"

# %% [markdown]
# **Step 2 (first half).** A group begins where the smaller group of the level before began. **All positions below 1,024.**

# %% tags=["proof-pscan"]
halves = [2**l for l in range(10)]
first_half = [(t, half) for half in halves for t in range(1024) if t % (2 * half) < half]
print(f"{len(first_half):,} places in a first half: the beginning of the group is the same")
same = [t - t % half == t - t % (2 * half) for t, half in first_half]
assert all(same), "PScan, step 2: another beginning"

# %% [markdown]
# **Step 4 (second half).** The words that a level applies to a group are the products from its middle $m$ on: `split` joins a row that
# begins at $m$ with the next one, and multiplies the words of that by the last word of the first. **All $L \le 256$.**

# %% tags=["proof-pscan"]
places = 0
for L in (2**k for k in range(1, 9)):
    for l, groups in enumerate(levels_of(L)):
        for g, words in enumerate(groups):
            m = 2 ** (l + 1) * g + 2**l
            places += len(words)
            wanted = ["".join(f"A{i}" for i in range(m + j, m - 1, -1)) for j in range(2**l)]
            assert words == wanted, "PScan, step 4: not the product from the middle on"
print(f"{places:,} words are the products that step 3 asks for")

# %% [markdown]
# **Step 5 (the end).** Every position after every level, compared with the loop. **All $T \le 33$.** $\blacksquare$

# %% tags=["proof-pscan"]
for T in range(1, 34):
    L = 1 << T.bit_length()
    x = [[f"u{t}"] if t <= T else [] for t in range(L)]
    for l, groups in enumerate(levels_of(L)):
        for g, words in enumerate(groups):
            m = 2 ** (l + 1) * g + 2**l
            for t, word in enumerate(words, m):
                x[t] = x[t] + [word + w for w in x[m - 1]]
        for t in range(T + 1):
            start = t - t % 2 ** (l + 1)
            assert sorted(x[t]) == sorted(loop(start, t)), "PScan, step 5: not the loop started anew"
    whole_loop = [sorted(x[t]) == sorted(loop(0, t)) for t in range(T + 1)]
    assert all(whole_loop), "PScan, step 5: not the loop"
print(f"T = 1 to {T}: the same words in every state; x_3 =", " + ".join(sorted(x[3])))

# %% [markdown]
# **Break it.** Multiply in the other order, and step 4 fails. (Section 4 says for which matrices the other order is right.)

# %% tags=["proof-pscan"]
with show.expect_failure("PScan, step 4"):
    coef, remain = [["A1"], ["A3"]], [["A2"]]
    longer = [[run[-1] + word for word in row] for row, run in zip(coef[1:], remain)]
    assert longer == [["A3A2"]], "PScan, step 4: A2A3 is not the product from the middle on"

# %% [markdown]
# ## 3 The count of chapter 03
#
# **Step 1.** Each of the $\log_2 L$ levels applies $L/2$ words. **All $L \le 1{,}024$.**

# %% tags=["proof-work"]
sizes = [2**k for k in range(1, 11)]
applied_words = {L: [sum(map(len, groups)) for groups in levels_of(L)] for L in sizes}
print("words applied at L = 8, level by level:", applied_words[8])
for L, found in applied_words.items():
    assert found == [L // 2] * int(math.log2(L)), "Work, step 1: not L/2 words a level"


# %% [markdown]
# **Step 2.** $L - 1$ of these are single letters. So $\frac L2\log_2 L - (L - 1)$ products are made. **All $L \le 1{,}024$.**

# %% tags=["proof-work"]
def products_made(L):
    groups, made = [[f"A{i}"] for i in range(1, L)], 0
    while groups:
        made += sum(map(len, groups[2::2]))  # each word of coef[1:] is multiplied once
        _, groups = split(groups)
    return made


words = [word for groups in levels_of(64) for row in groups for word in row]
letters = [word for word in words if word.count("A") == 1]
assert sorted(letters) == sorted(f"A{i}" for i in range(1, 64)), "Work, step 2: the letters given"
print({L: products_made(L) for L in sizes})
for L in sizes:
    assert products_made(L) == L // 2 * int(math.log2(L)) - (L - 1), "Work, step 2: the count"


# %% [markdown]
# **Step 3.** At $T = 500$, $b = 8$ the products alone take 28.7 times the loop's multiplications, with what applies them 33.3 times. With
# $b = 1$ it is 8.2 times.

# %% tags=["proof-work"]
def work(T, b, h=1):
    """(loop, products, applications): multiplications of numbers."""
    k = T.bit_length()
    L = 1 << k
    return b**2 * h * T, b**3 * h * (L // 2 * k - (L - 1)), b**2 * h * (L // 2) * k


from_loop, from_products, from_applying = work(T=500, b=8, h=8)
small_loop, *small_scan = work(T=500, b=1, h=8)
ratios = [from_products / from_loop, (from_products + from_applying) / from_loop]
ratios = [round(ratio, 1) for ratio in (*ratios, sum(small_scan) / small_loop)]
print(f"loop {from_loop:,}, PScan {from_products:,} + {from_applying:,}; ratios {ratios}")
assert ratios == [28.7, 33.3, 8.2], "Work, step 3: other ratios"

# %% [markdown]
# **Step 4.** The number of products lies between $\frac T2(\log_2 T - 2)$ and $T\log_2(2T)$, because
# $\frac L2\log_2 L - (L-1) = \frac L2(\log_2 L - 2) + 1$ and $\frac L2 \le T < L$. **All cases** of the identity; bounds for **all $T \le 5{,}000$.**

# %% tags=["proof-work"]
half, k = sp.symbols("half k")
assert sp.expand(half * k - (2 * half - 1) - (half * (k - 2) + 1)) == 0, "Work, step 4: the identity"
for T in range(1, 5001):
    made, L = work(T, b=1)[1], 1 << T.bit_length()
    assert L // 2 <= T < L, "Work, step 4: L is the next power of two"
    assert T / 2 * (math.log2(T) - 2) <= made <= T * math.log2(2 * T), "Work, step 4: a bound"
print(f"T = {T}: {T / 2 * (math.log2(T) - 2):,.0f} <= {made:,} <= {T * math.log2(2 * T):,.0f}")

# %% [markdown]
# **Step 5.** With $P = L/2$ processors a level takes at most $(b^3 + b^2)\,h$ multiplications one after the other, and all levels
# $(b^3 + b^2)\,h\log_2 L$: the paper's $O(b^3h\log T)$. **All $T < 1{,}024$**, six block sizes.

# %% tags=["proof-work"]
for T in range(1, 1024):
    for b in (1, 2, 3, 4, 8, 16):
        levels, L = T.bit_length(), 1 << T.bit_length()
        ticks = sum(work(T, b)[1:]) / (L // 2)
        assert ticks <= (b**3 + b**2) * levels, "Work, step 5: more than (b^3 + b^2) a level"
print(f"T = {T}, b = {b}, h = 1: {ticks:,.0f} ticks with {L // 2} processors, "
      f"at most {(b**3 + b**2) * levels:,}")

# %% [markdown]
# **Step 6.** With time $\max(\text{work}/P, \text{depth})$, $b = 1$ and $h = 8$ at $T = 500$, PScan wins from 66 processors on. **All $P \le
# 5{,}000$.** $\blacksquare$

# %% tags=["proof-work"]
from_loop, *scan = work(T=500, b=1, h=8)
wins = [P for P in range(1, 5001) if max(sum(scan) / P, 9) < max(from_loop / P, 500)]
print(f"PScan is faster than the loop from P = {wins[0]} on")
assert wins == list(range(66, 5001)), "Work, step 6: another break-even"

# %% [markdown]
# **Break it.** Count $L$ given letters instead of $L - 1$, as if the start had a matrix, too.

# %% tags=["proof-work"]
with show.expect_failure("Work, step 2"):
    assert products_made(8) == 8 // 2 * 3 - 8, "Work, step 2: five products for L = 8, not four"


# %% [markdown]
# ## 4 The other order
#
# Section 2 breaks the proof of PScan by multiplying in the other order.
#
# **The corrected statement.** With the products in the other order the scan is right for matrices that commute, and not for others.
#
# **Step 1.** Each word in the other order has the same letters, each of them once. So for matrices that commute,
# such as numbers and diagonal matrices ($b = 1$), it is the same product. (For every word of $L$ up to 64.)

# %% tags=["proof-order"]
def products_of(L, together):
    groups, words = [[f"A{i} "] for i in range(1, L)], []
    while groups:
        coef, remain = groups[::2], groups[1::2]
        words += [word for row in coef for word in row]
        groups = [
            run + [together(word, run[-1]) for word in row] for row, run in zip(coef[1:], remain)
        ]
    return words


for L in (2, 4, 8, 16, 32, 64):
    right = products_of(L, lambda word, last: word + last)
    other = products_of(L, lambda word, last: last + word)
    letters = [(sorted(one.split()), sorted(two.split())) for one, two in zip(right, other)]
    assert all(one == two for one, two in letters), "The other order, step 1: other letters"
print(f"{len(right)} words at L = {L}, {sum(a != b for a, b in zip(right, other))} of them "
      "spelt differently, all of the same letters")

# %% [markdown]
# **Step 2.** Blocks of size 2 need not commute: for the two in the cell $x_3$ comes out different. $\blacksquare$

# %% tags=["proof-order"]
swap = np.array([[0, 1], [1, 0]])  # A_2: swap the entries
forget = np.array([[1, 0], [0, 0]])  # A_3: forget the second
x_1 = np.array([1, 0])
print("A3 A2 x_1 =", forget @ swap @ x_1, "  A2 A3 x_1 =", swap @ forget @ x_1)
assert not np.array_equal(forget @ swap @ x_1, swap @ forget @ x_1), "The other order, step 2: these blocks commute"

# %% [markdown]
# ## 5 The levels in whole numbers
#
# The proof is about the algorithm, but what runs is code. So the next cell walks through the levels of `scans.paper`
# in whole numbers, where nothing is rounded, and compares every position with the loop started anew at the beginning
# of its group.

# %%
draw = torch.Generator().manual_seed(0)


def whole(*shape, most=3):
    return torch.randint(-most, most + 1, shape, generator=draw)


L, size = 16, 3
A, x = whole(L - 1, size, size, most=2), whole(L, size)  # x: x_0 and the inputs
inputs = x.clone()


def loop_from(A, begin, end):
    state = inputs[begin]
    for t in range(begin + 1, end + 1):
        state = A[t - 1] @ state + inputs[t]
    return state


for number, level in enumerate(paper.products(A)):
    half = level.shape[1]
    for group in range(L // (2 * half)):
        middle = 2 * half * group + half
        last = x[middle - 1].clone()
        for j in range(half):
            x[middle + j] += level[group, j] @ last
    right = all(torch.equal(x[t], loop_from(A, t - t % (2 * half), t)) for t in range(L))
    print(f"after level {number + 1}: groups of {2 * half:2d}, every state as the "
          f"claim says: {right}")

# %% [markdown]
# ## 6 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | "computational complexity [...] $O(b^3 h \log T)$" (3.4) | that is the depth, with a processor for every two positions; the work is $\Theta(b^3 h T \log T)$ (chapter 03, section 4), 33 times the loop's at $T = 500$, $b = 8$ |
# | "$\lceil \log_2 L \rceil$ steps" | right, with $x_0$ counted in $L$: $\lceil \log_2 (T+1) \rceil$ for $T$ inputs |
# | listing A.2.1 runs $\lceil \log_2(\text{seq\_len}) \rceil$ times | no level at all for one input, where one is needed; A.2.2 has it right |
# | "Sequential and PScan are equivalent" (A.2.2) | as real numbers; in floats they differ in the last digits, and PScan can give NaN where the loop does not (chapter 03, section 6) |
# | $b^3$ is why PScan is no faster at test time (4.5) | likely part of it; what both ways share can do the same, and the three numbers cannot tell ([03c](03c_benchmark.ipynb)) |
# | training gains "due to the improved backpropagation path" (4.5) | "we hypothesize", they say, and there is a reason: listing A.2.2 and the released sequential loop index `A[:, i]`, so their backward pass is quadratic ([03d](03d_floats.ipynb) measures by how much), and PScan's is not. Which loop was timed is not said. Beside a loop that unbinds PScan loses in training too, on one CPU thread; on an H200 it wins at $T = 40$ ([03c](03c_benchmark.ipynb)) |
