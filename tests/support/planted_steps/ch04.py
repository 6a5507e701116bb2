"""Faults planted in the proofs of chapter 04, at least one in every step."""

from proof_cells import Fault

FAULTS = [
    # Eq. 10 and 12
    Fault("equation_12", "scale ** (t + 1 - k) * gamma", "scale ** (t - k) * gamma", "step 1"),
    Fault("equation_12", "gamma ** (t - k) * A ** (t - k)", "gamma ** (t - k + 1) * A ** (t - k)", "step 1"),
    Fault("equation_12", "gamma ** (t - k) * A ** (t - k)", "gamma ** (t - k) * A ** (t - k + 1)", "step 1"),
    Fault(
        "equation_12",
        "unrolled(t, 1, xi, 0) == printed(t, 1, xi)",
        "unrolled(t, 1, xi, 0) == printed(t, 1, 1)",
        "step 2",
    ),
    Fault("equation_12", "sp.expand((alpha * gamma * A) ** t * x_0)", "sp.expand((gamma * A) ** t * x_0)", "step 3"),
    # Eq. 19
    Fault(
        "equation_19",
        "[-point[1], point[0], -point[3], point[2], -point[5], point[4]]",
        "[point[1], -point[0], point[3], -point[2], point[5], -point[4]]",
        "step 1",
    ),
    Fault("equation_19", "(sp.cos, sp.sin)", "(sp.sin, sp.cos)", "step 1"),
    # the scan's operator
    Fault("scan_operator", "g2 * sp.exp(sp.I * theta2) * z + z2", "g * sp.exp(sp.I * theta2) * z + z2", "step 1"),
    Fault(
        "scan_operator",
        "return g * g2, theta + theta2, g2 * sp.exp",
        "return g + g2, theta + theta2, g2 * sp.exp",
        "step 1",
    ),
    Fault("scan_operator", "equal(join((1, 0, 0), a), a)", "equal(join((0, 0, 0), a), a)", "step 2"),
    Fault("scan_operator", "folded = 0, (1, 0, 0)", "folded = 0, (1, 0, 1)", "step 3"),
    Fault("scan_operator", "g2 * sp.exp(sp.I * theta2) * z + z2", "g2 * z + z2", "step 3"),
    # Lemma 1
    Fault("lemma_1", "S = M - M.T\n", "S = M + M.T\n", "step 1"),
    Fault("lemma_1", "sp.Integer(-1) ** (k - i)", "sp.Integer(1) ** (k - i)", "step 1"),
    Fault("lemma_1_determinant", "changed[i, :] = (F * X)[i, :]", "changed[i, :] = (X * F)[i, :] + X[i, :]", "step 2"),
    Fault("lemma_1_determinant", "rate - F.trace()", "rate - 2 * F.trace()", "step 2"),
    Fault("lemma_1_determinant", "ics={f(0): 1}", "ics={f(0): 2}", "step 3"),
    Fault("lemma_1_determinant", "t**k * G**k / sp.factorial(k)", "t**k * G**k / sp.factorial(k + 1)", "step 3"),
    Fault(
        "lemma_1",
        "assert S.trace() == 0 and det_exp(S.trace(), 1) == 1",
        "assert (S + sp.eye(4)).trace() == 0",
        "step 4",
    ),
    Fault("lemma_1", "linalg.expm(m - m.T)", "linalg.expm(m - 0.9 * m.T)", "step 5"),
    # Lemma 2
    Fault(
        "lemma_2",
        "sp.diag(turn(3, 4, 5), turn(-5, 12, 13), 1)",
        "sp.diag(turn(3, 4, 6), turn(-5, 12, 13), 1)",
        "step 1",
    ),
    Fault("lemma_2", "sp.diag(sign, 1, 1, 1, 1)", "sp.diag(2 * sign, 1, 1, 1, 1)", "step 1"),
    Fault("lemma_2", "P.det() == sign and A.det() == 1", "P.det() == sign and A.det() == sign", "step 2"),
    Fault("lemma_2", "turn(-5, 12, 13), 1)", "turn(-5, 12, 13), -1)", "step 2"),
    Fault("lemma_2", "A**k == P * Theta**k * P.T", "A**k == P * Theta**k * P", "step 3"),
    Fault("lemma_2", "R(a + b)) == sp.expand(R(a) * R(b))", "R(a + b)) == sp.expand(R(a) * R(-b))", "step 4"),
    # every rotation is P Theta P^T with det P = 1
    Fault(
        "surjective",
        'sp.Symbol("theta", real=True), sp.diag(-1, 1)',
        'sp.Symbol("theta", real=True), sp.diag(-1, -1)',
        "step 1",
    ),
    Fault("surjective", "D * R(theta) * D == R(-theta)", "D * R(theta) * D == R(theta)", "step 1"),
    Fault(
        "surjective",
        "mirrored = sp.diag(turn(3, 4, 5), turn(5, 12, 13)), sp.diag(turn(3, -4, 5)",
        "mirrored = sp.diag(turn(3, 4, 5), turn(5, 12, 13)), sp.diag(turn(3, 4, 5)",
        "step 2",
    ),
    Fault("surjective", "sp.diag(1, 1, 1, 1, -1)),\n", "sp.diag(-1, 1, 1, 1, 1)),\n", "step 2"),
    Fault("surjective", "P[:, 0], theta[0] = -P[:, 0], -theta[0]", "P[:, 0] = -P[:, 0]", "step 3"),
    Fault("surjective", "        P[:, 0], theta[0] = -P[:, 0], -theta[0]", "        pass", "step 3"),
    Fault("surjective", "        P[:, -1] *= -1", "        pass", "step 3"),
    Fault("surjective", ", key=lambda k: T[k, k])", ", key=lambda k: k)", "step 3"),
    Fault(
        "surjective",
        "[[0, -a], [a, 0]] for a in theta], *np.zeros",
        "[[0, a], [-a, 0]] for a in theta], *np.zeros",
        "step 4",
    ),
    # P is redundant
    Fault(
        "absorb",
        "P = cayley(sp.randMatrix(4, min=-3, max=3, seed=3))\n",
        "P = cayley(sp.randMatrix(4, min=-3, max=3, seed=3)) * sp.diag(2, 1, 1, 1)\n",
        "step 1",
    ),
    Fault("absorb", "(P.T * B) for k in range(6)]", "(P * B) for k in range(6)]", "step 1"),
    Fault("absorb", "((P.T * free).T * (P.T * free)).trace()", "((2 * P.T * free).T * (P.T * free)).trace()", "step 2"),
    Fault("absorb", "R(a) * R(b) - R(b) * R(a)", "R(a) * R(b) - R(b) * R(-a)", "step 3"),
    Fault("absorb", "without.B.copy_(P.mT @ layer.B)", "without.B.copy_(P @ layer.B)", "step 4"),
    Fault("absorb", "layer.C @ torch.block_diag(*P)", "layer.C @ torch.block_diag(*P.mT)", "step 4"),
    # Lemma 3 as printed
    Fault(
        "lemma_3",
        "for A in (R(theta), cayley(sp.randMatrix(4, min=-3, max=3, seed=6",
        "for A in (2 * R(theta), cayley(sp.randMatrix(4, min=-3, max=3, seed=6",
        "step 1",
    ),
    Fault(
        "lemma_3",
        "cayley(sp.randMatrix(4, min=-3, max=3, seed=6))",
        "sp.randMatrix(4, min=-3, max=3, seed=6)",
        "step 1",
    ),
    Fault(
        "lemma_3",
        'sum(parts))) == 0, "Lemma 3, step 1: Eq. 7"',
        'sum(parts[:2]))) == 0, "Lemma 3, step 1: Eq. 7"',
        "step 1",
    ),
    Fault("lemma_3", "form, x, u, xu=0,", "form, x, u, xu=1,", "step 2"),
    Fault("lemma_3", "uu=sp.eye(2)):", "uu=2 * sp.eye(2)):", "step 3"),
    Fault("lemma_3", "sp.expand(whole - gamma**2 * before", "sp.expand(whole - gamma * before", "step 3"),
    Fault("lemma_3", "printed_alpha2 = 1 / (c * gamma**2 + Tr)", "printed_alpha2 = c / (c * gamma**2 + Tr)", "step 4"),
    Fault("lemma_3", "printed_alpha2 = 1 / (c * gamma**2 + Tr)", "printed_alpha2 = 1 / (gamma**2 + Tr)", "step 4"),
    Fault(
        "lemma_3",
        '    assert value == c, "the last',
        '    assert value == 1, "the last',
        "and every assert held",  # what step_of leaves of a block that should have failed
    ),
    Fault("lemma_3", "Tr / (Tr + (c - 1) * gamma**2)", "Tr / (Tr + c * gamma**2)", "step 5"),
    Fault("lemma_3", "as_numer_denom()[0])", "as_numer_denom()[1])", "step 5"),
    # ... and put right
    Fault("lemma_3_repaired", "right = c / (c * gamma**2 + Tr)", "right = c / (gamma**2 + Tr)", "step 1"),
    Fault(
        "lemma_3_repaired",
        "alpha2 * (gamma**2 * c + Tr) - c, alpha2",
        "alpha2 * (gamma**2 * c + Tr) - 1, alpha2",
        "step 2",
    ),
    # Eq. 11
    Fault("equation_11", "as_printed = 1 - c * gamma**2", "as_printed = c * (1 - gamma**2)", "step 1"),
    Fault("equation_11", "(1 - c) / (1 - gamma**2)) == 0", "(1 - c) * (1 - gamma**2)) == 0", "step 2"),
    Fault(
        "equation_11",
        "sp.numer(sp.together(limit - c)), c) == [1]",
        "sp.numer(sp.together(limit - 2)), c) == [1]",
        "step 2",
    ),
    Fault(
        "equation_11",
        "example = as_printed.subs({c: 2,",
        "example = as_printed.subs({c: 1,",
        "step 3",
    ),
    Fault("equation_11", "+ c * (1 - gamma**2) - s, s)", "+ (c - gamma**2) - s, s)", "step 4"),
    # the norm over time
    Fault("norm", "gamma ** (2 * t) * (s_0 - c)", "gamma ** (2 * t) * s_0", "step 1"),
    Fault("norm", "gamma ** (2 * t) * (s_0 - c)", "gamma**t * (s_0 - c)", "step 2"),
    Fault(
        "norm",
        "later - gamma**2 * now - c * (1 - gamma**2)",
        "later - gamma**2 * now - (1 - c * gamma**2)",
        "step 2",
    ),
    Fault("norm_exact", "rate**2 * A * X * A.T + drive", "rate * A * X * A.T + drive", "step 3"),
    Fault(
        "norm_exact",
        "drive = aim * (1 - decay**2) /",
        "drive = (1 - aim * decay**2) /",
        "step 3",
    ),
    Fault(
        "norm_exact",
        "A_exact = cayley(sp.randMatrix(4, min=-3, max=3, seed=7))",
        "A_exact = sp.diag(1, 1, 1, 2)",
        "step 3",
    ),
    Fault(
        "norm",
        "formula(t, c, gamma, 0), formula(t + 1, c, gamma, 0)",
        "formula(t, c, gamma, c), formula(t + 1, c, gamma, c)",
        "step 4",
    ),
    Fault("norm_exact", "math.log(0.05) / (2", "math.log(0.06) / (2", "step 5"),
    Fault("norm_exact", "math.log(0.05) / (2", "math.log(0.04) / (2", "step 5"),
    Fault("norm_exact", "formula(t, 1, each, 0)", "formula(t, 2, each, 0)", "step 6"),
    Fault(
        "norm_exact", "for X in (sp.diag(aim, 0, 0, 0), sp.eye(4)", "for X in (sp.diag(1, 0, 0, 0), sp.eye(4)", "step 7"
    ),
    Fault("norm_exact", "sp.eye(4) * sp.Rational(aim, 4)", "sp.eye(4) * sp.Rational(aim, 2)", "step 7"),
    Fault("norm_exact", "first = drive / (1 - decay**2)", "first = drive / (1 - decay)", "step 8"),
    Fault("norm_exact", '{"Gaussian": draw', '{"Gaussian": 1.2 * draw', "step 9"),
    Fault("norm_exact", '"signs": signs[0]', '"signs": signs[0] + 0.3', "step 9"),
    Fault(
        "norm_exact",
        "signs[1] * draw.standard_normal((3000, 1, 1))",
        "np.abs(signs[1]) * draw.standard_normal((3000, 1, 1))",
        "step 9",
    ),
    Fault(
        "norm_exact",
        "np.sqrt(squares).mean() < math.sqrt(squares.mean())",
        "np.sqrt(squares).mean() > math.sqrt(squares.mean())",
        "step 10",
    ),
    # inputs with a colour
    Fault("colour", "(B.T * R(a) * B).trace() - sp.cos(a)", "(B.T * R(a) * B).trace() - sp.sin(a)", "step 1"),
    Fault("colour", "rate * rho * (3 + 4 * sp.I) / 5, 0, 0", "rate * rho * (4 + 3 * sp.I) / 5, 0, 0", "step 2"),
    Fault("colour", "q = sp.expand(1 + m * q)", "q = sp.expand(1 + m**2 * q)", "step 2"),
    Fault("colour", "F * X * F.T + (1 - rho**2)", "F * X * F.T + (1 - rho)", "step 2"),
    Fault(
        "colour",
        "limit - (1 - k**2) / (1 - 2 * k * cosine + k**2)",
        "limit - (1 - k) / (1 - 2 * k * cosine + k**2)",
        "step 3",
    ),
    Fault("colour", "return limit * (1 - G)", "return limit * (2 - G)", "step 4"),
    Fault("colour", "z / (1 - z) * (G - Z) / (g2 - z)", "z / (1 - z) * (G - z * Z) / (g2 - z)", "step 4"),
    Fault("colour", "z * (1 - Z) / (1 - z) for", "z * (1 - z * Z) / (1 - z) for", "step 4"),
    Fault("colour", "rate * rho * (0.6 + 0.8j)", "rate * rho * (0.8 + 0.6j)", "step 5"),
    # how far it can go
    Fault("range", "sp.exp(-sp.I * phi)", "sp.exp(sp.I * phi)", "step 1"),
    Fault("range", "slope = 2 * gamma * (1 - gamma**2)", "slope = gamma * (1 - gamma**2)", "step 1"),
    Fault("range", "ends[0] - (1 - gamma) / (1 + gamma)", "ends[1] - (1 - gamma) / (1 + gamma)", "step 1"),
    Fault("range", "f = (1 - gamma**2)", "f = (1 - gamma)**2", "step 1"),
    Fault("range", "backward = b11 + sp.I * b21 + sign", "backward = b11 - sp.I * b21 + sign", "step 2"),
    Fault("range", "zero = (b11 - sign * b22)", "zero = (b11 + sign * b22)", "step 2"),
    Fault("range", "(0, sp.pi)", "(0, sp.pi / 2)", "step 2"),
    Fault("range", "np.linalg.det(B) / (B**2).sum()", "0.45", "step 3"),
    Fault("range", "rate=0.999", "rate=0.99", "step 3"),
    # tokens
    Fault("tokens", "from_mean = mean_column.dot", "from_mean = 0 * mean_column.dot", "step 1"),
    Fault("tokens", "from_scatter = scatter", "from_scatter = (columns.T * columns).trace() / 3", "step 1"),
    Fault("tokens", "first - (free.T * free).trace() / 4", "first - (free.T * free).trace()", "step 2"),
    Fault("tokens", "xi2 = (1 - 0.99**2) / 2", "xi2 = (1 - 0.99**2)", "step 3"),
    Fault("tokens", "for turn in (1, -1))", "for turn in (1j, -1))", "step 3"),
    Fault("tokens", "centred = columns - mean_column * sp.ones(1, 3)", "centred = columns", "step 4"),
    # Eq. 14
    Fault("equation_14", "u[t - i] for i in range(t))", "u[t - i] for i in range(1, t))", "step 1"),
    Fault("equation_14", "for start in (0, 1)", "for start in (1, 1)", "step 2"),
    Fault("equation_14", "sum(r * b * r**i for", "sum(b * r**i for", "step 2"),
    Fault("equation_14", "r**j * (1 - r**t)) == 0", "(1 - r**t)) == 0", "step 3"),
    Fault("equation_14", "sp.sqrt(1 - rate) for", "(1 - rate) for", "step 4"),
    # every LRU is a RotRNN
    Fault(
        "lru",
        "turned = sp.Matrix(sp.expand(mode * x)",
        "turned = sp.Matrix(sp.expand(sp.conjugate(mode) * x)",
        "step 1",
    ),
    Fault("lru", "v * p - w * q -", "v * p + w * q * 1 -", "step 2"),
    Fault("lru", "-C[:, k].imag", "C[:, k].imag", "step 3"),
    Fault("lru", "head_C * scale[k] / head_xi", "head_C * scale[k]", "step 3"),
    Fault(
        "lru",
        "for mode in modes for other in modes)",
        "for mode in modes for other in [*modes, modes[0].conj()])",
        "step 4",
    ),
    # conjugate pairs
    Fault(
        "conjugate",
        "[1 + 2 * sp.I, 3 - sp.I], [2 - sp.I, 1 + sp.I]",
        "[1 + 2 * sp.I, 1 - 2 * sp.I], [2 - sp.I, 2 + sp.I]",
        "step 1",
    ),
    Fault("conjugate", "[v + sp.I * w, v - sp.I * w]", "[v + sp.I * w, v + sp.I * w]", "step 2"),
    # wider heads
    Fault(
        "wider",
        "A, gammas = layer.transition().numpy()",
        "A, gammas = layer.transition().numpy() * np.linspace(1, 0.9, 6)",
        "step 1",
    ),
    Fault("wider", "lru += 2 * np.einsum", "lru += np.einsum", "step 2"),
    Fault("wider", "values[upper] ** np.arange(60)", "(0.99 * values[upper]) ** np.arange(60)", "step 2"),
    Fault("wider", "(x**2 - 2 * gamma * t * x + gamma**2)", "(x**2 - 2 * gamma * t * x + gamma**4)", "step 3"),
    Fault("wider", "sp.Rational(9, 10) * (5 + 12 * sp.I)", "sp.Rational(2, 4) * (5 + 12 * sp.I)", "step 4"),
    Fault(
        "wider",
        "[[K[i + j] for j in range(4)] for i in range(4)])\nassert",
        "[[K[i] for j in range(4)] for i in range(4)])\nassert",
        "step 4",
    ),
    # white in time, not in space
    Fault(
        "space",
        "share = (1 - rate**2) / (B * B.T).trace(), (B * Sigma * B.T)",
        "share = (1 - rate**2) / (B * B.T).trace(), (B * B.T)",
        "step 1",
    ),
    Fault(
        "space",
        "A, B = cayley(sp.randMatrix(4, min=-3, max=3, seed=9))",
        "A, B = sp.randMatrix(4, min=-3, max=3, seed=9)",
        "step 1",
    ),
    Fault("space", "for b in (1, -1) for c in (1, -1)]", "for b in (1,) for c in (1,)]", "step 2"),
    Fault("space", "(1, 2, 0), (2, 0, 1), (2, 1, 0)]", "(1, 2, 0), (2, 0, 1)]", "step 2"),
    # what is kept
    Fault(
        "kept", "cayley(sp.randMatrix(4, min=-3, max=3, seed=11))", "sp.randMatrix(4, min=-3, max=3, seed=11)", "step 1"
    ),
    Fault("kept", "d.dot(d) - gamma**2", "d.dot(d) - gamma", "step 1"),
    Fault("kept", "torch.cat([-string[:1], string[1:]])", "torch.cat([string[:-1], -string[-1:]])", "step 2"),
]
