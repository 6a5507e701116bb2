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

A file of your own, anywhere, is like a table, and adds to its rows or tasks: ``rows: {mine: {model: "my_module:MyRule"}}``
(:mod:`lrnnbook.content.tables.own`); beside some of its own in a list, ``tasks: [parity, {mine: {task: "my_module:my_task"}}]``.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pandas import DataFrame

HERE = Path(__file__).resolve().parent
NAMED = ("budgets", "tasks", "rows")
MAX_NAMES_LISTED = 40  # names that a refusal lists
NAME = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*")  # of what is set, in ``= 0.25 / options.state``
IN_SUMS = {"pi": math.pi, "max": max, "min": min, "float": float, "int": int}
KINDS = {dict: "keys with what they say", list: "a list", str: "a text", int: "a whole number", float: "a number",
         bool: "true or false", type(None): "nothing"}  # fmt: skip
KNOWN = {"like": (str,), "setting": (dict,), "cells": (list,), **dict.fromkeys(NAMED, (dict, list)), "aliases": (dict,),
         **dict.fromkeys(("extra", "only", "columns"), (dict,)), "seeds": (list,), "protocols": (list,), "modulus": (int,),
         "clock": (bool,), "score": (str, list), "scored": (str,), "shown": (list,), "why": (dict, list), "notes": (str,)}  # fmt: skip
SHOWN: dict[str, Any] = {"metric": str, "metrics": dict, "title": str, "level": dict, "as": ("percent", "number", "mean", "word"),
         "across": ("row", "task"), "of": ("paper",), "each": ("row", "seed")}  # fmt: skip
SETS = re.compile(r"[A-Za-z_]\w*(\.\w+)*")  # keys of settings
NUMBER = re.compile(  # what all readers of YAML, and people, take for the same number
    r"[-+]?(0|[1-9]\d*|[1-9]\d?\d?(_\d{3})+|(\d+\.\d*|\.\d+)([eE][-+]?\d{1,2})?|\d+[eE][-+]?\d{1,2}|\.inf)|0x[\da-fA-F]+",
    re.ASCII,
)
LIKE_A_NUMBER = re.compile(
    r"[-+\u2212\u2013.]?\s?\d[\d\s.,_eE+/%:'\u2019\u2212\u2013-]*[kKMf]?|0o\d+|[-+]?(?i:nan|inf|infinity)|None"
)
MAX_NUMBER_CHARACTERS = 40  # characters of a number


def require_known(found: Any, known: Collection, what: str, name: str) -> None:
    """Raise ``ValueError``, listing the valid names, unless ``found`` is one of them."""
    if found not in known:
        shown = [*map(str, list(known)[:MAX_NAMES_LISTED]), *([f"... ({len(known):,})"] if len(known) > MAX_NAMES_LISTED else [])]
        raise ValueError(f"{name} has no {what} {found!r}; there are {', '.join(shown)}")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which 1e-3 is a number, and a key is the text that is written."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        self.flatten_mapping(node)  # what "<<" means
        return {key.value: self.construct_object(value, deep=deep) for key, value in node.value}


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+\Z", re.ASCII), list("-+.0123456789")
)


