"""What the text calls the models, tasks and knobs that the code calls by letters and underscores; and Python's values.

Every table (``show.table``), control (``widgets.explore``) and step of a proof (``proof_widgets.steps``) passes here.
"""

from __future__ import annotations

import ast
import re

LOW = str.maketrans("0123456789ehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
HIGH = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "lambda": "λ", "lam": "λ", "rho": "ρ", "sigma": "σ", "theta": "θ",
         "xi": "ξ", "Lambda": "Λ", "Sigma": "Σ", "Theta": "Θ"}  # fmt: skip
SIGNS = {"!=": "≠", "<=": "≤", ">=": "≥", "<->": "↔", "->": "→", "<-": "←"}
NAMES = {
    "s4": "S4", "s4d": "S4D", "s4d_inv": "S4D-Inv", "s4d_legs": "S4D-LegS", "liquid_s4": "Liquid-S4", "rwkv": "RWKV",
    "s5": "S5", "lstm": "LSTM", "elman": "Elman", "e_lstm": "e-LSTM", "srwm": "SRWM", "deltanet": "DeltaNet",
    "recurrent_delta": "Recurrent Delta", "dlr": "DLR", "dlr_prod": "DLR-prod", "dlr_real": "DLR-R",
    "dlr_small": "DLR, fewer modes", "dss": "DSS", "sgconv": "SGConv", "diagonal_positive": "diagonal, positive",
    "diagonal_signed": "diagonal, signed", "diagonal_complex": "diagonal, complex",
    "diagonal_unit": "diagonal, unit circle", "clipped_short": "clipped, short memory",
    "anbn": "aⁿbⁿ", "anbncn": "aⁿbⁿcⁿ", "aa": "(aa)*", "abab": "(abab)*", "dyck_1": "Dyck-1",
    "reset_dyck_1": "reset Dyck-1", "shuffle_2": "Shuffle-2", "sum5": "Sum(5)", "s3": "S₃",
    "train40_b8": "training, T = 40, b = 8", "train40_b1": "training, T = 40, b = 1",
    "test500_b8": "test, T = 500, b = 8", "test500_b1": "test, T = 500, b = 1",
    "best_of_40_guesser": "best of 40, guesser", "best_of_40_majority": "best of 40, majority",
    "over": "leak e", "added": "added at 1",
}  # fmt: skip
WORDS = {"aa", "abab", "over", "added"}  # codes that a table may mean as they stand


def named(code: str) -> str:
    """The field's name of what a code name stands for.

    >>> named("theta_1"), named("lam"), named("S_3"), named("d_12"), named("clipped_short"), named("even_pairs")
    ('θ₁', 'λ', 'S₃', 'D₁₂', 'clipped, short memory', 'even pairs')
    """
    if code in NAMES or code in GREEK:
        return NAMES.get(code) or GREEK[code]
    found = re.fullmatch(r"([A-Za-z]|" + "|".join(GREEK) + r")_(\d+)", code)
    if found:
        letter = GREEK.get(found[1], "D" if found[1] == "d" else found[1])
        return letter + found[2].translate(LOW)
    return code.replace("_", " ")


def renamed(cell: str) -> str:
    """A table's cell or header with its code name named, where it can be nothing else; the rest as it is.

    >>> renamed("anbn, paper"), renamed("dlr_prod"), renamed("abab"), renamed("x_t of the sum")
    ('aⁿbⁿ, paper', 'DLR-prod', 'abab', 'x_t of the sum')
    """
    code, comma, rest = cell.partition(",")
    return f"{NAMES[code]}{comma}{rest}" if code in NAMES and code not in WORDS else cell


def mathematical(text: str) -> str:
    """What SymPy and Python print, as it is written: powers raised, products without a star, no brackets of a dict.

    >>> mathematical("A**2*Bu_0 - 2*c and (aa)*")
    'A² Bu₀ - 2 c and (aa)*'
    >>> mathematical("wrong pairs: {2: 0, 'S_3': 0}, [Fraction(1, 2), None], lambda_i != np.float64(0.5) in [0, 1]")
    'wrong pairs: 0 for 2, 0 for S₃, 1/2, none, λᵢ ≠ 0.5 in [0, 1]'
    """
    text = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", text)
    text = re.sub(r"``(\w+)``", lambda found: named(found[1]), text).replace("``", "")
    text = _FRACTION.sub(_fraction, re.sub(r"[\[{][^\[\]{}]*[\]}]", _unpacked, text))
    text = re.sub(r"(?:\*\*|\^)(-?\d+)(?![\w.(])", lambda found: found[1].translate(HIGH), text)
    text = re.sub(r"(?<=[\w)\-⁰¹²³⁴⁵⁶⁷⁸⁹])\*(?=[A-Za-z0-9(])", " ", text)
    text = re.sub(r"\b([A-Za-z]{1,2}|" + "|".join(GREEK) + r")_(\d+|[ehijklmnoprstuvx])(?!\w)",
                  lambda found: found[1] + found[2].translate(LOW), text)  # fmt: skip
    text = re.sub(r"(?<![A-Za-z])(" + "|".join(GREEK) + r")(?![A-Za-z])", lambda found: GREEK[found[1]], text)
    return re.sub(r"(?<=[\w\s])(" + "|".join(SIGNS) + r")(?=[\w\s])", lambda found: SIGNS[found[1]], text)


def _unpacked(found: re.Match) -> str:
    """A dict, and a list of what is no number, in words; an interval [0, 1] and a set {0, 1} are mathematics."""
    try:
        value = ast.literal_eval(_FRACTION.sub(lambda one: repr(_fraction(one)), found[0]))
    except (ValueError, SyntaxError):
        return found[0]
    if isinstance(value, dict):
        return ", ".join(f"{_said(one)} for {_said(key)}" for key, one in value.items()) or "none"
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in value)
    if not value or value == [()] or (numbers and (isinstance(value, list) or len(value) > 1)):
        return found[0]
    return ", ".join(map(_said, value))


_FRACTION = re.compile(r"Fraction\((-?\d+), (\d+)\)")


def _fraction(found: re.Match) -> str:
    return found[1] if found[2] == "1" else f"{found[1]}/{found[2]}"


def _said(value) -> str:
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_said, value))})"
    return {None: "none", True: "yes", False: "no"}[value] if value is None or isinstance(value, bool) else str(value)
