"""Which answers look alike, for a person to read; names, comments and spaces are left out of the comparison."""

import io
import keyword
import re
import tokenize
from collections.abc import Iterator, Sequence
from itertools import combinations

from lrnnbook.machinery.grading.grading import Report

SHORT = 40  # tokens: right answers of fewer are alike by nature
KEPT = (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.INDENT, tokenize.DEDENT)


def normal(source: str) -> str:
    """Tokens alone, each name as the number of its first use; nothing for what is no Python."""
    names: dict[str, str] = {}
    try:
        tokens = [one for one in tokenize.generate_tokens(io.StringIO(source).readline) if one.type in KEPT]
    except (tokenize.TokenError, SyntaxError):
        return ""
    return " ".join(names.setdefault(one.string, f"n{len(names)}") if one.type == tokenize.NAME and not keyword.iskeyword(one.string)
                    else one.string.strip() or tokenize.tok_name[one.type] for one in tokens)  # fmt: skip


def alike(reports: Sequence[Report]) -> Iterator[str]:
    """A sentence for each pair of answers of one form, for each that imports the package, and what that proves."""
    forms = {(task, one.student): normal(text) for one in reports for task, text in one.answers.items()}
    for (task, a), (other, b) in combinations(forms, 2):
        if task == other and forms[task, a] == forms[other, b] and forms[task, a].count(" ") >= SHORT:
            yield f"{task}: {a} and {b} wrote the same, but for names and comments"
    for one in reports:
        for task, text in one.answers.items():
            if re.search(r"^[ \t]*(?:from|import) lrnn(?:lab|book)\b", text, re.MULTILINE):
                yield f"{task}: {one.student} imports the package"
    yield "This proves nothing: a right answer has few forms, and two people may read one book. Talk to them."
