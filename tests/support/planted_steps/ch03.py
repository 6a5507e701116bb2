"""Chapter 03: for each step of its proofs a line made false, and the step that must see it."""

from proof_cells import faults

FAULTS = faults(r"""
composition
  step 1: return A2 * A1, A2 * b1 «+→-» b2
  step 1: return A2 * A1, «A2 * b1→b1 * A2» + b2
  step 2: after(f3, after(«f2, f1→f1, f2»))
tanh
  step 1: sp.«atanh(sp.tanh(a * r + c))→tanh(a * r + c)»
  step 2: a2 * «sp.tanh→»(a * r + c) + c2
schedule
  step 1: «word + run[-1]→run[-1] + word» for
  step 1: ["A2", "«A3A2→A2A3»"]
  step 2: (2**n - 1« - 1→») / 2
  step 2: math.ceil(math.log2(T« + 1→»)) for
  step 3: int(np.ceil(np.log2(2**k« - 1→»)))
pscan
  step 1: words = [f"«→A{first}»u{first}"]
  step 2: if t % (2 * half) <«→=» half]
  step 3: («A * P→P * A») * x + (A * y + u)
  step 3: (A * P) * x + («A * →»y + u)
  step 4: «word + run[-1]→run[-1] + word» for word in row] for row, run in zip(coef[1:], remain)]\n    return
  step 4: range(m + j, m« - 1→», -1)
  step 5: for w in x[m« - 1→»]]
  step 5: [«word + w→w + word» for w in
order
  step 1: lambda word, last: last + «word→last»
  step 2: np.array([[1, 0], [0, «0→1»]])
work
  step 1: [L« // 2→»] * int(math.log2(L))
  step 2: sum(map(len, groups[«2→»::2]))
  step 2: word.count("A") «== 1→<= 2»]
  step 3: b**3 * h * (L // 2 * k« - (L - 1)→»)
  step 4: half * k - (2 * half« - 1→»)
  step 4: made <= T * math.log2«(2 * T)→(T) / 2»
  step 5: ticks <= «(b**3 + b**2)→b**3» * levels
  step 6: max(«→2 * »sum(scan) / P, 9)
tree
  step 1: down[1::2] = «apply(A[::2], down[:-1:2]) + b[::2]→down[:-1:2]»
  step 1: return «A2 @ A1→A1 @ A2», apply(A2, b1) + b2
  step 2: 0 if n == 1 else «(up - 1)→up»
division
  step 1: a_t * (P * S) «+→-» b_t
  step 2: torch.full((200,), «0.5→0.25»)
wy
  step 1: w = beta * (k «-→+» S * k)
  step 2: gram[i, t] if i «<→>» t else 0
""")
