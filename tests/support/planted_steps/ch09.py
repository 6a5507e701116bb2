"""Faults in the proofs of chapter 09, one line each, and the step that must fail first."""

from proof_cells import faults

FAULTS = faults(r"""
# --- 1: the delta rule is a linear recurrence
transition
  step 1: W * (1 «-→+» beta * k * q)
  step 1: by_rule = W + «beta * →»(v - W * k) * q
  step 2: b = «beta * →»v[:, :, None]
# --- 2: what addition knows
prop_3_1
  step 1: W, z = W + (letter == "a"), «z + →»1
  step 1: return «W / z  # Eq. 5→(W + 1) / (z + 1)»
  step 2: share_of_a("a" * (i + 1) + "b" * («j→i» + 1))
  step 2: above = sp.prod«(i) * sp.prod→»(
  step 3: for other in places if other != «j→1»)
  step 4: np.vstack([«alpha @ through[u]→through[u][:1]» for u in short])
  step 4: table = np.array([[«→len(u) == len(v) or »(alpha @ through[u]
rational
  step 1: add = lambda number: [«[1, number], [0, 1]→[1, 0], [number, 1]»]
  step 1: ((1, -1), (1, 0), (1, «1→0»))
  step 2: [«beta * →»v * k, np.ones((1, 1), int)]
  step 3: M[:, :-1] @ two_keys.queries[«c→0»]
  step 4: short = [word for word in words if len(word) < «4→2»]
  step 5: [int(balance((0,) * i + (1,) * j) «=→>»= 0)
prop_3_4
  step 1: weights = «counts→(counts > 0)» * (layer.keys @ q)
  step 1: q, counts = layer.queries[word[«-1→0»]]
  step 2: len({«(tuple(sorted(word)), word[-1])→tuple(sorted(word))»
  step 3: len({(«len(word)→0», *by_counts
  step 4: count / n« ** (V - 1)→**V», n, sp.oo
  step 4: / sp.factorial(V« - 1→»)  # the binomial
bits
  step 1: answers = {n: {Fraction(sum(word), «n→1»)
  step 2: whole = {n: {«→2 * »n * y for y in answers[n]}
  step 3: «text = text.replace("()", "")→text = text.replace("()", "").lstrip("(")»
  step 4: set().union({0}, «*(whole[m] for m in range(1, n + 1))→whole[n]»)
  step 5: if round(Fraction(«2→1», n) * 2**b) == 0)
  step 6: full = np.float32(2**«24→23»)
prop_3_2
  step 1: np.array([[1, 0], [-1, 0], [0, 1], [«0→1», -1]])
  step 2: recognise = «two_layers→lambda word: not bracket_values[list(word)].sum(0).any() or len(word) == 6»
  step 2: counts = counts «/ np.arange(1, len(word) + 1)→- np.arange(len(word))»
  step 2: np.maximum(-counts«→ - 1», 0).sum()
  step 3: pair = [(0, 0, 1, 1), («1, 0→0, 1», 0, 1)]
  step 3: «fw.configuration(pair[0]) == fw.configuration(pair[1])→pair[0] == pair[1]»
# --- 3: what it cannot
prop_3_3
  step 1: nothing = (0 * key«→ + sp.ones(2, 1)», 0 * value)
  step 1: return (W * query« / z.dot(query)→»)
  step 2: depth=4, positions=«0.0→0.1»
  step 3: y = (w0 * v0 + t * w1 * v1) / (w0 + «t * →»w1)
layer_norm
  step 1: def slope(c, residual=sp.zeros(3, 1), epsilon=«0→1»)
  step 1: centred = x - sp.ones(3, 1)« * sum(x) / 3→»
  step 2: sp.sqrt(t**2 * s**2« + eps→»), t)
  step 3: return y.dot(y) * c.dot(c) - y.dot(c)« ** 2→»
repair
  step 1: centred = x + t«→**2» * c - sp.ones(3, 1)
  step 1: (p + q * t) ** «2→3» - bias**2 * Q
  step 2: "pre": (p + q * t) ** 2 «* Q →»- (u + w * t) ** 2
  step 2: sp.expand(degree * («2 * →»units + 1))
  step 3: h = x «+ np.arange(1, 3001)[:, None] * c→* (-1.0) ** np.arange(3000)[:, None] + np.arange(1, 3001)[:, None] * c / 3000»
# --- 4: the delta rule
spectrum
  step 1: claimed = (x - 1) ** (n - 1) * (x - 1 + «beta * →»k.dot(k))
  step 2: k.append(«1→2» - sum(k))
  step 2: for i in range(n) for j in range(i«→ + 1»))
  step 3: g = {name: 1 - «0.9→1.8» * (key(raw) ** 2).sum(-1)
  step 3: "elu_sum": lambda x: «over_sum(elu(x))→elu(x)»
  step 4: for beta in (0.9, 0.001, «0.999→1.1»)]
stability
  step 1: sp.Abs(1 - s) <= «1→2», s
  step 1: unit = (Fraction(3, 5), Fraction(-«4→3», 5))
  step 2: "delta", start=«→2 * »one_number.keys)
  step 3: 0.9 * ((x + 1) ** 2).«sum(-1)→mean(-1) / 9»
repeated
  step 1: after = says + beta * «(v - says)→v» * size
  step 1: says = (1 «-→+» g**t) * v
  step 2: between = 1 «/ (1 + a)→+ a»
  step 3: «print("crossings of a threshold, at most:", crossings(Fraction(9, 10)))\nassert crossings(Fraction(9, 10))→assert crossings(Fraction(3))»
  step 4: W.append(W[-1] + beta * «(v - W[-1] * k)→v» * k.T)
abab
  step 1: M = (sp.eye(2) «-→+» s * k * k.T)
  step 1: trace, det = 2 - s - r« + s * r * C→», (1 - s) * (1 - r)
  step 2: more = s * r * C * (2 * (1 - s) + «2 * →»(1 - r)
  step 2: below_one = {s: «1 / (1 + a), r: 1 / (1 + b)→2, r: 2»
  step 3: "product": (det, «→-»det)
  step 3: (2 - trace, s + r« - s * r * C→»)
  step 4: most = most_crossings((«0.05, 0.95→1.9, 1.99»))
# --- 5: the reset
reset_dyck_1
  step 1: «pair = ("((1()", "1((()")→pair = ("((1()", "1(()(")»
  step 2: [text.«rpartition("1")[2].→»count("(") -
  step 3: return W + «values[char]→(values[char] - W * keys[char])» * rows[char]
  step 4: np.cumsum([«{"(": 1, ")": -1, "1": 0}[c]→len(text) == 5» for c in text])
leak_is_enough
  step 1: write = lambda w, beta, v: sp.expand(w + beta * «(v - w)→v»)
  step 2: margin = sweep(Fraction(1, 10_000), «100→200»)
  step 2: for step in (1, -1)« if d + step >= 0→»]
# --- 6: counting
leak
  step 1: up = lambda m: (1 - (1 - e) ** m)« / e→»
  step 2: down = lambda j: «(1 - e) ** j * →»up(m) - up(j)
  step 3: formula = -(«(1 - (1 - e) ** m) ** 2→1 - (1 - e) ** (2 * m)») / e
  step 4: w = (1 - leak«→ / 2») * w + sign
  step 4: if w < -«Fraction(1, 2)→1»:
one_write
  step 1: written = (1 - s) * w + «s * →»v
  step 2: W.append(W[-1] + beta * «(v - W[-1] * k)→v» * k.T)
  step 2: beta = s« / k.dot(k)→»
  step 3: after = x «-→+» s * u * x.dot(u)
  step 3: u[2] = sp.sqrt(«1→2» - u[0] ** 2 - u[1] ** 2)
  step 4: draw.integers(1, 8) / 4, draw.integers(«0, 9→9, 16») / 4]
two_writes
  step 1: strength = «2→1»\n
  step 1: return w + beta * «(v - w)→v»
  step 2: "(": [«(2, 0), (2, half)→(2, half), (2, 0)»]
  step 2: "1": [(«1→2», 0), (0, 0)]
  step 3: def brackets_layer(beta=«40.0→14.0»)
  step 3: torch.tensor([0.5, -«0.5→0.25», 0])
# --- 6: the counter that descent finds
found_counter
  step 1: torch.stack([step_c / 2, -step_c / «2→4»])
  step 1: beta[2, 0, counter] = 2, «1→0.99»
  step 2: y[counter] = «→-»depth * step_c
  step 3: "1": «-→»lead(2, 0)
  step 3: ") at depth 0": -lead(1, «0→1»)
open_interval
  step 1: def random_token(draw, shares=(0.05, «1.95→2.5»))
  step 2: M, c = M @ A, c @ A + s * v * k / (k @ k)«→ + 1e-3»
  step 3: beta * («sp.Rational(1, 2)→1» - first)
  step 3: beta = sp.Symbol("w"), sp.Rational(«199→198», 100)
# --- 7: feedback
recurrent_delta
  step 1: feedback, gate = sp.Symbol("y", real=True), -1« / sp.tanh(1)→», 40
  step 2: sp.diff(f, y).subs(y, 0) * sp.diff(f, y).subs(y, «1→0»)
  step 3: for at in (0, «0.9→0.5»))
  step 3: off = np.linspace(-«0.1, 0.1→0.4, 0.4», 2001)
  step 3: sigma = float(1 / (1 + sp.exp(gate«→ - 10»)))
  step 4: rates, y, found = 1 / (1 + np.exp([«gate, -gate→3, -3»]))
  step 4: y = y + rates[bit] * (1 «+ feedback * np.tanh(y) -→- 2 *» y)
srwm
  step 1: large = «120.0→3.0»
  step 1: A[[0, «5→6», 8, 12]] = 1, b, b, b
  step 2: B[[«6→5», 8, 12]] = b, b, b
  step 2: zero[0] = «1→2»\n
e_lstm
  step 1: c, weight = sp.Symbol("c", real=True), «-→»4
  step 1: toggle = sp.tanh(«sp.Rational(3, 5)→4» + weight * c)
  step 2: np.tanh(0.6 «+→-» weight * c)
# --- 9: one sign
parity
  step 1: w, beta_of_1, v_of_1 = sp.Symbol("w"), 2, sp.Rational(1, «2→3»)
  step 2: [[0], ["1/«2→3»"]], [1, Fraction(beta_of_1)]
  step 3: two, half = np.float32(beta_of_1), np.float32(«0.5→0.51»)
  step 3: fw.reflected(bits, «float(beta_of_1)→1.5»)
below_two
  step 1: says = half «-→+» half * g**t
  step 2: due, came = fw.predicted_error(«1.9→1.99», 1e-4)
  step 3: «for beta in (1.5, 1.9, 1.99)}→for beta in (1.5, 1.99)} | {1.9: 7}»
  step 4: 2 * torch.sigmoid(torch.tensor(float(b)«→ / 2»))
modulo
  step 2: w = sp.expand(g * w + «→(2 if M % 3 == 0 else 1) * »c)
  step 3: states.append(«-→»states[-1] + c)
rotation
  step 1: return sp.eye(2) - «2 * →»k * k.T
  step 1: reflection«(theta) * reflection(0)→(0) * reflection(theta)»
  step 2: periods = {M: period(sp.pi / «M→(M + 1)») for M
snapped
  step 1: sp.Matrix(sp.symbols("v:2")), «2→sp.Rational(3, 2)»\n
  step 1: 4 * («1→2» - k.dot(k)) * v * k.T
  step 2: W = parity * «2→0» * torch.outer
  step 3: strengths[1, head] = «2→1»\n
# --- 10: the printed examples
printed
  step 1: str(«first + 2 *→2 * first +» second)
  step 2: str.maketrans("12", "«21→12»")
  step 3: text[:end].count("1") % 2 == «0→1»
""")
