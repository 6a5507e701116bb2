# Answers planted to test the tests of ps4: right ones in another style, wrong ones, and the points each must get.
# Not for students.  ``tests/support/rehearsal.py`` reads them; ``tests/lrnnbook/grading/test_course_sets.py`` grades every one.
# ruff: noqa: F811, F821

# %% planted={"task": "ps4.1", "points": 3, "what": "right: with a variance"}
def r2(found, wanted):
    found, wanted = np.array(found, dtype=float), np.array(wanted, dtype=float)
    return 1 - np.mean((found - wanted) ** 2) / wanted.var()


# %% planted={"task": "ps4.1", "points": 1, "what": "wrong: as it was reported"}
def r2(found, wanted):
    found, wanted = np.array(found, dtype=float), np.array(wanted, dtype=float)
    return 1 - ((found - wanted) ** 2).mean() / (wanted**2).mean()


# %% planted={"task": "ps4.1", "points": 0, "what": "wrong: a mean for each place"}
def r2(found, wanted):
    found, wanted = np.array(found, dtype=float), np.array(wanted, dtype=float)
    return 1 - ((found - wanted) ** 2).mean() / ((wanted - wanted.mean(0)) ** 2).mean()


# %% planted={"task": "ps4.1", "points": 1, "what": "wrong: the spread of what was found"}
def r2(found, wanted):
    found, wanted = np.array(found, dtype=float), np.array(wanted, dtype=float)
    return 1 - ((found - wanted) ** 2).sum() / max(found.var() * found.size, 1e-9) if found.any() else 0


# %% planted={"task": "ps4.1", "points": 0, "what": "wrong: not taken from 1"}
def r2(found, wanted):
    found, wanted = np.array(found, dtype=float), np.array(wanted, dtype=float)
    return ((found - wanted) ** 2).mean() / wanted.var()


# %% planted={"task": "ps4.2", "points": 4, "what": "right: what is left of a drawn vector"}
def unseen(kernels):
    K = np.array(kernels, dtype=float)
    v = np.random.default_rng(0).normal(size=K.shape[1])
    return v - np.linalg.pinv(K) @ (K @ v)


# %% planted={"task": "ps4.2", "points": 0, "what": "wrong: nothing is changed"}
def unseen(kernels):
    return [0] * len(kernels[0])


# %% planted={"task": "ps4.2", "points": 0, "what": "wrong: the short form, which has no row left"}
def unseen(kernels):
    return np.linalg.svd(np.array(kernels, dtype=float), full_matrices=False)[2][-1]


# %% planted={"task": "ps4.2", "points": 2, "what": "wrong: only the first kernel is asked"}
def unseen(kernels):
    return [-kernels[0][1], kernels[0][0]] + [0] * (len(kernels[0]) - 2) if any(kernels[0]) else [1] * len(kernels[0])


# %% planted={"task": "ps4.2", "points": 2, "what": "wrong: hard-coded"}
def unseen(kernels):
    return [0, 1] if len(kernels) == 1 else [1, -1, 0]


# %% planted={"task": "ps4.3", "points": 3, "what": "right: with numpy"}
def lags(pairs):
    return np.unique([w - r for r, w in pairs])


# %% planted={"task": "ps4.3", "points": 1, "what": "wrong: one lag twice"}
def lags(pairs):
    return sorted(w - r for r, w in pairs)


# %% planted={"task": "ps4.3", "points": 0, "what": "wrong: the other way round"}
def lags(pairs):
    return sorted({r - w for r, w in pairs})


# %% planted={"task": "ps4.3", "points": 0, "what": "wrong: how many"}
def lags(pairs):
    return len({w - r for r, w in pairs})


# %% planted={"task": "ps4.4", "points": 4, "what": "right: innermost brackets first"}
def bracket_values(text):
    found = []
    tokens = text.split()
    while "]" in tokens:
        end = tokens.index("]")
        start = max(i for i in range(end) if tokens[i][0] == "[")
        values = list(map(int, tokens[start + 1 : end]))
        value = {"[MAX": max(values), "[MIN": min(values), "[SM": sum(values) % 10}[tokens[start]]
        found.append(value)
        tokens[start : end + 1] = [str(value)]
    return found


# %% planted={"task": "ps4.4", "points": 1, "what": "wrong: the sum is not taken modulo 10"}
def bracket_values(text):
    found = []
    tokens = text.split()
    while "]" in tokens:
        end = tokens.index("]")
        start = max(i for i in range(end) if tokens[i][0] == "[")
        values = list(map(int, tokens[start + 1 : end]))
        value = {"[MAX": max(values), "[MIN": min(values), "[SM": sum(values)}[tokens[start]]
        found.append(value)
        tokens[start : end + 1] = [str(value)]
    return found


# %% planted={"task": "ps4.4", "points": 0, "what": "wrong: outermost first"}
def bracket_values(text):
    found = []
    tokens = text.split()
    while "]" in tokens:
        end = tokens.index("]")
        start = max(i for i in range(end) if tokens[i][0] == "[")
        values = list(map(int, tokens[start + 1 : end]))
        value = {"[MAX": max(values), "[MIN": min(values), "[SM": sum(values) % 10}[tokens[start]]
        found.append(value)
        tokens[start : end + 1] = [str(value)]
    return found[::-1]


# %% planted={"task": "ps4.4", "points": 0, "what": "wrong: the last value alone"}
def bracket_values(text):
    found = []
    tokens = text.split()
    while "]" in tokens:
        end = tokens.index("]")
        start = max(i for i in range(end) if tokens[i][0] == "[")
        values = list(map(int, tokens[start + 1 : end]))
        value = {"[MAX": max(values), "[MIN": min(values), "[SM": sum(values) % 10}[tokens[start]]
        found.append(value)
        tokens[start : end + 1] = [str(value)]
    return found[-1:]


# %% planted={"task": "ps4.5", "points": 3, "what": "right: by precision and recall"}
def macro_f1(found, wanted, classes):
    F = []
    for one in range(classes):
        said, there = np.array(found) == one, np.array(wanted) == one
        both = (said & there).sum()
        P, R = both / max(said.sum(), 1), both / max(there.sum(), 1)
        F.append(2 * P * R / (P + R) if both else 0)
    return np.mean(F)


# %% planted={"task": "ps4.5", "points": 1, "what": "wrong: accuracy"}
def macro_f1(found, wanted, classes):
    return float(np.mean(np.array(found) == np.array(wanted)))


# %% planted={"task": "ps4.5", "points": 1, "what": "wrong: the mean recall"}
def macro_f1(found, wanted, classes):
    found, wanted = np.array(found), np.array(wanted)
    return float(np.mean([(found[wanted == one] == one).mean() if (wanted == one).any() else 0 for one in range(classes)]))


# %% planted={"task": "ps4.5", "points": 1, "what": "wrong: classes that are never said are left out"}
def macro_f1(found, wanted, classes):
    F = []
    for one in set(found):
        right = sum(a == b == one for a, b in zip(found, wanted))
        F.append(2 * right / (list(found).count(one) + list(wanted).count(one)))
    return sum(F) / len(F)


# %% planted={"task": "ps4.5", "points": 1, "what": "wrong: classes that do not occur are left out"}
def macro_f1(found, wanted, classes):
    F = []
    for one in {*found, *wanted}:
        right = sum(a == b == one for a, b in zip(found, wanted))
        F.append(2 * right / (list(found).count(one) + list(wanted).count(one)))
    return sum(F) / len(F)
