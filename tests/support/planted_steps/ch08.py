"""Faults planted in the steps of chapter 08."""

from proof_cells import faults

FAULTS = faults(r"""
depths
  step 1: ways[far - j * step] for j in range(C«→ - 1»))
  step 2: [C**level «→+ level »for level
  step 3: multi_dot(masks[«::-1→1:»])
  step 4: < T <«=→» C ** least_depths
nodes
  step 1: series = (1 - c**-n) / «(c - 1)→c»
  step 1: Fraction(T, C - 1) + depths«→ - 1»
lemma_1
  step 1: relu(a + b« - 1→») == a * b, "Lemma 1, step 1:
  step 1: relu(a + b - «1→2») == a * b, "Lemma 1, step 1:
  step 2: (z == «(n + k - 1) * n + j→(n + j - 1) * n + k»)
  step 2: reads.reshape(2 * n * n, n**3)«→[::-1]»
  step 2: n**3).astype(int)«→ * (np.arange(n**3) < n**3 - 1)»
  step 2: [[i * n + k, n * n + «k * n + j→j * n + k»]
  step 3: «→2 * »np.ones((n, 1), dtype=int)
  step 3: np.eye(n * n, «→k=1, »dtype=int)
  step 4: def network(A, B, bias=«1→0»)
  step 4: def network(A, B, bias=«1→2»)
and_gates
  step 1: W2 = «one[table.ravel()]→np.roll(one[table.ravel()], 1, axis=0)»
  step 2: number[«b[a]→a[b]».tobytes()]
  step 3: list(n_and_m)[:«9→10»]
  step 3: list(n_and_m)[«→1»:9]
  step 4: > 4 * «256→4096» and
prefixes
  step 1: 2**depth], r, «-np.inf→0.0»)
  step 1: back == 2«**depth→ ** (depth + 1)»]
  step 2: («other→itself».sum(1) == 0).sum()
  step 3: lambda earlier, later: «earlier + later→later + earlier»
  step 3: i + 1 - «2→3»**depth), i + 1))
  step 4: compose(one«[u], one[v]→[v], one[u]»), one[v[u]]
  step 5: compose, one«→[::-1]»)[-1]
  step 5: «compose→lambda u, v: compose(v, u)», one)[-1]
  step 5: «compose→lambda u, v: v», one)[-1]
closure
  step 1: («A @ B→B @ A» == B[list(leads)])
  step 2: stays(most=«1→3»)
  step 3: with_rows(2, «2→1»)
  step 4: J = np.«ones((3, 3), dtype=int)→eye(3, dtype=int)»
order
  step 1: lambda earlier, later: «later + earlier→earlier + later», ()
  step 2: tuple(«product[s] for s in machine.transitions[letter].tolist()→int(machine.transitions[letter, s]) for s in product»)
  step 2: «lambda u, v: compose(v, u)→compose», one)[-1][-1]
  step 3: commuting = ("«→D_2", "»Parity",
  step 3: mirrored = ("«→S_3", "»EvenPair(2)",
  step 4: "Tomita 5", "Tomita «6→4»")
  step 5: for name in ("S_3", "Tomita «3→4»", "D_2"):\n    machine = ch08.machine_of(name)\n    word =
  step 5: != machine.answer(word«[::-1]→»)[-1]
  step 6: ch08.machine_of("«D_2→Tomita 3»"), 64, only=1
  step 7: assert all_right(«compose→lambda u, v: compose(v, u)»)
read_out
  step 1: rows[:, :, «→:, »q0], one[states]
  step 2: transitions[d_2_words[:, 0]] «=→!»= q0
  step 2: leads_to «=→!»= q0)
  step 2: ch08.machine_of("«D_2→Parity»")
  step 3: «np.swapaxes(leaf, -1, -2)→leaf»
  step 3: «lambda u, v: compose(v, u)→compose»
noise
  step 1: «second_weights(n).min→-second_weights(n).max»()) >= 0
  step 2: draw.uniform(-«e,→2 * e, 2 *» e,
  step 3: P @ any_layer(A, B) @ «R→P»)
  step 3: == «P @ R→R @ P» @ any_layer(M, M)
  step 4: + «(n - 1)→n» * h(o, o)).all()
  step 4: + (n - «2→1») * h(o, o)).all()
  step 5: + «(n - 1)→n» * both, 2 *
  step 5: «2 * →»max(d + o - 1, 0)
  step 6: d - 1 == «2→4»**layer * e
  step 6: off == 2 * (2**layer * e« + o→»)
  step 6: - 2 * «(x + o)→x») == 0
  step 7: [2, 2 «+ 2 * (n - 2)→* n»]
  step 7: grown[-2] - «10→9»)
  step 8: max(1 - 2**layer / «32→16», 0)
  step 9: (found[1:] «>→<» found[:-1])
one_eighth
  step 1: sp.Max(g * s - (g + «1→2») / 2, 0)
  step 1: sp.Rational(1, 2) - 1 / («2→3» * g),
  step 2: bound = sp.Rational(1, 4)« - 1 / (4 * g)→»
  step 3: e = 1 / 4 - 1 / (4 * slope)«→ + 1 / 64»
  step 3: e = 1 / 4« - 1 / (4 * slope)→»
  step 3: - «np.maximum(g * s - (g + 1) / 2, 0)→0»).sum(-1)
  step 4: e «+→-» 1 / 64, slope) > 0
  step 4: missed - (1 - «2 * →»g * more)
  step 5: for shift in (-«1 / 8, 1 / 8→9 / 64, 9 / 64»)
  step 5: lambda a, b: «repaired→compose»(a, b) + shift
  step 6: quarter = Fraction(1, «4→5»)
levels
  step 1: "D_12", "Tomita «5→6»")
  step 2: «range(52, 101)) / 49→range(51, 101)) / 50»
  step 2: «range(42, 101)) / 59→range(41, 101)) / 60»
at_least
  step 1: "Cycle Navigation", "«S_3→Tomita 3»")]
  step 2: range(T - 1, -1, «-→1 - »size)]
  step 3: machine.outputs[«v→u»[s]]
  step 3: front[after] = («*word, letter→letter,»)
clusters
  step 1: for action in found[-1] for move in moves«→[:1]»
  step 2: ("Cycle Navigation", «5→4»)
  step 3: "Tomita 5": (2, «2, 2→4, 4»
  step 4: "«Tomita 6", "→»S_3"], (
  step 5: {order« // len(counts)→»}
  step 5: for action in found[«63→62»]}
  step 6: «((r + 1) ** 2 + 1)→(r + 1) ** 2» // 2
  step 6: actions = «1 + →»sum(
gradient
  step 1: sp.tanh(-3 * u) «+→-» sp.tanh(3 * u)
  step 1: math.tanh(3 * s * x[-1]«→ + 1»)
  step 2: math.tanh(«3→1.1» * s * x[-1])
  step 2: x = np.array(run(signs))«→ ** 2»
cost
  step 1: T, C = 512, «128→64»
  step 2: Fraction«(T, C * depths(T, C))→(T, C) / Fraction(math.log(T, C))»
  step 2: whole == «2→3», "The cost, step 2:
  step 3: [(d, d)] * «4→3»
  step 3: «50257→32000» * d
  step 4: «2→4» * (d * keys + keys * d)
  step 5: «depths(T, C) * →»layer(C))
  step 6: «2 * (24 * D**2 + 4 * D * c)→24 * D**2 + 4 * D * c»
  step 7: found > «10→30» * row[0]
""")
