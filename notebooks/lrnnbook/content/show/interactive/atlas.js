import { button, choice, html, LIVE, safe, set, stage, svg } from "./parts.js";

const A = "#222222", B = "#b2182b", CORNERS = [[0, -27], [-27, 20], [27, 20]];
const RULE = { "-": ["impossible at any depth", "no"], "?": ["not known", "open"], s: ["some number of layers; how many is not known", "some"],
  1: ["one layer", "yes"], 2: ["two layers", "yes"] };
const OWN = `
.moving-picture.atlas { max-width: 43rem; }
.atlas .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(3.2rem, 1fr)); gap: 3px; flex: 1 1 28rem; max-height: 34rem; overflow: auto; padding: 4px; }
.atlas .tiles button { padding: 0; min-width: 0; min-height: 0; border-radius: 6px; border: 0; aspect-ratio: 1; color: #222; }
.atlas .tiles button[aria-pressed=true] { outline: 3px solid ${LIVE}; outline-offset: -1px; }
.atlas .one { flex: 1 1 20rem; min-width: 0; }
.atlas .one svg { background: #fff; color: #222; border-radius: 8px; width: 12rem; }
.atlas table { border-collapse: collapse; font-size: .92em; }
.atlas th { text-align: left; font-weight: 400; padding: .1em .8em .1em 0; }
.atlas td { padding: .1em 0; }
.atlas .key { display: flex; flex-wrap: wrap; gap: .2em 1.2em; }
.atlas .key i { display: inline-block; width: .9em; height: .9em; border-radius: 3px; margin-right: .4em; vertical-align: -.1em; }
.atlas input[type=text] { font-family: ui-monospace, "DejaVu Sans Mono", monospace; width: 17em; max-width: 100%; }
.atlas [role=status] { overflow-wrap: anywhere; min-height: 3em; }
`;

// All machines with a given number of states, in the order of the record: where each state goes by a and by b, state by state.
const tables = states => {
  const found = [];
  const grow = (table, seen) => {
    if (table.length === 2 * states) { if (seen === states) found.push(table); return; }
    if (table.length >> 1 >= seen) return;
    for (let to = 0; to < Math.min(seen + 1, states); to++) grow([...table, to], Math.max(seen, to + 1));
  };
  grow([], 1);
  return found;
};

// States numbered in the order of their first visit; what is not reached goes.
const canonical = (moves, initial = 0) => {
  const order = [initial], at = new Map([[initial, 0]]), table = [];
  for (const state of order)
    for (const to of moves[state]) {
      if (!at.has(to)) { at.set(to, order.length); order.push(to); }
      table.push(at.get(to));
    }
  return table;
};

// Fewest states that answer alike: split by answers, then by where letters lead, until nothing splits.
const smallest = (moves, outputs, initial = 0) => {
  let classes = outputs.map(String);
  for (;;) {
    const next = classes.map((one, state) => [one, ...moves[state].map(to => classes[to])].join("|"));
    const names = [...new Set(next)], split = next.map(name => String(names.indexOf(name)));
    if (new Set(split).size === new Set(classes).size) break;
    classes = split;
  }
  const names = [...new Set(classes)], first = names.map(name => classes.indexOf(name));
  return canonical(first.map(state => moves[state].map(to => names.indexOf(classes[to]))), names.indexOf(classes[initial]));
};

