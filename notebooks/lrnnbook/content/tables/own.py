"""Rules and tasks of your own in a table: ``"my_module:MyRule"``, of a module beside the YAML that names it."""

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lrnnbook.content.tables.nets import MIXERS
from lrnnlab.models import MODELS, Recurrence, network
from lrnnlab.models.base import Stepwise, missing
from lrnnlab.tasks import TASKS, BaseTask

WIDTHS = ("hidden_size", "d_model")  # what constructors of layers, (B,T,D) -> (B,T,D), call D
INSTALL = {"fla": "flash-linear-attention"}  # module -> what pip calls it
REGISTRIES: dict[str, dict[str, Any]] = {"model": MODELS, "mixer": MIXERS, "task": TASKS, "machine": TASKS}  # by key of a setting


def stepwise(make: Callable[..., nn.Module], vocab_size: int, classes: int, **options: Any) -> Stepwise:
    """A net that has ``initial_state`` and ``step`` alone, on whole strings."""
    return Stepwise(make(vocab_size, classes, **options), vocab_size=vocab_size, classes=classes)


class Layer(nn.Module):
    """A layer of another library as a mixer: of what it returns, the first counts, as flash-linear-attention has it."""

    def __init__(self, make: Callable[..., nn.Module], called: str, width: int, **options: Any):
        super().__init__()
        self.layer = make(**{called: width}, **options)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """(B, T, D) -> (B, T, D)."""
        found = self.layer(z)
        return found[0] if isinstance(found, tuple) else found


def enter(folder: str, setting: Mapping[str, Any]) -> None:
    """Enter the models and tasks of one's own that a setting names where the tables look names up."""
    for key, registry in REGISTRIES.items():
        name = setting.get(key)
        if isinstance(name, str) and ":" in name:
            found = imported(name, Path(folder))
            registry[name] = _task(name, found) if registry is TASKS else _model(name, found, key)


def imported(name: str, folder: Path) -> Any:
    """What ``module:name`` is; the module is looked for in ``folder`` first."""
    module, _, attribute = name.partition(":")
    folder = folder.resolve()  # as Python says where a module comes from
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        found = import_module(module)
    except (ModuleNotFoundError, ValueError) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and not f"{module}.".startswith(f"{error.name}."):
            raise  # of what the module itself imports
        missing = INSTALL.get(module.partition(".")[0])
        hint = f", and none is installed: pip install {missing}" if missing else ""
        raise ValueError(f"{name!r}: there is no module {module!r} in {folder}{hint}") from None
    top, file = folder / module.partition(".")[0], Path(getattr(found, "__file__", None) or folder)
    if (top.is_dir() or top.with_suffix(".py").is_file()) and not file.resolve().is_relative_to(folder):
        raise ValueError(f"{name!r}: another {module!r} is imported already, from {file}, in place of that in {folder}")
    if not hasattr(found, attribute):
        there = [one for one, what in vars(found).items() if getattr(what, "__module__", None) == found.__name__]
        raise ValueError(f"{name!r}: {file} has no {attribute!r}; there are {', '.join(there) or 'no classes or functions'}")
    return getattr(found, attribute)


def _model(name: str, found: Any, key: str) -> Any:
    """What makes the model: of ``vocab_size`` and ``classes``, or, of a mixer, of a width."""
    if inspect.isclass(found) and issubclass(found, nn.Module):
        if key == "mixer":
            return found
        if issubclass(found, Recurrence):
            return partial(network, found)
        if found.forward is not nn.Module.forward:
            width = next((one for one in WIDTHS if one in inspect.signature(found).parameters), None)
            mixer: Any = partial(Layer, found, width)
            return found if width is None else partial(network, mixer, by_symbol=False)
        if lacks := missing(found, "a row", "initial_state", "step"):
            raise ValueError(f"{name!r} reads neither strings by forward nor tokens by step: {lacks}")
        return partial(stepwise, found)
    elif callable(found) and not inspect.isclass(found):
        return found
    raise ValueError(f"{name!r} is no recurrence: it is neither a Recurrence, nor a torch module with forward, or with initial_state "
                     f"and step, nor a function that makes one; got {found!r}")  # fmt: skip


def _task(name: str, found: Any) -> Callable[..., BaseTask]:
    if callable(found) and not (inspect.isclass(found) and not issubclass(found, BaseTask)):
        return found
    raise ValueError(f"{name!r} makes no task: it is neither a class of tasks nor a function that returns one; got {found!r}")
