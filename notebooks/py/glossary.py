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
import lrnnbook
from lrnnlab import build, task

lrnnbook.needs("0.1")

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
# | **counterexample** | One case in which a claim fails. | 00 |
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
# All models of `build(name, task)`: what one step does, the paper whose experiments the model belongs
# to, the chapter where it lives, and the class in which to read on. Nearly every model can be had for every task, by one
# line:

# %%
model = build("deltanet", task("s_3"))
print(f"{sum(w.numel() for w in model.parameters()):,} weights")

# %% [markdown]
# | name in build | one step | reads | paper | chapter | class |
# | --- | --- | --- | --- | --- | --- |
# | "block_diagonal" | xₜ = Aₜ xₜ₋₁ + B uₜ, blocks Aₜ made from the input, their columns held | tokens, numbers | [000](https://arxiv.org/abs/2309.07412) | [02](02_block_diagonal_lrnn.ipynb) | `lrnnlab.models.layers.transitions.BlockDiagonal` |
# | "lstm" | a gated network, not linear in its state | tokens, numbers | [000](https://arxiv.org/abs/2309.07412) | [02](02_block_diagonal_lrnn.ipynb) | `lrnnlab.models.layers.recurrent.Nonlinear` |
# | "elman" | xₜ = tanh(A xₜ₋₁ + B uₜ) | tokens, numbers | [000](https://arxiv.org/abs/2309.07412) | [02](02_block_diagonal_lrnn.ipynb) | `lrnnlab.models.layers.recurrent.Nonlinear` |
# | "vanilla" | xₜ = A xₜ₋₁ + B uₜ with one full matrix A | tokens, numbers | [000](https://arxiv.org/abs/2309.07412) | [02](02_block_diagonal_lrnn.ipynb) | `lrnnlab.models.layers.transitions.Vanilla` |
# | "diagonal" | xₜ = vₜ * xₜ₋₁ + B uₜ, number by number, vₜ made from the input | tokens, numbers | [000](https://arxiv.org/abs/2309.07412) | [01](01_subtraction.ipynb) | `lrnnlab.models.layers.transitions.Diagonal` |
# | "s4" | one A for all inputs, diagonal less a matrix of rank 1 | tokens, numbers | [000](https://arxiv.org/abs/2309.07412) | [01](01_subtraction.ipynb) | `lrnnlab.models.layers.modes.S4` |
# | "s4d" | one diagonal A for all inputs, a small system a channel | tokens, numbers | [000](https://arxiv.org/abs/2309.07412) | [01](01_subtraction.ipynb) | `lrnnlab.models.layers.modes.S4D` |
# | "liquid_s4" | xₜ = (A + diag(B uₜ)) xₜ₋₁ + B uₜ | tokens, numbers | [000](https://arxiv.org/abs/2309.07412) | [01](01_subtraction.ipynb) | `lrnnlab.models.layers.transitions.LiquidS4` |
# | "rwkv" | decaying sums weighted by keys, channel by channel | tokens, numbers | [000](https://arxiv.org/abs/2309.07412) | [02](02_block_diagonal_lrnn.ipynb) | `lrnnlab.models.layers.recurrent.RWKV` |
# | "rotrnn" | xₜ = γ A xₜ₋₁ + ξ B uₜ, A a rotation in each head | tokens, numbers | [001](https://arxiv.org/abs/2407.07239) | [04](04_rotations.ipynb) | `lrnnlab.models.layers.modes.RotRNN` |
# | "lru" | xₜ = λ * xₜ₋₁ + γ * B uₜ, complex λ within the unit circle | tokens, numbers | [001](https://arxiv.org/abs/2407.07239) | [04](04_rotations.ipynb) | `lrnnlab.models.layers.modes.LRU` |
# | "s5" | one complex diagonal system for all channels together | tokens, numbers | [001](https://arxiv.org/abs/2407.07239) | [04](04_rotations.ipynb) | `lrnnlab.models.layers.modes.S5` |
# | "dlr" | xₜ = λ * xₜ₋₁ + uₜ, run as a convolution | tokens, numbers | [004](https://arxiv.org/abs/2212.00768) | [05](05_diagonal_kernels.ipynb) | `lrnnlab.models.layers.modes.DLR` |
# | "dss" | the same with modes from a differential equation | tokens, numbers | [004](https://arxiv.org/abs/2212.00768) | [05](05_diagonal_kernels.ipynb) | `lrnnlab.models.layers.modes.DSS` |
# | "sgconv" | no recurrence: a long kernel from pieces of growing length | tokens, numbers | [004](https://arxiv.org/abs/2212.00768) | [05](05_diagonal_kernels.ipynb) | `lrnnlab.models.layers.modes.SGConv` |
# | "attention" | attention to all positions, with rotary positions | tokens, numbers | [004](https://arxiv.org/abs/2212.00768) | [10](10_one_ladder.ipynb) | `lrnnlab.models.layers.attention.RotaryAttention` |
# | "local_attention" | attention within chunks, with rotary positions | tokens, numbers | [004](https://arxiv.org/abs/2212.00768) | [07](07_long_range.ipynb) | `lrnnlab.models.layers.attention.LocalAttention` |
# | "ult" | Wₜ = Wₜ₋₁ + v kᵀ: a sum of writes | tokens, numbers | [003](https://arxiv.org/abs/2310.16076) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.fast_weights.FastWeights` |
# | "nlt" | the same, outputs divided by a sum of weights | tokens, numbers | [003](https://arxiv.org/abs/2310.16076) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.fast_weights.FastWeights` |
# | "deltanet" | Wₜ = Wₜ₋₁ (I − β k kᵀ) + β v kᵀ: the delta rule | tokens, numbers | [003](https://arxiv.org/abs/2310.16076) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.fast_weights.FastWeights` |
# | "recurrent_delta" | the delta rule, and what is written depends on the last output | tokens, numbers | [003](https://arxiv.org/abs/2310.16076) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.recurrent.RecurrentDelta` |
# | "srwm" | one matrix that answers and writes to itself by the delta rule | tokens, numbers | [003](https://arxiv.org/abs/2310.16076) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.recurrent.SelfReferential` |
# | "transformer" | softmax attention without positions | tokens, numbers | [003](https://arxiv.org/abs/2310.16076) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.attention.CausalAttention` |
# | "plain_lstm" | paper 003's LSTM, without residuals and norms | tokens, numbers | [003](https://arxiv.org/abs/2310.16076) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.recurrent.Nonlinear` |
# | "e_lstm" | an LSTM in which every cell sees the last state of itself alone | tokens, numbers | [003](https://arxiv.org/abs/2310.16076) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.recurrent.ElementWiseLSTM` |
# | "pd" | xₜ = Pₜ Dₜ xₜ₋₁, columns of P one-hot, D a complex diagonal | tokens, numbers | [2509.22284](https://arxiv.org/abs/2509.22284) | [10](10_one_ladder.ipynb) | `lrnnlab.models.layers.transitions.OneHotColumns` |
# | "dictionary" | xₜ = Aₜ xₜ₋₁ + B uₜ, Aₜ a weighted mean of a few full matrices | tokens, numbers | [2412.19350](https://arxiv.org/abs/2412.19350) | [10](10_one_ladder.ipynb) | `lrnnlab.models.layers.transitions.Dictionary` |
# | "gated_deltanet" | Wₜ = aₜ Wₜ₋₁ (I − β k kᵀ) + β v kᵀ: DeltaNet that also fades | tokens, numbers | [2412.06464](https://arxiv.org/abs/2412.06464) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.fast_weights.GatedDeltaNet` |
# | "mamba2" | Wₜ = aₜ Wₜ₋₁ + v kᵀ: a sum of writes that fades | tokens, numbers | [2405.21060](https://arxiv.org/abs/2405.21060) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.fast_weights.Mamba2` |
# | "rwkv7" | Wₜ = Wₜ₋₁ (diag(w) − κ (a κ)ᵀ) + v kᵀ: a delta rule with a rate for each entry | tokens, numbers | [2503.14456](https://arxiv.org/abs/2503.14456) | [09](09_fast_weights.ipynb) | `lrnnlab.models.layers.fast_weights.RWKV7` |
# | "regulargpt" | one attention layer used again at every depth of a tree over the string | tokens | [002](https://arxiv.org/abs/2305.03796) | [08](08_working_memory_in_depth.ipynb) | `lrnnlab.models.layers.attention.RegularGPT` |
# | "relu_rnn" | xₜ = relu(U xₜ₋₁ + W uₜ + b) | tokens | [002](https://arxiv.org/abs/2305.03796) | [08](08_working_memory_in_depth.ipynb) | `lrnnlab.models.layers.attention.ReluRNN` |
# | "xl_transformer" | attention with the relative positions of Transformer-XL | tokens | [002](https://arxiv.org/abs/2305.03796) | [08](08_working_memory_in_depth.ipynb) | `lrnnlab.models.layers.attention.RelativeTransformer` |
# | "kerple_transformer" | attention less a learned function of the distance | tokens | [002](https://arxiv.org/abs/2305.03796) | [08](08_working_memory_in_depth.ipynb) | `lrnnlab.models.layers.attention.RelativeTransformer` |
# | "t5_transformer" | attention plus a learned number for each range of distances | tokens | [002](https://arxiv.org/abs/2305.03796) | [08](08_working_memory_in_depth.ipynb) | `lrnnlab.models.layers.attention.RelativeTransformer` |
# | "alibi_transformer" | attention less a fixed multiple of the distance | tokens | [002](https://arxiv.org/abs/2305.03796) | [08](08_working_memory_in_depth.ipynb) | `lrnnlab.models.layers.attention.RelativeTransformer` |

