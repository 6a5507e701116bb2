"""What pyproject.toml cannot say: a wheel and an archive of sources carry data/ and the chapters, so that records and
``lrnnlab copy`` are there without a checkout."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

# folder -> where it lies in a wheel, which files, and what of it stays behind: what git ignores, a package of its own
CARRIED = {
    "data": ("lrnnlab/data", ("",), ("checkpoints", "long_range")),
    "notebooks": ("lrnnbook/project/notebooks", (".ipynb", ".py"), ("lrnnbook",)),
}


class WithData(build_py):
    """Copy what is carried into a wheel's packages; an editable install reads it where it lies."""

    def run(self):
        super().run()
        for folder, file in [] if self.editable_mode else kept():
            inside = Path(self.build_lib, CARRIED[folder][0], *file.parts[1:])
            inside.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, inside)

    def get_source_files(self):
        """What an archive of sources takes along."""
        return [*super().get_source_files(), *(str(file) for _, file in kept())]


def kept():
    """(folder, file) of the files that are the project's."""
    return [(folder, file) for folder, (_, ends, others) in CARRIED.items() for file in sorted(Path(folder).rglob("*"))
            if file.is_file() and file.name.endswith(ends) and file.parts[1] not in others
            and not any(part.startswith(".") for part in file.parts)]  # fmt: skip


setup(cmdclass={"build_py": WithData})
