"""What models, tasks and knobs are called and how models are drawn (``labels.yaml``), and how a plain text's mathematics is set.

Every table (``show.table``), caption and control (``widgets.explore``) passes here.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from lrnnbook.content.show.style import SOURCES, Look

KINDS: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
MODELS, TASKS = KINDS["models"], KINDS["tasks"]
LABELS = {code: label for kind in KINDS.values() for code, label in kind.items()}
LOW = str.maketrans("0123456789ehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "lambda": "λ", "lam": "λ", "rho": "ρ", "sigma": "σ", "theta": "θ",
         "xi": "ξ", "Lambda": "Λ", "Sigma": "Σ", "Theta": "Θ"}  # fmt: skip
SIGNS = (
    (re.compile(r"(?<!\w)([A-Za-z])_(\d+|[a-z])(?!\w)"), r"\1<sub>\2</sub>"),
    (re.compile(r"\^(\d+(?:\.\d+)?|[a-z](?!\w))"), r"<sup>\1</sup>"),
    (re.compile(r"\b(alpha|beta|gamma|lambda|rho|theta)\b"), lambda found: GREEK[found[1]]),
    (re.compile(r"\bR2\b"), "R²"), (re.compile("&lt;="), "≤"), (re.compile("&gt;="), "≥"),
)  # fmt: skip
AS_TYPED = re.compile(r"(<code>.*?</code>|<[^>]*>|\$[^$]+\$)", re.DOTALL)
SPARE = (Look("#000000"), Look("#777777", (0, (5, 2)), "s"), Look("#000000", (0, (1, 1.5)), "^"),
         Look("#aaaaaa", (0, (3, 1, 1, 1)), "v"))  # fmt: skip


def named(code: str, table: str = "") -> str:
    """The field's name of what a code name stands for; ``table`` is the one that prints it."""
    if code in LABELS:
        label = LABELS[code]
        return next((name for start, name in label.get("in", {}).items() if table.startswith(start)), label["name"])
    return _letters(code)


def knob(code: str) -> str:
    """The name of a widget's control, which is no model and no task."""
    return KINDS["others"][code]["name"] if code in KINDS["others"] else _letters(code)


def _letters(code: str) -> str:
    found = re.fullmatch(r"([A-Za-z]|" + "|".join(GREEK) + r")_(\d+)", code)
    if found:
        return GREEK.get(found[1], found[1]) + found[2].translate(LOW)
    return GREEK.get(code) or code.replace("_", " ")


def look(code: str) -> Look:
    """How a model is drawn; ``ValueError`` for one that has no colour."""
    label = LABELS.get(code, {})
    if "colour" not in label:
        raise ValueError(f"labels.yaml gives {code!r} no colour")
    dash = (0, tuple(label["dash"])) if "dash" in label else "-"
    return Look(label["colour"], dash, label.get("marker", "o"))


def looks(codes: Iterable[str], table: str = "") -> dict[str, tuple[str, Look]]:
    """Code -> its name in a table, and its look."""
    return {code: (named(code, table), look(code)) for code in codes}


def look_of(label: str, place: int = 0) -> Look:
    """The look of a line called ``label``: that of the model or source its first word names, else a spare one."""
    first = (label.replace(",", " ").replace("(", " ").lower().split() or [""])[0]
    return SOURCES.get(first) or (look(first) if "colour" in LABELS.get(first, {}) else SPARE[place % len(SPARE)])


def renamed(cell: str) -> str:
    """A table's cell or header with its code name named, where it can be nothing else; the rest as it is."""
    code, comma, rest = cell.partition(",")
    label = LABELS.get(code, {"as_it_stands": True})
    return cell if label.get("as_it_stands") else f"{label['name']}{comma}{rest}"


def typeset(html: str) -> str:
    """HTML with the mathematics of a plain text set as the chapters' text sets it; not in code, tags and LaTeX."""
    parts = AS_TYPED.split(html)
    for sign, put in SIGNS:
        parts[::2] = [sign.sub(put, part) for part in parts[::2]]
    return "".join(parts)