# %% [markdown]
# ## 4 Tasks
#
# All tasks of `task(name)`: what they ask, at which length they are trained if nothing else is said,
# and what guessing brings there by the task's own score. Besides these there are `task("z_7")` (any cyclic group),
# `task("regex", "(ab)*")`, `task("machine", machine)` and `task("group", ...)` for one of your own.
#
# | name in task | reads | asks | trained at | chance | majority | score | chapter |
# | --- | --- | --- | --- | --- | --- | --- | --- |
# | "sum" | 5 letters | the sum so far modulo M | 40 | 0.2 | 0.2 | accuracy | [00](00_start_here.ipynb) |
# | "evenpair" | 5 letters | after every letter, whether it is the first one again | 40 | 0.5 | 0.8 | accuracy | [01](01_subtraction.ipynb) |
# | "modarith" | 8 letters | the value so far of an expression of +, − and ×, modulo M | 39 | 0.2 | 0.2 | accuracy | [01](01_subtraction.ipynb) |
# | "even_pairs" | 2 letters | whether the pairs 01 and 10 are even in number | 40 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "modular_arithmetic" | 8 letters | the value of an expression modulo 5, × first | 40 | 0.2 | 0.2 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "modular_arithmetic_prefix" | 8 letters | the same, with a + in front of it | 40 | 0.2 | 0.2 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "parity" | 2 letters | whether the number of 1s is odd | 40 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "cycle_navigation" | 3 letters | where a walk on a cycle of five ends | 40 | 0.2 | 0.2 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "d_2" | 2 letters | whether brackets a and b are balanced, at most 2 deep | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "d_3" | 2 letters | whether brackets a and b are balanced, at most 3 deep | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "d_4" | 2 letters | whether brackets a and b are balanced, at most 4 deep | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "d_12" | 2 letters | whether brackets a and b are balanced, at most 12 deep | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "tomita_1" | 2 letters | whether a string is in Tomita's language 1 | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "tomita_2" | 2 letters | whether a string is in Tomita's language 2 | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "tomita_3" | 2 letters | whether a string is in Tomita's language 3 | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "tomita_4" | 2 letters | whether a string is in Tomita's language 4 | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "tomita_5" | 2 letters | whether a string is in Tomita's language 5 | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "tomita_6" | 2 letters | whether a string is in Tomita's language 6 | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "tomita_7" | 2 letters | whether a string is in Tomita's language 7 | 50 | 0.5 | 0.5 | accuracy, the mean over lengths beyond training | [08](08_working_memory_in_depth.ipynb) |
# | "prefix_parity" | 2 letters | after every letter, whether the number of 1s is even | 50 | 0.0045 | 0.008 | whole strings right | [09](09_fast_weights.ipynb) |
# | "aa" | 1 letters | whether the length so far is even | 50 | 0.013 | 0 | whole strings right | [09](09_fast_weights.ipynb) |
# | "abab" | 2 letters | whether the string so far is abab, again and again | 50 | 0.0056 | 0 | whole strings right | [09](09_fast_weights.ipynb) |
# | "anbn" | 2 letters | which letter may come next: as many b as a | 100 | 0.0025 | 0 | whole strings right | [09](09_fast_weights.ipynb) |
# | "anbncn" | 3 letters | which letter may come next: as many b as a, and c as b | 150 | 0.00032 | 0 | whole strings right | [09](09_fast_weights.ipynb) |
# | "shuffle_2" | 4 letters | which of two kinds of brackets are open | 50 | 0.00032 | 0 | whole strings right | [09](09_fast_weights.ipynb) |
# | "shuffle_2_true" | 4 letters | the same on shuffles of two balanced strings | 50 | 0.00034 | 0 | whole strings right | [09](09_fast_weights.ipynb) |
# | "dyck_1" | 2 letters | whether a bracket is open | 50 | 0.001 | 0 | whole strings right | [09](09_fast_weights.ipynb) |
# | "reset_dyck_1" | 3 letters | the same, where a 1 closes all brackets | 50 | 0.0031 | 0 | whole strings right | [09](09_fast_weights.ipynb) |
# | "shift" | 3 numbers a step | the input of 0, L/8, ..., 7L/8 steps ago | 64 | 0 | 0.22 | R2 | [06](06_ill_conditioned_reals.ipynb) |
# | "cumsum" | 3 numbers a step | the sum so far, divided by the root of the position | 64 | 0 | 0 | R2 | [05](05_diagonal_kernels.ipynb) |
# | "cummax" | 3 numbers a step | the largest number so far | 64 | 0 | 0.46 | R2 | [07](07_long_range.ipynb) |
# | "reverse" | 3 numbers a step | the numbers backwards | 64 | 0 | 0 | R2 | [05](05_diagonal_kernels.ipynb) |
# | "sort" | 3 numbers a step | the numbers in the order of their distance from the first | 64 | 0 | 0.49 | R2 | [07](07_long_range.ipynb) |
# | "select" | 4 numbers a step | the marked numbers, in order | 64 | 0 | 0 | R2 | [07](07_long_range.ipynb) |
# | "select_fixed" | 4 numbers a step | the numbers at positions that are the same for all inputs | 64 | 0 | 0 | R2 | [07](07_long_range.ipynb) |
# | "mips" | 14 numbers a step | the value whose key fits a query best, among those so far | 64 | 0 | 0.074 | R2 | [07](07_long_range.ipynb) |
# | "context_shift" | 3 numbers a step | the numbers shifted by as much as the input says | 64 | 0 | 0.17 | R2 | [05](05_diagonal_kernels.ipynb) |
# | "solve" | 3 numbers a step | the unknowns of a linear system that is read equation by equation | 64 | 0 | 0 | R2 | [07](07_long_range.ipynb) |
# | "solve_fixed" | 3 numbers a step | the same with one matrix for all inputs | 64 | 0 | 0 | R2 | [07](07_long_range.ipynb) |
# | "listops" | 16 letters | the value of a nested expression of MIN, MAX, MED, SM | 64 | 0.1 | 0.16 | accuracy | [07](07_long_range.ipynb) |
# | "listops_subtrees" | 16 letters | the value of every sub-expression | 64 | 0.1 | 0.13 | accuracy | [07](07_long_range.ipynb) |
# | "pathfinder" | 1 numbers a step | whether two circles in a picture are joined by a path | 1024 | 0.5 | 0.5 | accuracy | [07](07_long_range.ipynb) |
# | "pathfinder_segmentation" | 1 numbers a step | which pixels lie on that path | 1024 | 0.33 | 0.86 | accuracy | [07](07_long_range.ipynb) |
# | "s_3" | 2 letters | which permutation of three things the product so far is | 40 | 0.17 | 0.17 | accuracy | [01](01_subtraction.ipynb) |
# | "a_4" | 2 letters | which even permutation of four things the product so far is | 40 | 0.083 | 0.083 | accuracy | [01](01_subtraction.ipynb) |
# | "s_4" | 2 letters | which permutation of four things the product so far is | 40 | 0.042 | 0.083 | accuracy | [01](01_subtraction.ipynb) |
# | "q_8" | 2 letters | which of the quaternions ±1, ±i, ±j, ±k the product so far is | 40 | 0.12 | 0.25 | accuracy | [01](01_subtraction.ipynb) |
# | "a_5" | 2 letters | which even permutation of five things the product so far is | 40 | 0.017 | 0.017 | accuracy | [01](01_subtraction.ipynb) |

