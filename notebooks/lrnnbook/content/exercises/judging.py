"""What an answer is told, in one line: right; not yet, with the input that shows it; or cannot be judged, and why.

A **judge** is a function of the answer that returns where the answer is right and raises :class:`NotYet` or
:class:`CannotJudge` where it is not.  The helpers here (``expect``, ``agree``, ``claim``, ``numbers``) raise them, so
a judge is a few lines; the test cells of the problem sets use the same helpers.  No Jupyter is needed.
"""

import cmath
import copy
import re
import reprlib
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from html import escape
from numbers import Integral, Number, Rational, Real
from typing import Any, SupportsComplex

import numpy as np

RIGHT, NOT_YET, UNJUDGED = "right", "not yet", "cannot be judged"
SAYS = 400  # characters of what a verdict says: a message may show a large answer whole
UNTRIED = "not tried yet"  # what a chapter's exercise is told before anything is answered

# A sign and a bar for each outcome: its form and its Okabe-Ito colour differ, and both are seen on white and on black.
_SIGNS = {RIGHT: ("\u2713", "solid #009e73"), NOT_YET: ("\u2717", "dashed #d55e00"), UNJUDGED: ("?", "double #cc79a7"),
          UNTRIED: ("\u25cb", "dotted #8a8a8a")}  # fmt: skip

AnyError = Exception  # any exception raised by foreign code, except KeyboardInterrupt and SystemExit


def is_tensor(value: Any) -> bool:
    """Is it a torch tensor?  Without loading torch, which takes two seconds that most submissions can do without."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_exact(value: Any) -> bool:
    """Is it a number of SymPy's, without a letter in it?"""
    return getattr(value, "is_number", False) is True and isinstance(value, SupportsComplex)


@dataclass(frozen=True)
class Verdict:
    """An outcome and the line that goes with it; a notebook shows that line beside a sign and a bar of colour."""

    outcome: str
    says: str = ""
    brief: str = ""  # why it cannot be judged, where its input may not be told

    def __repr__(self) -> str:
        return f"{self.outcome}: {self.says}" if self.says else self.outcome

    def _repr_html_(self) -> str:
        return marked(self.outcome, f": {escape(self.says)}" if self.says else "", "mathjax_ignore")


def marked(outcome: str, html: str, css_class: str = "") -> str:
    """An outcome with its sign, then ``html``, beside a bar in the outcome's colour; the text has the page's own colour."""
    sign, bar = _SIGNS[outcome]
    named = f' class="{css_class}"' if css_class else ""
    return (f'<div{named} style="max-width:44em;line-height:1.5;padding:0.2em 0.8em;border-left:6px {bar}">'
            f'<span aria-hidden="true">{sign}</span> <b>{outcome}</b>{html}</div>')  # fmt: skip


class NotYet(AssertionError):
    """The answer is wrong; the message shows where."""

    def _render_traceback_(self) -> list[str]:  # IPython shows this instead of a traceback
        return [f"{NOT_YET}: {self}"]


class CannotJudge(TypeError):
    """The answer is of a wrong kind, is missing, or raised; the message says which, ``brief`` perhaps without the input."""

    def __init__(self, says: str = "", brief: str = "") -> None:
        super().__init__(says)
        self.brief = brief

    def _render_traceback_(self) -> list[str]:
        return [f"{UNJUDGED}: {self}"]


def judge(test: Callable[[], Any]) -> Verdict:
    """Run a test and say how it ended."""
    try:
        test()
    except NotYet as error:
        return Verdict(NOT_YET, _short(str(error)))
    except CannotJudge as error:
        return Verdict(UNJUDGED, _short(str(error)), error.brief)
    except AnyError as error:  # the test itself stumbled over what the answer is
        return Verdict(UNJUDGED, f"the test met {raised(error)}")
    return Verdict(RIGHT)


def _short(text: str) -> str:
    return text if len(text) <= SAYS else text[: SAYS - 3] + "..."


def claim(holds: Any, says: str) -> None:
    """NotYet with ``says`` unless ``holds``."""
    if not holds:
        raise NotYet(says)


def expect(function: Callable, examples: Iterable[tuple[tuple, Any]], **tolerance: float) -> None:
    """The function gives these answers: ``examples`` are pairs (arguments, answer).

    >>> expect(max, [((1, 2), 2), ((5, 3), 4)])
    Traceback (most recent call last):
    lrnnbook.content.exercises.judging.NotYet: max(5, 3) gave 5, and should give 4
    """
    for arguments, wanted in examples:
        given = call(function, *arguments)
        if not same(given, wanted, **tolerance):
            raise NotYet(f"{spelled(function, arguments)} gave {shown(given)}, and should give {shown(wanted)}")


def agree(function: Callable, reference: Callable, cases: Iterable[tuple], **tolerance: float) -> None:
    """The function gives what the slow, obvious ``reference`` gives, on each of the tuples of arguments.

    >>> agree(lambda n: n * n, lambda n: n**2, [(2,), (3,)])
    """
    expect(function, ((case, reference(*copy.deepcopy(case))) for case in cases), **tolerance)


