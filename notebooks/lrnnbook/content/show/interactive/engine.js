// A net in the page: run it, snap it, search all strings.  Plain functions without a page, so that they can be tried anywhere.
// What a net is, `export.py` says: operations on flat arrays, in the order in which they are computed.

const bytes = text => Uint8Array.from(atob(text), sign => sign.charCodeAt(0)).buffer;
const argmax = values => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);

// Each operation fills `z`, which its node keeps from step to step; loops, since a function called for each number costs more.
const each = f => (z, x) => { for (let i = 0; i < z.length; i++) z[i] = f(x[i]); };
const OPERATIONS = {
  relu: (z, x) => { for (let i = 0; i < z.length; i++) z[i] = Math.max(x[i], 0); },
  exp: each(Math.exp), tanh: each(Math.tanh), sigmoid: each(x => 1 / (1 + Math.exp(-x))),
  neg: each(x => -x), sqrt: each(Math.sqrt), abs: each(Math.abs), sin: each(Math.sin), cos: each(Math.cos),
  log1p: each(Math.log1p), softplus: each(x => (x > 20 ? x : Math.log1p(Math.exp(x)))), reciprocal: each(x => 1 / x),
  add: (z, x, y) => { for (let i = 0; i < z.length; i++) z[i] = x[i] + y[i]; },
  sub: (z, x, y) => { for (let i = 0; i < z.length; i++) z[i] = x[i] - y[i]; },
  mul: (z, x, y) => { for (let i = 0; i < z.length; i++) z[i] = x[i] * y[i]; },
  div: (z, x, y) => { for (let i = 0; i < z.length; i++) z[i] = x[i] / y[i]; },
  times: (z, x, y) => {
    for (let i = 0; i < z.length; i += 2) {
      z[i] = x[i] * y[i] - x[i + 1] * y[i + 1];
      z[i + 1] = x[i] * y[i + 1] + x[i + 1] * y[i];
    }
  },
  matmul: (z, a, b, batch, m, k, n) => {
    if (n > 1) z.fill(0);
    for (let i = 0; i < batch * m; i++) {
      const from = Math.floor(i / m) * k * n, to = i * n;
      let sum = 0;
      for (let l = 0; l < k; l++) {
        const value = a[i * k + l], at = from + l * n;
        if (n === 1) sum += value * b[at];
        else if (value) for (let j = 0; j < n; j++) z[to + j] += value * b[at + j];
      }
      if (n === 1) z[i] = sum;
    }
  },
  norm: (z, x, scale, shift, eps) => {
    const D = scale.length;
    for (let from = 0; from < x.length; from += D) {
      let mean = 0, square = 0;
      for (let d = 0; d < D; d++) mean += x[from + d] / D;
      for (let d = 0; d < D; d++) square += (x[from + d] - mean) ** 2 / D;
      for (let d = 0; d < D; d++) z[from + d] = (x[from + d] - mean) / Math.sqrt(square + eps) * scale[d] + shift[d];
    }
  },
  softmax: (z, x, D) => {
    for (let from = 0; from < x.length; from += D) {
      const row = x.subarray(from, from + D), top = Math.max(...row), all = row.reduce((sum, one) => sum + Math.exp(one - top), 0);
      row.forEach((value, d) => { z[from + d] = Math.exp(value - top) / all; });
    }
  },
  sum: (z, x, D) => {
    for (let i = 0; i < z.length; i++) {
      let sum = 0;
      for (let d = 0; d < D; d++) sum += x[i * D + d];
      z[i] = sum;
    }
  },
};
const OPERANDS = { matmul: 2, norm: 3, softmax: 1, sum: 1 };  // how many of the arguments are values; else all
const SIZES = { matmul: (x, [batch, m, , n]) => batch * m * n, sum: (x, [D]) => x.length / D };  // of what comes out; else as x

