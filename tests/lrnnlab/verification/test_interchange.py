"""Swapped states: an exact net follows the swap; a net whose answers come from elsewhere does not."""

import torch

from lrnnlab.automata.languages import language
from lrnnlab.models import build, exact_model
from lrnnlab.tasks import StateTracking
from lrnnlab.verification.interchange import interchange

S_3 = StateTracking(language("S_3").machine, "S_3")


def test_an_exact_net_answers_by_the_state_that_it_was_given():
    found = interchange(exact_model(S_3.machine), S_3, position=30)
    assert found.own == found.swapped == 1
    assert found.random < 1  # a push as far in a random direction is no state of the machine


def test_a_net_that_reads_the_last_token_alone_follows_no_state():
    net = build("lstm", S_3, seed=0)
    with torch.no_grad():
        for name, weight in net.named_parameters():
            if "hh" in name:
                weight.zero_()
    found = interchange(net, S_3, position=30)
    assert abs(found.own - 1 / 6) < 0.12 and abs(found.swapped - 1 / 6) < 0.12