// The machine of a regular expression over a and b: * + ? | ( ) and . for any letter.  States are what is left to be read.
const ofExpression = text => {
  if (text.length > 60) throw new Error(`an expression of at most 60 signs, got ${text.length}`);
  let at = 0;
  const sign = () => text[at];
  const alternatives = () => {
    let found = sequence();
    while (sign() === "|") { at++; found = or(found, sequence()); }
    return found;
  };
  const sequence = () => {
    let found = "e";
    while (at < text.length && sign() !== "|" && sign() !== ")") found = then(found, repeated());
    return found;
  };
  const repeated = () => {
    let found = letter();
    if ("*+?".includes(sign() ?? " ")) {
      const how = text[at++];
      if ("*+?".includes(sign() ?? " ")) throw new Error(`${how}${sign()}: one repetition after the other`);
      found = how === "?" ? or(found, "e") : how === "*" ? star(found) : then(found, star(found));
    }
    return found;
  };
  const letter = () => {
    const one = text[at++];
    if (one === "(") {
      const found = alternatives();
      if (text[at++] !== ")") throw new Error("a bracket is not closed");
      return found;
    }
    if (one === ".") return or("a", "b");
    if (one !== "a" && one !== "b") throw new Error(`the letters are a and b, got ${one ?? "nothing"}`);
    return one;
  };
  // Brzozowski's derivatives, on expressions as nested arrays: "0" nothing, "e" the empty word, a letter, [op, ...]
  const or = (x, y) => {
    const parts = [x, y].flatMap(one => (one[0] === "|" ? one.slice(1) : [one])).filter(one => one !== "0").map(one => JSON.stringify(one));
    const kept = [...new Set(parts)].sort().map(one => JSON.parse(one));
    return kept.length > 1 ? ["|", ...kept] : kept[0] ?? "0";
  };
  const then = (x, y) => (x === "0" || y === "0" ? "0" : x === "e" ? y : y === "e" ? x : [".", x, y]);
  const star = x => (x === "0" || x === "e" ? "e" : x[0] === "*" ? x : ["*", x]);
  const empty = x => x === "e" || x[0] === "*" || (x[0] === "|" && x.slice(1).some(empty)) || (x[0] === "." && empty(x[1]) && empty(x[2]));
  const after = (x, one) => {
    if (typeof x === "string") return x === one ? "e" : "0";
    if (x[0] === "|") return x.slice(1).map(part => after(part, one)).reduce(or, "0");
    if (x[0] === "*") return then(after(x[1], one), x);
    const first = then(after(x[1], one), x[2]);
    return empty(x[1]) ? or(first, after(x[2], one)) : first;
  };
  const whole = text ? alternatives() : "e";
  if (at < text.length) throw new Error(`${text[at]} comes where nothing can`);
  const states = [whole], moves = [], known = new Map([[JSON.stringify(whole), 0]]);
  for (const state of states) {
    if (states.length > 100) throw new Error("this has more than 100 states before they are merged; the atlas ends at four");
    moves.push(["a", "b"].map(one => {
      const next = after(state, one), key = JSON.stringify(next);
      if (!known.has(key)) { known.set(key, states.length); states.push(next); }
      return known.get(key);
    }));
  }
  return smallest(moves, states.map(empty));
};

// The machine of a table: for each state where a and b lead, states numbered from 0 ("1 0, 2 0, 2 2").
const ofTable = text => {
  const moves = text.split(/[,;\n]+/).map(part => part.trim().split(/\s+/).map(Number));
  moves.forEach((row, state) => {
    if (row.length !== 2 || row.some(to => !Number.isInteger(to) || to < 0 || to >= moves.length))
      throw new Error(`state ${state} needs two states from 0 to ${moves.length - 1}, for a and for b`);
  });
  return canonical(moves);
};
const typed = text => (/\d/.test(text) ? ofTable(text) : ofExpression(text.replace(/\s/g, "")));

// A word that turns some states in a cycle, the shortest, and a state of the cycle; null where no word does.
const turning = table => {
  const Q = table.length / 2, identity = Array.from({ length: Q }, (_, q) => q);
  const seen = new Set(), line = [[identity, ""]];
  for (const [map, word] of line)
    for (const [v, letter] of ["a", "b"].entries()) {
      const next = map.map(q => table[2 * q + v]), key = next.join();
      if (seen.has(key)) continue;
      seen.add(key);
      line.push([next, word + letter]);
      for (const start of identity) {
        let [state, length] = [next[start], 1];
        while (state !== start && length <= Q) { state = next[state]; length++; }
        if (state === start && length > 1) return { word: word + letter, state: start, length };
      }
    }
  return null;
};

// The shortest word to a state.
const wayTo = (table, state) => {
  const words = new Map([[0, ""]]);
  for (const [q, word] of words)
    for (const [v, letter] of ["a", "b"].entries()) if (!words.has(table[2 * q + v])) words.set(table[2 * q + v], word + letter);
  return words.get(state);
};