// {start, step(state, token) -> {state, logits}}; `tables` may be other than the net's own (snapped, broken).
const netOf = (data, tables = tablesOf(data)) => {
  const nodes = data.nodes.map(([name, ...given]) => {
    if (name === "table") return (_, token) => tables[given[0]][tables[given[0]].length > 1 ? token : 0];
    if (name === "fill") { const value = new Float64Array(given[1]).fill(given[0]); return () => value; }
    if (name === "take") {
      const [sources, places] = given, z = new Float64Array(places.length);
      return values => {
        const x = sources.length > 1 ? sources.flatMap(one => [...values[one]]) : values[sources[0]];
        for (let i = 0; i < z.length; i++) z[i] = x[places[i]];
        return z;
      };
    }
    const count = OPERANDS[name] ?? given.length, [x, y, w] = given.slice(0, count), rest = given.slice(count), fill = OPERATIONS[name];
    let z = null;
    return values => {
      z ??= new Float64Array(SIZES[name]?.(values[x], rest) ?? values[x].length);
      if (count === 1) fill(z, values[x], ...rest);
      else if (count === 2) fill(z, values[x], values[y], ...rest);
      else fill(z, values[x], values[y], values[w], ...rest);
      return z;
    };
  });
  const [answer, ...after] = data.ends, kept = data.start.length;
  return {
    start: data.start.map(part => Float64Array.from(part)),
    step: (state, token) => {
      const values = [...state];
      for (let i = 0; i < nodes.length; i++) values[kept + i] = nodes[i](values, token);
      return { state: after.map(end => values[end].slice()), logits: values[answer].slice() };
    },
  };
};

// The tables of numbers, a row for each token where they hang on it.
const tablesOf = data => {
  const weights = new Float32Array(bytes(data.weights)), rows = new (data.rows_in === "<f8" ? Float64Array : Float32Array)(bytes(data.rows));
  let [w, r] = [0, 0];
  return data.tables.map(([count, size]) => (count === 1 ? [Float64Array.from(weights.subarray(w, w += size))]
    : Array.from({ length: count }, () => Float64Array.from(rows.subarray(r, r += size)))));
};

// The code whose answers, after each of the words, the net gives with the greatest probability, and by how much it leads.
const nearest = (net, { words, answers }, state, logits) => {
  const said = words.map(word => word.reduce((now, token) => net.step(now.state, token), { state, logits }).logits).map(row => {
    const top = Math.max(...row), all = top + Math.log(row.reduce((sum, value) => sum + Math.exp(value - top), 0));
    return row.map(value => value - all);
  });
  const scores = answers.map(row => row.reduce((sum, answer, w) => sum + said[w][answer], 0)), code = argmax(scores);
  return { code, lead: Math.min(...scores.map((score, k) => (k === code ? Infinity : scores[code] - score))) };
};

// The codes, each as the parts of a state.
const codesOf = data => {
  const numbers = new Float32Array(bytes(data.codes));
  let at = 0;
  return data.answers.map(() => data.start.map(part => Float64Array.from(numbers.subarray(at, at += part.length))));
};

// Read a word (tokens): the states, the first before it, and the answers.  With `restart` the state is put to a code each time.
const run = (net, data, word, restart = false) => {
  const codes = restart ? codesOf(data) : null;
  const states = [net.start], answers = [], at = [];
  for (const token of word) {
    const after = net.step(states.at(-1), token);
    answers.push(argmax(after.logits));
    if (restart) at.push(nearest(net, data, after.state, after.logits).code);
    states.push(restart ? codes[at.at(-1)] : after.state);
  }
  return { states, answers, codes: at };
};

// What should be answered.
const wanted = ({ transitions, outputs, initial }, word) => {
  let state = initial;
  return word.map(token => outputs[state = transitions[token][state]]);
};

// --- blocks ----------------------------------------------------------------------------------------------------------

