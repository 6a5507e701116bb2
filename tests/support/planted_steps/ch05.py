"""Chapter 05's proofs with a line made false: the step that must fail first."""

from proof_cells import faults

FAULTS = faults(r"""
convolution
  step 1: sum(lam[n] ** «j→(j + 1)» * u[k - j] for
  step 2: sum(K[«→k - »j] * u[k - j] for
  step 3: (mode «+→-» sp.conjugate(mode)) / 2
ring
  step 1: state = [node * «x + letter→(x + letter)» for
  step 1: from_right = [«0, →»*recurrent
  step 2: enumerate(K), *((-«1→2» - j, tap)
  step 2: column[(«i - j→j - i») % n]
  step 2: ring(taps_back, taps_ahead, 2 * length«→ - 2», X)
  step 3: [*range(2 * length« - 1→», 3 * length)]
  step 4: code = taps_back + taps_ahead«[::-1]→»
  step 5: np.fft.rfft(signal«→[::-1]», 2 * length))
proposition_1
  step 1: assert sp.simplify(A**j - V« * Lam**j * V.inv()→.inv() * Lam**j * V»)
  step 2: w = [left * right for left, right in zip(C * V, V«.inv()→» * B)]\nfor j
equal_modes
  step 3: D[0, 1] = beside«→ + 1»
  step 3: if node == one) for one in «set(nodes)→nodes»]
  step 3: sizes[-1] == «sum(map(bool, merged))→4»
delay_line
  step 1: lam[n] ** (S + «1 + →»k))\n    gaps
  step 1: lam[j] «-→+» lam[i] for i in range(M) for j in range(i + 1, M))
  step 2: kernels.kernel([«0→1»], [1], 6) == [1,
  step 3: def line(S, closed=«0→1»)
  step 3: assert ranks == {S« + 1→»}
  step 4: «range(S + 1)], S + 1) / (S + 1)\n→range(S + 2)], S + 2) / (S + 2)\n»
  step 4: assert differ[0] == 2 * S« + 1→»
almost_delay
  step 1: w = [node ** («1→2» - N) / N for node
  step 1: sp.Abs(a) - eps ** (1 - N)« / N→»
  step 2: bounds.append(eps«**N + 4 * N * abs(w).max() * 2.0**-53→ ** (N + 1)»)
dss
  step 1: held = sp.exp(t * rate) * x + «(sp.exp(t * rate) - 1) / rate * →»u[0]
  step 1: held.subs(t, «0→1») - x) == 0
  step 2: w_dlr, state = w_dss« * gain→», sp.S(0)
  step 3: back = {rate: sp.log(node)« / step→», w_dss: x *
  step 3: sp.log(node) * step, node, 1) == w_dss« * step→»
dft_start
  step 1: (z - 1) * sum(z**n for n in range(N)) - (z**N «-→+» 1)
  step 1: rows = [kernels.root_sum([«→2 * »n * k for n in range(N)], N)
  step 2: root_sum([n * (k «-→+» S) for n in range(N)], N)
  step 3: hot«[N : 2 * N] == hot[:N] == hot[2 * N :]→[N - 1 : 2 * N - 1] == hot[:N]»
  step 4: - «64 * np.fft.ifft→np.fft.fft»(w)
decays
  step 1: 0.98 ** («1 - →-»N) - 1)
  step 2: decayed_nodes(N, «0.0005, 0.5→1e-5, 1e-5», draw)
  step 3: condition(np.exp(-1e-«5→2» / 2) * grid)
half_circle
  step 1: return [4 * n «if full else 2 * n + 1 →»for n in range(N)]
  step 1: for e in circle(N)} | {«-→»e % (4 * N) for e in circle(N)}
  step 2: for e in places for sign in (1,« -1→»)], 4 * N)
  step 2: rank(products(circle(N), N)) == «2 * →»N
  step 3: rank(products(circle(N«, full=True→»), N)) == N
exact_shifts
  step 1: sum(c[j] * K[k« + j→»] for j in range(N + 1))
  step 1: c[0] - «(-1) ** N * →»sp.prod
  step 2:     return «max(S + 1, L - S)→L»
  step 2: for k in (S«, S - N→ - N,») if k >= 0
  step 3:     return «max(S + 1, L - S)→S + 1»\n
  step 3:     if N >= needed(L, S):\n        hot = [\n            kernels.root_sum([n * (k - S«→ - 1») for
  step 4: if 2 * N >= needed(L, S)«→ - 1»
  step 4: both = [sign * «(2 * n + 1)→4 * n» for
what_fits
  step 1: fits["«half circle→circle (DFT)»"].values()) < 1e-10
  step 1: goals = kernels.targets(2 * N«→ + 2»)\n
  step 2: error - 0.5«**0.5→») < 1e-9
  step 3: «(*shifted, "noise")) > 0.3→(*shifted, "box")) > 0.9»
  step 4: ["«fading sine→noise»"].error for kind
kronecker
  step 1: (nodes_m[m] «*→+» nodes_n[n]) ** k
  step 1: pairs = [(m, n) for m in range(«3→2»)
  step 1: (values, 7) == «6→5»
dlr_prod
  step 2: sp.im(z**2)« / 2→») == 0
  step 2: for y in (*a, *«minus→b»)]
  step 2: assert len(listed) == «4 * N**2→N * (N + 1)»
  step 3: left = sp.Poly((sum(a) + sum(b)) * (sum(a) «-→+» sum(b))
  step 4: len(left) == «N * (N + 1)→2 * N**2»\n
  step 5: assert found == «N * (N + 1)→4 * N * N - 1», f
  step 5: [value.x «* value.y →»for value in K]
on_grid
  step 1: len({«(m + n) % N→m + n» for
  step 1: on_grid = [i**n «→* (n + 1) »for n in range(4)]
  step 2: kernels.kernel(«nodes→[2 * nodes[0], *nodes[1:]]», four_weights, 41)
prod_shifts
  step 1: for n in («7, 9→6, 10»)]
reverse
  step 1:     return 2 * L - «1 - 2 * →»p
  step 1: wanted = [*[None] * L, *«reversed(range(L))→range(L)»]
  step 2: return sum(1 / «min(d, 2 * L - d)→d»
  step 3: all(i + 1 <= 2 * j + 1 <= i + L for i in range«(half) for j in range(i, half)→(L) for j in range(i, L)»)
  step 4: for j in «(i % half, i % half + half) if j < L→range(L)»}
""")
