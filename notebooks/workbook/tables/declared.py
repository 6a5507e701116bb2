"""A table as data: ``NAME.yaml`` says what it has and how each of its cells is trained; ``papers/NAME.csv`` what is printed.

::

    setting: {batch: 16, rate: 0.01, steps: 1500}          # of every cell, unless one of the next says otherwise:
    budgets:                                               # each a name, and what it sets
      live: {steps: 100}
      desk:
    tasks:
      "{task}-{length}": {task: [shift, sort], length: [64, 128]}    # four tasks, each sets both
    rows:
      dlr: {mixer: dlr, options.state: = length}           # a dot goes into a mapping; "= " is worked out from what is set
      dlr_real: {mixer: dlr, options.eigenvalues: real}
      "dss_{_layers}": {mixer: dss, _layers: [1, 2], options.layers: = _layers}
    cells:                                                 # exceptions, one after the other
    - {when: {row: dlr, task: [sort-64, sort-128], budget: desk}, steps: 3000}
    - {when: {options.layers: 2, length: 128}, batch: 8}   # by what is set, too

Settings are put together in that order, a later one over an earlier one; sums are worked out last.  What begins with ``_``
serves sums and ``when`` alone and is no part of a setting.  ``like: NAME`` takes from another file what this one does not
say; ``rows`` and ``tasks`` may then be lists, of some of its own.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pandas import DataFrame

HERE = Path(__file__).resolve().parent
NAMED = ("budgets", "tasks", "rows")
MOST = 40  # names that a refusal lists
NAME = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*")  # of what is set, in ``= 0.25 / options.state``
IN_SUMS = {"pi": math.pi, "max": max, "min": min, "float": float, "int": int}
KNOWN = {"like", "setting", "cells", *NAMED, "extra", "only", "columns", "aliases", "seeds", "protocols", "modulus", "clock",
         "score", "scored", "shown", "why", "notes"}  # fmt: skip
SHOWN = {"metric", "metrics", "title", "as", "across", "level", "of", "each"}


def there(found: Any, known: Collection, what: str, name: str) -> None:
    """``ValueError``, with what there is, unless ``found`` is among ``known``."""
    if found not in known:
        shown = [*map(str, list(known)[:MOST]), *([f"... ({len(known):,})"] if len(known) > MOST else [])]
        raise ValueError(f"{name} has no {what} {found!r}; there are {', '.join(shown)}")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which 1e-3 is a number and a key stands once."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        keys = [key.value for key, _ in node.value]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise yaml.constructor.ConstructorError(None, None, f"{twice.pop()!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(\.\d*)?e[-+]?\d+$"), list("-+0123456789"))


class Declared:
    """What ``NAME.yaml`` says of a table; ``ValueError`` with the file and the key for what cannot be."""

    def __init__(self, name: str):
        self.file = HERE / f"{name.replace('/', '_')}.yaml"
        self.found = own = _read(self.file)
        for key in own:
            self._must(key, KNOWN, "key")
        base = Declared(own["like"]) if "like" in own else None
        if base is not None:
            self.found = {**base.found, **own}
        self.budgets, self.tasks, self.rows = (
            getattr(base, kind) if base and kind not in own else self._names(own[kind] or {}, kind, base) for kind in NAMED
        )
        for key in (key for one in own.get("shown", ()) for key in one):  # a comma in a title that is not quoted makes one
            self._must(key, SHOWN, "key in shown:")
        if "cells" in own:
            self._check_cells(own["cells"])
        for row in self.found.get("aliases", {}).values():
            self._must(row, self.rows, "row in aliases:")
        self.extra, self.only, self.columns = (
            {budget: tuple(self._chosen(budget, wanted)) for budget, wanted in self.found.get(kind, {}).items()}
            for kind in ("extra", "only", "columns")
        )

    def _check_cells(self, cells: list[dict]) -> None:
        """What an exception is of must be there: rows, tasks, budgets by name, anything else by a key that something sets."""
        known = {"budget": self.budgets, "task": self.tasks, "row": self.rows}
        sets = [self.found.get("setting", {}), *cells, *(one for names in known.values() for one in names.values())]
        keys = {**known, **dict.fromkeys(key for one in sets for key in _paths(one) if key != "when")}
        values = {value for one in sets for value in one.values() if isinstance(value, str)}
        for cell in cells:
            for key, wanted in cell.get("when", {}).items():
                self._must(key, keys, "key in cells:")
                for value in _listed(wanted) if key in known else ():
                    if value not in values:
                        self._must(value, known[key], f"{key} in cells:")

    def _chosen(self, budget: str, wanted: Mapping) -> Iterator[str]:
        """The tasks of which all this holds: ``{length: [512, 4096]}``, ``{task: [a, b]}``."""
        self._must(budget, self.budgets, "budget")
        for task, sets in self.tasks.items():
            if all(task in _listed(values) or sets.get(key) in _listed(values) for key, values in wanted.items()):
                yield task

    def _must(self, found: Any, known: Collection, what: str) -> None:
        there(found, known, what, self.file.name)

    def _names(self, said: Any, kind: str, base: Declared | None) -> dict[str, dict]:
        """Name -> what it sets; a name with ``{key}`` stands for one with each value that is listed under the key."""
        if base is not None and isinstance(said, list):
            for one in said:
                self._must(one, getattr(base, kind), f"name in {kind}:")
            return {one: getattr(base, kind)[one] for one in said}
        found: dict[str, dict] = {}
        for pattern, sets in said.items():
            sets, keys = sets or {}, re.findall(r"{(\w+)}", str(pattern))
            for key in keys:
                self._must(key, sets, f"key of {pattern!r}:")
            for values in product(*(sets[key] for key in keys)):
                bound = dict(zip(keys, values))
                found[str(pattern).format(**bound)] = {**sets, **bound}
        return found

    def setting(self, row: str, task: str, budget: str, cells: bool = True, also: Mapping = {}) -> dict:
        """The setting of a cell that is there; without its exceptions if not ``cells``; ``also`` sets what it says."""
        found = self._all_that_is_set({"row": row, "task": task, "budget": budget}, cells, also)
        return {key: value for key, value in found.items() if not key.startswith("_")}

    def holds(self, when: Mapping, row: str, task: str, budget: str) -> bool:
        """Whether a cell is one that ``when`` means."""
        cell = {"row": row, "task": task, "budget": budget}
        return all(self._is(cell, self._all_that_is_set(cell), key, wanted) for key, wanted in when.items())

    def _all_that_is_set(self, cell: dict[str, str], cells: bool = True, also: Mapping = {}) -> dict:
        """The setting of a cell with what serves sums and ``when`` alone."""
        row, task, budget = cell.values()
        found: dict[str, Any] = {}
        plain = [self.found.get("setting", {}), self.budgets[budget], self.tasks[task], self.rows[row]]
        for sets in (*plain, *(self.found.get("cells", ()) if cells else ()), also):
            if all(self._is(cell, found, key, wanted) for key, wanted in sets.get("when", {}).items()):
                for path, value in sets.items():
                    if path != "when":
                        _put(found, path, copy.deepcopy(value))
        return self._worked_out(found, (), found, cell, ())

    @staticmethod
    def _is(cell: Mapping, found: Mapping, key: str, wanted: Any) -> bool:
        if key in cell and cell[key] in _listed(wanted):
            return True
        value: Any = found
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value is not None and value in _listed(wanted)

    def _worked_out(self, value: Any, at: tuple, setting: Mapping, cell: Mapping, within: tuple) -> Any:
        """``value``, which is ``at`` a place of the setting, with its sums worked out; ``within`` are those that wait for it."""
        if isinstance(value, dict):
            return {key: self._worked_out(one, (*at, key), setting, cell, within) for key, one in value.items()}
        if isinstance(value, list):
            return [self._worked_out(one, at, setting, cell, within) for one in value]
        if not (isinstance(value, str) and value.startswith("= ")):
            return value

        def named(text: str) -> Any:
            place = (*text.split("."),)
            found: Any = setting if place[0] in setting and place != at and place not in within else cell
            for name in place:
                found = found[name]
            return self._worked_out(found, place, setting, cell, (*within, at))

        try:
            said = NAME.sub(lambda one: one[0] if one[0] in IN_SUMS else repr(named(one[0])), value[2:])
            return eval(said, {"__builtins__": {}}, IN_SUMS)
        except (KeyError, TypeError, SyntaxError) as error:
            names = ", ".join({**cell, **setting})
            raise ValueError(f"{self.file.name}: {value!r} cannot be worked out ({error}); there are {names}") from None


def _read(file: Path) -> dict:
    try:
        return yaml.load(file.read_text(encoding="utf-8"), _Loader)
    except yaml.YAMLError as error:
        raise ValueError(f"{file.name}: {error}") from None


def _listed(wanted: Any) -> list:
    return wanted if isinstance(wanted, list) else [wanted]


def _paths(sets: Mapping, within: str = "") -> Iterator[str]:
    """``options`` and ``options.layers`` of ``{"options": {"layers": 2}}``."""
    for key, value in sets.items():
        yield f"{within}{key}"
        if isinstance(value, dict) and key != "when":
            yield from _paths(value, f"{within}{key}.")


def _put(found: dict, path: str, value: Any) -> None:
    *into, last = path.split(".")
    for name in into:
        found = found.setdefault(name, {})
    found[last] = value


def paper(name: str) -> DataFrame:
    """The numbers that the paper prints for a table, one a line: ``task``, ``row``, ``metric``, ``value``; there may be none.

    >>> paper("fwp/table1").query("task == 'parity' and row == 'deltanet'")["value"].tolist()
    [97.3, 11.8]
    """
    import pandas as pd  # a quarter of a second to load

    file = HERE / "papers" / f"{name.replace('/', '_')}.csv"
    text = {"task": str, "row": str, "metric": str}
    return pd.read_csv(file, dtype=text) if file.is_file() else pd.DataFrame(columns=[*text, "value"])
