"""Chapter 00 (start here): the judges of its exercises; and the maps of all models and tasks, which the glossary shows."""

from __future__ import annotations

import numpy as np

from lrnnlab.course.judging import CannotJudge, agree, claim, numbers, shown
from lrnnlab.course.predicting import prediction
from lrnnlab.models import MODELS, reads_numbers
from lrnnlab.tasks import TASKS, task

TEXTS = ("0", "4", "44", "104", "0324", "4444", "12340", "3" * 40)


def _sums(text: str) -> list[int]:
    return [sum(map(int, text[:end])) % 5 for end in range(1, len(text) + 1)]


def _running(answer) -> None:
    agree(answer, _sums, [(text,) for text in TEXTS])


def _five_words(answer) -> None:
    if not isinstance(answer, (list, tuple, set, frozenset)) or not all(isinstance(word, str) for word in answer):
        raise CannotJudge(f"five texts are asked for, got {shown(answer)}")
    words = list(answer)
    claim(len(words) == 5, f"five words are asked for, and these are {len(words)}")
    for word in words:
        claim(set(word) <= set("01234"), f"{word!r} is no word of the digits 0 to 4")
    for place, word in enumerate(words):
        for other in words[:place]:
            claim(sum(map(int, word)) % 5 != sum(map(int, other)) % 5,
                  f"{other!r} and {word!r} may end in one state: whatever is read next, their answers agree")  # fmt: skip


def _leaning(answer) -> None:
    A = numbers(answer, (2, 2), "A", real=True)
    sums = A.sum(0)
    claim(A.min() >= 0 and np.allclose(sums, 1), f"the columns are no probabilities: their sums are "
                                                 f"{sums.round(4).tolist()}, the least entry is {A.min():.4g}")  # fmt: skip
    claim(A.diagonal().min() > 0.9 - 1e-6,  # as float32 has it; then snapping makes it the identity
          f"the diagonal is {A.diagonal().round(4).tolist()}, and should be at least 0.9 in each column")  # fmt: skip
    apart = float(np.abs(np.diff(np.linalg.matrix_power(A, 500), axis=1)).sum())
    claim(apart < 1e-6, f"after 500 steps the two states are still {apart:.3g} apart (in 1-norm)")