class Declared:
    """What ``NAME.yaml`` says of a table; ``ValueError`` with the file and the key for what cannot be."""

    def __init__(self, name: str, within: tuple[str, ...] = (), tables: Collection[str] = ()):
        self.outside = name.endswith(".yaml")  # a file of one's own
        self.file = Path(name).resolve() if self.outside else HERE / f"{name.replace('/', '_')}.yaml"
        if name in within or not self.file.is_file():
            why = "is like itself" if name in within else "is not there"
            raise ValueError(f"{f'{within[-1]}.yaml: like: ' if within else ''}{self.file.name} {why}")
        self.found = own = _read(self.file)
        for key, value in own.items():
            self._must(key, KNOWN, "key")
            self._kind(value, KNOWN[key], key)
        if self.outside:
            own["like"] = {one.replace("/", "_"): one for one in tables}.get(own.get("like"), own.get("like"))
            self._must(own["like"], tables, "table in like:")
        base = Declared(own["like"], (*within, name)) if "like" in own else None
        if base is not None:
            self.found = {**base.found, **own}
        if missing := [kind for kind in NAMED if kind not in self.found]:
            raise self._refusal(missing[0], "is not there")
        self._check_sets(own.get("setting", {}), "setting")
        self.budgets, self.tasks, self.rows = (
            getattr(base, kind) if base and kind not in own else self._names(own[kind], kind, base) for kind in NAMED
        )
        if base and self.outside:
            self._check_new(own, base)
        self._check_cells(own.get("cells", ()))
        self._check_said(own)
        for row in self.found.get("aliases", {}).values():
            self._must(str(row), self.rows, "row in aliases:")
        self.extra, self.only, self.columns = (
            {budget: self._tasks_where(budget, wanted, kind) for budget, wanted in self.found.get(kind, {}).items()}
            for kind in ("extra", "only", "columns")
        )

    def _check_new(self, own: Mapping, base: Declared) -> None:
        """Rows and tasks of one's own have names of their own; of what a table says of others, only what they have counts."""
        for kind, known in (("rows", base.rows), ("tasks", base.tasks)):
            said = own.get(kind, [])
            for one in chain(*([said] if isinstance(said, dict) else (new for new in said if isinstance(new, dict)))):
                if one in known:
                    raise self._refusal(f"{kind}, {one}", f"{own['like']} has this name already; take another, or list names to keep")
        gone = {"aliases", "extra", "only", "columns"} - {*own}
        self.found = {key: value for key, value in self.found.items() if key not in gone}
        self.found["setting"] = {"options": {}, **base.found.get("setting", {}), **own.get("setting", {})}

    def _refusal(self, where: str, why: str) -> ValueError:
        return ValueError(f"{self.file.name}: {where}: {why}")

    def _kind(self, value: Any, kinds: tuple[type, ...], where: str) -> None:
        if type(value) not in kinds:
            raise self._refusal(where, f"asks for {' or '.join(KINDS[kind] for kind in kinds)}, got {value!r}")

    def _check_said(self, own: Mapping) -> None:
        """Check the parts of ``seeds``, ``why`` and ``shown``."""
        for seed in own.get("seeds", ()):
            self._kind(seed, (int,), "seeds")
        for one in _listed(own.get("why", [])):
            self._kind(one, (dict,), "why")
            for key in {"far", "known"} - {*one}:
                raise self._refusal("why", f"has no {key!r}")
        for number, one in enumerate(own.get("shown", ()), 1):
            where = f"shown, number {number}"
            self._kind(one, (dict,), where)
            for key, value in one.items():  # a comma in a title that is not quoted makes one
                self._must(key, SHOWN, "key in shown:")
                if isinstance(SHOWN[key], type):
                    self._kind(value, (SHOWN[key],), f"{where}, {key}")
                else:
                    self._must(value, SHOWN[key], f"{key!r} in shown:")
            if "title" not in one or not {"metric", "metrics"} & {*one}:
                raise self._refusal(where, "asks for a title, and for a metric or metrics")

    def _check_sets(self, sets: Any, where: str, kinds: tuple[type, ...] = (dict,)) -> None:
        """What is set must be a mapping whose keys are names, with dots between them."""
        self._kind(sets, kinds, where)
        for key in sets or ():
            if not SETS.fullmatch(key):
                raise self._refusal(where, f"{key!r} is no name of what could be set")
        self._check_when((sets or {}).get("when", {}), f"{where}, when")

    def _check_when(self, when: Any, where: str) -> None:
        self._kind(when, (dict,), where)
        for key, wanted in when.items():
            for one in _listed(wanted):
                self._kind(one, (str, int, float, bool), f"{where}, {key}")

    def _check_cells(self, cells: list[dict]) -> None:
        """What an exception is of must be there: rows, tasks, budgets by name, anything else by a key that something sets."""
        known = {"budget": self.budgets, "task": self.tasks, "row": self.rows}
        for number, cell in enumerate(cells, 1):
            self._check_sets(cell, f"cells, number {number}")
        sets = [self.found.get("setting", {}), *cells, *(one for names in known.values() for one in names.values())]
        keys = {**known, **dict.fromkeys(key for one in sets for key in _paths(one) if key != "when")}
        values = {value for one in sets for value in one.values() if isinstance(value, str)}
        for cell in cells:
            for key, wanted in cell.get("when", {}).items():
                self._must(key, keys, "key in cells:")
                for value in _texts(wanted) if key in known else ():
                    if value not in values:
                        self._must(value, known[key], f"{key} in cells:")

    def _tasks_where(self, budget: str, wanted: Any, kind: str) -> tuple[str, ...]:
        """The tasks of which all this holds: ``{length: [512, 4096]}``, ``{task: [a, b]}``."""
        self._must(budget, self.budgets, "budget")
        self._check_when(wanted, f"{kind}, {budget}")
        found = tuple(
            task for task, sets in self.tasks.items()
            if all((key == "task" and task in _texts(values)) or sets.get(key) in _listed(values) for key, values in wanted.items())
        )  # fmt: skip
        if not found:
            raise self._refusal(f"{kind}, {budget}", f"no task has {wanted}")
        return found

    def _must(self, found: Any, known: Collection, what: str) -> None:
        require_known(found, known, what, self.file.name)

    def _names(self, said: Any, kind: str, base: Declared | None) -> dict[str, dict]:
        """Name -> what it sets; a name with ``{key}`` stands for one with each value that is listed under the key."""
        if isinstance(said, list):
            if base is None:
                raise self._refusal(kind, "a list is of names of another file, and like: does not say which")
            listed: dict[str, dict] = {}
            for one in said:
                self._kind(one, (str, int, *[dict] * self.outside), kind)
                if not isinstance(one, dict):
                    self._must(str(one), getattr(base, kind), f"name in {kind}:")
                new = self._names(one, kind, base) if isinstance(one, dict) else {str(one): getattr(base, kind)[str(one)]}
                if twice := isinstance(one, dict) and {*listed} & {*new}:
                    raise self._refusal(kind, f"{min(twice)!r} appears twice")
                listed |= new
            return listed
        found: dict[str, dict] = {}
        for pattern, sets in said.items():
            where = f"{kind}, {pattern}"
            self._check_sets(sets, where, (dict, type(None)))
            sets, keys = sets or {}, re.findall(r"{(\w+)}", pattern)
            if not pattern or set(re.sub(r"{\w+}", "", pattern)) & set("{}"):
                raise self._refusal(where, "is neither a name nor a pattern such as {key}-{other}")
            for key in keys:
                self._must(key, sets, f"key of {pattern!r}:")
                self._kind(sets[key], (list,), f"{where}, {key}")
                for value in sets[key]:
                    self._kind(value, (str, int, float), f"{where}, {key}")
            for values in product(*(sets[key] for key in keys)):
                bound = dict(zip(keys, values))
                name = pattern.format(**bound)
                if name in found:
                    raise self._refusal(where, f"{name!r} appears twice")
                found[name] = {**sets, **bound}
        return found

    def setting(self, row: str, task: str, budget: str, cells: bool = True, also: Mapping = {}) -> dict:
        """The setting of a cell that is there; without its exceptions if not ``cells``; ``also`` sets what it says."""
        found = self._all_that_is_set({"row": row, "task": task, "budget": budget}, cells, also)
        return {key: value for key, value in found.items() if not key.startswith("_")}

    def holds(self, when: Mapping, row: str, task: str, budget: str) -> bool:
        """Whether a cell is one that ``when`` means; none is that the table does not have, such as one of one's own."""
        if row not in self.rows or task not in self.tasks:
            return False
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
                    if path != "when" and not _put(found, path, copy.deepcopy(value)):
                        raise self._refusal(path, f"cannot be set: {path.rpartition('.')[0]} is no mapping in {cell}")
        return self._worked_out(found, (), found, cell, ())

    @staticmethod
    def _is(cell: Mapping, found: Mapping, key: str, wanted: Any) -> bool:
        if key in cell and cell[key] in _texts(wanted):
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
            found = eval(said, {"__builtins__": {}}, IN_SUMS)
            json.dumps(found, allow_nan=False)  # no setting is complex, or infinite
        except _NotWorkedOut:
            raise
        except Exception as error:  # noqa: BLE001  (of a sum, which is Python)
            names = ", ".join({**cell, **setting})
            why = f"{value!r} cannot be worked out ({error}); there are {names}"
            raise _NotWorkedOut(f"{self.file.name}: {'.'.join(at)}: {why}") from None
        return found


