"""What pyproject.toml cannot say: a wheel carries data/, so that records are there without a checkout."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


def without_own(folder, names):
    """Of data/ what git ignores: checkpoints, and published files that somebody has put there."""
    return {"checkpoints", "long_range"} & set(names) if Path(folder) == Path(__file__).parent / "data" else set()


class WithData(build_py):
    """Copy data/ into the package of a wheel, as lrnnlab/data; an editable install reads it where it lies."""

    def run(self):
        super().run()
        if not self.editable_mode:
            inside = Path(self.build_lib) / "lrnnlab" / "data"
            shutil.copytree(Path(__file__).parent / "data", inside, dirs_exist_ok=True, ignore=without_own)


setup(cmdclass={"build_py": WithData})