# Of each name of a registry: how the chapters call it, what it does, and the chapter where it lives; of a model also the
# paper whose experiments it belongs to, by the book's number or arXiv's.  The rows themselves are the registries'.
MODEL_HOMES = {
    "block_diagonal": ("block-diagonal", "xₜ = Aₜ xₜ₋₁ + B uₜ, blocks Aₜ made from the input, their columns held", "02", "000"),
    "lstm": ("LSTM", "a gated network, not linear in its state", "02", "000"),
    "elman": ("Elman", "xₜ = tanh(A xₜ₋₁ + B uₜ)", "02", "000"),
    "vanilla": ("vanilla", "xₜ = A xₜ₋₁ + B uₜ with one full matrix A", "02", "000"),
    "diagonal": ("diagonal", "xₜ = vₜ * xₜ₋₁ + B uₜ, number by number, vₜ made from the input", "01", "000"),
    "s4": ("S4", "one A for all inputs, diagonal less a matrix of rank 1", "01", "000"),
    "s4d": ("S4D", "one diagonal A for all inputs, a small system a channel", "01", "000"),
    "liquid_s4": ("Liquid-S4", "xₜ = (A + diag(B uₜ)) xₜ₋₁ + B uₜ", "01", "000"),
    "rwkv": ("RWKV", "decaying sums weighted by keys, channel by channel", "02", "000"),
    "rotrnn": ("RotRNN", "xₜ = γ A xₜ₋₁ + ξ B uₜ, A a rotation in each head", "04", "001"),
    "lru": ("LRU", "xₜ = λ * xₜ₋₁ + γ * B uₜ, complex λ within the unit circle", "04", "001"),
    "s5": ("S5", "one complex diagonal system for all channels together", "04", "001"),
    "dlr": ("DLR", "xₜ = λ * xₜ₋₁ + uₜ, run as a convolution", "05", "004"),
    "dss": ("DSS", "the same with modes from a differential equation", "05", "004"),
    "sgconv": ("SGConv", "no recurrence: a long kernel from pieces of growing length", "05", "004"),
    "attention": ("attention", "attention to all positions, with rotary positions", "10", "004"),
    "local_attention": ("attention", "attention within chunks, with rotary positions", "07", "004"),
    "ult": ("ULT", "Wₜ = Wₜ₋₁ + v kᵀ: a sum of writes", "09", "003"),
    "nlt": ("NLT", "the same, outputs divided by a sum of weights", "09", "003"),
    "deltanet": ("DeltaNet", "Wₜ = Wₜ₋₁ (I − β k kᵀ) + β v kᵀ: the delta rule", "09", "003"),
    "recurrent_delta": ("Recurrent Delta", "the delta rule, and what is written depends on the last output", "09", "003"),
    "srwm": ("SRWM", "one matrix that answers and writes to itself by the delta rule", "09", "003"),
    "transformer": ("Transformer", "softmax attention without positions", "09", "003"),
    "plain_lstm": ("LSTM", "paper 003's LSTM, without residuals and norms", "09", "003"),
    "e_lstm": ("e-LSTM", "an LSTM in which every cell sees the last state of itself alone", "09", "003"),
    "pd": ("one-hot columns", "xₜ = Pₜ Dₜ xₜ₋₁, columns of P one-hot, D a complex diagonal", "10", "2509.22284"),
    "dictionary": ("dictionary", "xₜ = Aₜ xₜ₋₁ + B uₜ, Aₜ a weighted mean of a few full matrices", "10", "2412.19350"),
    "regulargpt": ("RegularGPT", "one attention layer used again at every depth of a tree over the string", "08", "002"),
    "relu_rnn": ("RNN", "xₜ = relu(U xₜ₋₁ + W uₜ + b)", "08", "002"),
    "xl_transformer": ("Transformer", "attention with the relative positions of Transformer-XL", "08", "002"),
    "kerple_transformer": ("KERPLE", "attention less a learned function of the distance", "08", "002"),
    "t5_transformer": ("T5", "attention plus a learned number for each range of distances", "08", "002"),
    "alibi_transformer": ("ALiBi", "attention less a fixed multiple of the distance", "08", "002"),
}  # fmt: skip
TASK_HOMES = {
    "sum": ("Sum", "the sum so far modulo M", "00"),
    "evenpair": ("EvenPair", "after every letter, whether it is the first one again", "01"),
    "modarith": ("ModArith", "the value so far of an expression of +, − and ×, modulo M", "01"),
    "even_pairs": ("Even Pairs", "whether the pairs 01 and 10 are even in number", "08"),
    "modular_arithmetic": ("Modular Arithmetic", "the value of an expression modulo 5, × first", "08"),
    "modular_arithmetic_prefix": ("Modular Arithmetic", "the same, with a + in front of it", "08"),
    "parity": ("Parity", "whether the number of 1s is odd", "08"),
    "cycle_navigation": ("Cycle Navigation", "where a walk on a cycle of five ends", "08"),
    **{f"d_{n}": ("D_", f"whether brackets a and b are balanced, at most {n} deep", "08") for n in (2, 3, 4, 12)},
    **{f"tomita_{n}": ("Tomita", f"whether a string is in Tomita's language {n}", "08") for n in range(1, 8)},
    "prefix_parity": ("parity", "after every letter, whether the number of 1s is even", "09"),
    "aa": ("(aa)", "whether the length so far is even", "09"),
    "abab": ("(abab)", "whether the string so far is abab, again and again", "09"),
    "anbn": ("anbn", "which letter may come next: as many b as a", "09"),
    "anbncn": ("anbn", "which letter may come next: as many b as a, and c as b", "09"),
    "shuffle_2": ("Shuffle-2", "which of two kinds of brackets are open", "09"),
    "shuffle_2_true": ("Shuffle-2", "the same on shuffles of two balanced strings", "09"),
    "dyck_1": ("Dyck-1", "whether a bracket is open", "09"),
    "reset_dyck_1": ("reset Dyck-1", "the same, where a 1 closes all brackets", "09"),
    "shift": ("Shift", "the input of 0, L/8, ..., 7L/8 steps ago", "06"),
    "cumsum": ("CumSum", "the sum so far, divided by the root of the position", "05"),
    "cummax": ("CumMax", "the largest number so far", "07"),
    "reverse": ("Reverse", "the numbers backwards", "05"),
    "sort": ("Sort", "the numbers in the order of their distance from the first", "05"),
    "select": ("Select", "the marked numbers, in order", "07"),
    "select_fixed": ("SelectFixed", "the numbers at positions that are the same for all inputs", "07"),
    "mips": ("MIPS", "the value whose key fits a query best, among those so far", "07"),
    "context_shift": ("ContextShift", "the numbers shifted by as much as the input says", "05"),
    "solve": ("Solve", "the unknowns of a linear system that is read equation by equation", "07"),
    "solve_fixed": ("SolveFixed", "the same with one matrix for all inputs", "07"),
    "listops": ("ListOps", "the value of a nested expression of MIN, MAX, MED, SM", "07"),
    "listops_subtrees": ("ListOps", "the value of every sub-expression", "07"),
    "pathfinder": ("Pathfinder", "whether two circles in a picture are joined by a path", "07"),
    "pathfinder_segmentation": ("Pathfinder", "which pixels lie on that path", "07"),
    "s_3": ("S_3", "which permutation of three things the product so far is", "01"),
    "a_4": ("A_4", "which even permutation of four things the product so far is", "01"),
    "s_4": ("S_4", "which permutation of four things the product so far is", "01"),
    "q_8": ("Q_8", "which of the quaternions ±1, ±i, ±j, ±k the product so far is", "01"),
    "a_5": ("A_5", "which even permutation of five things the product so far is", "01"),
}  # fmt: skip
OWN = ("", "one of your own", "")