// Where each column of each block sends its state: to its largest entry, but where it is broken. moves[token][block][from]
const columns = (data, broken = new Map(), tables = tablesOf(data)) => {
  const { table, h, n } = data.blocks;
  return tables[table].map((A, token) => Array.from({ length: h }, (_, k) => Array.from({ length: n }, (_, from) => {
    const own = Array.from({ length: n }, (_, to) => A[(k * n + to) * n + from]);
    return broken.get([token, k, from].join()) ?? argmax(own);
  })));
};

// The tables of the snapped net.
const snapped = (data, moves) => {
  const tables = tablesOf(data), { table, h, n } = data.blocks;
  tables[table] = moves.map(blocks => {
    const A = new Float64Array(h * n * n);
    blocks.forEach((block, k) => block.forEach((to, from) => { A[(k * n + to) * n + from] = 1; }));
    return A;
  });
  return tables;
};

const oneHot = (states, n) => {
  const x = new Float64Array(states.length * n);
  states.forEach((state, k) => { x[k * n + state] = 1; });
  return x;
};

// The logits of a tuple of block states.  A step by token 0 of a net whose blocks stay reads out what it was given.
const readoutOf = (data, n, h) => {
  const stay = Array.from({ length: data.V }, () => Array.from({ length: h }, () => Array.from({ length: n }, (_, j) => j)));
  const net = netOf(data, snapped(data, stay)), known = new Map();
  return states => {
    const key = states.join();
    if (!known.has(key)) known.set(key, net.step([oneHot(states, n)], 0).logits);
    return known.get(key);
  };
};

// All strings at once: places are (states of the followed blocks, state of the machine).  Where a place is wrong the search
// ends with the shortest string that leads there; where no new place is found, it is closed.
const explore = ({ V, machine, start, move, wrong, limit }) => {
  const places = [{ states: start, due: machine.initial, from: -1, by: -1 }], arrows = [];
  const known = new Map([[`${start}|${machine.initial}`, 0]]);
  for (let p = 0; p < places.length; p++) {
    for (let token = 0; token < V; token++) {
      const states = move(places[p].states, token), due = machine.transitions[token][places[p].due];
      const key = `${states}|${due}`;
      let to = known.get(key);
      if (to === undefined) {
        to = places.length;
        known.set(key, to);
        places.push({ states, due, from: p, by: token });
      }
      arrows.push([p, token, to]);
      if (machine.outputs[due] >= 0 && wrong(states, machine.outputs[due], places[p].states, token)) {
        const word = [token];
        for (let q = p; places[q].from >= 0; q = places[q].from) word.unshift(places[q].by);
        return { places, arrows, word, closed: false };
      }
    }
    if (places.length > limit) return { places, arrows, word: null, closed: false };
  }
  return { places, arrows, word: null, closed: true };
};

// The blocks, that with the widest say in the answer first; all states of a block count.
const widest = data => {
  const { h, n } = data.blocks, tell = readoutOf(data, n, h), start = Array.from({ length: h }, (_, k) => argmax(data.start[0].slice(k * n, k * n + n)));
  const spread = start.map((_, k) => {
    const rows = Array.from({ length: n }, (_, j) => tell(start.map((state, i) => (i === k ? j : state))));
    return Math.max(...Array.from(rows[0], (_, c) => Math.max(...rows.map(row => row[c])) - Math.min(...rows.map(row => row[c]))));
  });
  return start.map((_, k) => k).sort((a, b) => spread[b] - spread[a] || a - b);
};

// How much the right answer leads at least, and how large logits are; of rounding nothing is known here but that it is less
// than a billionth of them.  A lead that is no number counts as none.
const leads = () => {
  const found = { lead: Infinity, size: 0 };
  return {
    found,
    note: (here, logits) => {
      found.lead = Math.min(found.lead, here);
      found.size = Math.max(found.size, ...Array.from(logits, Math.abs));
    },
    enough: () => found.lead > 1e-9 * (1 + found.size),
  };
};

const leadOf = (logits, due) => Math.min(...logits.map((value, c) => (c === due ? Infinity : logits[due] - value)));

