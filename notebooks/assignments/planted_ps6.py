# Answers planted to test the tests of ps6: right ones in another style, wrong ones, and the points each must get.
# Not for students.  ``tests/support/rehearsal.py`` reads them; ``tests/lrnnbook/grading/test_course_sets.py`` grades every one.
# ``instead`` replaces words in the right answer above.
# ruff: noqa: F811, F821

# %% planted={"task": "ps6.1", "points": 2, "what": "right: NumPy, shifted by the largest entry"}
def my_columns(raw):
    raw = np.asarray(raw)
    weights = np.exp(raw - raw.max(-2, keepdims=True))
    return weights / weights.sum(-2, keepdims=True)


# %% planted={"task": "ps6.1", "points": 0, "what": "wrong: rows in place of columns"}
def my_columns(raw):
    return torch.as_tensor(raw).softmax(-1)


# %% planted={"task": "ps6.1", "points": 0, "what": "wrong: over both axes"}
def my_columns(raw):
    return torch.as_tensor(raw).flatten(2).softmax(-1).view(raw.shape)


# %% planted={"task": "ps6.1", "points": 0, "what": "wrong: exp overflows"}
def my_columns(raw):
    weights = torch.as_tensor(raw).exp()
    return weights / weights.sum(-2, keepdim=True)


# %% planted={"task": "ps6.1", "points": 0, "what": "wrong: hard-coded"}
def my_columns(raw):
    return torch.full(raw.shape, 1 / raw.shape[-1])


# %% planted={"task": "ps6.2", "points": 3, "what": "right: NumPy, string by string"}
def my_scan(A, tokens, x0):
    A, tokens, x0 = (np.asarray(one) for one in (A, tokens, x0))
    out = []
    for string in tokens:
        x, states = x0, []
        for token in string:
            x = np.einsum("kij,kj->ki", A[token], x)
            states.append(x)
        out.append(states)
    return np.array(out)


# %% planted={"task": "ps6.2", "points": 0, "what": "wrong: transposed", "instead": {"kij,kj->ki": "kji,kj->ki"}}


# %% planted={"task": "ps6.2", "points": 0, "what": "wrong: the state before the token", "instead": {"x0, []": "x0, [x0]", "return np.array(out)": "return np.array(out)[:, :-1]"}}


# %% planted={"task": "ps6.2", "points": 0, "what": "wrong: the start is forgotten", "instead": {"x, states = x0, []": "x, states = np.eye(x0.shape[-1])[[0] * len(x0)], []"}}


# %% planted={"task": "ps6.3", "points": 1, "what": "right: lists"}
def my_snap(A):
    A = np.asarray(A)
    return [[[max(range(len(head)), key=lambda i: head[i][s]) for s in range(len(head))] for head in token] for token in A.tolist()]


# %% planted={"task": "ps6.3", "points": 0, "what": "wrong: along the columns' axis"}
def my_snap(A):
    return torch.as_tensor(A).argmax(-1)


# %% planted={"task": "ps6.3", "points": 0, "what": "wrong: entries above one half"}
def my_snap(A):
    return (torch.as_tensor(A) > 0.5).long().argmax(-2)


# %% planted={"task": "ps6.3", "points": 0, "what": "wrong: hard-coded, every state stays"}
def my_snap(A):
    return torch.arange(A.shape[-1]).expand(A.shape[:2] + A.shape[-1:])


# %% planted={"task": "ps6.4", "points": 4, "what": "right: level by level, with the words as text"}
def my_search(goes, answers, transitions, outputs):
    goes, answers = np.asarray(goes), np.asarray(answers)
    level = {((0,) * goes.shape[1], 0): ""}
    seen = set(level)
    while level:
        following = {}
        for (heads, state), word in level.items():
            for token in range(goes.shape[0]):
                pair = tuple(goes[token][range(goes.shape[1]), heads].tolist()), int(transitions[token][state])
                if answers[pair[0]] != outputs[pair[1]]:
                    return [ord(letter) for letter in word + chr(token)]
                if pair not in seen:
                    seen.add(pair)
                    following[pair] = word + chr(token)
        level = following


