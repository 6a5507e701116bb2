"""Faults planted in the proofs of chapter 02: one line made false, and the step that must notice."""

from proof_cells import faults

FAULTS = faults(r"""
one_hot
  step 1: == basis[task.machine.initial«→ + 1»]
  step 2: A_of[v]«→.T» @ basis[j] for
  step 3: torch.eye(5)«→.flip(0)»
eq_7
  step 1: for a in (1, -«1→2») for c in (1, -1)]
  step 2: sp.ones(1, n) * «left * size→size * left»
  step 2: 1 «-→+» d[j] - left[1, j]
  step 3: A2, A1 = block_of_fractions(draw, 4«→, Fraction(11, 10)»), block_of_fractions(draw, 4)
  step 3: return size * raw / np.maximum(abs(raw).«sum→max»(0), 1)
sharp
  step 1: bend = sp.diff(x ** (1 «+→-» q), x, 2)
  step 1: claimed = «1 - 1 / p→(1 - 1 / p) * sp.Rational(9, 10)»
  step 2: «c * →»sp.Matrix([[1, 1]])
  step 2: np.linalg.norm(raw, 1.2, axis=-«2→1»
  step 3: equal_entry = size ** (-«1→2» / p)
  step 4: W = w * sp.ones(b, b)«→ + sp.eye(b)»
  step 4: size * equal_entry / size ** («1 - 1 / p→(1 - 1 / p) * 2»)
overflow
  step 1: F = «(2**24 - 1) * 2**104→(2**53 - 1) * 2**971»
  step 2: factor = np.float32(«8 ** (1 / 6)→1.4142137»)
  step 3: infinite_from(np.float32(«1→2»)) == 257
  step 3:     «→x = np.float64(x)\n    »with np.errstate(over="ignore"):
  step 4: 8 ** (-«1→2» / 1.2))  # of W
  step 5: («1→2» - inverse) * sp.log(b)
typical
  step 1: A / np.linalg.norm(A, p, axis=1, keepdims=True)«→.min()»
  step 1: exponents = (1, 1.2, «2→4»)
  step 2: 8 ** (1 «/ 2 →»- 1 / p) for p
  step 3: bounds = [8 ** (1 «→/ 2 »- 1 / p) for p
isometries
  step 1: sp.Matrix([[a, e], [«c, f→f, c»]])
  step 1: np.linalg.norm(A, axis=1).«prod→min»(1)
  step 2: sp.exp(-s) ** (2 «-→+» gap)
  step 3: signs[j] * (order[j] == i«→ or i == 0»)
  step 4: power = Fraction(«6, 5→2»)
size_two
  step 1: + a * e «-→+» c * d)) == 0
  step 1: ((a «-→+» e) / 2) ** 2) == 0
  step 2: second = sp.diff(sp.log(1 «-→+» x**p), x, 2)
  step 2: left((first + last) / «2→1.5»)
  step 3: - (r * sp.«sin→tan»(theta)) ** 2) == 0
  step 3: np.linalg.norm(raw, «1.2→1.5», axis=1, keepdims=True))[:, 0]
  step 4: turn, power = 2 * np.pi / 5, «1.2→1.3»
sizes
  step 1: S[0, -1] = «-→»1
  step 1: / np.linalg.norm([alpha, beta], «p→2»)
  step 2: found = {b: orders«(b) for b in (2, 3, 4)→(b + 1) for b in (2, 3)»}
  step 2: if abs(value«**m→ ** (m + 3)» - 1) < 1e-6)
  step 3: np.abs(raw).«sum→max»(1, keepdims=True))).max()
  step 3: of_cycle = np.linalg.eigvals(np.roll(np.eye(«5→4»)
released
  step 1: «sp.ones(3, 3) * free→free * sp.ones(3, 3)» / 3
  step 2: s = sp.«Matrix([(-1) ** i for i in range(b)])→ones(b, 1)»
  step 2: sp.simplify(A * s - «sp.sqrt(2) * →»s)
horizon
  step 1: row = [r« + extra[0], *(q + e for e in extra[1:])→, *(q - e for e in extra[1:])»]
  step 1: + «(r - q)→r» * m  # q
  step 2: limit = q / (q + «1 - →»r)
  step 3: lead = g * m - l * («1→2» - m)
  step 4: store[2] = 1 - «→2 * »e  # the token
  step 4: e = Fraction(1, «100→50»)
fades
  step 1: == a + c - «2 * →»low for
  step 1: max(abs(a - c).sum() for a in A.T for c in A.T)« / 2→»
  step 2: abs(counter @ z).sum() <= tau(counter) *«→* 2 *» abs(z).sum()
  step 2: terms.append((w, counter«[:, i] - counter[:, j]→[i] - counter[j]»))
  step 3: == [sp.Rational(1, «5→4»)] * 5
  step 3: path.append(«counter→cycle» @ path[-1])
  step 4: sorted(x)[-1] - sorted(x)«[-2]→[0] * 2»
  step 4: counter32 = np.eye«(5, dtype=np.float32)[:, 0], counter.astype(np.float32)→(5)[:, 0], cycle.astype(float)»
votes
  step 1: «→(s + 1) * »np.eye(b, dtype=int)[:, s] for s in t
  step 2: @ (x - Fraction(1, b)) «→* x[0] »for t, x in joint.items()}
  step 3: worst = sum(«min→max»(lead(k, s)
""")