def models() -> list[dict[str, str]]:
    """One row a model of the registry: its name, what its step is, what it reads, its paper, and the chapter where it lives.

    >>> models()[0]["name in build"], models()[0]["chapter"], len(models()) == len(MODELS)
    ('"block_diagonal"', '02', True)
    """
    homes = {name: MODEL_HOMES.get(name, (*OWN, "")) for name in MODELS}
    return [
        {"name in build": f'"{name}"', "one step": says, "reads": "tokens, numbers" if reads_numbers(name) else "tokens",
         "paper": paper, "chapter": chapter} for name, (_, says, chapter, paper) in homes.items()
    ]  # fmt: skip


def tasks() -> list[dict[str, str | int]]:
    """One row a task of the registry: its name, what it reads and asks, its training length, and its chapter.

    >>> tasks()[0]["asks"], tasks()[0]["trained at"], len(tasks()) == len(TASKS)
    ('the sum so far modulo M', 40, True)
    """
    rows = []
    for name in TASKS:
        one, (_, asks, chapter) = task(name), TASK_HOMES.get(name, OWN)
        reads = f"{one.input_size} numbers a step" if one.reads == "numbers" else f"{one.input_size} letters"
        rows.append({"name in task": f'"{name}"', "reads": reads, "asks": asks, "trained at": one.train_length,
                     "chapter": chapter})  # fmt: skip
    return rows


EXERCISES = (
    ("00.1", _running), ("00.2", _five_words),
    prediction("00.3", ("about 96 %, as 24 of 25 arrows are", "about 80 %", "about 50 %",
                        "about 20 %, no better than a guess"), "about 20 %, no better than a guess"),
    ("00.4", _leaning),
)  # fmt: skip
