"""Which runs of a table are asked for.

>>> plan("lrnn/table2", tasks=["sum"], rows=["ours"], seeds=[101], budget="live")[0].setting.model
'block_diagonal'
>>> plan("lrnn/growth", tasks=["gaussian"], rows=["clip"])[0].setting["rule"]
'clip'
"""

from collections.abc import Sequence

from lrnnbook.content.tables.declared import require_known
from lrnnbook.content.tables.table import BUDGETS, PROTOCOLS, Run, get
from lrnnlab.validation import checked, whole_number


@checked
def plan(
    name: str,
    *,
    tasks: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    budget: str = "live",
    protocol: str | None = None,
) -> list[Run]:
    """List the requested runs without duplicates, ordered by task, then row, then seed.

    The paper's budget has the paper's protocol by default, where there is one, and the paper's columns.  Without
    ``seeds``: those that the table says.
    """
    table = get(name)
    for what, chosen in {"tasks": tasks, "rows": rows, "seeds": seeds}.items():
        if isinstance(chosen, str):  # its letters are names of nothing
            raise ValueError(f"{name}: give the {what} as a list, got {chosen!r}")
        if chosen is not None and not len(chosen):  # an empty variable of a script does not mean all
            raise ValueError(f"{name}: give at least one of the {what}, or leave them out for all, got {chosen!r}")
    for seed in seeds or ():
        whole_number(seed, 0, f"{name}: a seed", most=2**63 - 1)
    require_known(budget, BUDGETS, "budget", "lrnnlab")
    if protocol is None:
        protocol = "paper" if budget == "paper" and "paper" in table.protocols else "ours"
    require_known(protocol, PROTOCOLS, "protocol", "lrnnlab")
    require_known(protocol, table.protocols, "protocol", name)
    every = dict.fromkeys(table.seeds if seeds is None else seeds)
    cells = [
        (task, row, table.for_protocol(table.setting(row, task, budget), protocol))
        for task in dict.fromkeys(table.columns.get(budget, table.tasks) if tasks is None else tasks)
        for row in dict.fromkeys(table.aliases.get(row, row) for row in (table.rows if rows is None else rows))
    ]
    folder = str(table.declared.file.parent) if table.declared.outside else None
    return [Run(table.name, task, row, seed, budget, protocol, setting, table.modulus, folder)
            for task, row, setting in cells for seed in every]  # fmt: skip


@checked
def search_plan(
    name: str, *, tasks: Sequence[str] | None = None, rows: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None, budget: str = "live", first: int | None = None,
) -> list[Run]:  # fmt: skip
    """The runs of a search for table ``name``: of each task and row the ``first`` configurations (None: all)."""
    from lrnnbook.content.tables.fwp_search import MODELS, SEARCHED, configurations  # loads pandas, and reads two files

    require_known(name, SEARCHED, "table", "a search")
    if first is not None and first < 1:
        raise ValueError(f"a search tries the first N configurations, 1 or more, got {first}")
    rows = [row for row in get(name).rows if row in MODELS] if rows is None else rows  # others have no grid of the paper
    cells = plan(name, tasks=tasks, rows=rows, seeds=[0], budget=budget)
    numbered = [f"{row}-{k}" for row in dict.fromkeys(run.row for run in cells)
                for k in range(len(configurations(row)))[:first]]  # fmt: skip
    return plan("fwp/search", tasks=get(name).tasks if tasks is None else tasks, rows=numbered,
                seeds=(0,) if seeds is None else seeds, budget=budget)  # fmt: skip
