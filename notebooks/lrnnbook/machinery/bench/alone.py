"""What the library asks for beside torch: MB of each package on the disk, and seconds to import each room, torch's taken off.

``python -m lrnnbook.machinery.bench.alone`` prints both; packages that torch needs too are not counted.
"""

import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from statistics import median

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOMS = ("scans", "automata", "expressivity", "tasks", "models", "training", "verification")
TIMED = "import time, torch; start = time.perf_counter(); import lrnnlab.{}; print(time.perf_counter() - start)"


def needed(names: Iterable[str]) -> set[str]:
    """Every package that pip would install for these, without their extras, by what is installed here."""
    found = [*map(canonicalize_name, names)]
    for name in found:
        needs = map(Requirement, metadata.requires(name) or [])
        new = [canonicalize_name(one.name) for one in needs if not one.marker or one.marker.evaluate({"extra": ""})]
        found += [one for one in dict.fromkeys(new) if one not in found]
    return {*found}


def megabytes(package: str) -> float:
    """What a package's files take on the disk, compiled Python left out."""
    files = [Path(str(file.locate())) for file in metadata.files(package) or () if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def seconds(room: str, rounds: int = 3) -> float:
    """The median time that a room takes to import where torch is there already, each in a Python of its own."""
    command = [sys.executable, "-c", TIMED.format(room)]
    return median(float(subprocess.check_output(command, text=True)) for _ in range(rounds))


if __name__ == "__main__":
    sizes = {name: megabytes(name) for name in needed(["lrnnlab"]) - needed(["torch"]) - {"lrnnlab"}}
    for name, size in sorted(sizes.items(), key=lambda one: -one[1]):
        print(f"{name:14} {size:6.1f} MB")
    print(f"{f'{len(sizes)} packages':14} {sum(sizes.values()):6.1f} MB")
    for room in ROOMS:
        print(f"{room:14} {seconds(room):6.2f} s")
