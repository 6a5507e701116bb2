"""Faults planted in the proofs of chapter 04, at least one in every step."""

from proof_cells import faults

FAULTS = faults(r"""
# Eq. 10 and 12
equation_12
  step 1: scale ** (t «+ 1 →»- k) * gamma
  step 1: gamma ** (t - k«→ + 1») * A ** (t - k)
  step 1: gamma ** (t - k) * A ** (t - k«→ + 1»)
  step 2: unrolled(t, 1, xi, 0) == printed(t, 1, «xi→1»)
  step 3: sp.expand((«alpha * →»gamma * A) ** t * x_0)
# Eq. 19
equation_19
  step 1: [«-point[1], point[0], -point[3], point[2], -point[5], →point[1], -point[0], point[3], -point[2], point[5], -»point[4]]
  step 1: (sp.«cos, sp.sin→sin, sp.cos»)
# the scan's operator
scan_operator
  step 1: «g2→g» * sp.exp(sp.I * theta2) * z + z2
  step 1: return g «*→+» g2, theta + theta2, g2 * sp.exp
  step 2: equal(join((«1→0», 0, 0), a), a)
  step 3: folded = 0, (1, 0, «0→1»)
  step 3: g2 * «sp.exp(sp.I * theta2) * →»z + z2
# Lemma 1
lemma_1
  step 1: S = M «-→+» M.T\n
  step 1: sp.Integer(«-→»1) ** (k - i)
lemma_1_determinant
  step 4: changed[i, :] = «(F * X)→(X * F)[i, :] + X»[i, :]
  step 4: rate - «→2 * »F.trace()
  step 5: ics={f(0): «1→2»}
  step 5: t**k * G**k / sp.factorial(k«→ + 1»)
lemma_1
  step 2: sp.Eq((d**2) ** «2→1», 1), d)«→ + [0]»
  step 3: linalg.expm(m - «→0.9 * »m.T)
# Lemma 2
lemma_2
  step 1: sp.diag(turn(3, 4, «5→6»), turn(-5, 12, 13), 1)
  step 1: sp.diag(«→2 * »sign, 1, 1, 1, 1)
  step 2: P.det() == sign and A.det() == «1→sign»
  step 2: turn(-5, 12, 13), «→-»1)
  step 3: A**k == P * Theta**k * P«.T→»
  step 4: R(a + b)) == sp.expand(R(a) * R(«→-»b))
# every rotation is P Theta P^T with det P = 1
surjective
  step 1: sp.Symbol("theta", real=True), sp.diag(-1, «→-»1)
  step 1: D * R(theta) * D == R(«-→»theta)
  step 2: mirrored = sp.diag(turn(3, 4, 5), turn(5, 12, 13)), sp.diag(turn(3, «-→»4, 5)
  step 2: sp.diag(«1, 1, 1, 1, -→-1, 1, 1, 1, »1)),\n
  step 3: P[:, 0]«, theta[0] = -P[:, 0], -theta[0]→ = -P[:, 0]»
  step 3:         «P[:, 0], theta[0] = -P[:, 0], -theta[0]→pass»
  step 3:         «P[:, -1] *= -1→pass»
  step 3: , key=lambda k: «T[k, k]→k»)
  step 4: [«[0, -a], [a, 0]→[0, a], [-a, 0]»] for a in theta], *np.zeros
# P is redundant
absorb
  step 1: P = cayley(sp.randMatrix(4, min=-3, max=3, seed=3))«→ * sp.diag(2, 1, 1, 1)»\n
  step 1: (P«.T→» * B) for k in range(6)]
  step 2: ((«→2 * »P.T * free).T * (P.T * free)).trace()
  step 3: R(a) * R(b) - R(b) * R(«→-»a)
  step 4: without.B.copy_(P«.mT→» @ layer.B)
  step 4: layer.C @ torch.block_diag(*P«→.mT»)
# Lemma 3 as printed
lemma_3
  step 1: for A in («→2 * »R(theta), cayley(sp.randMatrix(4, min=-3, max=3, seed=6
  step 1: «cayley(sp.randMatrix(4, min=-3, max=3, seed=6))→sp.randMatrix(4, min=-3, max=3, seed=6)»
  step 1: sum(parts«→[:2]»))) == 0, "Lemma 3, step 1: Eq. 7"
  step 2: form, x, u, xu=«0→1»,
  step 3: uu=«→2 * »sp.eye(2)):
  step 3: sp.expand(whole - gamma«**2→» * before
  step 4: printed_alpha2 = «1→c» / (c * gamma**2 + Tr)
  step 4: printed_alpha2 = 1 / («c * →»gamma**2 + Tr)
# (what step_of leaves of the message of a block that should have failed)
  and every assert held:     assert value == «c→1», "the last
  step 5: Tr / (Tr + «(c - 1)→c» * gamma**2)
  step 5: as_numer_denom()[«0→1»])
# ... and put right
lemma_3_repaired
  step 1: right = c / («c * →»gamma**2 + Tr)
  step 2: alpha2 * (gamma**2 * c + Tr) - «c→1», alpha2
# Eq. 11
equation_11
  step 1: as_printed = «1 - c * gamma**2→c * (1 - gamma**2)»
  step 2: (1 - c) «/→*» (1 - gamma**2)) == 0
  step 2: sp.numer(sp.together(limit - «c→2»)), c) == [1]
  step 3: example = as_printed.subs({c: «2→1»,
  step 4: + «c * (1 - gamma**2)→(c - gamma**2)» - s, s)
# the norm over time
norm
  step 1: gamma ** (2 * t) * «(s_0 - c)→s_0»
  step 2: gamma« ** (2 * t)→**t» * (s_0 - c)
  step 2: later - gamma**2 * now - «c * (1 - gamma**2)→(1 - c * gamma**2)»
norm_exact
  step 4: rate«**2→» * A * X * A.T + drive
  step 4: drive = «aim * (1 - decay**2)→(1 - aim * decay**2)» /
  step 4: A_exact = «cayley(sp.randMatrix(4, min=-3, max=3, seed=7))→sp.diag(1, 1, 1, 2)»
norm
  step 3: formula«(t, c, gamma, 0), formula(t + 1, c, gamma, 0)→(t, c, gamma, c), formula(t + 1, c, gamma, c)»
norm_exact
  step 5: math.log(«0.05→0.06») / (2
  step 5: math.log(«0.05→0.04») / (2
  step 6: formula(t, «1→2», each, 0)
  step 7: for X in (sp.diag(«aim→1», 0, 0, 0), sp.eye(4)
  step 7: sp.eye(4) * sp.Rational(aim, «4→2»)
  step 8: first = drive / (1 - decay«**2→»)
  step 9: {"Gaussian": «→1.2 * »draw
  step 9: "signs": signs[0]«→ + 0.3»
  step 9: «signs[1]→np.abs(signs[1])» * draw.standard_normal((3000, 1, 1))
  step 10: np.sqrt(squares).mean() «<→>» math.sqrt(squares.mean())
# inputs with a colour
colour
  step 1: (B.T * R(a) * B).trace() - sp.«cos→sin»(a)
  step 2: rate * rho * («3 + 4→4 + 3» * sp.I) / 5, 0, 0
  step 2: q = sp.expand(1 + m«→**2» * q)
  step 2: F * X * F.T + (1 - rho«**2→»)
  step 3: limit - (1 - k«**2→») / (1 - 2 * k * cosine + k**2)
  step 4: return limit * («1→2» - G)
  step 4: z / (1 - z) * (G - «→z * »Z) / (g2 - z)
  step 4: z * (1 - «→z * »Z) / (1 - z) for
  step 5: rate * rho * («0.6 + 0.8→0.8 + 0.6»j)
# how far it can go
range
  step 1: sp.exp(«-→»sp.I * phi)
  step 1: slope = «2 * →»gamma * (1 - gamma**2)
  step 1: ends[«0→1»] - (1 - gamma) / (1 + gamma)
  step 1: f = «(1 - gamma**2)→(1 - gamma)**2»
  step 2: backward = b11 «+→-» sp.I * b21 + sign
  step 2: zero = (b11 «-→+» sign * b22)
  step 2: (0, sp.pi«→ / 2»)
  step 3: «np.linalg.det(B) / (B**2).sum()→0.45»
  step 3: rate=«0.999→0.99»
# tokens
tokens
  step 1: from_mean = «→0 * »mean_column.dot
  step 1: from_scatter = «scatter→(columns.T * columns).trace() / 3»
  step 2: first - (free.T * free).trace()« / 4→»
  step 3: xi2 = (1 - 0.99**2)« / 2→»
  step 3: for turn in («1→1j», -1))
  step 4: centred = columns« - mean_column * sp.ones(1, 3)→»
# Eq. 14
equation_14
  step 1: u[t - i] for i in range(«→1, »t))
  step 2: for start in («0→1», 1)
  step 2: sum(«r * →»b * r**i for
  step 3: «r**j * →»(1 - r**t)) == 0
  step 4: «sp.sqrt→»(1 - rate) for
# every LRU is a RotRNN
lru
  step 1: turned = sp.Matrix(sp.expand(«mode→sp.conjugate(mode)» * x)
  step 2: v * p «- w * q→+ w * q * 1» -
  step 3: «-→»C[:, k].imag
  step 3: head_C * scale[k]« / head_xi→»
  step 4: for mode in modes for other in «modes→[*modes, modes[0].conj()]»)
# conjugate pairs
conjugate
  step 1: «[1 + 2 * sp.I, 3 - sp.I], [2 - sp.I, 1 + sp.I]→[1 + 2 * sp.I, 1 - 2 * sp.I], [2 - sp.I, 2 + sp.I]»
  step 2: [v + sp.I * w, v «-→+» sp.I * w]
# wider heads
wider
  step 1: A, gammas = layer.transition().numpy()«→ * np.linspace(1, 0.9, 6)»
  step 2: lru += «2 * →»np.einsum
  step 2: «values[upper]→(0.99 * values[upper])» ** np.arange(60)
  step 3: (x**2 - 2 * gamma * t * x + gamma**«2→4»)
  step 4: sp.Rational(«9, 10→2, 4») * (5 + 12 * sp.I)
  step 4: [[K[i« + j→»] for j in range(4)] for i in range(4)])\nassert
# white in time, not in space
space
  step 1: share = (1 - rate**2) / (B * B.T).trace(), (B * «Sigma * →»B.T)
  step 1: A, B = «cayley(sp.randMatrix(4, min=-3, max=3, seed=9))→sp.randMatrix(4, min=-3, max=3, seed=9)»
  step 2: for b in «(1, -1) for c in (1, -1)→(1,) for c in (1,)»]
  step 2: (1, 2, 0), (2, 0, 1)«, (2, 1, 0)→»]
# what is kept
kept
  step 1: «cayley(sp.randMatrix(4, min=-3, max=3, seed=11))→sp.randMatrix(4, min=-3, max=3, seed=11)»
  step 1: d.dot(d) - gamma«**2→»
  step 2: torch.cat([«-string[:1], string[1:]→string[:-1], -string[-1:]»])
""")
