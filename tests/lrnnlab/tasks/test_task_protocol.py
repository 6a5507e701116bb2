"""Every task by its name keeps one protocol: what it reads, where it asks, its slow oracle, its levels, its batches."""

import json
import pickle
import re
from functools import partial
from typing import get_args

import numpy as np
import pandas
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import generator
from torch.utils.data import DataLoader

from lrnnlab.automata import NO_LABEL, MooreMachine, classify
from lrnnlab.automata.languages import LANGUAGES, Language, language
from lrnnlab.automata.languages import read as read_word
from lrnnlab.automata.parsing import acceptor
from lrnnlab.tasks import TASKS, YOURS, MachineTask, Task, TaskName, WordProblem, task
from lrnnlab.tasks.regular import expression, group

NAMES = [name for name in TASKS if not name.startswith("pathfinder")]  # pictures have no oracle but their geometry


def small(name):
    """A task and a length at which its oracle is quick."""
    found = task(name)
    return found, found.near(min(found.train_length, 24))


@pytest.mark.parametrize("name", NAMES)
def test_answers_stand_where_the_task_says_and_are_the_oracles(name):
    found, length = small(name)
    batch = found.sample(5, length, generator())
    if found.reads == "numbers":
        assert batch.inputs.shape[2] == found.input_size and batch.targets.shape[2] == found.output_size
        slow = torch.tensor([found.answer(row[:, :-2]) for row in batch.inputs])
        torch.testing.assert_close(batch.targets, slow, atol=1e-5, rtol=1e-5)
        return
    assert 0 <= int(batch.tokens.min()) and int(batch.tokens.max()) < found.input_size
    mask = batch.mask
    assert {"every": mask.all(), "last": mask[:, -1].all() and not mask[:, :-1].any(), "places": mask.any()}[found.answers]
    for row in range(len(batch)):
        pad = getattr(found, "pad", None)
        word = [token for token in batch.tokens[row].tolist() if token != pad]
        said = found.answer(word)
        asked = [int(batch.targets[row])] if batch.targets.ndim == 1 else batch.targets[row][mask[row]].tolist()
        assert asked == (said if isinstance(said, list) else [said])


