"""Chapter 10's proofs with a line made false: the step that must fail first."""

from proof_cells import Fault

FAULTS = [
    Fault("one_hot", "int(arrows[v, q] == r) for q", "int(arrows[v, r] == q) for q", "step 1"),
    Fault("one_hot", "x = A[v] @ x", "x = A[0] @ x", "step 2"),
    Fault("one_hot", "x = unit[machine.initial]", "x = unit[machine.initial + 1]", "step 2"),
    Fault("non_negative", "change - a**n * (states[1] - x)", "change - a ** (n + 1) * (states[1] - x)", "step 1"),
    Fault("non_negative", "states.append(sp.expand(a * states[-1] + b))", "states.append(sp.expand(a * states[-1] ** 2 + b))",
          "step 1"),
    Fault("non_negative", "sp.Rational(999, 1000)):", "sp.S(1)):", "step 2"),
    Fault("non_negative", "[x + k * b for k in range(7)]", "[x for k in range(7)]", "step 2"),
    Fault("reflections", "k = [(p == i) - (p == j)", "k = [(p == i) + (p == j)", "step 1"),
    Fault("reflections", "for first, *others in cycles(g):", "for first, *others in cycles(g)[::2]:", "step 1"),
    Fault("reflections", "rank() == 5 - len(cycles(g))", "rank() == 4 - len(cycles(g))", "step 2"),
    Fault("reflections", "int(r == g[s]))\n    assert (P - sp.eye(5))", "int(r == g[s]))\n    assert (P + sp.eye(5))", "step 2"),
    Fault("pairs", "state = gates[k] * state + adds[k]", "state = gates[k] * state + adds[k] * state", "step 1"),
    Fault("pairs", "sp.Rational(1, 2) ** many, many", "sp.S(1) ** many, many", "step 1"),
    Fault("pairs", "swapped = read(s, (0, 1)) - read(s, (1, 0))", "swapped = read(s, (0, 1)) - read(s, (1, 2))", "step 2"),
    Fault("pairs", "kept = sp.expand(swapped.subs({gates[0]: 1, gates[1]: 1}))", "kept = sp.expand(swapped.subs({gates[0]: 1}))",
          "step 2"),
    Fault("pairs", 'ladder.ladder_task("evenpair").machine', 'ladder.ladder_task("z_5").machine', "step 3"),
    Fault("pairs", "one, two = (after(p + xy + u", "one, two = (after(p + (0, 1) + u", "step 3"),
    Fault("fading", "gate * left + add, gate * right + add", "gate * left + add, gate * right - add", "step 1"),
    Fault("fading", "rho = sp.Rational(9, 10)", "rho = sp.Rational(11, 10)", "step 1"),
    Fault("fading", "shift * (slow**n - fast**n)", "shift * (slow**n + fast**n)", "step 2"),
    Fault("fading", "slow: sp.Rational(99, 100)", "slow: sp.S(1)", "step 2"),
    Fault("fading", "if any((move[q], move[r])", "if all((move[q], move[r])", "step 3"),
    Fault("fading", "[3, 3, 3, 4, 4]", "[3, 2, 2, 4, 4]", "step 3"),
    Fault("fading", "repeat=5 * 4 // 2", "repeat=1", "step 3"),
]  # fmt: skip