class _NotWorkedOut(ValueError):
    """A sum in a setting that has no value."""


def _read(file: Path) -> dict:
    """What a file says; ``ValueError``, with the file, the line and the key, for what is not YAML or has two meanings."""
    try:
        loader = _Loader(file.read_bytes().decode("utf-8-sig"))
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise ValueError(f"asks for keys and what they say, got {node and node.value!r}")
        _check_node(node, "", {})
        return loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{file.name}: {' '.join(str(error).split())}") from None


def _check_node(node: Any, path: str, done: dict[int, bool]) -> None:
    """``ValueError`` unless a node means the same to all readers of YAML and to people; ``done``: nodes, and whether they ended."""
    kind, text, why = node.tag.rpartition(":")[2], node.value, ""
    if kind not in ("map", "seq", "str", "int", "float", "bool", "null", "merge"):
        why = f"{text!r} is a {kind}; quote it to make it a text"
    elif isinstance(node, yaml.ScalarNode) and not node.style:  # neither in quotes nor a block
        if kind in ("int", "float") and (len(text) > MAX_NUMBER_CHARACTERS or not NUMBER.fullmatch(text)):
            why = f"not all read {text!r} as the same number"
        elif kind == "bool" and text.lower() not in ("true", "false"):
            why = f"{text!r} is true or false to some readers, a word to others; write true or false, or quote it"
        elif kind == "str" and LIKE_A_NUMBER.fullmatch(text):
            why = f"{text!r} is no number here; quote it to make it a text"
        elif text.startswith("=") and not text.startswith("= "):
            why = f"a sum begins with '= ', got {text!r}"
    elif not done.get(id(node), True):
        why = "contains itself"
    elif kind == "map":
        keys = [key.value for key, _ in text if isinstance(key, yaml.ScalarNode)]
        if len(keys) < len(text):
            why = "a key is a name"
        elif twice := {key for key in keys if keys.count(key) > 1}:
            why = f"{min(twice)!r} appears twice"
    if why:
        raise ValueError(f"line {node.start_mark.line + 1}, {path or 'the file'}: {why}")
    if id(node) not in done and not isinstance(node, yaml.ScalarNode):
        done[id(node)] = False
        for key, part in zip(keys, (value for _, value in text)) if kind == "map" else enumerate(text, 1):
            _check_node(part, f"{path}.{key}" if path else str(key), done)
        done[id(node)] = True