# %% planted={"task": "ps6.4", "points": 0, "what": "wrong: remembers the heads alone", "instead": {"seen = set(level)": "seen = {heads for heads, _ in level}", "pair not in seen": "pair[0] not in seen", "seen.add(pair)": "seen.add(pair[0])"}}


# %% planted={"task": "ps6.4", "points": 0, "what": "wrong: depth first, not a shortest"}
def my_search(goes, answers, transitions, outputs):
    start = (0,) * goes.shape[1], 0
    seen, stack = {start}, [(start, [])]
    while stack:
        (heads, state), word = stack.pop()
        for token in range(len(goes)):
            new = tuple(int(goes[token, k, s]) for k, s in enumerate(heads)), int(transitions[token][state])
            if np.asarray(answers)[new[0]] != outputs[new[1]]:
                return [*word, token]
            if new not in seen:
                seen.add(new)
                stack.append((new, [*word, token]))
    return None


# %% planted={"task": "ps6.4", "points": 0, "what": "wrong: all words of at most three tokens"}
def my_search(goes, answers, transitions, outputs):
    for length in (1, 2, 3):
        for word in itertools.product(range(len(goes)), repeat=length):
            heads, state = (0,) * goes.shape[1], 0
            for token in word:
                heads, state = tuple(int(goes[token, k, s]) for k, s in enumerate(heads)), int(transitions[token][state])
            if np.asarray(answers)[heads] != outputs[state]:
                return list(word)


# %% planted={"task": "ps6.4", "points": 0, "what": "wrong: hard-coded, nothing is ever wrong"}
def my_search(goes, answers, transitions, outputs):
    return None


# %% planted={"task": "ps6.5", "points": 4, "what": "right: another readout and generator, its own run and search"}
def my_machine(M, seed):
    for attempt in range(8):
        draw, b, losses = torch.Generator().manual_seed(seed + 100 * attempt), M + 4, []
        raw, weight = (torch.randn(shape, generator=draw).div(4).requires_grad_() for shape in ((M, b, b), (b, M)))
        gain, bias = torch.ones(b, requires_grad=True), torch.zeros(M, requires_grad=True)
        optimiser = torch.optim.Adam([raw, weight, gain, bias], 0.05)

        def says(x):
            return torch.nn.functional.layer_norm(x, (b,)) * gain @ weight + bias

        for step in range(1, 201):
            tokens = torch.randint(M, (32, 20), generator=draw)
            A, x, logits = (4 * raw).softmax(-2), torch.eye(b)[0].expand(32, b), []
            for t in range(20):
                x = torch.einsum("nij,nj->ni", A[tokens[:, t]], x)
                logits.append(says(x))
            loss = torch.nn.functional.cross_entropy(torch.stack(logits, 1).flatten(0, 1), (tokens.cumsum(1) % M).flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(float(loss.detach()))
            if step % 20 or losses[-1] > 0.1:
                continue
            answers, goes, pairs, queue = says(torch.eye(b)).argmax(-1).tolist(), A.argmax(-2).tolist(), {(0, 0)}, [(0, 0)]
            for state, total in queue:
                new = {(goes[d][state], (total + d) % M) for d in range(M)} - pairs
                pairs |= new
                queue += new
            if all(answers[state] == total for state, total in pairs):
                return A[:, None].detach().numpy(), answers, losses


# %% planted={"task": "ps6.5", "points": 0, "what": "wrong: a formula, nothing was trained"}
def my_machine(M, seed):
    return np.stack([np.roll(np.eye(M), d, 0) for d in range(M)])[:, None], list(range(M)), []


# %% planted={"task": "ps6.5", "points": 1, "what": "wrong: the seed is not used", "instead": {"seed + 100 * attempt": "100 * attempt"}}


# %% planted={"task": "ps6.5", "points": 0, "what": "wrong: trained on the last digit in place of the sum", "instead": {"(tokens.cumsum(1) % M)": "tokens", "all(answers[state] == total for state, total in pairs)": "losses[-1] < 0.1"}}


# %% planted={"task": "ps6.5", "points": 0, "what": "wrong: hard-coded for M = 2"}
def my_machine(M, seed):
    return [[[[1.0, 0.0], [0.0, 1.0]]], [[[0.0, 1.0], [1.0, 0.0]]]], [0, 1], [0.69 / k for k in range(1, 30)]
