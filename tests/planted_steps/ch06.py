"""Chapter 06's proofs with a line made false: the step that must fail first."""

from proof_cells import Fault

FAULTS = [
    Fault("claim_1", "return sp.prod(b - a for i, a", "return sp.prod(a - b for i, a", "step 1"),
    Fault(
        "claim_1",
        "[[node**k for node in nodes] for k in lags]",
        "[[node ** (k + 1) for node in nodes] for k in lags]",
        "step 1",
    ),
    Fault(
        "claim_1",
        "return [1 / sp.prod(a - b for b in nodes if b != a) for a in nodes]",
        "return [1 / sp.prod(b - a for b in nodes if b != a) for a in nodes]",
        "step 2",
    ),
    Fault("claim_1", "return [1 / sp.prod(a - b", "return [2 / sp.prod(a - b", "step 2"),
    Fault("claim_1", "assert signs == {(-1) ** N}", "assert signs == {1}", "step 3"),
    Fault("claim_1", "return [-1 / sp.prod(b - a", "return [1 / sp.prod(b - a", "step 3"),
    Fault("claim_1", "divided = [w / node for", "divided = [w * node for", "step 4"),
    Fault("claim_1", "** 2 * gaps(x[:N]) ** 4) == 1", "** 2 * gaps(x[:N]) ** 2) == 1", "step 5"),
    Fault("claim_1", "sp.chebyshevt(k, 2 * x[i] - 1))\n", "sp.chebyshevt(k, x[i]))\n", "step 6"),
    Fault("claim_1", "2 ** ((N - 1) ** 2) * gaps", "2 ** (N * (N - 1)) * gaps", "step 6"),
    Fault("claim_1", "exponent - (2 * n - 4", "exponent - (2 * n - 3", "step 7"),
    Fault("claim_1", ">= 2 ** (2 * N - 4 + 2 / N) / N,", ">= 2 ** (2 * N - 1) / N,", "step 7"),
    Fault(
        "theorem_1",
        "paired = sum(w[i] * sum(p[k] * node[i] ** k",
        "paired = sum(w[i] * sum(p[k] * node[i] ** (k + 1)",
        "step 1",
    ),
    Fault(
        "theorem_1", "sp.Poly(1 - X**2, X) * U[n - 1] ** 2 == 1", "sp.Poly(X**2 - 1, X) * U[n - 1] ** 2 == 1", "step 2"
    ),
    Fault("theorem_1", "sp.Poly(2 * X, X) * T[n - 1] - T[n - 2]", "sp.Poly(X, X) * T[n - 1] - T[n - 2]", "step 3"),
    Fault("theorem_1", "assert leading[N] == 2 ** (2 * N - 3)", "assert leading[N] == 2 ** (2 * N - 4)", "step 3"),
    Fault("theorem_1", "T[n].compose(sp.Poly(2 * X - 1, X))", "T[n].compose(sp.Poly(X - 1, X))", "step 3"),
    Fault("theorem_1", "q.degree() == n + 1 and q.is_sqf", "q.degree() == n + 1 and (q * q).is_sqf", "step 4"),
    Fault("theorem_1", "q.count_roots(-1, 1) == n + 1", "q.count_roots(0, 1) == n + 1", "step 4"),
    Fault("theorem_1", "sp.Poly(X, X) * U[n - 1] + n * T[n]", "sp.Poly(X, X) * U[n - 1] + T[n]", "step 5"),
    Fault("theorem_1", "q.diff(X)(end) == 2 * n * T[n](end)", "q.diff(X)(end) == n * T[n](end)", "step 5"),
    Fault(
        "theorem_1",
        "    w = shifts.exact_weights(shifts.chebyshev_nodes(N))\n    assert all",
        "    w = shifts.exact_weights(shifts.chebyshev_nodes(N, bits=30))\n    assert all",
        "step 7",
    ),
    Fault("theorem_1", "assert least > 1,", "assert least > 2,", "step 8"),
    Fault(
        "theorem_2", "return sp.Rational(n, n + S) * 4**S * sp.binomial(n + S, 2 * S)", "return sp.S(4) ** S", "step 1"
    ),
    Fault("theorem_2", "sp.chebyshevt(n, 2 * X - 1), X)", "sp.chebyshevt(n, X), X)", "step 1"),
    Fault("theorem_2", "assert abs(paired) == cost(L - 1, S)", "assert abs(paired) == cost(L, S)", "step 2"),
    Fault("theorem_2", "w = [a / 2 for half in", "w = [a / 3 for half in", "step 2"),
    Fault(
        "theorem_2",
        "found[L, S] = w = shifts.exact_weights(nodes, S)",
        "found[L, S] = w = shifts.exact_weights(nodes)",
        "step 3",
    ),
    Fault("theorem_2", "len({a * (-1) ** k > 0 for k", "len({a > 0 for k", "step 3"),
    Fault(
        "theorem_2",
        "    nodes = shifts.chebyshev_nodes(L)\n",
        "    nodes = [Fraction(k, L - 1) for k in range(L)]\n",
        "step 4",
    ),
    Fault(
        "theorem_2", "sum(map(abs, w)) / int(cost(L - 1, S)) - 1)", "sum(map(abs, w)) / int(cost(L, S)) - 1)", "step 4"
    ),
    Fault("theorem_2", "L, grid = 7, np.linspace(0, 1, 401)", "L, grid = 7, np.linspace(0.2, 1, 401)", "step 5"),
    Fault("dearest", "ratio = 4 * (n + S) * (n - S) /", "ratio = 2 * (n + S) * (n - S) /", "step 1"),
    Fault("dearest", "ratio.subs(S, n / sp.sqrt(2))", "ratio.subs(S, n / 2)", "step 1"),
    Fault("dearest", "- n / math.sqrt(2)) < 1", "- n) < 1", "step 2"),
    Fault("dearest", "before, now = 1, 3", "before, now = 1, 2", "step 3"),
    Fault("both_signs", "m = L - 1 if (L - 1 - S) % 2 == 0 else L - 2", "m = L - 1", "step 1"),
    Fault(
        "both_signs", 'shifts.smallest_norm(L, S, "[-1,1]") == among', "shifts.smallest_norm(L, S) == among", "step 1"
    ),
    Fault("both_signs", 'nodes = shifts.extremal_nodes(L, S, "[-1,1]")', "nodes = shifts.chebyshev_nodes(L)", "step 2"),
    Fault("both_signs", "np.linspace(-1, 1, 401)", "np.linspace(-0.5, 1, 401)", "step 2"),
    Fault("both_signs", "root = sp.sqrt(2)", "root = sp.sqrt(3)", "step 3"),
    Fault("both_signs", '"[-1,1]") == 2 ** (n - 1)', '"[-1,1]") == 2**n', "step 3"),
    Fault("circle", "nodes = draw.uniform(0, 1, 5)", "nodes = draw.uniform(0, 2, 5)", "step 1"),
    Fault("circle", "(z - 1) * sum(z**i for i in range(L))", "(z - 1) * sum(z**i for i in range(L + 1))", "step 2"),
    Fault("circle", "w = nodes**-S / L", "w = nodes**S / L", "step 2"),
    Fault("inexact", "sp.chebyshevt(L - 1, 3)", "sp.chebyshevt(L - 1, 2)", "step 1"),
    Fault("inexact", "- error * together, 0)", "- error, 0)", "step 2"),
    Fault("inexact", "grid = 8, [], np.linspace(0, 1, 401)", "grid = 8, [], np.linspace(0.3, 1, 401)", "step 2"),
    Fault(
        "floats",
        '[ch06.shift_weights(N, "[0,1]").log2_largest',
        '[ch06.shift_weights(N, "[-1,1]").log2_largest',
        "step 1",
    ),
    Fault("floats", '("[0,1]", 2, -3)', '("[0,1]", 1, -3)', "step 2"),
    Fault("floats", '("circle", 0, 0)', '("circle", 1, 0)', "step 2"),
    Fault(
        "reach",
        "one = 2 * sp.sin(phi) * sp.cos((2 * n + 1) * phi)",
        "one = 2 * sp.sin(phi) * sp.cos(2 * n * phi)",
        "step 1",
    ),
    Fault("reach", "- sp.sin(2 * M * phi)) == 0", "- sp.sin(M * phi)) == 0", "step 1"),
    Fault("reach", "sp.cos((2 * whole + 1) * sp.pi * q)", "sp.cos(2 * whole * sp.pi * q)", "step 2"),
    Fault("reach", "S: [S - 2 * M * j for", "S: [S - M * j for", "step 2"),
    Fault("reach", "r = d ** (1 / (2 * N))\nassert", "r = d ** (1 / N)\nassert", "step 3"),
    Fault("reach", "(1 - S / (2 * N))) == 0", "(1 - S / N)) == 0", "step 3"),
    Fault(
        "reach",
        "(2 * np.arange(N) + 1) / (2 * N))\n    w = nodes",
        "(2 * np.arange(N) + 1) / N)\n    w = nodes",
        "step 4",
    ),
    Fault("reach", "(1, 16, 32, 48, 63, 64)", "(1, 16, 32, 48, 63, 64, 65)", "step 4"),
    Fault(
        "reach",
        "[[K[i + j + 1] for j in range(S)] for i in range(S)]",
        "[[K[i + j] for j in range(S)] for i in range(S)]",
        "step 5",
    ),
    Fault(
        "reach",
        "one = sp.Matrix(S, S, lambda i, j: sp.expand(nodes[0] ** (i + j + 1)))",
        "one = sp.Matrix(S, S, lambda i, j: sp.expand(nodes[0] ** (i * j + 1)))",
        "step 5",
    ),
    Fault(
        "reach",
        "places.count(k) for k in range(1, 2 * S)) == S",
        "places.count(k) for k in range(1, 2 * S)) == S - 1",
        "step 6",
    ),
    Fault("reach", "fit.error**2 / (1 - 2 * N / S)", "fit.error**2 / (1 - N / (4 * S)) / 2", "step 6"),
    Fault("running_sum", "lam**k * sum(u[j] * lam**-j", "lam**k * sum(u[j] * lam**j", "step 1"),
    Fault("running_sum", "assert found.errors.max() < 1e-3", "assert found.errors.max() < 1e-12", "step 2"),
    Fault(
        "running_sum", "assert early - 1 <= found.observed", "assert 1.3 * found.predicted <= found.observed", "step 3"
    ),
    Fault(
        "running_sum",
        "    assert early - 1 <= found.observed <= found.predicted + 1, (",
        "    assert found.observed <= early - 1, (",
        "step 3",
    ),
    Fault("running_sum", 'double = ch06.summed(0.99, "float64")', 'double = ch06.summed(0.99, "float32")', "step 4"),
]