# %% [markdown]
# ## 5 References
#
# Every paper that a chapter names under *Read on*, with the chapters that do. The five papers of the book come first,
# with their numbers.
#
# * **000** T.-H. Fan, T.-C. Chi, A. Rudnicky: *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*, 2024. [arXiv:2309.07412](https://arxiv.org/abs/2309.07412) ([00](00_start_here.ipynb), [01](01_subtraction.ipynb), [02](02_block_diagonal_lrnn.ipynb), [03](03_parallel_scans.ipynb))
# * **001** K. Biegun, R. Dolga, J. Cunningham and D. Barber: *RotRNN: Modelling long sequences with rotations*, 2024. [arXiv:2407.07239](https://arxiv.org/abs/2407.07239) ([04](04_rotations.ipynb))
# * **002** T.-C. Chi, T.-H. Fan, A. I. Rudnicky, P. J. Ramadge: *Transformer Working Memory Enables Regular Language Reasoning and Natural Language Length Extrapolation*, 2023. [arXiv:2305.03796](https://arxiv.org/abs/2305.03796) ([08](08_working_memory_in_depth.ipynb), [08e](deeper/08e_paper_checked.ipynb))
# * **003** K. Irie, R. Csordás, J. Schmidhuber: *Practical Computational Power of Linear Transformers and Their Recurrent and Self-Referential Extensions*, 2023. [arXiv:2310.16076](https://arxiv.org/abs/2310.16076) ([09](09_fast_weights.ipynb))
# * **004** A. Gupta, H. Mehta and J. Berant: *Simplifying and understanding state space models with diagonal linear RNNs*, 2022. [arXiv:2212.00768](https://arxiv.org/abs/2212.00768) ([05](05_diagonal_kernels.ipynb), [06](06_ill_conditioned_reals.ipynb), [07](07_long_range.ipynb))
# * M. Arjovsky, A. Shah and Y. Bengio: *Unitary evolution recurrent neural networks*, 2015. [arXiv:1511.06464](https://arxiv.org/abs/1511.06464) ([04](04_rotations.ipynb))
# * S. Arora and others: *Zoology: measuring and improving recall in efficient language models*, 2023. [arXiv:2312.04927](https://arxiv.org/abs/2312.04927) ([07](07_long_range.ipynb))
# * S. Bhattamishra, K. Ahuja, N. Goyal: *On the Ability and Limitations of Transformers to Recognize Formal Languages*, 2020. [arXiv:2009.11264](https://arxiv.org/abs/2009.11264) ([08e](deeper/08e_paper_checked.ipynb), [09](09_fast_weights.ipynb))
# * R. P. Brent: *The Parallel Evaluation of General Arithmetic Expressions*, 1974. [doi:10.1145/321812.321815](https://doi.org/10.1145/321812.321815) ([03](03_parallel_scans.ipynb))
# * R. Buitrago and A. Gu: *Understanding and improving length generalization in recurrent models*, 2025. [arXiv:2507.02782](https://arxiv.org/abs/2507.02782) ([10b](deeper/10b_when_nets_fail.ipynb))
# * J. Chung, H. Choi, S. J. Kim: *Rethinking State Tracking in Recurrent Models Through Error Control Dynamics*, 2026. [arXiv:2605.07755](https://arxiv.org/abs/2605.07755) ([02](02_block_diagonal_lrnn.ipynb), [10b](deeper/10b_when_nets_fail.ipynb))
# * T. Dao, A. Gu: *Transformers are SSMs*, 2024. [arXiv:2405.21060](https://arxiv.org/abs/2405.21060) ([09](09_fast_weights.ipynb))
# * G. Delétang and others: *Neural Networks and the Chomsky Hierarchy*, 2022. [arXiv:2207.02098](https://arxiv.org/abs/2207.02098) ([08e](deeper/08e_paper_checked.ipynb))
# * I. Dubinin, A. Orvieto, F. Effenberger: *Improved state mixing in higher-order and block diagonal linear recurrent networks*, 2026. [arXiv:2602.12021](https://arxiv.org/abs/2602.12021) ([02](02_block_diagonal_lrnn.ipynb))
# * Gautschi: *Optimally conditioned Vandermonde matrices*, 1975. [doi:10.1007/BF01437212](https://doi.org/10.1007/BF01437212) ([06](06_ill_conditioned_reals.ipynb))
# * F. De Geeter, G. Lambrechts, D. Ernst and G. Drion: *Parallelizable memory recurrent units*, 2026. [arXiv:2601.09495](https://arxiv.org/abs/2601.09495) ([10b](deeper/10b_when_nets_fail.ipynb))
# * R. Grazzi, J. Siems and others: *Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues*, 2024. [arXiv:2411.12537](https://arxiv.org/abs/2411.12537) ([01](01_subtraction.ipynb), [02](02_block_diagonal_lrnn.ipynb), [09](09_fast_weights.ipynb), [10](10_one_ladder.ipynb))
# * Gu, Goel, Ré: *Efficiently modeling long sequences with structured state spaces*, 2021. [arXiv:2111.00396](https://arxiv.org/abs/2111.00396) ([05](05_diagonal_kernels.ipynb))
# * Gu, Gupta, Goel, Ré: *On the parameterization and initialization of diagonal state space models*, 2022. [arXiv:2206.11893](https://arxiv.org/abs/2206.11893) ([05](05_diagonal_kernels.ipynb))
# * H. Guo and others: *Log-Linear Attention*, 2025. [arXiv:2506.04761](https://arxiv.org/abs/2506.04761) ([08e](deeper/08e_paper_checked.ipynb))
# * Gupta, Gu, Berant: *Diagonal state spaces are as effective as structured state spaces*, 2022. [arXiv:2203.14343](https://arxiv.org/abs/2203.14343) ([05](05_diagonal_kernels.ipynb))
# * Hasani et al.: *Liquid Structural State-Space Models*, 2022. [arXiv:2209.12951](https://arxiv.org/abs/2209.12951) ([01](01_subtraction.ipynb))
# * K. Helfrich, D. Willmott and Q. Ye: *Orthogonal recurrent neural networks with scaled Cayley transform*, 2017. [arXiv:1707.09520](https://arxiv.org/abs/1707.09520) ([04](04_rotations.ipynb))
# * G. Heo, T. Ngotiaoco, K. Irie, S. J. Gershman and B. L. Sabatini: *Why depth matters in parallelizable sequence models: a Lie algebraic view*, 2026. [arXiv:2603.05573](https://arxiv.org/abs/2603.05573) ([10a](deeper/10a_more_theorems.ipynb))
# * W. D. Hillis, G. L. Steele: *Data Parallel Algorithms*, 1986. [doi:10.1145/7902.7903](https://doi.org/10.1145/7902.7903) ([03](03_parallel_scans.ipynb), [08e](deeper/08e_paper_checked.ipynb))
# * K. Irie and others: *A Modern Self-Referential Weight Matrix That Learns to Modify Itself*, 2022. [arXiv:2202.05780](https://arxiv.org/abs/2202.05780) ([09](09_fast_weights.ipynb))
# * K. Irie and others: *Going Beyond Linear Transformers with Recurrent Fast Weight Programmers*, 2021. [arXiv:2106.06295](https://arxiv.org/abs/2106.06295) ([09](09_fast_weights.ipynb))
# * K. Irie, S. J. Gershman: *Fast weight programming and linear transformers: from machine learning to neurobiology*, 2025. [arXiv:2508.08435](https://arxiv.org/abs/2508.08435) ([09](09_fast_weights.ipynb))
# * A. Karuvally and others: *Bridging Expressivity and Scalability with Adaptive Unitary SSMs*, 2025. [arXiv:2507.05238](https://arxiv.org/abs/2507.05238) ([04](04_rotations.ipynb))
# * Krohn and Rhodes: *Algebraic Theory of Machines I*, 1965. [doi:10.1090/S0002-9947-1965-0188316-1](https://doi.org/10.1090/S0002-9947-1965-0188316-1) ([01](01_subtraction.ipynb))
# * A. Lahoti and others: *Mamba-3: Improved Sequence Modeling using State Space Principles*, 2026. [arXiv:2603.15569](https://arxiv.org/abs/2603.15569) ([04](04_rotations.ipynb))
# * B. Z. Li, Z. C. Guo, J. Andreas: *(How) Do Language Models Track State?*, 2025. [arXiv:2503.02854](https://arxiv.org/abs/2503.02854) ([08e](deeper/08e_paper_checked.ipynb))
# * Li, Cai, Zhang, Chen, Dey: *What makes convolutional models great on long sequence modeling?*, 2022. [arXiv:2210.09298](https://arxiv.org/abs/2210.09298) ([05](05_diagonal_kernels.ipynb), [07](07_long_range.ipynb))
# * X. Li and others: *Erase-then-Delta Attention: Decoupling Erase and Write Addresses in Delta-Rule Linear Attention*, 2026. [arXiv:2606.26560](https://arxiv.org/abs/2606.26560) ([10c](deeper/10c_whole_ladder.ipynb))
# * Y. H. Lim and others: *Parallelizing Non-Linear Sequential Models over the Sequence Length*, 2024. [arXiv:2309.12252](https://arxiv.org/abs/2309.12252) ([03](03_parallel_scans.ipynb))
# * D. Linsley and others: *Learning long-range spatial dependencies with horizontal gated recurrent units*, 2018. [arXiv:1805.08315](https://arxiv.org/abs/1805.08315) ([07](07_long_range.ipynb))
# * B. Liu and others: *Transformers Learn Shortcuts to Automata*, 2022. [arXiv:2210.10749](https://arxiv.org/abs/2210.10749) ([08e](deeper/08e_paper_checked.ipynb))
# * E. Martin, C. Cundy: *Parallelizing Linear Recurrent Neural Nets Over Sequence Length*, 2018. [arXiv:1709.04057](https://arxiv.org/abs/1709.04057) ([03](03_parallel_scans.ipynb))
# * W. Merrill and others: *A Formal Hierarchy of RNN Architectures*, 2020. [arXiv:2004.08500](https://arxiv.org/abs/2004.08500) ([09](09_fast_weights.ipynb))
# * W. Merrill and others: *Why Are Linear RNNs More Parallelizable?*, 2026. [arXiv:2603.03612](https://arxiv.org/abs/2603.03612) ([03](03_parallel_scans.ipynb), [10c](deeper/10c_whole_ladder.ipynb))
# * W. Merrill, J. Petty, A. Sabharwal: *The Illusion of State in State-Space Models*, 2024. [arXiv:2404.08819](https://arxiv.org/abs/2404.08819) ([01](01_subtraction.ipynb), [02](02_block_diagonal_lrnn.ipynb), [08e](deeper/08e_paper_checked.ipynb), [10](10_one_ladder.ipynb))
# * N. Nangia and S. Bowman: *ListOps: a diagnostic dataset for latent tree learning*, 2018. [arXiv:1804.06028](https://arxiv.org/abs/1804.06028) ([07](07_long_range.ipynb))
# * Nowak, Boumasmoud and Cotterell: *An Algebraic View of the Expressivity of Recurrent Language Models*, 2026. [arXiv:2606.01765](https://arxiv.org/abs/2606.01765) ([10a](deeper/10a_more_theorems.ipynb))
# * A. Orvieto and others: *Resurrecting recurrent neural networks for long sequences*, 2023. [arXiv:2303.06349](https://arxiv.org/abs/2303.06349) ([04](04_rotations.ipynb), [05](05_diagonal_kernels.ipynb))
# * Orvieto, De, Gulcehre, Pascanu, Smith: *Universality of linear recurrences followed by non-linear projections*, 2023. [arXiv:2307.11888](https://arxiv.org/abs/2307.11888) ([06](06_ill_conditioned_reals.ipynb))
# * B. Peng and others: *RWKV-7 "Goose" with Expressive Dynamic State Evolution*, 2025. [arXiv:2503.14456](https://arxiv.org/abs/2503.14456) ([09](09_fast_weights.ipynb), [10c](deeper/10c_whole_ladder.ipynb))
# * C. Pert, D. Alrajeh, A. Russo: *Length Generalization with Log-Depth Recurrent Units*, 2026. [arXiv:2605.26035](https://arxiv.org/abs/2605.26035) ([08e](deeper/08e_paper_checked.ipynb))
# * J. Rae and others: *Compressive transformers for long-range sequence modelling*, 2019. [arXiv:1911.05507](https://arxiv.org/abs/1911.05507) ([07](07_long_range.ipynb))
# * Ran-Milo and others: *Provable benefits of complex parameterizations for structured state space models*, 2024. [arXiv:2410.14067](https://arxiv.org/abs/2410.14067) ([06](06_ill_conditioned_reals.ipynb))
# * Sarrof, Veitsman and Hahn: *The Expressive Capacity of State Space Models*, 2024. [arXiv:2405.17394](https://arxiv.org/abs/2405.17394) ([01](01_subtraction.ipynb), [10](10_one_ladder.ipynb))
# * I. Schlag, K. Irie, J. Schmidhuber: *Linear Transformers Are Secretly Fast Weight Programmers*, 2021. [arXiv:2102.11174](https://arxiv.org/abs/2102.11174) ([09](09_fast_weights.ipynb))
# * Shakerinava, Khavari, Ravanbakhsh and Chandar: *The Expressive Limits of Diagonal SSMs for State-Tracking*, 2026. [arXiv:2603.01959](https://arxiv.org/abs/2603.01959) ([01](01_subtraction.ipynb), [10](10_one_ladder.ipynb))
# * J. Siems and others: *DeltaProduct: Improving State-Tracking in Linear RNNs via Householder Products*, 2025. [arXiv:2502.10297](https://arxiv.org/abs/2502.10297) ([09](09_fast_weights.ipynb), [10](10_one_ladder.ipynb))
# * J. Siems and others: *Learning state-tracking from code using linear RNNs*, 2026. [arXiv:2602.14814](https://arxiv.org/abs/2602.14814) ([10b](deeper/10b_when_nets_fail.ipynb))
# * J. T. H. Smith, A. Warrington and S. W. Linderman: *Simplified state space layers for sequence modeling*, 2022. [arXiv:2208.04933](https://arxiv.org/abs/2208.04933) ([04](04_rotations.ipynb))
# * A. Svete and others: *Olmo Hybrid: From Theory to Practice and Back*, 2026. [arXiv:2604.03444](https://arxiv.org/abs/2604.03444) ([10c](deeper/10c_whole_ladder.ipynb))
# * Y. Tay and others: *Long Range Arena*, 2020. [arXiv:2011.04006](https://arxiv.org/abs/2011.04006) ([07](07_long_range.ipynb))
# * A. Terzić and others: *On the Expressiveness and Length Generalization of Selective State-Space Models on Regular Languages*, 2024. [arXiv:2412.19350](https://arxiv.org/abs/2412.19350) ([10](10_one_ladder.ipynb))
# * A. Terzić and others: *Structured Sparse Transition Matrices to Enable State Tracking in State-Space Models*, 2025. [arXiv:2509.22284](https://arxiv.org/abs/2509.22284) ([10](10_one_ladder.ipynb))
# * B. Walker and others: *Structured Linear CDEs: Maximally Expressive and Parallel-in-Time Sequence Models*, 2025. [arXiv:2505.17761](https://arxiv.org/abs/2505.17761) ([02](02_block_diagonal_lrnn.ipynb))
# * C. Wang and M. Niepert: *State-regularized recurrent neural networks*, 2019. [arXiv:1901.08817](https://arxiv.org/abs/1901.08817) ([10b](deeper/10b_when_nets_fail.ipynb))
# * G. Weiss, Y. Goldberg, E. Yahav: *Extracting Automata from Recurrent Neural Networks Using Queries and Counterexamples*, 2018. [arXiv:1711.09576](https://arxiv.org/abs/1711.09576) ([00](00_start_here.ipynb), [10](10_one_ladder.ipynb))
# * S. Yang and others: *Parallelizing Linear Transformers with the Delta Rule over Sequence Length*, 2024. [arXiv:2406.06484](https://arxiv.org/abs/2406.06484) ([03](03_parallel_scans.ipynb), [09](09_fast_weights.ipynb))
# * S. Yang, J. Kautz, A. Hatamizadeh: *Gated Delta Networks: Improving Mamba2 with Delta Rule*, 2024. [arXiv:2412.06464](https://arxiv.org/abs/2412.06464) ([09](09_fast_weights.ipynb))

