"""Chapter 07's proofs with a line made false: the step that must fail first."""

from proof_cells import Fault

FAULTS = [
    Fault("levels", "sp.summation(L - j * L / C, (j, 0, C - 1))", "sp.summation(L - j * L / C, (j, 1, C))", "step 1"),
    Fault("levels", "level = sp.simplify(L / all_numbers)", "level = sp.simplify((L - 1) / all_numbers)", "step 1"),
    Fault("levels", "products = np.eye(i + 1, dtype=int)", "products = np.ones((i + 1, i + 1), dtype=int)", "step 2"),
    Fault("levels", "error = 1 - 2 * inner + square", "error = 1 - inner + square", "step 2"),
    Fault("levels", "mean = [Fraction(1, i + 1)] * (i + 1)", "mean = [Fraction(1, i + 2)] * (i + 1)", "step 2"),
    Fault("linear", "added = two + 0.1 * free", "added = two + 0.0 * free", "step 1"),
    Fault("linear", "change = task.targets(added) - task.targets(two)", "change = task.targets(added)", "step 1"),
    Fault("linear", "units[torch.arange(len(free)), free, 0] = 1", "units[torch.arange(len(free)), free, 0] = 2", "step 2"),
    Fault("linear", "weights, rest = answers[:-1] - answers[-1], answers[-1]",
          "weights, rest = answers[:-1], answers[:-1].mean(0)", "step 2"),
    Fault("lags", "K[h, s] * x[t - s] for s in range(t + 1)", "K[h, t - s] * x[t - s] for s in range(t + 1)", "step 1"),
    Fault("lags", "assert (c * K).rank() == H", "assert (c * K).rank() == T", "step 1"),
    Fault("lags", "(i * (N + 1) + N) for i", "(i * (N - 1) + N) for i", "step 2"),
    Fault("lags", "ch07.lags(atomic.SolveFixed(), 48)", "ch07.lags(atomic.CumSum(), 48)", "step 2"),
    Fault("lags", "    a = (L - 1) // 3\n", "    a = L // 2\n", "step 3"),
    Fault("lags", "    block = range(a, 2 * a + 1)\n", "    block = range(a, 2 * a)\n", "step 3"),
    Fault("lags", "ch07.lags(atomic.Reverse(), 64)", "ch07.lags(atomic.CumSum(), 64)", "step 3"),
    Fault("lags", "moved = np.r_[np.zeros(2 * h + 1), u[: T - 2 * h - 1]]", "moved = np.r_[np.zeros(2 * h), u[: T - 2 * h]]",
          "step 4"),
    Fault("lags", "R = 2 * B / (1 - math.cos(2 * math.pi / T))", "R = 2 * B", "step 4"),
    Fault("digits", "lag = 2 * ((place - L) % b) + 1", "lag = 2 * ((place - L) // b) + 1", "step 1"),
    Fault("digits", "lag = 2 * b * ((place - L) // b)", "lag = b * ((place - L) // b)", "step 1"),
    Fault("digits", "for layer in reversed(range(k)):", "for layer in range(k):", "step 2"),
    Fault("digits", "from the last layer to the first\n            digit = (place - L) % b",
          "from the last layer to the first\n            digit = (place - L + 1) % b", "step 2"),
    Fault("cummax", "for k in (1, n)]", "for k in (2, n)]", "step 1"),
    Fault("cummax", "soft = np.log(np.exp(sharp * x).cumsum(1)) / sharp",
          "soft = np.log(np.exp(sharp * x).sum(1))[:, None] / sharp", "step 1"),
]  # fmt: skip
