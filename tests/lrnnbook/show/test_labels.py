"""What models and tasks are called and how they are drawn: nothing is named twice, nothing that is no table's, nothing unread."""

import pytest

from lrnnbook.content.show import labels
from lrnnbook.content.tables import NAMES, get
from lrnnlab.models import MODELS
from lrnnlab.tasks import TASKS

READ = {"name", "in", "as_it_stands", "colour", "dash", "marker", "chapter", "paper", "says", "text", "paper_row"}


def test_every_model_and_task_of_a_registry_and_every_code_has_one_label():
    assert set(MODELS) <= set(labels.MODELS) and set(TASKS) <= set(labels.TASKS)
    assert sum(map(len, labels.KINDS.values())) == len(labels.LABELS)
    assert {key for label in labels.LABELS.values() for key in label} <= READ


@pytest.mark.parametrize("name", NAMES)
def test_no_two_rows_or_tasks_of_a_table_are_called_alike(name):
    table = get(name)
    for codes in (table.rows, table.tasks):
        assert len({labels.named(code, name) for code in codes}) == len(codes)


def test_a_name_for_some_tables_is_one_of_a_code_that_they_have():
    for code, label in labels.LABELS.items():
        for start, name in label.get("in", {}).items():
            has = [code for table in map(get, NAMES) if table.name.startswith(start) for code in (*table.rows, *table.tasks)]
            assert any(code == one or one.startswith(f"{code}_") for one in has) and name != label["name"], (code, start)