# %% [markdown]
# ## 6 Theorems
#
# What the papers and we claim: the name of each claim and its first sentence. Whether it is proved there, or broken, or put
# right, the chapter tells.
#
# Chapter [01](01_subtraction.ipynb):
#
# * [**The paper, Proposition 1**](01_subtraction.ipynb#1-A-proof-that-says-no): "An input-independent LRNN is inconsistent in representing subtraction."
# * [**The paper, Proposition 2**](01_subtraction.ipynb#The-same-with-diagonal-matrices): "A diagonal input-dependent LRNN is inconsistent in representing subtraction."
# * [**Theorem A**](01_subtraction.ipynb#3-A-layer-that-escapes-stores-everything): Let $M \ge 3$ be odd, and let one layer have one $A$ for all letters. If some readout is right modulo $M$ on all expressions $a-b-c-\cdots$ of up to $n+1$ numbers from 0 to $M-1$, one letter each, then two different expressions of $n$ numbers never share a state.
# * [**Theorem D**](01_subtraction.ipynb#Turns-and-resets): Let one diagonal layer reach finitely many states, on all words over its letters. If all letters of $u$ and $v$ occur in $w$, then for every $p$ ...
#
# Chapter [01b](deeper/01b_sum_and_last_letters.ipynb):
#
# * [**Theorem B**](deeper/01b_sum_and_last_letters.ipynb#2-Theorem-B): One layer with one $A$ that computes Sum($M$), with any readout, takes at least $(M-1)n + 1$ different states on strings of length $n$.
# * [**Theorem C**](deeper/01b_sum_and_last_letters.ipynb#3-Theorem-C): If one layer with one $A$ can reach only finitely many states, then its state depends on nothing but the length of the string and its last $D$ letters, where $D$ is the width of the state.
# * [**Claim**](deeper/01b_sum_and_last_letters.ipynb#4-Between-finitely-many-states-and-all): If $(A - I)^d = 0$, the Thue-Morse word of length $2^d$ and its complement (0 and 1 exchanged) end in the same state.
#
# Chapter [01d](deeper/01d_turns_and_resets.ipynb):
#
# * [**Claim**](deeper/01d_turns_and_resets.ipynb#4-Singular-is-essential): A layer with invertible transitions only (rotations, as in chapter 04) and finitely many states does not compute EvenPair.
#
# Chapter [01e](deeper/01e_groups_and_depth.ipynb):
#
# * [**Theorem D′**](deeper/01e_groups_and_depth.ipynb#2-Theorem-D′): With $\ell$ diagonal layers and finitely many states, every group in the automaton is solvable, of derived length at most $\ell$.
#
# Chapter [01f](deeper/01f_block_size.ipynb):
#
# * [**Theorem E**](deeper/01f_block_size.ipynb#1-How-large-must-a-block-be?): If the orbit of a point of $\mathbb R^b$ under $x \mapsto Ax + d$ is finite, it enters its cycle after at most $b$ steps.
#
# Chapter [02](02_block_diagonal_lrnn.ipynb):
#
# * [**Claim**](02_block_diagonal_lrnn.ipynb#1-A-column-says-where-a-state-goes): For every finite automaton there are blocks with which the recurrence is right on every string: column $j$ of $A_k$ is the basis vector of the state to which the token leads state $j$, there is no input term ($B = 0$), and the readout names the answer of the state.
# * [**Theorem 1**](02_block_diagonal_lrnn.ipynb#5-Snap-it-and-prove-it): If every head's state is a basis vector, LayerNorm subtracts and divides by numbers that do not depend on which basis vectors they are.
#
# Chapter [02a](deeper/02a_stability.ipynb):
#
# * [**Theorem 2**](deeper/02a_stability.ipynb#1-How-much-a-product-can-grow,-for-every-%24p%24): Let $p \ge 1$ and $b \ge 2$. Under Eq. 6 the columns of a product of $k$ blocks have 1-norm at most $b^{\,k(1-1/p)}$, and this is attained.
# * [**Theorem 3**](deeper/02a_stability.ipynb#2-When-float32-overflows): Let $p = 1.2$ and $b = 8$, and apply the block $W$ of equal entries again and again to the state $(1, \dots, 1)$. The state exceeds every float32 after 256 steps, and not before; multiplied out in float32 it is infinite at step 257.
#
# Chapter [02b](deeper/02b_fading.ipynb):
#
# * [**Theorem 4**](deeper/02b_fading.ipynb#2-What-keeps-a-soft-network-right): $m_{t+1} \ge q + (r - q)\,m_t$, on every string.
# * [**Theorem 5**](deeper/02b_fading.ipynb#3-Could-it-hold-for-ever?): If all entries of the blocks are positive, as softmax makes them, then on the string $vvv\dots$ each head's state converges, geometrically, to a point that does not depend on where it started.
#
# Chapter [02d](deeper/02d_column_rules.ipynb):
#
# * [**Theorem 6**](deeper/02d_column_rules.ipynb#2-The-released-rule): A block under the released rule has rank at most $b - 1$, so it forgets something at every token; and unless every raw column is constant (then the block is 0) its largest column has norm exactly 1, so apart from 0 no block can be near zero.
# * [**Theorem 7**](deeper/02d_column_rules.ipynb#3-What-the-bound-costs:-below-%24p-=-2%24-a-block-of-size-2-turns-only-with-loss): For $p < 2$ the only blocks under Eq. 6 with $|\det A| = 1$, so the only ones that keep every volume, are signed permutations (one entry $\pm1$ in each row and column).
# * [**Theorem 8**](deeper/02d_column_rules.ipynb#4-How-much-does-a-turn-lose-when-it-is-clipped?): Let $p > 1$. If a $2 \times 2$ block under Eq. 6 has the eigenvalue $r e^{i\theta}$, not real, then $r \le 1/\|(\cos\theta, \sin\theta)\|_p$, and the clipped rotation attains it.
# * [**Theorem 9**](deeper/02d_column_rules.ipynb#5-Larger-blocks): At $p = 1.2$ there are blocks of size 2, 3 and 4 that turn by 72 degrees with modulus 0.8676, 0.9895 and 1.0365; so a size of 4 is enough to turn without loss.
#
# Chapter [03](03_parallel_scans.ipynb):
#
# * [**Claim**](03_parallel_scans.ipynb#1-Two-steps-are-one-step): Two steps, one after the other, are one step with the pair ...
# * [**Claim**](03_parallel_scans.ipynb#3-PScan-equals-the-loop): After level $l$, position $t$ holds what the loop would give if you started it anew at the beginning of $t$'s group of $2^l$, with the input there as its start.
# * [**Claim**](03_parallel_scans.ipynb#4-Depth-against-work): PScan makes $\frac L2 \log_2 L - (L-1)$ products of two matrices.
#
# Chapter [03a](deeper/03a_other_roads.ipynb):
#
# * [**Claim (the WY form)**](deeper/03a_other_roads.ipynb#3-The-delta-rule): $(I - \beta_1 k_1k_1^\top)\cdots(I - \beta_c k_ck_c^\top) = I - \sum_i w_i k_i^\top$, and the vectors $w_i$ solve one triangular system (for $\beta_i \ne 0$; a factor with $\beta_i = 0$ is the identity and can be left out).
#
# Chapter [03b](deeper/03b_paper_listings.ipynb):
#
# * [**Claim**](deeper/03b_paper_listings.ipynb#1-The-paper's-listings): The code of the paper's appendix A.2.1 makes the products that Figure 1 shows, in $\lceil\log_2 L\rceil$ levels.
# * [**Claim**](deeper/03b_paper_listings.ipynb#2-The-listing-does-what-the-claim-of-chapter-03-says): After level $l$, position $t$ holds what the loop gives if it is started anew at the beginning of $t$'s group of $2^l$.
#
# Chapter [04](04_rotations.ipynb):
#
# * [**The paper, Lemma 3**](04_rotations.ipynb#1-Lemma-3,-and-one-symbol): "[...] let the inputs $u_t$ be sampled i.i.d., with mean 0 and variance $I$. Then for any constant $c$, if $\mathbb{E}[\|x_1\|^2] = c$ and $\alpha = \frac{1}{\sqrt{c\gamma^2 + \mathrm{Tr}[B^\top B]}}$ we have that $\mathbb{E}[\|x_t\|^2] = c$ for all timesteps $t$."
# * [**The paper, Lemma 1**](04_rotations.ipynb#2-A-rotation-from-any-matrix): "Let $M \in \mathbb{R}^{N \times N}$, let $S = M - M^\top$ [...]. Then $A = \exp(S) \in SO(N)$."
# * [**Theorem**](04_rotations.ipynb#4-From-zero,-the-norm-climbs): Let $A$ be orthogonal, $\xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$, and $u$ white (also uncorrelated with $x_0$).
# * [**Theorem**](04_rotations.ipynb#5-Every-LRU-is-a-RotRNN): Every LRU of $N$ modes (with $0 < |\lambda_k| < 1$) is a RotRNN with $N$ heads of width 2, normalisation included.
#
# Chapter [04b](deeper/04b_every_rotation.ipynb):
#
# * [**The paper, Lemma 2**](deeper/04b_every_rotation.ipynb#2-Lemma-2:-cheap-powers,-and-a-worry-that-is-unfounded): "Let $P \in O(N)$ be an orthogonal matrix and let $\Theta \in SO(N)$ be a block-diagonal rotation matrix. Then $A = P \Theta P^\top \in SO(N)$."
#
# Chapter [04d](deeper/04d_coloured_inputs.ipynb):
#
# * [**Theorem**](deeper/04d_coloured_inputs.ipynb#1-Break-the-hypothesis:-inputs-that-are-not-white): For a pair that turns by $\theta$ and stationary input of colour $\rho$, $|\rho| \le 1$, with $\xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$, the norm tends to ...
# * [**Theorem**](deeper/04d_coloured_inputs.ipynb#2-How-far-can-it-go?): For any stationary input of covariance $I$ the long-run $\mathbb{E}\|x\|^2$ of a pair lies between $\frac{1-\gamma}{1+\gamma}$ and $\frac{1+\gamma}{1-\gamma}$ times $c$.
#
# Chapter [05](05_diagonal_kernels.ipynb):
#
# * [**The paper, Proposition 1**](05_diagonal_kernels.ipynb#2-Is-a-full-matrix-better?): "Let $A \in \mathbb C^{N\times N}$ be diagonalizable over $\mathbb C$ as $V\mathrm{diag}(\Lambda)V^{-1}$. Then, $\exists w \in \mathbb C^N$ such that DLR parameterized by $\Lambda, w$ computes the same map" as $x_k = A x_{k-1} + B u_k$, $y_k = C x_k$.
# * [**Theorem (ours)**](05_diagonal_kernels.ipynb#3-Half-a-circle-is-better): $\lambda_n = e^{i\pi(2n+1)/(2N)}$, $n = 0 \dots N-1$, gives every real kernel of length $2N$, with condition number 1.
# * [**Theorem (the reach)**](05_diagonal_kernels.ipynb#4-How-many-modes-does-a-shift-need?): If $S \le 2N$, then for every error $0 < d < 1$ some kernel of $N$ modes, cast to reals, is 1 at $S$ and at most $d$ in size at every other lag but 0, for all lengths at once.
#
# Chapter [05d](deeper/05d_exact_shifts.ipynb):
#
# * [**Theorem (exact shifts)**](deeper/05d_exact_shifts.ipynb#1-The-theorem): There are $N$ nodes ($\lambda \ne 0$) and weights whose kernel is 1 at $S$ and 0 at the other lags of $0 \dots L-1$ if and only if ...
# * [**Theorem (the reach; proved in notebook 06d)**](deeper/05d_exact_shifts.ipynb#2-Nearly-exact): Let $N$ modes be cast to reals, and let lag 0 be free (the skip weight sets it). If $S \le 2N$, then for every error $0 < d < 1$ there is a kernel that is 1 at $S$ and at most $d$ in size at every other lag, for all lengths at once, with weights $\|w\|_1 = d^{-S/2N} \le 1/d$.
#
# Chapter [06](06_ill_conditioned_reals.ipynb):
#
# * [**The paper, Claim 1**](06_ill_conditioned_reals.ipynb#2-Claim-1): Let $\mathbf 1_N$ "denote the one-hot vector with 1 at position $N$. Let $P \in \mathbb R^{N\times N}$ with $P_{ij} = \lambda_i^j$ be a $N \times N$ Vandermonde matrix with each $\lambda_i \in [0,1]$. If $\mathbf 1_N = wP$ for $w \in \mathbb R^N$, then $\|w\|_\infty \ge 2^{2N - O(\log N)}$."
# * [**Theorem 1**](06_ill_conditioned_reals.ipynb#3-The-exact-value): For $N \ge 2$ nodes in $[0, 1]$ the least $\|w\|_1$ of a one-hot kernel at lag $N-1$ is $2^{2N-3}$, exactly.
# * [**Theorem 2**](06_ill_conditioned_reals.ipynb#5-Every-shift,-any-number-of-nodes): Let $n = L - 1$. However many nodes in $[0, 1]$ there are, a kernel that is one-hot at $S$ on the lags $0, \dots, L-1$ has ...
#
# Chapter [06a](deeper/06a_best_nodes.ipynb):
#
# * [**Theorem 1**](deeper/06a_best_nodes.ipynb#1-The-bound-is-reached): For $N \ge 2$ nodes in $[0, 1]$ the least $\|w\|_1$ of a one-hot kernel at lag $N-1$ is $2^{2N-3}$, exactly.
#
# Chapter [06b](deeper/06b_every_shift.ipynb):
#
# * [**Theorem 2**](deeper/06b_every_shift.ipynb#1-Theorem-2): Let $n = L - 1$. However many nodes in $[0, 1]$ there are, a kernel that is one-hot at $S$ on the lags $0, \dots, L-1$ has ...
#
# Chapter [06d](deeper/06d_reach.ipynb):
#
# * [**Theorem 3**](deeper/06d_reach.ipynb#1-How-many-modes-does-a-shift-need?): There are $N$ modes ($\lambda \ne 0$) and weights that make the one-hot at $S$ on the lags $0, \dots, L-1$ exactly if and only if $N \ge \max(S + 1,\; L - S)$.
# * [**Theorem 4**](deeper/06d_reach.ipynb#1-How-many-modes-does-a-shift-need?): Let $N$ modes be cast to reals, and let lag 0 be free (the skip weight $D$ sets it). ...
#
# Chapter [07](07_long_range.ipynb):
#
# * [**Theorem 1**](07_long_range.ipynb#2-How-much-can-you-score-without-the-skill?): Without the skill you can have an $R^2$ of $2/(C+1)$ on Shift with $C$ copies.
# * [**Theorem 2**](07_long_range.ipynb#3-Which-tasks-are-linear?): Shift, CumSum, Reverse, SelectFixed and SolveFixed are linear, up to a constant, in the numbers that change from input to input.
# * [**Theorem 3**](07_long_range.ipynb#4-Lags-against-channels): One layer hands on the $H$ numbers $(K_h * x)_t$ to place $t$.
# * [**Theorem 4**](07_long_range.ipynb#5-What-depth-buys): With readouts by place, two layers with $b$ and $L/b$ channels reverse $L = b \cdot (L/b)$ numbers.
#
# Chapter [07a](deeper/07a_theorems_proved.ipynb):
#
# * [**Theorem 2**](deeper/07a_theorems_proved.ipynb#1-Which-tasks-are-linear:-Theorem-2): Shift, CumSum, Reverse, SelectFixed and SolveFixed are linear, up to a constant, in the numbers that change from input to input.
# * [**Theorem 5**](deeper/07a_theorems_proved.ipynb#3-A-running-maximum-from-a-running-sum:-Theorem-5): $\frac1\beta \ln \sum_{k \le i} e^{\beta x_k}$, an exponential, a running sum and a logarithm, is within $\frac{\ln(i+1)}{\beta}$ above $\max_{k \le i} x_k$.
# * [**Theorem 3**](deeper/07a_theorems_proved.ipynb#4-How-many-channels:-Theorem-3): One layer hands on the $H$ numbers $(K_h * x)_t$ to place $t$.
#
# Chapter [08](08_working_memory_in_depth.ipynb):
#
# * [**The paper, Lemma 1 (Approximation for Binary Matrix Product)**](08_working_memory_in_depth.ipynb#3-Lemma-1:-a-layer-can-compose): "Let $A, B \in \{0, 1\}^{n\times n}$ be binary matrices [...]. Then, there exists a two-layer ReLU network such that $f_{mlp}([\mathrm{Flat}(A), \mathrm{Flat}(B)]) \approx \mathrm{Flat}(AB)$" [...].
# * [**Claim (prefixes)**](08_working_memory_in_depth.ipynb#4-What-comes-before-the-start?): With identities before the string, $\lceil\log_2 T\rceil$ layers give the action of every prefix.
# * [**Claim (the order)**](08_working_memory_in_depth.ipynb#5-The-order-of-composition): The printed heads compute the action of the string read backwards.
# * [**Claim (noise)**](08_working_memory_in_depth.ipynb#6-Errors-double): Let the letters be permutations of $n$ states, as in Cycle Navigation. At worst the error of the ones doubles in every layer.
#
# Chapter [08a](deeper/08a_tree_and_masks.ipynb):
#
# * [**Claim (the depths)**](deeper/08a_tree_and_masks.ipynb#1-The-depths-suffice): After depth $\ell$ position $m$ has seen the $C^{\ell+1}$ letters that end at $m$, each of them by exactly one route (near the start: all there are).
#
# Chapter [08b](deeper/08b_order_of_composition.ipynb):
#
# * [**Claim (the order)**](deeper/08b_order_of_composition.ipynb#1-The-printed-order): The printed heads compute the action of the string read backwards.
# * [**Claim (the readout)**](deeper/08b_order_of_composition.ipynb#2-Which-product-reads-the-state?): With one-hot rows, as in Eq. 2, it is $q_0^\top A$, and not $Aq_0$.
#
# Chapter [08c](deeper/08c_lemma_1_in_use.ipynb):
#
# * [**Claim (AND gates)**](deeper/08c_lemma_1_in_use.ipynb#1-A-gate-for-each-pair-of-actions): These $m^2$ gates do what the $n^3$ units of Lemma 1 do for this machine.
# * [**Claim (prefixes)**](deeper/08c_lemma_1_in_use.ipynb#2-What-comes-before-the-start?): With identities before the string, $\lceil\log_2 T\rceil$ layers give the action of every prefix.
# * [**Claim (closure)**](deeper/08c_lemma_1_in_use.ipynb#3-Are-outputs-bits-again?): Lemma 1 can be iterated on matrices whose rows have at most one 1, and not on all 0/1 matrices.
#
# Chapter [08d](deeper/08d_errors_double.ipynb):
#
# * [**Claim (noise)**](deeper/08d_errors_double.ipynb#1-Errors-grow): At worst the error of the ones doubles in every layer, that of the zeros more than doubles, as long as zeros are at most $\frac12$.
#
# Chapter [08e](deeper/08e_paper_checked.ipynb):
#
# * [**Claim (the levels)**](deeper/08e_paper_checked.ipynb#2-Chance-is-not-the-level-to-beat): On $D_n$ and Tomita 5 the answer "no" to everything is right on 74.5 % of test strings of lengths 52 to 100, half of each even length in the language: what the paper's text and code give after training up to 50.
#
# Chapter [08f](deeper/08f_clusters_and_gradients.ipynb):
#
# * [**Claim (actions)**](deeper/08f_clusters_and_gradients.ipynb#2-How-many-actions?): In Parity and Cycle Navigation the number of actions is that of the states, at every depth, as the paper has it.
#
# Chapter [08g](deeper/08g_text_and_cost.ipynb):
#
# * [**Claim (the cost)**](deeper/08g_text_and_cost.ipynb#2-What-it-costs): At $T = 512$ and $C = 128$ the condition is $K < 2L$ for attention alone, and $K < 0.54\,L$ for whole layers.
#
# Chapter [09](09_fast_weights.ipynb):
#
# * [**Claim (the delta rule)**](09_fast_weights.ipynb#1-A-memory-that-is-written-while-it-reads): The delta rule is this book's equation $x_t = A_t x_{t-1} + b_t$, for each row of $W$ ...
# * [**Claim (reset Dyck-1)**](09_fast_weights.ipynb#2-A-sum-counts,-and-cannot-forget): No layer of addition labels reset Dyck-1.
# * [**Claim (the eigenvalue)**](09_fast_weights.ipynb#3-The-delta-rule:-one-eigenvalue): If $k \ge 0$ sums to one, $g$ lies in $[1-\beta,\, 1 - \beta/n]$: stable, and positive for $\beta < 1$.
# * [**Claim (the leak)**](09_fast_weights.ipynb#4-The-leak): After $m$ opening and $m$ closing brackets the counter does not say 0.
# * [**Claim (parity)**](09_fast_weights.ipynb#5-One-sign): One layer with $\beta = 2$ computes parity, exactly, at every length, in float32 too.
#
# Chapter [09a](deeper/09a_delta_rule.ipynb):
#
# * [**Claim (stability)**](deeper/09a_delta_rule.ipynb#3-How-large-may-the-strength-be?): The rule is stable if and only if $0 \le \beta|k|^2 \le 2$.
# * [**Claim (two letters)**](deeper/09a_delta_rule.ipynb#4-Two-letters-in-turn-do-not-help): With $0 < \beta|k|^2 < 1$ one layer of DeltaNet cannot do $(abab)^*$ with a margin that stays.
#
# Chapter [09b](deeper/09b_rational_outputs.ipynb):
#
# * [**Proposition 3.1**](deeper/09b_rational_outputs.ipynb#1-Proposition-3.1): "NLTs are not rationally recurrent."
# * [**Proposition 3.2**](deeper/09b_rational_outputs.ipynb#1-Proposition-3.1): "NLTs can recognise certain counter languages."
# * [**Proposition 3.4**](deeper/09b_rational_outputs.ipynb#1-Proposition-3.1): "The state complexity of a single-layer NLT is $O(\log(n))$".
# * [**Claim (Proposition 3.1)**](deeper/09b_rational_outputs.ipynb#1-Proposition-3.1): No weighted automaton computes what one normalised layer says.
#
# Chapter [09c](deeper/09c_counting_brackets.ipynb):
#
# * [**Claim (Proposition 3.4, made exact)**](deeper/09c_counting_brackets.ipynb#1-How-much-one-layer-of-addition-can-remember): Without positions a sum does not see an order: one layer's output is a function of how often each token occurred, and of the last token.
# * [**Claim (bits)**](deeper/09c_counting_brackets.ipynb#2-Counting,-and-the-bits-it-takes): Counting takes about $\log_2 n$ bits, and no fixed number is enough.
# * [**Claim (Proposition 3.2)**](deeper/09c_counting_brackets.ipynb#3-Two-kinds-of-brackets): Two layers, normalised or not, recognise Shuffle-2 exactly: words over two kinds of brackets that are balanced if you look at either kind alone.
#
# Chapter [09d](deeper/09d_even_lengths.ipynb):
#
# * [**Proposition 3.3**](deeper/09d_even_lengths.ipynb#1-What-addition-cannot:-%24%28aa%29%5E*%24): "NLTs can not recognise certain regular languages."
# * [**Claim (Proposition 3.3)**](deeper/09d_even_lengths.ipynb#1-What-addition-cannot:-%24%28aa%29%5E*%24): On $aaa\cdots$ a normalised linear Transformer without positions gives the same answer at every step, at any depth.
# * [**Claim (the norm)**](deeper/09d_even_lengths.ipynb#2-With-a-layer-norm): $\mathrm{LN}(t\,c)$ is constant if the norm's $\varepsilon$ is 0 and nothing was added before.
# * [**Claim (changes of sign)**](deeper/09d_even_lengths.ipynb#3-The-corrected-statement,-for-one-layer): Let $r(t)$ be the difference of two logits on $a^t$ after an unnormalised attention and a feed-forward part with $m$ ReLU units. The norm may come after the residual ("post"), before it ("pre", as released for the linear models), or after everything as well ("post_twice", as released for the softmax Transformer).
#
# Chapter [09e](deeper/09e_bounded_depth.ipynb):
#
# * [**Claim (a small leak)**](deeper/09e_bounded_depth.ipynb#1-A-small-leak-is-enough): One layer, with a leak of $e = 1/10{,}000$, labels reset Dyck-1 correctly on every legal string of up to 100 tokens.
# * [**Claim (one write)**](deeper/09e_bounded_depth.ipynb#2-No-other-weights-do-better): No layer with one write a token and $0 \le \beta|k|^2 \le 2$ labels Dyck-1 with a fixed margin at all depths.
#
# Chapter [09f](deeper/09f_found_counter.ipynb):
#
# * [**Claim (two writes)**](deeper/09f_found_counter.ipynb#1-Two-writes-count): One layer with two writes a token, $\beta \in [0, 2]$ and one key counts brackets exactly, resets, and keeps parity.
# * [**Claim (the open interval)**](deeper/09f_found_counter.ipynb#2-The-end-of-the-interval-is-needed): If $0 < \beta|k|^2 < 2$ for all writes, then no number of writes a token counts exactly, whatever the keys are.
# * [**Claim (the found counter)**](deeper/09f_found_counter.ipynb#4-Snap-it,-and-prove-it-for-every-string): The snapped copy of the trained net answers correctly on every string of reset Dyck-1, of every length (in real arithmetic).
#
# Chapter [09g](deeper/09g_feedback.ipynb):
#
# * [**Claim (Recurrent Delta)**](deeper/09g_feedback.ipynb#1-Recurrent-Delta): One number of Recurrent Delta computes parity.
# * [**Claim (SRWM)**](deeper/09g_feedback.ipynb#2-A-matrix-that-changes-itself): One SRWM layer of size 4 computes parity.
# * [**Claim (the e-LSTM)**](deeper/09g_feedback.ipynb#3-The-e-LSTM): One number is enough: a 1 takes $c$ to $\tanh(0.6 - 4c)$.
#
# Chapter [09h](deeper/09h_reflections.ipynb):
#
# * [**Claim (below 2)**](deeper/09h_reflections.ipynb#1-Below-2): With $1 < \beta < 2$ the distance of $w$ from $\frac12$ is multiplied by $\beta - 1$ at every 1.
# * [**Claim (one write modulo $M$)**](deeper/09h_reflections.ipynb#2-One-write-counts-modulo-2-and-nothing-else): With one write a token, a letter read again and again brings the memory back ($W_M = W_0 \ne W_1$) only if $M$ is even and $\beta|k|^2 = 2$; then it comes back every second time already.
# * [**Claim (two writes modulo $M$)**](deeper/09h_reflections.ipynb#3-Two-writes-count-modulo-%24M%24): Keys at an angle of $\pi/M$ count modulo $M$; with $M = 5$ that is chapter 01's Sum(5).
# * [**Claim (the snapped net)**](deeper/09h_reflections.ipynb#6-The-snapped-net,-proved): The snapped copy of the net of seed 0 answers correctly on every string of every length (in real arithmetic).
#
# Chapter [09i](deeper/09i_paper_checked.ipynb):
#
# * [**Claim (the printed examples)**](deeper/09i_paper_checked.ipynb#5-Two-printed-examples): Two of the worked examples of Appendix C.2 contradict their legend.
#
# Chapter [10](10_one_ladder.ipynb):
#
# * [**Theorem 1**](10_one_ladder.ipynb#3-Three-reasons-to-say-no,-or-yes): One-hot columns hold every machine.
# * [**Theorem 2**](10_one_ladder.ipynb#3-Three-reasons-to-say-no,-or-yes): Gates between 0 and 1 hold no group.
# * [**Theorem 3**](10_one_ladder.ipynb#3-Three-reasons-to-say-no,-or-yes): A permutation of $Q$ points with $c$ cycles is a product of $Q - c$ reflections, and of no fewer. (A point that stays is a cycle of its own.
# * [**Theorem 7**](10_one_ladder.ipynb#6-The-cure): Let $x_t = A_v x_{t-1} + b_v$ hold a machine exactly: every state $q$ has a vector $z_q$, and $A_v z_q + b_v = z_{v(q)}$. If a word $g$ permutes the states and $g^r$ is the identity, then $A_g^r$ fixes every difference $z_q - z_p$.
# * [**Theorem 8**](10_one_ladder.ipynb#6-The-cure): A net that is restarted after every letter from one of $K$ states, chosen by its answer, is a machine with $V + KV$ arrows for $V$ letters.
#
# Chapter [10a](deeper/10a_more_theorems.ipynb):
#
# * [**Theorem 4**](deeper/10a_more_theorems.ipynb#1-Three-more-theorems): What commutes in every layer.
# * [**Theorem 5**](deeper/10a_more_theorems.ipynb#1-Three-more-theorems): What fades in every layer forgets.
# * [**Theorem 6**](deeper/10a_more_theorems.ipynb#1-Three-more-theorems): What two layers of gates forget.
#
# Chapter [10c](deeper/10c_whole_ladder.ipynb):
#
# * [**Theorem 9**](deeper/10c_whole_ladder.ipynb#RWKV-7-has-a-theorem): One letter of RWKV-7 comes to rest.