// Prove or refute a snapped net.  Layer norm is one affine map on tuples of one-hots, so with a linear readout each block adds
// its own term: more and more blocks are followed, the others may be in whichever of their states harms most.
const searchBlocks = (data, moves, limit = 200000) => {
  const { h, n, linear } = data.blocks, { V, machine } = data, tell = readoutOf(data, n, h);
  const start = Array.from({ length: h }, (_, k) => argmax(data.start[0].slice(k * n, k * n + n)));
  const begin = performance.now();
  const done = (found, blocks, seen) => ({ ...found, closed: found.closed && seen.enough(), thin: found.closed && !seen.enough(), blocks,
    lead: seen.found.lead, milliseconds: performance.now() - begin });
  if (linear) {
    const base = tell(start);
    const terms = start.map((first, k) => Array.from({ length: n }, (_, j) => {
      const logits = tell(start.map((state, i) => (i === k ? j : state)));
      return logits.map((value, c) => value - base[c]);
    }));
    const reached = start.map((first, k) => {
      const seen = new Set([first]);
      for (const state of seen) for (let token = 0; token < V; token++) seen.add(moves[token][k][state]);
      return [...seen];
    });
    const spread = reached.map((states, k) => Math.max(...Array.from(base, (_, c) => {
      const some = states.map(state => terms[k][state][c]);
      return Math.max(...some) - Math.min(...some);
    })));
    const order = start.map((_, k) => k).sort((a, b) => spread[b] - spread[a] || a - b);
    for (let count = 1; count < h; count++) {
      const blocks = order.slice(0, count).sort((a, b) => a - b), rest = order.slice(count);
      const least = (c, d) => rest.reduce((sum, k) => sum + Math.min(...reached[k].map(j => terms[k][j][c] - terms[k][j][d])), 0);
      const taken = Array.from(base, (_, c) => Array.from(base, (_, d) => least(c, d)));
      const seen = leads();
      const found = explore({
        V, machine, limit, start: blocks.map(k => start[k]),
        move: (states, token) => states.map((state, i) => moves[token][blocks[i]][state]),
        wrong: (states, due) => {
          const logits = Array.from(base, (value, c) => value + states.reduce((sum, j, i) => sum + terms[blocks[i]][j][c], 0));
          const here = Math.min(...logits.map((value, d) => (d === due ? Infinity : logits[due] - value + taken[due][d])));
          seen.note(here, [...base, ...logits]);
          return !seen.enough();
        },
      });
      if (found.closed) return done(found, blocks, seen);
      if (found.places.length > limit) break;
    }
  }
  const seen = leads();
  const found = explore({
    V, machine, limit, start,
    move: (states, token) => states.map((state, k) => moves[token][k][state]),
    wrong: (states, due) => {
      const logits = tell(states), right = argmax(logits) === due;
      if (right) seen.note(leadOf(logits, due), logits);
      return !right;
    },
  });
  return done(found, start.map((_, k) => k), seen);
};

// --- codes -----------------------------------------------------------------------------------------------------------

// The machine of a restarted net: from the start (place K) and from each code, by each letter, its answer and the next code.
const codeMachine = (net, data) => {
  const froms = [...codesOf(data), net.start];
  return froms.map(state => Array.from({ length: data.V }, (_, token) => {
    const after = net.step(state, token), { code, lead } = nearest(net, data, after.state, after.logits);
    return { code, lead, logits: after.logits };
  }));
};

// Prove or refute a restarted net: its machine against the one that it should be, on all strings.
const searchCodes = (net, data, limit = 200000) => {
  const begin = performance.now(), table = codeMachine(net, data);
  const seen = leads();
  let chosen = Infinity;
  const found = explore({
    V: data.V, machine: data.machine, limit, start: [data.answers.length],
    move: ([code], token) => [table[code][token].code],
    wrong: (states, due, [from], token) => {
      const { logits, lead: by } = table[from][token], right = argmax(logits) === due;
      if (right) seen.note(leadOf(logits, due), logits);
      chosen = Math.min(chosen, by);
      return !right;
    },
  });
  const closed = found.closed && seen.enough() && chosen > 1e-9;
  return { ...found, closed, thin: found.closed && !closed, lead: seen.found.lead, chosen, codes: table, milliseconds: performance.now() - begin };
};