@pytest.mark.parametrize("name", list(TASKS))
def test_batches_are_decided_by_their_generator_and_scored_alike(name):
    found, state = task(name), torch.get_rng_state()
    one, again, other = (found.training_batch(3, generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(one.inputs, again.inputs) and torch.equal(one.targets, again.targets)
    assert torch.equal(torch.get_rng_state(), state)  # global randomness is neither used nor disturbed
    assert one.inputs.shape != other.inputs.shape or not torch.equal(one.inputs, other.inputs) or found.input_size == 1
    outputs = torch.randn(*one.inputs.shape[:2], found.output_size, generator=generator())
    given, wanted = one.asked(outputs)
    assert len(given) == len(wanted) and torch.isfinite(one.loss(outputs))
    levels = found.levels(found.near(found.train_length))
    assert set(levels) == {"chance", "majority"} and all(0 <= level <= 1 for level in levels.values())


@pytest.mark.parametrize("name", ["sum", "modarith", "parity", "tomita_3", "anbn", "listops", "shift", "solve"])
def test_a_dataset_has_the_tasks_strings_and_answers_whoever_reads_it(name):
    found = task(name)
    data, length = found.dataset(strings=150), found.near(found.train_length)
    items = list(data)
    spread = list(DataLoader(data, batch_size=None, num_workers=2)) + list(pickle.loads(pickle.dumps(data)))
    as_text = lambda items: sorted(repr([part.tolist() for part in item[:3]]) for item in items)
    assert len(items) == 150 and as_text(items) * 2 == as_text(spread[:150]) + as_text(spread[150:]) == as_text(data) * 2
    assert as_text(found.dataset(strings=7)) == as_text(items[:7]) and len(set(as_text(items))) > 25
    assert as_text(items) not in (as_text(found.dataset(strings=150, **other)) for other in ({"seed": 1}, {"split": "test"}))
    for inputs, targets, mask, T in items[:20]:
        assert len(inputs) == len(targets) == len(mask) == T and (T == length or found.padded)
        assert (targets[~mask] == (0 if found.classes is None else -100)).all()
        if found.classes is None:
            torch.testing.assert_close(targets[mask], torch.tensor(found.answer(inputs[:, :-2])), atol=1e-5, rtol=1e-5)
        else:
            said = found.answer(inputs.tolist())
            assert targets[mask].tolist() == (said if isinstance(said, list) else [said])


def test_a_dataset_gives_batches_that_torch_takes_as_they_are():
    data = task("modarith").dataset(length=(1, 12), strings=100)
    for tokens, targets, mask, lengths in DataLoader(data, batch_size=50, collate_fn=data.collate):
        B, T = tokens.shape
        logits = torch.randn(B, T, 5, generator=generator())
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        torch.testing.assert_close(loss, torch.nn.functional.cross_entropy(logits[mask], targets[mask]))
        assert T == int(lengths.max()) <= 12 and len(set(lengths.tolist())) > 3 and (lengths % 2 == 1).all()
        assert ((targets != -100) == mask).all() and not mask[torch.arange(T) >= lengths[:, None]].any()
    few = [int(targets[mask]) for _, targets, mask, _ in task("tomita_4").dataset(strings=16)]
    assert 0 < sum(few) < 16  # where half are drawn from a language, they do not come first
    endless = iter(task("s_5").dataset())
    assert len({tuple(next(endless)[0].tolist()) for _ in range(200)}) == 200
    inputs, targets, mask = task("sum").sample(2, 3, generator())
    assert inputs.shape == targets.shape == mask.shape
    for wrong in ({"length": 0}, {"length": 2}, {"length": (9, 3)}, {"strings": 0}, {"seed": -1}, {"split": "tset"}):
        with pytest.raises(ValueError, match=re.escape(str([*wrong.values()][0] if wrong != {"length": (9, 3)} else 3))):
            task("modarith").dataset(**wrong)


class Length:
    def __call__(self, word):
        return len(word) % 2


def length_of(word, least):
    return (len(word) - least) % 2


@pytest.mark.parametrize("oracle, written", [
    (lambda word: len(word) % 2, f"{__name__}, line "), (partial(length_of, least=0), f"{__name__}.length_of"),
    (partial(partial(length_of), least=0), f"{__name__}.length_of"), (Length(), f"{__name__}.Length"), (Length().__call__, f"{__name__}.Length.__call__"),
])  # fmt: skip
def test_a_file_says_where_its_oracle_is_written_whatever_it_is(oracle, written):
    machine = MooreMachine([[1, 0]], [0, 1], 0, "a")
    said = Task(Language("length", machine, oracle), ask="every").dataset(strings=1).about["oracle"]
    assert said.startswith(written) and "<" not in said and " at 0x" not in said
    assert said == written or said.rpartition(" ")[2].isdigit()


def test_a_dataset_is_a_file_that_other_programs_read(tmp_path):
    data = task("parity", p=0.25).dataset(length=(2, 9), strings=20, seed=3)
    tokens, targets, mask, lengths = data.collate(list(data))
    first, *rest = map(json.loads, data.save(tmp_path / "a.jsonl").read_text().splitlines())
    assert [row["inputs"] for row in rest] == [row[:T].tolist() for row, T in zip(tokens, lengths)]
    assert [row["targets"] for row in rest] == [row[:T].tolist() for row, T in zip(targets, lengths)]
    assert first["symbols"] == ["0", "1"] and first["levels"] == {"length": 9, **data.task.levels(9)} and first["seed"] == 3
    assert first["asks"] == "how many 1s, mod 2" and "languages" in first["oracle"]
    table = pandas.read_csv(data.save(tmp_path / "a.csv"), comment="#")
    assert [[int(part) for part in text.split()] for text in table["inputs"]] == [row["inputs"] for row in rest]
    assert [[int(part) for part in text.split()] for text in table["targets"]] == [row["targets"] for row in rest]
    arrays = np.load(data.save(tmp_path / "a.npz"))
    assert all((arrays[name] == part.numpy()).all() for name, part in zip(("inputs", "targets", "mask", "lengths"),
                                                                          (tokens, targets, mask, lengths)))  # fmt: skip
    assert json.loads(str(arrays["about"])) == first
    with pytest.raises(FileExistsError, match="overwrite"):
        data.save(tmp_path / "a.npz")
    data.save(tmp_path / "a.npz", overwrite=True)
    assert task("shift").dataset(strings=2).save(tmp_path / "b.jsonl").exists()
    for wrong, path in ((data, "a.txt"), (task("shift").dataset(strings=2), "c.csv"), (task("sum").dataset(), "c.csv")):
        with pytest.raises(ValueError, match=path):
            wrong.save(tmp_path / path)


@pytest.mark.parametrize("name", ["Sum(5)", "EvenPair(5)", "ModArith(5)", "Parity", "Tomita 4", "D_3", "S_3", "A_4"])
def test_a_language_of_the_book_is_a_task(name):
    """Any machine is a task; its answers are the language's oracle's, which knows no machine."""
    language = LANGUAGES[name]
    made = task("machine", language.machine, name)
    batch = made.sample(20, 9, generator())
    for tokens, targets, mask in zip(batch.tokens, batch.targets, batch.mask):
        text = "".join(made.symbols[token] for token in tokens.tolist())
        said = [language.oracle(text[:end]) for end in range(1, 10)]
        assert targets[mask].tolist() == [label for label in said if label >= 0]
        assert read_word(language.machine, text) == tuple(tokens.tolist())


@pytest.mark.parametrize("name", [name for name in get_args(TaskName) if name not in YOURS])
def test_tasks_and_languages_are_called_alike(name):
    """Either takes the other's name, in any spelling; both mean one language."""
    made = task(name)
    for spelling in (name, name.upper(), name.replace("_", " ").title(), made.language.name):
        for found in (task(spelling).language, language(spelling)):
            assert (found.machine.transitions == made.rule.transitions).all(), spelling
            assert (found.machine.outputs == made.rule.outputs).all(), spelling


def test_a_name_that_is_none_shows_the_nearest():
    for find, wrong, nearest in ((task, "pairty", "parity"), (language, "Tomita 33", "Tomita 3"), (task, "evenpairz(3)", "evenpair"),
                                 (language, "cycle navigator", "cycle_navigation")):  # fmt: skip
        with pytest.raises(ValueError, match=f"no {find.__name__} is called .*; the nearest: .*{nearest}"):
            find(wrong)
    for find, wrong in ((task, "Sum(5, 3)"), (language, "Sum(1)"), (language, "Parity(2)"), (language, "even_pairs(3)"),
                        (task, "z_1"), (language, "s_9"), (task, "")):  # fmt: skip
        with pytest.raises(ValueError, match="(?i)" + re.escape(wrong.partition("(")[0])):
            find(wrong)


def test_groups_are_the_groups_they_are_called():
    assert [group(name).classes for name in ("s_3", "a_4", "s_4", "q_8", "a_5", "z_7", "s_5")] == [6, 12, 24, 8, 60, 7, 120]
    found = {name: classify(group(name).machine) for name in ("z_6", "s_4", "a_5")}
    assert found["z_6"].abelian and found["s_4"].derived_length == 3 and not found["a_5"].solvable
    dihedral = WordProblem({"r": (1, 2, 3, 0), "s": (0, 3, 2, 1)}, "D_4")
    tokens = torch.randint(2, (30, 8), generator=generator())
    assert dihedral.classes == 8 and dihedral.targets(tokens).tolist() == [dihedral.answer(row) for row in tokens]
    wide = task("group", {"s": (0, 2, 1, *range(3, 12)), "t": (0, 2, 11, *range(3, 11), 1)})  # S_3 on 12 points
    tokens = torch.randint(2, (30, 8), generator=generator())
    assert wide.classes == 6 and wide.targets(tokens).tolist() == [wide.answer(row) for row in tokens]
    for wrong in ({"s": (0, 0)}, {}):
        with pytest.raises(ValueError, match="group: generators are permutations .* got " + re.escape(repr(wrong))):
            task("group", wrong)


def test_what_no_string_shows_is_no_answer_of_a_machine():
    unreachable = MachineTask(MooreMachine([[0, 1, 2], [1, 0, 2]], [0, 1, 7], 0, "ab"))
    assert unreachable.classes == 2 and unreachable.targets(torch.tensor([[0, 1, 1]])).tolist() == [[0, 1, 0]]
    before = MachineTask(MooreMachine([[1, 2, 1], [2, 1, 2]], [2, 0, 1], 0, "ab"))  # no arrow leads back to class 2
    assert before.classes == 2 and before.majority(3) == 0.5 and before.label_distribution(2).tolist() == [0.5, 0.5]
    unlabelled = MachineTask(language("EvenPair(2)").machine)
    assert unlabelled.answers == "every" and unlabelled.specification == task("evenpair", 2).specification
    some = MachineTask(MooreMachine([[1, 2, 3, 0]], [1, 0, NO_LABEL, 1], 0, "a"))
    assert some.answers == "places" and some.specification.outputs[some.specification.initial] == NO_LABEL
    with pytest.raises(ValueError, match=r"at least two; this machine shows \[1\]"):
        MachineTask(MooreMachine([[1, 1]] * 2, [0, 1], 0, "ab"))
    tracked = task("states", language("EvenPair(5)").machine)
    assert tracked.classes == 11 and tracked.targets(torch.tensor([[0, 0]])).unique().min() > 0  # the start is a state too


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.sampled_from("ab"), lambda inner: st.one_of(
    st.tuples(inner, inner).map("".join), st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})"),
    inner.map(lambda one: f"({one})*"), inner.map(lambda one: f"({one})?"), inner.map(lambda one: f"({one})+"),
    inner.map(lambda one: f"{one}*" if one[-1] in "ab)" else one), inner.map(lambda one: f"(|{one})"),
    inner.map(lambda one: f"{one}||b"), inner.map(lambda one: f"({one}|)a"),
), max_leaves=6))  # fmt: skip
def test_a_regular_expression_is_read_as_python_reads_it(pattern):
    machine = acceptor(pattern, "ab")
    words = [format(number, f"0{length}b") for length in range(1, 7) for number in range(2**length)]
    for word in ["", *words]:
        text = word.replace("0", "a").replace("1", "b")
        state = machine.initial
        for char in text:
            state = machine.transitions["ab".index(char), state]
        assert machine.outputs[state] == (re.fullmatch(pattern, text) is not None), (pattern, text)


def test_an_expression_is_a_task_with_strings_of_both_kinds():
    made = expression("(ab|ba)*")
    batch = made.sample(40, 12, generator())
    assert batch.targets.sum() == 20 and [made.answer(row) for row in batch.tokens] == batch.targets.tolist()
