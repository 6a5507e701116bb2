"""Compiled scans: LLVM and numba for the CPU, Triton for the GPU, and which of them runs."""