def call(function: Callable, *arguments: Any, copied: bool = True) -> Any:
    """``function`` on copies of the arguments (not ``copied``: on themselves); CannotJudge where it is no function or raises.

    >>> call(7, 1)
    Traceback (most recent call last):
    lrnnbook.content.exercises.judging.CannotJudge: a function is asked for, got 7
    """
    if not callable(function):
        raise CannotJudge("not attempted" if function is None else f"a function is asked for, got {shown(function)}")
    try:
        return function(*(copy.deepcopy(arguments) if copied else arguments))
    except NotImplementedError:
        raise CannotJudge("not attempted") from None
    except (CannotJudge, NotYet):  # from the grader, whose function lives in another process, or from what the function was given
        raise
    except AnyError as error:
        said = f"{spelled(function, arguments, _in_brief)} raised {raised(error)}{_where(error, function)}"
        raise CannotJudge(said) from None


def numbers(
    value: Any, shape: Sequence[int | None] = (), what: str = "the answer", *, real: bool = False
) -> np.ndarray:
    """A value as an array of numbers of this shape (None: any size there), CannotJudge if it is none.

    ``real`` : as floats, which neither wrap round like whole numbers of 8 bits nor hide an imaginary part.

    >>> numbers([[1, 2]], (None, 2)).tolist()
    [[1, 2]]
    >>> import sympy
    >>> numbers([sympy.sqrt(4), sympy.Rational(1, 4)], (2,)).tolist()
    [2.0, 0.25]
    >>> numbers("ab", (2,))
    Traceback (most recent call last):
    lrnnbook.content.exercises.judging.CannotJudge: the answer should be numbers of shape (2,), got 'ab'
    >>> numbers([[1], [2]], (2,))
    Traceback (most recent call last):
    lrnnbook.content.exercises.judging.CannotJudge: the answer should be numbers of shape (2,), got [[1], [2]], of shape (2, 1)
    """
    try:
        found = np.asarray(value.detach() if is_tensor(value) else value)
        if found.dtype == object and all(isinstance(one, Number) or is_exact(one) for one in found.flat):  # fractions, roots
            whole = found.astype(complex)
            found = whole if np.any(whole.imag) else found.astype(float)
    except (TypeError, ValueError, OverflowError):
        found = np.array("")
    if real and found.dtype.kind in "biufc" and not np.any(np.imag(found)):
        found = np.real(found).astype(float)
    fits = len(found.shape) == len(shape) and all(n in (None, m) for n, m in zip(shape, found.shape))
    if found.dtype.kind not in ("f" if real else "biufc") or not fits:
        kind, some = ("real ", "a") if real else ("", "one")
        wanted = str(tuple(shape)).replace("None", "any")
        wanted = f"{kind}numbers of shape {wanted}" if shape else f"{some} {kind}number"
        came = f", of shape {found.shape}" if found.dtype.kind in "biufc" and found.shape and not fits else ""
        raise CannotJudge(f"{what} should be {wanted}, got {shown(value)}{came}")
    return found


def texts(value: Any, what: str, count: int | None = None) -> list[str]:
    """A row or a set of (so many) texts as a list; CannotJudge if it is none."""
    row = value.tolist() if _is_array(value) else value
    if not isinstance(row, (list, tuple, set, frozenset)) or not all(isinstance(one, str) for one in row) or (
            count is not None and len(row) != count):  # fmt: skip
        raise CannotJudge(f"{what} are asked for, got {shown(value)}")
    return list(row)


def number(value: Any) -> float:
    """One real number, read kindly: 401, 401.0, "401" and "1/6" will do.  CannotJudge for anything else."""
    if isinstance(value, str):
        above, _, below = value.partition("/")
        try:
            return float(above) / float(below or 1)
        except (ValueError, ZeroDivisionError):  # numbers says what is wrong with the text
            pass
    given = numbers(value)
    found = complex(given)
    if found.imag or given.dtype == bool:
        raise CannotJudge(f"the answer should be one real number, got {shown(value)}")
    return found.real


def one_number(right: float, low: str, high: str = "", whole: str = "", within: float = 0) -> Callable[[Any], None]:
    """The judge of an answer that is one number, or near: what is said of less and of more, where ``{}`` is the answer.

    ``whole`` : what it is a number of, if it must be whole; ``within`` : a share of the number.
    """

    def test(answer: Any) -> None:
        given = number(answer)
        told = str(answer) if isinstance(answer, Rational) else f"{given:g}"
        claim(not whole or given.is_integer(), f"a number of {whole} is whole, got {told}")
        claim(given >= right * (1 - within), low.format(told))
        claim(given <= right * (1 + within), (high or low).format(told))

    return test