# %% [markdown]
# ## 7 Widgets
#
# The pictures that you can move, and what they show.
#
# Chapter [00](00_start_here.ipynb):
#
# * [`playground_widget`](00_start_here.ipynb#Run-it,-break-it,-prove-it)
#
# Chapter [01](01_subtraction.ipynb):
#
# * [`arrows_widget`](01_subtraction.ipynb#1-A-proof-that-says-no): The arrow from x(1-0) to x(0-1) and the arrow from x(0-1-0) to x(0-0-1), for a chosen transition. With one A they are equal and parallel, the sides of a parallelogram.
# * [`words_widget`](01_subtraction.ipynb#3-A-layer-that-escapes-stores-everything): Points in the plane, the states of all expressions of n numbers, coloured by value, over the cells of the readout. It opens on 125 expressions under a layer that turns and shrinks: several of the 16 by 16 cells are yellow, and two points of one of them are ringed and named.
# * [`killers_widget`](01_subtraction.ipynb#Two-killer-words)
#
# Chapter [01f](deeper/01f_block_size.ipynb):
#
# * [`fit_widget`](deeper/01f_block_size.ipynb#3-A-picture-to-play-with:-blocks-against-depth): Lights for every block size and depth of the chosen task, and the state of an exact model while it reads a word.
#
# Chapter [02](02_block_diagonal_lrnn.ipynb):
#
# * [`film_widget`](02_block_diagonal_lrnn.ipynb)
# * [`token_widget`](02_block_diagonal_lrnn.ipynb#2-Train-it): For one head: the block of the token as a heatmap with its numbers, times the state before it, and the state after it; right of them the product of all blocks so far.
# * [`growth_widget`](02_block_diagonal_lrnn.ipynb#3-What-keeps-it-from-exploding): Norm of products of blocks over 500 steps for the chosen p, b and kind of columns.
# * [`simplex_widget`](02_block_diagonal_lrnn.ipynb#4-Soft-columns-forget)
# * [`walk_widget`](02_block_diagonal_lrnn.ipynb#5-Snap-it-and-prove-it)
#
# Chapter [02d](deeper/02d_column_rules.ipynb):
#
# * [`rule_widget`](deeper/02d_column_rules.ipynb#1-Where-the-paper-and-its-code-disagree): One raw block and what the chosen column rule makes of it.
#
# Chapter [03](03_parallel_scans.ipynb):
#
# * [`schedule_widget`](03_parallel_scans.ipynb#3-PScan-equals-the-loop)
# * [`race_widget`](03_parallel_scans.ipynb#5-Where-does-each-win?): Left: modelled time over the loop's against processors for PScan, tree and token table, with marks of measured times, most of them far above their lines. Right: which way wins at every T and P. It opens on T = 500, b = 8 and 1,024 chains: the table lies below 1 up to some two and a half million processors, the tree falls below 1 from some eight million on, PScan from some twenty million.
#
# Chapter [03c](deeper/03c_benchmark.ipynb):
#
# * [`times_widget`](deeper/03c_benchmark.ipynb#3-The-recorded-benchmark): Time of every other scan over ours for the chosen part of the work.
#
# Chapter [04](04_rotations.ipynb):
#
# * [`turning_widget`](04_rotations.ipynb#3-P-is-redundant): The path of two numbers of the state after an impulse, and the outputs of the layer with P and without.
# * [`norm_widget`](04_rotations.ipynb#4-From-zero,-the-norm-climbs): Expected squared norm of the state against the step: the paper's line, the formula, and simulated runs.
# * [`discs_widget`](04_rotations.ipynb#5-Every-LRU-is-a-RotRNN): Eigenvalues of an LRU and a RotRNN on the unit disc, and the kernels of one mode and its head.
#
# Chapter [05](05_diagonal_kernels.ipynb):
#
# * [`disc_widget`](05_diagonal_kernels.ipynb)
# * [`start_widget`](05_diagonal_kernels.ipynb#3-Half-a-circle-is-better): Modes on an arc of the circle with their mirror images, and the singular values of their table of powers.
# * [`fit_widget`](05_diagonal_kernels.ipynb#4-How-many-modes-does-a-shift-need?): Left a target kernel with the best fit of N modes of a family, right the least error by N for five families. It opens on a one-hot at lag 16 of 32 and 8 half-circle modes, whose kernel is half as high, with an echo. The error of the half circle falls to 0 from N = 8 to 10, of both circles at 18, and of real modes stays near 1 for long.
#
# Chapter [05c](deeper/05c_where_modes_start.ipynb):
#
# * [`decay_widget`](deeper/05c_where_modes_start.ipynb#2-With-decays): Modes on an arc of a circle with their mirror images, and the singular values of their table of powers.
#
# Chapter [05e](deeper/05e_product_of_kernels.ipynb):
#
# * [`product_widget`](deeper/05e_product_of_kernels.ipynb#1-How-many-modes-does-a-product-have?): Singular values of the Hankel matrix of the product of real and imaginary part.
#
# Chapter [06](06_ill_conditioned_reals.ipynb):
#
# * [`float_widget`](06_ill_conditioned_reals.ipynb#1-A-shift-is-a-one-hot-kernel): Weights of the exact shift on a logarithmic axis, and the kernel that float32 and float64 make of them.
# * [`seesaw_widget`](06_ill_conditioned_reals.ipynb#2-Claim-1): A polynomial within plus and minus one with its zeros, and the lower bound that it proves for the weights.
# * [`cost_widget`](06_ill_conditioned_reals.ipynb#5-Every-shift,-any-number-of-nodes): Logarithm of the least norm of the weights against the shift, for three sets of nodes. At L = 256, where it opens, nodes from 0 to 1 rise to 10^194 near S = 180 and fall to 10^153, nodes from -1 to 1 rise to about 10^96, and on the circle it is 1 throughout. Float32 ends at 10^38.
#
# Chapter [06d](deeper/06d_reach.ipynb):
#
# * [`reach_widget`](deeper/06d_reach.ipynb#1-How-many-modes-does-a-shift-need?): The kernel of N fading modes on the half circle: a 1 at lag S, and echoes 2N lags apart.
#
# Chapter [06f](deeper/06f_running_sum.ipynb):
#
# * [`sum_widget`](deeper/06f_running_sum.ipynb#1-The-running-sum): Error of the running sum along k, and where it overflows.
#
# Chapter [07](07_long_range.ipynb):
#
# * [`skill_widget`](07_long_range.ipynb#1-Eleven-skills): Two strips of coloured cells, one for the numbers that are read and one for those that have to be written.
# * [`channels_widget`](07_long_range.ipynb#4-Lags-against-channels): Two tables of weights by lag: what a task asks for, and what so many channels come nearest with.
# * [`look_widget`](07_long_range.ipynb#6-The-eleven-tasks,-trained): Above, for every answer, how strongly it depends on every place; below, the bars of one answer.
# * [`kernel_widget`](07_long_range.ipynb#6-The-eleven-tasks,-trained): The kernels of a layer, a row for each channel, a column for each lag.
#
# Chapter [08](08_working_memory_in_depth.ipynb):
#
# * [`filling_widget`](08_working_memory_in_depth.ipynb)
# * [`noise_widget`](08_working_memory_in_depth.ipynb#6-Errors-double): Largest error and share of states read right, by layers done.
# * [`clusters_widget`](08_working_memory_in_depth.ipynb#7-What-the-layers-hold)
# * [`fields_widget`](08_working_memory_in_depth.ipynb#8-How-far-back-it-looks)
#
# Chapter [08a](deeper/08a_tree_and_masks.ipynb):
#
# * [`tree_widget`](deeper/08a_tree_and_masks.ipynb): The tree over the typed string, each node named by a shortest word that does the same, with the mask of every depth.
#
# Chapter [08f](deeper/08f_clusters_and_gradients.ipynb):
#
# * [`fields_widget`](deeper/08f_clusters_and_gradients.ipynb#6-Trained-nets): Cumulative gradients of the answer at the chosen position, for RegularGPT, Transformer, RNN and LRNN.
#
# Chapter [09](09_fast_weights.ipynb):
#
# * [`writes_widget`](09_fast_weights.ipynb#1-A-memory-that-is-written-while-it-reads)
# * [`memory_widget`](09_fast_weights.ipynb#1-A-memory-that-is-written-while-it-reads): The fast weights before a letter, what it writes, and the fast weights after it. A full frame is the column of the letter before, a dashed one that of this letter.
# * [`reset_widget`](09_fast_weights.ipynb#2-A-sum-counts,-and-cannot-forget): Depth since the reset, the two counters, and their labels.
# * [`parity_widget`](09_fast_weights.ipynb#3-The-delta-rule:-one-eigenvalue): The two eigenvalues of I - beta k k^T on a line, and the state of a parity counter over 60 tokens.
# * [`leak_widget`](09_fast_weights.ipynb#4-The-leak): A leaking counter against the true depth, and where it ends for every depth.
#
# Chapter [10](10_one_ladder.ipynb):
#
# * [`cell_widget`](10_one_ladder.ipynb#2-The-ladder): Share of right answers by position for one model on one machine, a line for each seed.
# * [`machine_widget`](10_one_ladder.ipynb#8-A-machine-of-your-own): The smallest machine of what is typed: its states as circles, its arrows with their tokens.
# * [`walk_widget`](10_one_ladder.ipynb#8-A-machine-of-your-own)
#
# Chapter [10a](deeper/10a_more_theorems.ipynb):
#
# * [`atlas_widget`](deeper/10a_more_theorems.ipynb#An-atlas)
#
# Chapter [10d](deeper/10d_recurrence_puzzles.ipynb):
#
# * [`golf_widget`](deeper/10d_recurrence_puzzles.ipynb)
