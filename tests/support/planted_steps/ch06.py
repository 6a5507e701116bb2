"""Chapter 06's proofs with a line made false: the step that must fail first."""

from proof_cells import faults

FAULTS = faults(r"""
claim_1
  step 1: return sp.prod(«b - a→a - b» for i, a
  step 1: [[node«**k→ ** (k + 1)» for node in nodes] for k in lags]
  step 2: return [1 / sp.prod(«a - b→b - a» for b in nodes if b != a) for a in nodes]
  step 2: return [«1→2» / sp.prod(a - b
  step 3: assert signs == {«(-1) ** N→1»}
  step 3: return [«-→»1 / sp.prod(b - a
  step 4: divided = [w «/→*» node for
  step 5: ** 2 * gaps(free[:N]) ** «4→2») == 1
  step 6: sp.chebyshevt(k, «2 * free[i] - 1→free[i]»))\n
  step 6: 2 ** («(N - 1) ** 2→N * (N - 1)») * gaps
  step 7: exponent - (2 * n - «4→3»
  step 7: >= 2 ** (2 * N - «4 + 2 / N→1») / N,
theorem_1
  step 1: paired = sum(w[i] * sum(p[k] * node[i] ** «k→(k + 1)»
  step 2: sp.Poly(«1 - X**2→X**2 - 1», X) * U[n - 1] ** 2 == 1
  step 3: sp.Poly(«2 * →»X, X) * T[n - 1] - T[n - 2]
  step 3: assert leading[N] == 2 ** (2 * N - «3→4»)
  step 3: T[n].compose(sp.Poly(«2 * →»X - 1, X))
theorem_1_equality
  step 4: q.degree() == n + 1 and «q→(q * q)».is_sqf
  step 4: q.count_roots(«-1→0», 1) == n + 1
  step 5: sp.Poly(X, X) * U[n - 1] + «n * →»T[n]
  step 5: q.diff(X)(end) == «2 * →»n * T[n](end)
  step 5: T[n].eval(math.cos(«math.pi * →»k / n))
  step 7:     w = kernels.exact_weights(kernels.chebyshev_nodes(N«→, bits=30»))\n    assert all
  step 8: assert least > «1→2»,
theorem_2
  step 1: return sp.«Rational(n, n + S) * 4**S * sp.binomial(n + S, 2 * S)→S(4) ** S»
  step 1: slope + n«**2→» * y
  step 1: («half→1» - z) * p.diff(z)
  step 1: factor = (n**2 - S«**2→»)
  step 1: closed.subs(S, «0→1»)
  step 1: sp.chebyshevt(n, «2 * x - 1→x»), x)
  step 2: assert abs(paired) == cost(L« - 1→», S)
  step 2: w = [a / «2→3» for half in
  step 3: solved[L, S] = w = kernels.exact_weights(nodes«, S→»)
  step 3: len({a «* (-1) ** k →»> 0 for k
  step 4:     nodes = «kernels.chebyshev_nodes(L)→[Fraction(k, L - 1) for k in range(L)]»\n
  step 4: sum(map(abs, w)) / int(cost(L« - 1→», S)) - 1)
  step 5: L, grid = 7, np.linspace(«0→0.2», 1, 401)
most_expensive
  step 1: ratio = «4→2» * (n + S) * (n - S) /
  step 1: ratio.subs(S, n / «sp.sqrt(2)→2»)
  step 2: - n« / math.sqrt(2)→») < 1
  step 3: before, now = 1, «3→2»
both_signs
  step 1: m = L - 1« if (L - 1 - S) % 2 == 0 else L - 2→»
  step 1: kernels.smallest_norm(L, S«, "[-1,1]"→») == among
  step 2: nodes = kernels.«extremal_nodes(L, S, "[-1,1]")→chebyshev_nodes(L)»
  step 2: np.linspace(-«1→0.5», 1, 401)
  step 3: root = sp.sqrt(«2→3»)
  step 3: "[-1,1]") == 2« ** (n - 1)→**n»
circle
  step 1: nodes = draw.uniform(0, «1→2», 5)
  step 2: (z - 1) * sum(z**i for i in range(L«→ + 1»))
  step 2: w = nodes**«-→»S / L
inexact
  step 1: sp.chebyshevt(L - 1, «3→2»)
  step 2: - error« * together→», 0)
  step 2: grid = 8, [], np.linspace(«0→0.3», 1, 401)
floats
  step 1: [ch06.shift_weights(N, "[«0→-1»,1]").log2_largest
  step 2: ("[0,1]", «2→1», -3)
  step 2: ("circle", «0→1», 0)
reach
  step 1: one = 2 * sp.sin(phi) * sp.cos(«(2 * n + 1)→2 * n» * phi)
  step 1: - sp.sin(«2 * →»M * phi)) == 0
  step 2: sp.cos(«(2 * whole + 1)→2 * whole» * sp.pi * q)
  step 2: S: [S - «2 * →»M * j for
  step 3: r = d ** (1 / «(2 * N)→N»)\nassert
  step 3: (1 - S / «(2 * N)→N»)) == 0
  step 4: (2 * np.arange(N) + 1) / «(2 * N)→N»)\n    w = nodes
  step 4: (1, 16, 32, 48, 63, 64«→, 65»)
  step 5: [[K[i + j« + 1→»] for j in range(S)] for i in range(S)]
  step 5: [sp.expand(nodes[0] ** «k→(k * k)») for k in range(2 * S)]
  step 6: places.count(k) for k in range(1, 2 * S)) == S«→ - 1»
  step 6: fit.error**2 / «(1 - 2 * N / S)→(1 - N / (4 * S)) / 2»
running_sum
  step 1: lam**k * sum(u[j] * lam**«-→»j
  step 2: assert found.errors.max() < 1e-«3→12»
  step 3: assert «early - 1→1.3 * found.predicted» <= found.observed
  step 3:     assert «early - 1 <= found.observed <= found.predicted +→found.observed <= early -» 1, (
  step 4: double = ch06.summed(0.99, "«float64→float32»")
""")