def wrong_step(wrong: int, holds: Mapping[int, str], example: Callable[[Any], None]) -> Callable[[Any], None]:
    """The judge of "find the wrong step", answered with a pair: the step's number and an example that refutes it.

    ``holds`` : why each of the other steps is right; ``example`` : the judge of the example.
    """

    def test(answer: Any) -> None:
        pair = answer.tolist() if _is_array(answer) else answer
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise CannotJudge(f"a pair is asked for, the number of a step and an example, got {shown(answer)}")
        step = number(pair[0])
        if step != wrong and step not in holds:
            raise CannotJudge(f"the steps have the numbers 1 to {max(wrong, *holds)}, got {shown(pair[0])}")
        claim(step == wrong, f"step {step:g} is right: {holds.get(int(step))}")
        if pair[1] is None or pair[1] is ...:
            raise NotYet(f"step {step:g} it is; now give an example that refutes it")
        example(pair[1])

    return test


def same(a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-9) -> bool:
    """Do two plain values say the same?  A list, a tuple, an array and a tensor of equal numbers do.

    Whole numbers and fractions are compared exactly, other numbers with the tolerances.

    >>> same([1, 2.0], np.array([1.0, 2.0])), same((1, "a"), [1, "a"]), same(10**20, 10**20 + 1), same(1, None)
    (True, True, False, False)
    """
    a, b = (v.item() if isinstance(v, np.generic) else v for v in (a, b))
    if isinstance(a, Number) and isinstance(b, Number):
        exact = isinstance(a, Rational) and isinstance(b, Rational)
        return a == b if exact else _close(a, b, rtol, atol)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key], rtol, atol) for key in a)
    if _is_row(a) and _is_row(b):
        a, b = (v.tolist() if _is_array(v) else v for v in (a, b))
        if not _is_row(a) or not _is_row(b):  # a tensor of one number without an axis
            return same(a, b, rtol, atol)
        return len(a) == len(b) and all(same(x, y, rtol, atol) for x, y in zip(a, b))
    if _is_array(a) or _is_array(b):
        a, b = (v.tolist() if _is_array(v) and v.ndim == 0 else v for v in (a, b))
        return isinstance(a, Number) and isinstance(b, Number) and same(a, b, rtol, atol)
    return type(a) is type(b) and bool(a == b)


def _close(a: Any, b: Any, rtol: float, atol: float) -> bool:
    try:
        a, b = (_plain(v) for v in (a, b))
        if cmath.isinf(a) or cmath.isinf(b):
            return a == b
        if cmath.isnan(a) or cmath.isnan(b):
            return cmath.isnan(a) and cmath.isnan(b)
        room = atol + rtol * abs(b)  # of 0 asks for equality, which a difference of floats is too coarse for
        return a == b or bool(room and abs(a - b) <= room)
    except OverflowError:  # one is a whole number or a fraction that no float holds, the other is a float
        return False


def _plain(value: Any) -> int | float | complex:
    """The number as Python's own, whole numbers exactly: a class of its own may call itself equal to all."""
    return int(value) if isinstance(value, Integral) else float(value) if isinstance(value, Real) else complex(value)


def _is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple, range)) or _is_array(value)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_tensor(value)


def spelled(function: Callable, arguments: Sequence, show: Callable[[Any], str] | None = None) -> str:
    """A call as one would write it, shortened; ``show`` writes an argument (default: :func:`shown`)."""
    return f"{getattr(function, '__name__', 'the function')}({', '.join(map(show or shown, arguments))})"


def _in_brief(value: Any) -> str:
    """A value; of a long array only the shape, which mostly made a function raise; of a function or a long object the name."""
    text = shown(value)
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    if len(text) <= 40 or isinstance(value, (str, Number, Mapping, Sequence, Set)):
        return text
    return f"numbers of shape {tuple(value.shape)}" if _is_array(value) else f"a {type(value).__name__}"


def raised(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def home(function: Any) -> str | None:
    """The cell or file of a function, a class or an object of the class; None where that is not known."""
    kind = vars(function if isinstance(function, type) else type(function))
    codes = [getattr(one, "__code__", None) for one in (function, kind.get("forward"), kind.get("__init__"))]
    return next((code.co_filename for code in codes if code), None)


def _where(error: BaseException, function: Callable) -> str:
    """The last line of the function's own cell or file that ran before it raised; nothing where that is not known."""
    lines = [one.line for one in traceback.extract_tb(error.__traceback__) if one.filename == home(function)]
    return f" (at: {lines[-1]})" if lines and lines[-1] else ""


class _Short(reprlib.Repr):
    """Shortens; and leaves out where in memory a thing lies, which says nothing and changes at every run."""

    def repr_instance(self, x: Any, level: int) -> str:
        return re.sub(r"( object)? at 0x[0-9a-fA-F]+", "", super().repr_instance(x, level))


def shown(value: Any) -> str:
    """A value in at most about 100 characters of one line."""
    if isinstance(value, Iterator):
        return f"a {type(value).__name__} (list(...) makes a list of it)"
    short = _Short()
    short.maxlist = short.maxtuple = short.maxdict = 8
    short.maxstring = short.maxother = short.maxlong = 90
    if _is_array(value):
        value = value.tolist()
    try:
        text = " ".join(short.repr(value).split())
    except ValueError:  # a whole number of more digits than Python likes to write
        text = f"<a {type(value).__name__} too long to show>"
    return text if len(text) <= 120 else text[:117] + "..."