const arrows = (table, corners, scale) => {
  const made = [];
  for (const [v, ink] of [A, B].entries())
    corners.forEach(([x, y], q) => {
      const to = table[2 * q + v], dash = v ? `${3.2 * scale} ${1.6 * scale}` : null, look = { stroke: ink, fill: "none", "stroke-width": 1.3 * scale, "stroke-dasharray": dash };
      const side = v ? 1 : -1;
      if (to === q) {
        const far = Math.hypot(x, y), [a, b] = far ? [x / far, y / far] : [0, -1];
        made.push(svg("circle", { cx: x + 10 * scale * a - side * 4.5 * scale * b, cy: y + 10 * scale * b + side * 4.5 * scale * a, r: 5 * scale, ...look }));
        return;
      }
      const [s, t] = corners[to], [dx, dy] = [s - x, t - y], far = Math.hypot(dx, dy), bend = .2 * side;
      const [mx, my] = [(x + s) / 2 - bend * dy, (y + t) / 2 + bend * dx];
      const [ux, uy] = [s - mx, t - my], size = Math.hypot(ux, uy), [ex, ey] = [s - 11 * scale * ux / size, t - 11 * scale * uy / size];
      const [px, py] = [x + 5 * scale * (mx - x) / (far / 2), y + 5 * scale * (my - y) / (far / 2)];
      made.push(svg("path", { d: `M${px} ${py}Q${mx} ${my} ${ex} ${ey}`, ...look }));
      const [hx, hy] = [ux / size * 5 * scale, uy / size * 5 * scale];
      made.push(svg("path", { d: `M${ex + hx} ${ey + hy}L${ex - hy * .55} ${ey + hx * .55}L${ex + hy * .55} ${ey - hx * .55}Z`, fill: ink }));
    });
  return made;
};
const drawn = (table, size, scale = 1, here = null) => {
  const Q = table.length / 2, far = Q === 3 ? 1 : .95;
  const corners = (Q === 3 ? CORNERS : Array.from({ length: Q }, (_, q) => [29 * Math.sin(2 * Math.PI * q / Q), -29 * Math.cos(2 * Math.PI * q / Q)]))
    .map(([x, y]) => [far * x, far * y]);
  return svg("svg", { viewBox: "-50 -50 100 100", width: size, height: size, "aria-hidden": "true" }, ...arrows(table, corners, scale),
    ...corners.map(([cx, cy], q) => svg("circle", { cx, cy, r: 5.5 * scale, fill: q === here ? LIVE : q ? "#fff" : A, stroke: A, "stroke-width": 1.2 * scale })),
    ...(scale > .7 && here !== null ? corners.map(([x, y], q) => svg("text", { x, y: y + 3, "text-anchor": "middle",
      style: `font-size: 8px; fill: ${q && q !== here ? A : "#fff"}` }, String(q))) : []));
};

