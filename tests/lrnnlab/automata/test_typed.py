"""Machines that a reader types, as arrows or as an expression."""

import pytest

from lrnnlab.automata import MooreMachine, equivalent, minimise
from lrnnlab.automata.languages import language
from lrnnlab.automata.typed import my_machine

EVEN = "even a odd*  # a comment\nodd a even\n\neven b even\nodd b odd"


def test_my_machine():
    parity = my_machine(EVEN)
    assert equivalent(parity, MooreMachine([[1, 0], [0, 1]], [0, 1], 0, "ab")) is None and parity.names == ("even", "odd")
    numbered = my_machine(EVEN.replace("*", "") + "\neven = no\nodd = yes")
    assert numbered == parity
    doubled = "0 a 1\n1 a 2\n2 a 3\n3 a 0\n0 b 0\n1 b 1\n2 b 2\n3 b 3\n0 = x\n1 = y\n2 = x\n3 = y"
    assert my_machine(doubled).num_states == 2
    two = minimise(language("Tomita 2").machine)
    assert equivalent(my_machine("(10)*", "01"), two) is None and my_machine("(10)*").num_states == 3
    assert my_machine("(aa)*", "ab").num_states == 3


@pytest.mark.parametrize(("text", "message"), [
    ("", "nothing is typed"), ("(ab", "no regular expression"), ("a**", "one repetition at a time"), ("a-b", "'-' in 'a-b'"),
    ("aa*", "give it a second token"), ("(a|b)*", "the same answer"), ("(a|b)*a" + "(a|b)" * 12, "more than 2000 states"),
    ("(a|b)*a" + "(a|b)" * 7, "at most 60 states"), ("ab" * 200, "too long"),
    ("\n".join(f"{q} a {(q + 1) % 10_000}*\n{q} b 0" for q in range(10_000)), "10000 states are too many"),
    (EVEN.replace("odd b odd", ""), "an arrow is missing: where does 'odd' go by 'b'?"),
    (EVEN + "\nodd b even", "two arrows leave 'odd' by 'b'"), (EVEN + "\nodd c nowhere", "no arrow leaves state 'nowhere'"),
    (EVEN.replace("*", ""), "no state answers anything"), (EVEN + "\neven = 1", "not by both"),
    (EVEN.replace("*", "") + "\neven = 1", "'odd' has no answer"), (EVEN + "\nthree*  = 1", "'three' has an answer"),
    (EVEN + "\neven b", "is no arrow"), ("even = 1", "there is no arrow"), ("a = 1\na = 2", "two answers"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused_in_a_sentence(text, message):
    with pytest.raises(ValueError) as refused:
        my_machine(text)
    assert message in str(refused.value) and "\n" not in str(refused.value)