def _listed(wanted: Any) -> list:
    return wanted if isinstance(wanted, list) else [wanted]


def _texts(wanted: Any) -> list[str]:
    """Names that are listed, or the one: 8 is written for the row ``"8"``, too."""
    return [str(one) for one in _listed(wanted)]


def _paths(sets: Mapping, within: str = "") -> Iterator[str]:
    """``options`` and ``options.layers`` of ``{"options": {"layers": 2}}``."""
    for key, value in sets.items():
        yield f"{within}{key}"
        if isinstance(value, dict) and key != "when":
            yield from _paths(value, f"{within}{key}.")


def _put(found: dict, path: str, value: Any) -> bool:
    *into, last = path.split(".")
    for name in into:
        found = found.setdefault(name, {})
        if not isinstance(found, dict):
            return False
    found[last] = value
    return True


def paper(name: str) -> DataFrame:
    """The numbers that the paper prints for a table, one a line: ``task``, ``row``, ``metric``, ``value``; there may be none.

    >>> paper("fwp/table1").query("task == 'parity' and row == 'deltanet'")["value"].tolist()
    [97.3, 11.8]
    """
    import pandas as pd  # a quarter of a second to load

    file = HERE / "papers" / f"{name.replace('/', '_')}.csv"
    text = {"task": str, "row": str, "metric": str}
    return pd.read_csv(file, dtype=text) if file.is_file() else pd.DataFrame(columns=[*text, "value"])