const render = ({ model, el }) => {
  const { root, controls, panels, data, at, put, say, follow } = stage(model, el);
  root.classList.add("atlas");
  root.append(html("style", {}, OWN));
  const known = new Map(Object.keys(data.verdicts).map(states => [Number(states), tables(Number(states))]));
  const placeOf = table => known.get(table.length / 2)?.findIndex(one => one.join() === table.join()) ?? -1;
  const three = known.get(3), nodes = new Map();
  const grid = html("div", { class: "tiles", role: "group", "aria-label": "machines of three states" });
  for (const [which, i] of data.order) {
    const node = set(button("", () => put({ table: three[i], word: "", text: "", fault: "" }), `machine ${three[i].join("")}`),
      { style: `background: ${data.kinds[which][1]}`, "data-kind": which, tabindex: -1 });
    node.append(drawn(three[i], "100%", .9));
    nodes.set(three[i].join(), node);
    grid.append(node);
  }
  grid.addEventListener("keydown", event => {
    const seen = [...grid.children].filter(node => !node.hidden), place = seen.indexOf(document.activeElement);
    const across = seen.filter(node => node.offsetTop === seen[0].offsetTop).length;
    const next = seen[place + ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key] ?? NaN)];
    if (place < 0 || !next) return;
    event.preventDefault();
    next.focus();
    next.click();
  });
  const only = choice("show", [["", "all 216 of three states"], ...data.kinds.map(([name], k) => [k, name])], value => {
    const kept = data.order.find(([which, i]) => value === "" || (String(which) === value && three[i].join() === at().table.join()))
      ?? data.order.find(([which]) => String(which) === value);
    put(value === "" ? { only: value } : { only: value, table: three[kept[1]], word: "", text: "", fault: "" });
  });
  const own = html("input", { type: "text", "aria-label": "your machine: a regular expression over a and b, or a table", placeholder: "(ab*a|b)* or 1 0, 2 0, 2 2",
    autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    input: event => {
      const text = event.target.value;
      try { put({ text, table: text.trim() ? typed(text) : at().table, fault: "", word: "" }); }
      catch (error) { put({ text, fault: error.message }); }
    } });
  controls.append(only.node, html("label", {}, "your own ", own));
  const key = html("p", { class: "key" }, ...data.kinds.map(([name, colour], k) => html("span", {}, html("i", { style: `background: ${colour}` }),
    `${data.order.filter(([which]) => which === k).length} ${name}`)),
    html("span", {}, "letter a: black, b: dashed red; a black dot is the first state"));
  panels.before(key);
  key.before(root.querySelector("[role=status]"));
  const big = html("div"), rows = html("table"), words = html("p"), weights = html("p");
  const input = html("input", { type: "text", "aria-label": "a word of a and b to run", placeholder: "abba", autocomplete: "off", autocapitalize: "off",
    spellcheck: "false", input: event => put({ word: event.target.value.toLowerCase().replace(/[^ab]/g, "") }) });
  panels.append(grid, html("div", { class: "one" }, big, rows, words, weights, html("label", {}, "run a word ", input)));

  const draw = () => {
    const { table, word, fault } = at(), Q = table.length / 2, place = placeOf(table), shown = at().only;
    for (const node of nodes.values()) {
      node.hidden = shown !== "" && node.dataset.kind !== String(shown);
      set(node, { "aria-pressed": "false", tabindex: -1 });
    }
    const pressed = nodes.get(table.join());
    set(pressed && !pressed.hidden ? pressed : [...nodes.values()].find(node => !node.hidden), { tabindex: 0 });
    pressed?.setAttribute("aria-pressed", "true");
    panels.style.opacity = fault ? .35 : 1;
    only.show(shown);
    let here = 0;
    const answers = [...word].map(letter => { here = table[2 * here + (letter === "b" ? 1 : 0)]; return here; });
    big.replaceChildren(Q <= 8 ? drawn(table, 190, .8, here) : html("p", {}, `${Q} states`));
    const signs = place < 0 ? null : data.rows.map(([row]) => data.verdicts[Q][row][place]);
    rows.replaceChildren(...(signs ? data.rows.map(([, name], i) => html("tr", {}, html("th", { scope: "row" }, name),
      html("td", {}, RULE[signs[i]]?.[0] ?? `${signs[i]} layers`))) : []));
    const turn = turning(table), front = turn && wayTo(table, turn.state);
    const power = turn && `${safe(front)}${turn.word.length > 1 ? `(${turn.word})` : turn.word}<sup>n</sup>`;
    words.innerHTML = !turn ? "No word turns its states in a cycle: gates in [0, 1] track it in some number of layers."
      : `Why gates in [0, 1] cannot: <b>${turn.word}</b> turns ${turn.length} of its states in a cycle. So after <b>${power}</b> and after `
        + `<b>${power}${turn.word}</b> the right states differ, for every n; but what such gates hold settles as n grows, alike in both.`;
    const columns = v => table.filter((_, i) => i % 2 === v).map((to, from) => `${from}\u2192${to}`).join(" ");
    weights.innerHTML = `Exact weights: one block of ${Q} states whose columns are one-hot, <b>a</b>: ${columns(0)}, <b>b</b>: ${columns(1)}. Of the other `
      + "families <code>construct(machine, family)</code> gives them in Python, as fractions.";
    if (document.activeElement !== input) input.value = word;
    if (document.activeElement !== own) own.value = at().text;
    const name = table.reduce((text, to, i) => text + (i && i % 2 === 0 ? ", " : i ? " " : "") + to, "");
    say(fault ? `<b>${safe(fault)}</b>` : `Machine <b>${safe(name)}</b> (where a and b lead from each state)` + (signs
      ? `: gates in [0, 1] ${RULE[signs[0]][1] === "no" ? "cannot track it at any depth" : `track it in ${RULE[signs[0]][0]}`}.`
      : ` has ${Q} state${Q === 1 ? "" : "s"}; the atlas has those of two to four. In Python: <code>predict(machine)</code>.`)
      + (word ? ` The word <b>${word.length > 20 ? `\u2026${word.slice(-20)}` : word}</b> leads through ${answers.length > 20 ? "\u2026 " : ""}${[0, ...answers].slice(-20).join(" ")}.` : ""));
  };
  return follow(draw);
};

export default { render, mathematics: { tables, typed, turning, wayTo } };
