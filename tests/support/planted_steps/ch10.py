"""Chapter 10's proofs with a line made false: the step that must fail first."""

from proof_cells import faults

FAULTS = faults(r"""
one_hot
  step 1: int(arrows«[v, q] == r→[v, r] == q») for q
  step 2: x = A[«v→0»] @ x
  step 2: x = unit[machine.initial«→ + 1»]
non_negative
  step 1: gate * read(x) + add«→ * x», x)
  step 1: (read(y) - read(x)) - a«→ ** 2» * (y - x)
  step 2: sp.S(«0→1»), sp.exp(-c)):
  step 2: .subs(a, «1→2») == b
reflections
  step 1: k = [(p == i) «-→+» (p == j)
  step 1: for first, *others in cycles(g)«→[::2]»:
  step 2: rank() == «5→4» - len(cycles(g))
  step 2: int(r == g[s]))\n    assert (P «-→+» sp.eye(5))
pairs
  step 1: state = gates[k] * state + adds[k]«→ * state»
  step 1: sp.«Rational(1, 2)→S(1)» ** many, many
  step 2: swapped = read(s, (0, 1)) - read(s, (1, «0→2»))
  step 2: kept = sp.expand(swapped.subs({gates[0]: 1«, gates[1]: 1→»}))
  step 3: ladder.ladder_task("«evenpair→z_5»").machine
  step 3: one, two = (after(p + «xy→(0, 1)» + u
fading
  step 1: gate * left + add, gate * right «+→-» add
  step 1: rho = sp.Rational(«9→11», 10)
  step 2: shift * (slow**n «-→+» fast**n)
  step 2: slow: sp.«Rational(99, 100)→S(1)»
  step 3: if «any→all»((move[q], move[r])
  step 3: [3, «3, 3→2, 2», 4, 4]
  step 3: repeat=«5 * 4 // 2→1»
two
  step 1: return e * n + «y→(0, 0, 0)» + e * n
  step 2: half = (1, 0), (0, 0), («0.5→1», 0.5)
  step 3: loops = («x + →»e * n + y
drift
  step 1: S[:, int(moves[v, q])] «-→+» S[:, int(moves[v, p])]
  step 2: M, goes = maps[v][0] * M«→ / 2», moves[v][goes]
  step 3: state = state + e«→ / n»
rwkv7
  step 1: kept «-→+» x.dot(kappa) * y.dot(kappa)
  step 2: x.dot(kappa) ** «2→4»
restart
  step 1: «1 + →»2 + 2 * len(quantised.codebook)
  step 2: said = «quantised(strings).argmax→untrained(strings).argmin»(-1)
""")
