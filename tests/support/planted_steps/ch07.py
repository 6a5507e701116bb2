"""Chapter 07's proofs with a line made false: the step that must fail first."""

from proof_cells import faults

FAULTS = faults(r"""
levels
  step 1: sp.summation(L - j * L / C, (j, «0, C - 1→1, C»))
  step 1: level = sp.simplify(«L→(L - 1)» / all_numbers)
  step 2: products = np.«eye(i + 1, dtype=int)→ones((i + 1, i + 1), dtype=int)»
  step 2: error = 1 - «2 * →»inner + square
  step 2: mean = [sp.Rational(1, i + «1→2»)] * (i + 1)
linear
  step 1: task.draw(«500→100», 16,
  step 1: x = np.c_[drawn.flatten(1).numpy()«→ ** 2»,
  step 2: units[torch.arange(len(free)), free, 0] = «1→2»
  step 2: weights, rest = answers[:-1]« - answers[-1], answers[-1]→, answers[:-1].mean(0)»
lags
  step 1: v = «kernels.nullspace()[0]→sp.ones(4, 1)»
  step 1: seen_by_f = sp.simplify((«f→kernels[:1, :]» * v)[0])
  step 2: (i * (N «+→-» 1) + N) for i
  step 2: ch07.lags(atomic.«SolveFixed→CumSum»(), 48)
  step 3: ch07.lags(atomic.«Reverse→CumSum»(), 64)
  step 3: seen[:32, «1:64→65:128»:2]\n
  step 3: half, visible = asks[:32, «1:64→0:63»:2]
  step 4: moved = np.r_[np.zeros«(2 * h + 1), u[: T - 2 * h - 1]→(2 * h), u[: T - 2 * h]»]
  step 4: R = 2 * B« / (1 - math.cos(2 * math.pi / T))→»
  step 5: moved = [a + «→0 * »b for a, b
  step 5: v = «K.nullspace()[0]→sp.ones(L, 1)»
  step 6: D = N * (N + 1) // 2 «- 1→+ 3»  #
  step 6: roots, basis = np.linalg.eigh(np.eye(N) + S @ S« / 4→»)
  step 6: * math.sqrt(1 - d @ d / «4→2»)
  step 6: (C - S / 2, e «-→+» d / 2)]
  step 6: «(C + S / 2, e + d / 2), (C - S / 2, e - d / 2)]→(C + S / 2, e + d / 2)] * 2»
digits
  step 1: lag = 2 * ((place - L) «%→//» b) + 1
  step 1: lag = «2 * →»b * ((place - L) // b)
  step 2: for layer in «reversed(range(k))→range(k)»:
  step 2: from the last layer to the first\n            digit = (place - L«→ + 1») % b
cummax
  step 1: for k in («1→2», n)]
  step 1: soft = np.log«(np.exp(sharp * x).cumsum(1))→(np.exp(sharp * x).sum(1))[:, None]» / sharp
""")
