"""Other arithmetic on this machine: what another processor would compute, asked for by the libraries' own switches.

Libraries choose their instructions by the processor, and each choice rounds sums in another order.  Training carries
such differences from the last digit to the first, so a number that comes out of it is another one on another
processor.  :data:`SETTINGS` names a few sets of choices; a chapter whose committed outputs hold under all of them
(``lrnnlab book check --arithmetic all``) says nothing that only the machine of its author says.
"""

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

NATIVE = "native"
X86 = platform.machine().lower() in {"x86_64", "amd64"}

# Runs in the kernel; what it prints is read by Arithmetic.missed.
ASK = "import json\nfrom lrnnbook.machinery.book.cpu_presets import in_use\nprint(json.dumps(in_use()))"


@dataclass(frozen=True)
class Arithmetic:
    """One set of choices: the environment that asks for it, and what :func:`in_use` must then say in a process of it."""

    name: str
    says: str
    environment: Mapping[str, str] = field(default_factory=dict)
    shows: Mapping[str, str] = field(default_factory=dict)

    def missed(self, said: str) -> list[str]:
        """Which choices did not take effect, given what :data:`ASK` printed."""
        found = json.loads(said)
        return [
            f"arithmetic {self.name} wants {library} to use {wanted}, the kernel has {found[library]}"
            for library, wanted in self.shows.items()
            if library in found and found[library] != wanted
        ]


def in_use() -> dict[str, str]:
    """What the libraries that can tell compute with in this process; a library that is not there is left out."""
    import torch
    from numba.core.registry import cpu_target
    from threadpoolctl import threadpool_info

    _, processor, features = cpu_target.target_context.codegen().magic_tuple()
    blas = {found["architecture"] for found in threadpool_info() if found["internal_api"] == "openblas"}
    return {
        "threads": str(torch.get_num_threads()),
        "ATen": torch.backends.cpu.get_cpu_capability(),
        "numba": f"{processor} {'with' if features else 'without'} this processor's features",
        "NumPy": " ".join(_dispatched()) or "its baseline",
    } | ({"OpenBLAS": " ".join(sorted(blas))} if blas else {})


def _dispatched() -> list[str]:
    """The instruction sets that NumPy uses here beyond its baseline."""
    return np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])


def _settings() -> list[Arithmetic]:
    # All that this processor has, also where this process was itself started with some of it switched off.
    all_of_it = [*_dispatched(), *os.environ.get("NPY_DISABLE_CPU_FEATURES", "").split()]
    beyond_avx2 = [name for name in all_of_it if "AVX512" in name or name == "X86_V4"]
    within_avx2 = [name for name in all_of_it if name not in beyond_avx2]
    found = [
        Arithmetic(NATIVE, "what the libraries choose here, on one thread", {}, {"threads": "1"}),
        Arithmetic(
            "plain", "no vector instructions that not every processor of this kind has",
            {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "DNNL_MAX_CPU_ISA": "SSE41",
             "NUMBA_CPU_NAME": "generic", "NPY_DISABLE_CPU_FEATURES": " ".join(all_of_it),
             # No FMA without AVX2 in libm's functions; fma() alone keeps it, whose result is one everywhere, in a hundredth of the time.
             "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX2_Usable",
             **({"OPENBLAS_CORETYPE": "Nehalem"} if X86 else {})},
            {"threads": "1", "ATen": "DEFAULT", "numba": "generic without this processor's features",
             "NumPy": "its baseline", **({"OpenBLAS": "Nehalem"} if X86 else {})},
        ),
        Arithmetic("two-threads", "what the libraries choose here, on two threads",
                   {"OMP_NUM_THREADS": "2", "MKL_DYNAMIC": "FALSE"}, {"threads": "2"}),  # dynamic: no more than there are cores
    ]  # fmt: skip
    if X86:
        avx2 = Arithmetic(
            "avx2", "what a processor with AVX2 and nothing wider computes",
            {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
             "DNNL_MAX_CPU_ISA": "AVX2", "NUMBA_CPU_NAME": "haswell",
             "NUMBA_CPU_FEATURES": "",  # else numba keeps all features of this processor under the other's name
             "NPY_DISABLE_CPU_FEATURES": " ".join(beyond_avx2), "OPENBLAS_CORETYPE": "Haswell"},
            {"threads": "1", "ATen": "AVX2", "numba": "haswell without this processor's features",
             "NumPy": " ".join(within_avx2), "OpenBLAS": "Haswell"},
        )  # fmt: skip
        found.insert(2, avx2)
    return found


SETTINGS = {arithmetic.name: arithmetic for arithmetic in _settings()}


def environment(name: str) -> dict[str, str]:
    """What the setting ``name`` adds to the environment of a process; compiled loops go to a folder of their own, since two
    kernels that write numba's index at once can leave the code of the one under the key of the other."""
    if name == NATIVE:
        return {}
    cache = Path(__file__).resolve().parents[1] / "__pycache__" / "arithmetic" / name
    return {**SETTINGS[name].environment, "NUMBA_CACHE_DIR": os.fspath(cache)}
