# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Glossary, letters and maps
#
# What the words of the book mean, what its letters stand for, where each model, task, theorem and widget lives, and
# what to read.
# Back to [chapter 00](00_start_here.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from IPython.display import Markdown

import lrnnlab
from lrnnbook.machinery.book import glossary
from lrnnlab import build, task

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(f"this notebook needs lrnnlab {EXPECTED}, here is "
                       f"{lrnnlab.__version__}: run bootstrap.py")
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Words
#
# The last column is the chapter in which the word first comes, or in which it is explained.
#
# ### Machines and languages
#
# | word | what it means | chapter |
# |---|---|---|
# | **automaton** | A machine with finitely many states that reads a string letter by letter; each letter sends each state to one state. If it answers after every letter it is called a *Moore machine*. | 00 |
# | **regular language** | A set of strings that some finite automaton tells from all others. | 00 |
# | **letter**, token, symbol | One of finitely many things that a string consists of; a network gets its number and looks up a vector for it. | 01 |
# | **smallest machine** | The automaton with the fewest states that gives the same answers. There is only one, up to the names of its states. | 00 |
# | **transition monoid** | All maps of states to states that the words of an automaton make, with composition. It is finite. | 08 |
# | **group** | A set of invertible maps of some set to itself that contains with two maps their composition, and with a map the one that undoes it. | 01 |
# | **commutator** | What is left of two maps done and then undone in the other order: $aba^{-1}b^{-1}$. It is the identity if and only if they commute. | 01 |
# | **derived series** | A group, the group that its commutators generate, the group that the commutators of that one generate, and so on. | 01 |
# | **solvable** | A group is solvable if its derived series comes down to the identity alone. | 01 |
# | **word problem** | Given a product of elements of a group, letter by letter: which element is it? | 01 |
# | **reset** | A letter after which the state no longer depends on what was before. | 01 |
# | **killer word** | Our name for a pair of words that no diagonal layer with finitely many states can tell apart, though the task must. | 01 |
# | **counter** | A state that adds up without bound, or a machine that counts modulo a number: the text says which. | 00 |
# | **Dyck** language | Strings in which every bracket that is opened is closed, in the right order; *Dyck-1* has one kind of bracket. | 09 |
# | **star-free** | Of a machine: it counts nothing, not even modulo a number. No word leads two or more states of the smallest machine round in a cycle. | 10 |
# | **quotient** | A machine read more coarsely: some states count as one, and every letter still leads each of the merged states to one of them. | 10 |
# | **counter language** | A language that a machine with a counter can recognise, such as $a^nb^n$. | 09 |
# | **weighted automaton** | A linear recurrence with one matrix for each letter and a linear readout; it gives each word a number. | 09 |
# | **rationally recurrent** | Computed by a weighted automaton. | 09 |
# | **prefix** | The beginning of a string, up to some position. | 01 |
#
# ### Recurrences
#
# | word | what it means | chapter |
# |---|---|---|
# | **recurrence** | A rule that makes the next state from the last one and the input. It is *linear* if the last state enters linearly. | 00 |
# | **state** | The vector $x_t$ that a recurrence carries from step to step: all that it knows of what it has read. | 00 |
# | **transition** | The matrix $A_t$ that multiplies the last state. | 00 |
# | **readout** | What turns a state into an answer, $y_t = h(x_t)$. | 00 |
# | **block-diagonal** | A matrix that is zero but for square blocks on its diagonal; each block moves a part of the state of its own. | 00 |
# | **head** | One block, or one independent part of a layer, with its own part of the state. | 00 |
# | **diagonal** transition | A transition without blocks: every number of the state is multiplied by a number of its own. | 01 |
# | **input-dependent** | A transition that the input at that step decides; the opposite is one transition for all letters. | 01 |
# | **column rule** | How the columns of a block are kept from growing: clipped or divided to $p$-norm 1, or made probabilities by a softmax. | 02 |
# | **simplex** | All vectors of numbers of at least 0 that add up to 1: probability distributions. | 02 |
# | **snap** | Replace each column of a trained block by the one-hot of its largest entry, so that blocks become automata; nothing is retrained. | 00 |
# | **eigenvalue** | A number $\lambda$ with $Ax = \lambda x$ for some $x \ne 0$; below 1 in absolute value what lies along $x$ fades, above 1 it grows. | 01 |
# | **node** | An eigenvalue $\lambda$ of a diagonal recurrence, by itself. | 05 |
# | **mode** | A node with its weight, and its share of the state; the kernel of a diagonal recurrence is a sum of modes. | 05 |
# | **rotation** | A transition that keeps all lengths and angles and does not mirror; its eigenvalues lie on the unit circle. | 01 |
# | **orthogonal** matrix | A real matrix that keeps all lengths, $AA^\top = I$: a rotation, or a rotation with a mirror. | 04 |
# | **reflection** | The map $I - 2kk^\top$ with $\lVert k\rVert = 1$: it turns $k$ round and leaves what is orthogonal to it. | 09 |
# | **decay** | A factor below 1 by which a state shrinks at every step. | 04 |
# | **white** input | Inputs of mean 0 and covariance $I$, independent from step to step. | 04 |
# | **kernel** | The sequence $K_0, K_1, \dots$ with $y_k = \sum_j K_j u_{k-j}$: what a recurrence with one transition for all inputs does to its input. (Of a GPU: one compiled function.) | 05 |
# | **convolution** | The sum $\sum_j K_j u_{k-j}$ at every $k$; by the FFT it takes $O(L\log L)$. | 03 |
# | **one-hot** | A vector with one 1 and zeros; as a kernel, a shift. | 02 |
# | **Vandermonde** matrix | The matrix of powers $\lambda_n^j$; times the weights it gives the kernel. | 03 |
# | **Hankel** matrix | The matrix with entries $K_{i+j}$ (or $f(uv)$ for words); its rank is the least size of the state (how many numbers it has) of a linear recurrence that makes them. | 05 |
# | **Chebyshev** polynomial | The polynomial $T_n(\cos t) = \cos nt$; of all polynomials of degree $n$ that stay within $\pm 1$ on $[-1, 1]$ it has the largest leading coefficient. | 06 |
# | **bidirectional** | Two recurrences, one from the left and one from the right, whose outputs are added. | 05 |
#
# ### Scans and cost
#
# | word | what it means | chapter |
# |---|---|---|
# | **scan** | All states $x_1, \dots, x_T$ of a recurrence, however they are computed. | 03 |
# | **associative** | Brackets do not matter: $(f\circ g)\circ h = f\circ(g\circ h)$. | 03 |
# | **depth** | The steps that have to wait for each other; the time with as many processors as one could wish. (Of a network: how many layers lie on top of each other.) | 03 |
# | **work** | How much is computed in all, whoever computes it. | 03 |
# | **PScan** | The parallel scan of paper 000: $\lceil\log_2(T+1)\rceil$ levels of products. | 03 |
# | **token table** | One matrix for each letter, looked up by the scan, in place of one for each position. | 03 |
# | **chain** | One block of one string in a scan; chains never meet. | 03 |
# | **WY form** | A product of factors $I - \beta kk^\top$ written as $I - WK^\top$, found by solving a triangular system. | 03 |
# | **overflow** | A number that is too large for its format and becomes infinite; float32 ends at $3.4\cdot10^{38}$. | 02 |
# | **backward pass** | The computation of gradients, from the loss back to the weights. | 03 |
#
# ### Memory in depth, and by learning rules
#
# | word | what it means | chapter |
# |---|---|---|
# | **attention** | A layer in which each position takes a weighted mean of values at other positions; the weights come from comparing queries with keys. | 08 |
# | **Transformer** | A network of attention layers and small networks for each position; it carries no state. | 00 |
# | **chunk** | Neighbouring positions that are handled together. | 03 |
# | **cluster** | States of a trained network that lie close together; as many clusters as needed things to remember is what one hopes to see. | 08 |
# | **lag** | How many steps before an answer a number was read; the kernel of a convolution has one weight for each lag. | 05 |
# | **post-norm**, **pre-norm** | Whether a block normalises the sum of its input and what its layer gives, or the layer's input alone. | 07 |
# | **macro F1** | The mean over classes of $2PR/(P+R)$, with precision $P$ and recall $R$: a rare class counts as much as a frequent one. | 07 |
# | **receptive field** | The positions of the input that have an influence on an output. | 08 |
# | **perplexity** | The exponential of the mean loss per letter: among so many equally likely letters the model is as good as choosing. | 08 |
# | **fast weights** | A matrix that every token changes while the network reads, in contrast to the weights that training changes. | 09 |
# | **slow net** | The part of a fast-weight layer that training changes; it says what is written where. | 09 |
# | **delta rule** | Write the difference between the value wanted and the value found: $W \leftarrow W + \beta\,(v - Wk)k^\top$. | 03 |
# | **key**, value, query | Where something is written, what is written, and where something is read in a fast-weight memory or in attention. | 09 |
# | **NLT**, **ULT** | Linear Transformer with outputs divided by a sum of weights (normalised), and without (un-normalised). | 09 |
#
# ### Training and measuring
#
# | word | what it means | chapter |
# |---|---|---|
# | **training length** | The length of the strings in training; everything beyond is *length extrapolation*. | 02 |
# | **chance** | The accuracy of a uniform guess. | 00 |
# | **majority** | The accuracy of always giving the commonest answer. | 00 |
# | **stand-in** | A data set of the same kind that we make ourselves, where the published one is not ours to ship. | 07 |
# | **seed** | The number that fixes all random choices of a run. | 00 |
# | **live**, **recorded**, **paper** | Three kinds of number: computed as you read; computed earlier by a command that you can run again; printed in the paper. | 00 |
# | **desk** budget | A longer run of an experiment, some minutes to hours; its results are the recorded ones. *Live* takes seconds, *paper* is the paper's own setting. | 02 |
# | **spread** and **gap** | How far states of one value lie from each other, and how far those of different values do; when the first exceeds the second answers go wrong. | 02 |
# | **prune** | Switch off the parts of a network that the loss can spare. | 02 |
# | **mend** | Our name for training on with the strings that a search has found to be answered wrongly. | 02 |
# | **label smoothing** | Ask for 0.9, say, in place of 1 for the right answer, so that the loss never stops asking. | 02 |
# | **pure** | Of a column or a state: one entry has nearly all of it, so it looks like a basis vector; a term of the loss may ask for it. | 02 |
# | **LayerNorm** | Subtract from a vector its mean and divide by its standard deviation. | 02 |
# | **residual** | A way past a layer: its input is added to its output. | 05 |
# | **proof** and **verify** | A search over all states that all strings together can reach; it ends with "right on every string" or with a shortest wrong one. It speaks of the snapped network. | 00 |
# | **counterexample** | One case in which a claim fails. | 01 |
#
# ## 2 Letters
#
# The text and the code use these everywhere. A letter that stands for two things stands for them in different places.
#
# | letter | stands for | shape |
# |---|---|---|
# | $B$ | batch: strings at once; in a formula, the input matrix of $Bu_t$ | |
# | $T$, $L$ | time: the length; $L$ where a paper counts so, and in chapter 03 with $x_0$ counted | |
# | $V$ | vocabulary: how many letters there are | |
# | $C$ | classes, how many answers there are; the readout matrix; in chapter 08 the size of a chunk | |
# | $D$ | width of the model; in chapter 01 the width of the state | |
# | $h$ | blocks or heads; in $y_t = h(x_t)$, the readout | |
# | $b$, in code $n$ | size of a block; as a vector $b_t$, the input term of a step | |
# | $N$ | size of the state, number of modes; in chapter 01 the order of a turn or the length of a cycle | |
# | $p$ | which norm: $\lVert v\rVert_p = (\sum\lvert v_i\rvert^p)^{1/p}$; for a random bit, its probability | |
# | $A_t$ | transition | $(B, T, D)$ diagonal, $(B, T, h, b, b)$ blocks |
# | $b_t$ | input term, often $Bu_t$ | $(B, T, D)$ or $(B, T, h, b)$ |
# | $x_t$ | state after the input at $t$; $x_0$ is the start | as $b_t$ |
# | $u_t$ | input | |
# | $y_t$ | output | $(B, T, C)$ |
# | $\lambda$, $\theta$, $\gamma$ | eigenvalue, angle of a rotation, decay | |
# | $w$ | weights of the modes in the kernel $K_j = \sum_n w_n\lambda_n^j$ | $N$ |
# | $M$ | the modulus of Sum($M$), EvenPair($M$), ModArith($M$) | |
# | $P$ | processors; in chapter 04 the orthogonal matrix of a head | |
# | $k$, $v$, $q$, $\beta$, $W$ | key, value, query, strength of a write, fast weights | |
#
# ## 3 Models
#
# All models of `build(name, task)`, from the registry: what one step does, the paper whose experiments the model belongs
# to, the chapter where it lives, and the class in which to read on. Nearly every model can be had for every task, by one
# line:

# %%
model = build("deltanet", task("s_3"))
print(f"{sum(w.numel() for w in model.parameters()):,} weights")

# %%
Markdown(glossary.model_map())

# %% [markdown]
# ## 4 Tasks
#
# All tasks of `task(name)`, from the registry: what they ask, at which length they are trained if nothing else is said,
# and what guessing brings there by the task's own score. Besides these there are `task("z_7")` (any cyclic group),
# `task("regex", "(ab)*")`, `task("machine", machine)` and `task("group", ...)` for one of your own.

# %%
Markdown(glossary.task_map())

# %% [markdown]
# ## 5 References
#
# Every paper that a chapter names under *Read on*, with the chapters that do. The five papers of the book come first,
# with their numbers.

# %%
Markdown(glossary.bibliography())

# %% [markdown]
# ## 6 Theorems
#
# What the papers and we claim: the name of each claim and its first sentence. Whether it is proved there, or broken, or put
# right, the chapter tells.

# %%
Markdown(glossary.theorem_map())

# %% [markdown]
# ## 7 Widgets
#
# The pictures that you can move, and what they show.

# %%
Markdown(glossary.widget_map())