// --- certificates: the format of lrnnlab.verification.semantics.certificate ----------------------------------------------

// What a closed search leaves behind, as text.
const certificateOf = ({ places, arrows }, { V, symbols, machine }, digest) => {
  const names = [...new Set(places.map(place => String(place.states)))], number = place => names.indexOf(String(place.states));
  const table = names.map(() => new Array(V).fill(-1)), answers = names.map(() => -1);
  for (const [from, token, to] of arrows) {
    table[number(places[from])][token] = number(places[to]);
    if (machine.outputs[places[to].due] >= 0) answers[number(places[to])] = machine.outputs[places[to].due];
  }
  const across = machine.transitions[0].map((_, state) => machine.transitions.map(moves => moves[state]));
  return JSON.stringify({
    format: "lrnnlab certificate 1",
    task: { letters: symbols, start: machine.initial, arrows: across, answers: machine.outputs },
    net: { digest, start: number(places[0]), arrows: table, answers },
    places: places.map(place => [number(place), place.due]),
  });
};

// Why a text is no proof that its two tables agree on every string; "" if it is one.  Nothing of the search is used.
const whyNoProof = text => {
  let found;
  try { found = JSON.parse(text); } catch (error) { return `no certificate: ${error.message}`; }
  const whole = (row, least, below, length) => Array.isArray(row) && row.length === length
    && row.every(x => Number.isInteger(x) && x >= least && x < below);
  const keys = value => (value && typeof value === "object" ? Object.keys(value).sort().join(" ") : "");
  if (keys(found) !== "format net places task" || found.format !== "lrnnlab certificate 1") return "not of the format 'lrnnlab certificate 1'";
  const { task, net, places } = found;
  if (keys(task) !== "answers arrows letters start" || keys(net) !== "answers arrows digest start") return "task or net has other keys";
  const { letters } = task;
  if (typeof net.digest !== "string") return "the net's digest is no text";
  if (!Array.isArray(letters) || !letters.length || new Set(letters).size !== letters.length) return "the letters are not distinct";
  for (const [name, { arrows, answers, start }, least] of [["task", task, 0], ["net", net, -1]])
    if (!Array.isArray(arrows) || !arrows.every(row => whole(row, least, arrows.length, letters.length)) || !whole([start], 0, arrows.length, 1)
      || !whole(answers, -1, 2 ** 53, arrows.length)) return `the ${name} is no table of states`;
  if (!Array.isArray(places) || !places.every(place => whole(place, 0, 2 ** 53, 2))) return "the places are no pairs of states";
  if (places.some(([s, q]) => s >= net.arrows.length || q >= task.arrows.length)) return "a place has a state that there is not";
  const asked = new Set(task.answers.flatMap((answer, state) => (answer >= 0 ? [state] : [])));
  task.arrows.forEach(() => task.arrows.forEach((row, state) => { if (row.some(to => asked.has(to))) asked.add(state); }));
  const known = new Set(places.map(String));
  if (!known.has(String([net.start, task.start]))) return "the start is not among the places";
  let compared = 0;
  for (const [state, wanted] of places)
    for (const [v, letter] of letters.entries()) {
      const after = net.arrows[state][v], due = task.arrows[wanted][v], here = `letter '${letter}' leads from the place ${state}, ${wanted} to`;
      if (after < 0 && asked.has(due)) return `${here} nowhere, though the task asks for answers beyond`;
      if (after < 0) continue;
      if (!known.has(String([after, due]))) return `${here} ${after}, ${due}, which is not among the places`;
      if (task.answers[due] >= 0 && task.answers[due] !== net.answers[after]) return `${here} ${after}, ${due}, where the answer is wrong`;
      compared += task.answers[due] >= 0;
    }
  return compared ? "" : "the task never asks for an answer";
};
