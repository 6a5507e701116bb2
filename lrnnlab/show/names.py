"""What the text calls the models, tasks and knobs that the code calls by letters and underscores.

Every table (``show.table``), caption and control (``widgets.explore``) passes here.
"""

from __future__ import annotations

import re

LOW = str.maketrans("0123456789ehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "lambda": "λ", "lam": "λ", "rho": "ρ", "sigma": "σ", "theta": "θ",
         "xi": "ξ", "Lambda": "Λ", "Sigma": "Σ", "Theta": "Θ"}  # fmt: skip
NAMES = {
    "s4": "S4", "s4d": "S4D", "s4d_inv": "S4D-Inv", "s4d_legs": "S4D-LegS", "liquid_s4": "Liquid-S4", "rwkv": "RWKV",
    "s5": "S5", "lstm": "LSTM", "elman": "Elman", "e_lstm": "e-LSTM", "srwm": "SRWM", "deltanet": "DeltaNet",
    "recurrent_delta": "Recurrent Delta", "deltanet_additive": "DeltaNet, near addition",
    "recurrent_delta_additive": "Rec. Delta, near addition",
    "deltanet_translation": "DeltaNet, near translation", "dlr": "DLR", "dlr_prod": "DLR-prod", "dlr_real": "DLR-R",
    "dlr_post": "DLR, post-norm", "dlr_pre": "DLR, pre-norm", "transformer_post": "Transformer, post-norm",
    "transformer_pre": "Transformer, pre-norm", "dlr_post_small": "DLR, post-norm, small start",
    "dlr_small": "DLR, fewer modes", "dss": "DSS", "sgconv": "SGConv", "diagonal_positive": "diagonal, positive",
    "diagonal_signed": "diagonal, signed", "diagonal_complex": "diagonal, complex",
    "diagonal_unit": "diagonal, unit circle", "clipped_short": "clipped, short memory",
    "short_memory": "short memory", "local_attention": "attention in chunks",
    "anbn": "aⁿbⁿ", "anbncn": "aⁿbⁿcⁿ", "aa": "(aa)*", "abab": "(abab)*", "dyck_1": "Dyck-1",
    "reset_dyck_1": "reset Dyck-1", "shuffle_2": "Shuffle-2", "sum5": "Sum(5)", "s3": "S₃",
    "train40_b8": "training, T = 40, b = 8", "train40_b1": "training, T = 40, b = 1",
    "test500_b8": "test, T = 500, b = 8", "test500_b1": "test, T = 500, b = 1",
    "best_of_40_guesser": "best of 40, guesser", "best_of_40_majority": "best of 40, majority",
    "over": "leak e", "added": "added at 1",
}  # fmt: skip
SIGNS = (
    (re.compile(r"(?<!\w)([A-Za-z])_(\d+|[a-z])(?!\w)"), r"\1<sub>\2</sub>"),
    (re.compile(r"\^(\d+(?:\.\d+)?|[a-z](?!\w))"), r"<sup>\1</sup>"),
    (re.compile(r"\b(alpha|beta|gamma|lambda|rho|theta)\b"), lambda found: GREEK[found[1]]),
    (re.compile(r"\bR2\b"), "R²"), (re.compile("&lt;="), "≤"), (re.compile("&gt;="), "≥"),
)  # fmt: skip
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


def typeset(html: str) -> str:
    """HTML with the mathematics of a plain text set as the chapters' text sets it; outside of code.

    >>> typeset("S_3 and D_12: R2 below 10^84.1 for beta &lt;= 1, x_t of (ss)^n")
    'S<sub>3</sub> and D<sub>12</sub>: R² below 10<sup>84.1</sup> for β ≤ 1, x<sub>t</sub> of (ss)<sup>n</sup>'
    """
    for sign, put in SIGNS:
        html = sign.sub(put, html)
    return html
