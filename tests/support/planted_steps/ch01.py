"""Chapter 01: for each step of each proof a line made false, which must fail there and nowhere before."""

from proof_cells import faults

FAULTS = faults(r"""
proposition_1
  step 1: A**3 * x + A**2 * b«[first] + A * b["-"] + b[last]→[last] + A * b["-"] + b[first]»
  step 2: after = «state("0-", z, one)→z»
  step 3: ("0-0-1", "«0-1→1-0»-0"))
  step 3: short, long = differences(«one→{**one, "-": sp.Symbol("A_-", commutative=False), "0": sp.Symbol("B")}»)
  step 4: M = «5→2»\n
digits
  step 2: for c in range(1, «7→8»)\n
  step 2: base, n = «7→5»,
  step 1: x = «A→5» * x + code[letter]
  step 1: return («first - sum(others)→first + sum(others)») % 5\n\n\ndef value
  step 3: first, second = run("0-0-1"), run("0-«1-0→0-1»")
  step 4: used, needed = run("-".join("4" * «119→12»))
theorem_a
  step 1: A * (A**k * p + c) + u«→ * p»
  step 2: («(-s1 - S) - (-t1 - T)→(s1 - S) - (t1 - T)»)
  step 3: M, half = 2 * k« + 1→», k + 1
theorem_a_collisions
  step 4: in ((s, t),« ((0, *s), (0, *t))→») if
  step 4: return s«[first:], t[first:]→, t»
  step 5: np.array([[«7→1»]]), np.arange(1, 6)
modulo_two
  step 1: M, n = «2→3», 8
  step 2: sum(w) % M == (w[0] «- sum(w[1:])→+ sum(w[2:])») % M
  step 3: states = «{sum(w) for w in words}→set(words)»
packing
  step 1: turn, shrink, margin = 1.0, «0.8→0.9», 0.5
  step 1: x = spiral @ spiral @ x + «→3 * »corners[s]
  step 2: if «5→500»**n > room)
  step 3: next(((a, «b→(0,)») for
sum_by_counting
  step 1: A = «→-»1\nletters
  step 2: {sum(word) «→% 5 »for word in product(range(5), repeat=n)}
sum_analogue
  step 1: (A * b0 + b1) - («A * b1 + b0→b0 + A * b1 + b1»)
  step 2: sum(a**i for i in range(M)), a «-→+» 1
  step 3: sp.solve(factor * gap«→ * (gap - 1)», gap) == [0]
theorem_b
  step 1: after_letters(x, A, [w, «v, w→w, v», w])
  step 2: [x + Y[«-1→0»] for x in X[1:]]
  step 3: f = [1, «100, 100**2→2, 3»]
  step 4: if «→not »keeps_apart(*layer)][:200]
  step 5: np.array([[«1→2»]]), np.arange(5)
theorem_c
  step 1: power = np.linalg.matrix_power(A, D«→ - 1»)\n    vectors =
  step 2: («np.linalg.matrix_power(A, len(A)) @ (v[1] - v[0])→v[1] - v[0]»)
  step 3: early = {tuple(«np.linalg.matrix_power(A, D) @→»
  step 4: ("ModArith(5)", "0", "1", "«+→×»0")
  step 4: ("«Sum(5)", "0", "1→Tomita 6", "0", "0»", "0")
thue_morse
  step 1: i«.bit_count()→» % 2 for
  step 2: sp.Poly((a - 1) ** «d→(d + 1)», a)
  step 3:     ends = jordan_end«(bits, d), jordan_end([1 - bit for bit in bits], d)→(bits, d + 1), jordan_end([1 - bit for bit in bits], d + 1)»
two_layers
  step 1: p_t = 1 - sp.Rational(1, «2→3») ** time
  step 1: positive=True), sp.Rational(«5→7», 8)
  step 2: if p < «0.625→0.8» else number(0))
  step 3: held = all(x == s «+ 1 →»for
  step 3: both_layers([«s, *range(5)→*range(5), s»] * 20, np.float32)
two_plain_layers
  step 1: Fraction(5, 16«**2→») / (1
  step 2: total = «7→6» * (s[0] + 1)
  step 3: before = np.floor((following - last) * np.float32(«16→15»))
  step 4: np.where(before == 0, «7→6» *
proposition_2
  step 3: ("0-0-1", "«0-1→1-0»-0"))
  step 1: diagonal = {letter: sp.Symbol(f"A_{letter}"«→, commutative=False»)
  step 1: eq_8 = A_«1→0» * A_minus
  step 2: long«→ + z» == short, "Proposition 2
one_channel
  step 1: sp.Mod(5 * n + s, «5→7»))
  step 2:         x = «5→3» * x + s\n
theorem_d
  step 1: (a * x + shift) - («a * →»y + shift) - a * (x - y)
  step 2: sp.Eq(a * n * c + «n * →»shift, n * c), shift)
  step 2: (c + a * «(x - c)→x»)) == 0, "Theorem D, step 2
  step 3: sp.Eq(size**2 * spread, «→4 * »spread)
  step 4: c «→* first »+ second * ((c + first * (x - c)) - c)
  step 5: (e, y), («0→e», q), (a, c)
killer_words
  step 1: "EvenPair(5)": ("0", "1", "«01→0»")
  step 2: (u + v + w, v + u + w«→[1:] + w[1:]»)
  step 3: "Tomita «4→6»": ("00", "1", "01")
  step 4: [language(task).oracle(word«→ + words[0]») for word in words]
two_laws
  step 1: found.possible «=→!»= (confused is None), "The two laws, step 1
  step 1: else cascades.universal_layer(machine.symbols, «found.order→1»)
  step 2: (layer.run(word)[-1] for word in «found.words→((0,), (1,))»)
  step 3: universal_layer("ab", «found.order→1»), machine
block_two
  step 1: empty, full = keeps(corner=-«1→sp.Rational(1, 2)»)
  step 2: [[1, -sp.Rational(s, 4)], [0, «0→1»]]
  step 3: [[1, -sp.Rational(s, «4→3»)], [0, 0]]
  step 4: ((1, «-→»step), (0, 0)), (step, 1)
  step 4: language(«f"EvenPair({M})"→{2: "Parity", 5: "Sum(5)"}[M]»).machine\n
block_two_subtracts
  step 5: language("a-b-c mod 5«, expressions→»").machine
  step 5: «2 * →»numbers[0] - sum(numbers) - (
  step 6: cascades.pair_up(«larger→model», machine)
  step 7: np.array([[1, «-k / 4→0»], [0, 0]])
invertible_only
  step 1: «np.lcm.reduce→max»(cycles)
  step 2: np.linalg.matrix_power(A_0, «12→6»)
  step 3: answers = two_answers("«EvenPair(2)→Sum(5)»")
  step 4: automata.minimise(language("«EvenPair(2)→Parity»").machine)
theorem_d_prime
  step 1: y = c + turn * «(y - c)→y»
  step 2: "S_4": «3→2»}
  step 2: {"S_3": «2→1»
  step 2: cascade = cascades.«group_cascade(name)→solvable_cascade(name, list(GROUPS[name]), list(GROUPS[name].values())[::-1])»\n
  step 3: for j, group in enumerate(series«→, 1»):
  step 4: points = [«generators[token][point] for point in points→points[point] for point in generators[token]»]
  step 4: drift < «1e-9→-1»
  step 5: derived_series(list(GROUPS["«A_5→S_4»"].values()))
  step 6: for name in «GROUPS→(*GROUPS, "Parity")»}\nassert not any
  step 7: «known["three diagonal layers"]→next(model for model in known.values() if model.depth == 3)»
  step 8: length <«=→» count for
theorem_e
  step 1: np.linalg.matrix_power(H, b + j«→ - 1»)
  step 2: orbits[b]«[b] > 0 == sum(orbits[b][b + 1 :])→[b - 1] > 0 == sum(orbits[b][b:])»
  step 3: x = np.«eye(b, k=-1, dtype=int) @ x→roll(x, 1)»
  step 4: read(machine, "a" * n + "b" * «n→(n + 1)»)
  step 4: (machine.transitions[:, deep] == «deep→0»)
  step 5: model = minimal.constructions(«f"D_{n}"→"D_2"»)[0].model
liquid_s4
  step 1: G, K = liquid_layer(«1→0»)\n
  step 2: escape = «start(G, K)→sp.zeros(2, 1)»\n
  step 3: assert liquid«("0-1", escape, G) != liquid("1-0", escape, G)→("0-0-1", escape, G) != liquid("0-1-0", escape, G)»
  step 4: liquid_layer(scale)[1].det()), liquid_layer(«0→1»)
  step 4: sp.rem(determinant, scale**«2→3», scale)
  step 5: liquid«("0", escape, G) - liquid("0-0", escape, G)→("0-0-1", escape, G) - liquid("0-1-0", escape, G)»
""")
