"""What pyproject.toml cannot say: a wheel and an archive of sources carry data/, so that records are there without a checkout."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

DATA = Path("data")  # setuptools runs where this file lies
OWN = ("checkpoints", "long_range")  # what git ignores there: checkpoints, and published files that somebody has put there


class WithData(build_py):
    """Copy data/ into the package of a wheel, as lrnnlab/data; an editable install reads it where it lies."""

    def run(self):
        super().run()
        if not self.editable_mode:
            for file in kept():
                inside = Path(self.build_lib) / "lrnnlab" / file
                inside.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, inside)

    def get_source_files(self):
        """What an archive of sources takes along."""
        return [*super().get_source_files(), *map(str, kept())]


def kept():
    """The files of data/ that are the project's."""
    return sorted(file for file in DATA.rglob("*") if file.is_file() and file.parts[1] not in OWN)


setup(cmdclass={"build_py": WithData})
