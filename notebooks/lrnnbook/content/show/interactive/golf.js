import { button, GREEN, html, LIVE, PINK, RECORDED, safe, stage, svg, typeset } from "./parts.js";
import { by, fraction, fractionOf, plus, rankOf, writtenFraction } from "./fractions.js";

const LIMIT = 5000, LARGEST = 10n ** 100n, WIDEST = 100;  // values that are followed, how large numbers may grow, numbers in a state
const OWN = `
.moving-picture.golf { max-width: none; }
.golf .holes { flex: 1 1 20rem; min-width: 0; overflow-x: auto; }
.golf table { border-collapse: collapse; width: 100%; }
.golf :is(th, td) { padding: .15em .5em .15em 0; text-align: left; font-weight: 400; }
.golf thead th { font-weight: 600; }
.golf tbody button { width: 100%; text-align: left; }
.golf .entry { flex: 1 1 22rem; min-width: 0; }
.golf .entry p { margin: .2em 0 .5em; }
.golf textarea { width: 100%; box-sizing: border-box; height: 12rem; font: 14px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; color: inherit;
  background: transparent; border: 1px solid currentColor; border-radius: 4px; padding: .4em; }
.golf .values { flex: 0 1 20rem; }
`;

// What an entry says: a line "start: numbers", and for each letter a line "letter: row; row + b" (A by rows, b where there is one).
const readEntry = (text, symbols) => {
  const given = new Map(), known = ["start", ...symbols];
  const numbers = part => part.trim().split(/\s+/).filter(Boolean).map(fractionOf);
  for (const line of text.replaceAll("\u2212", "-").split("\n").map(one => one.trim())) {
    if (!line || line.startsWith("#")) continue;
    const colon = line.indexOf(":"), name = line.slice(0, colon).trim();
    if (colon < 0) throw new Error(`${line}: a line is a name, a colon and numbers`);
    if (given.has(name)) throw new Error(`${name} is given twice`);
    if (![...known, "hole", "author"].includes(name)) throw new Error(`${name} is no letter of this hole, which has ${symbols.join(" ")}`);
    given.set(name, line.slice(colon + 1));
  }
  const missing = known.find(name => !given.has(name));
  if (missing !== undefined) throw new Error(`there is no line for ${missing}`);
  const start = numbers(given.get("start")), n = start.length;
  if (n < 1 || n > WIDEST) throw new Error(`start has ${n} numbers; a state has 1 to ${WIDEST}`);
  return { start, moves: symbols.map(symbol => {
    const [first, ...rest] = given.get(symbol).split(/\s\+\s/), A = first.split(";").map(numbers);
    const b = rest.length ? numbers(rest.join(" ")) : start.map(() => fraction(0n));
    if (A.length !== n || A.some(row => row.length !== n) || b.length !== n)
      throw new Error(`${symbol} needs ${n} rows of ${n} numbers, with ; between rows, and may add ${n} after a +`);
    return { A: A.map(row => row.flatMap((value, j) => (value[0] ? [[j, value]] : []))), b };
  }) };
};

// Follow every string: `values`, each with its state of the machine, how it was reached, and where letters lead.
const judge = ({ transitions, initial, symbols }, text) => {
  const { start, moves } = readEntry(text, symbols), n = start.length, key = x => x.map(writtenFraction).join(" ");
  const values = [{ x: start, state: initial, from: -1, token: -1 }], known = new Map([[key(start), 0]]), arrows = [];
  const word = place => (values[place].from < 0 ? [] : [...word(values[place].from), values[place].token]);
  const open = () => ({ numbers: n, values, arrows, proved: false, clash: null, never: never(values, moves, n) });
  for (let place = 0; place < values.length; place++)
    for (const [token, { A, b }] of moves.entries()) {
      const x = A.map((row, i) => row.reduce((total, [j, value]) => plus(total, by(value, values[place].x[j])), b[i]));
      if (x.some(([over, under]) => over > LARGEST || over < -LARGEST || under > LARGEST)) return open();
      const state = transitions[token][values[place].state], at = known.get(key(x));
      arrows.push([place, token, at ?? values.length]);
      if (at === undefined) {
        known.set(key(x), values.length);
        values.push({ x, state, from: place, token });
        if (values.length > LIMIT) return open();
      } else if (values[at].state !== state)
        return { numbers: n, values, arrows, proved: false, clash: [word(at), [...word(place), token]], at, never: null };
    }
  return { numbers: n, values, arrows, proved: true, clash: null, never: null };
};

// Why some states never close: [word, trace], the word a letter up to three times.  A matrix of fractions that maps finitely many
// states to themselves has, on the space that they span, eigenvalues 0 and roots of unity, so a whole trace.
const never = (values, moves, n) => {
  const some = values.slice(0, 4 * (n + 1)).map(({ x }) => [...x, fraction(1n)]), zero = fraction(0n);
  if (rankOf(some) <= n) return null;
  for (const [token, { A }] of moves.entries()) {
    let power = A.map((_, i) => A.map((_, j) => fraction(i === j ? 1n : 0n)));
    for (const word of [[token], [token, token], [token, token, token]]) {
      power = A.map(row => power.map((_, j) => row.reduce((total, [k, value]) => plus(total, by(value, power[k][j])), zero)));
      const trace = power.reduce((total, row, i) => plus(total, row[i]), zero);
      if (trace[1] !== 1n) return [word, writtenFraction(trace)];
    }
  }
  return null;
};

const INK = [RECORDED, LIVE, GREEN, PINK, "currentColor"], MOST = 60;  // values that are drawn

// The values in a plane, a coordinate in each direction; arrows in the colour of their letter.
const drawn = ({ values, arrows, at }, names, symbols) => {
  const shown = values.slice(0, MOST), n = values[0].x.length, R = 130;
  const points = shown.map(({ x }) => x.reduce(([a, b], [over, under], k) => {
    const value = Number(over) / Number(under), angle = Math.PI * k / n;
    return [a + value * Math.cos(angle), b - value * Math.sin(angle)];
  }, [0, 0]));
  const ends = [0, 1].map(i => [Math.min(...points.map(point => point[i])), Math.max(...points.map(point => point[i]))]);
  const size = Math.max(...ends.map(([low, high]) => high - low), 1e-9), r = shown.length > 24 ? 4 : 11;
  const spots = points.map(point => point.map((value, i) => 2 * R * (value - (ends[i][0] + ends[i][1]) / 2) / size));
  const picture = svg("svg", { viewBox: "-165 -165 330 330", width: 330, height: 330, role: "img",
    "aria-label": `${values.length} values of the state, ${arrows.length} arrows` });
  for (const [from, token, to] of arrows) {
    if (from >= MOST || to >= MOST) continue;
    const [x, y] = spots[from], [a, b] = spots[to], look = { stroke: INK[token % INK.length], fill: "none", "stroke-width": 1.5,
      "stroke-opacity": shown.length > 24 ? .5 : .9 };
    if (from === to) { picture.append(svg("circle", { cx: x, cy: y - r - 3 - 2 * token, r: 6 + 2 * token, ...look })); continue; }
    const bend = n === 1 ? .35 : .16, [mx, my] = [(x + a) / 2 + bend * (b - y), (y + b) / 2 - bend * (a - x)];
    const far = Math.hypot(a - mx, b - my) || 1, [ux, uy] = [(a - mx) / far, (b - my) / far], [tx, ty] = [a - r * ux, b - r * uy];
    picture.append(svg("path", { d: `M${x} ${y}Q${mx} ${my} ${tx} ${ty}M${tx - 7 * ux - 4 * uy} ${ty - 7 * uy + 4 * ux}L${tx} ${ty}L${tx - 7 * ux + 4 * uy} ${ty - 7 * uy - 4 * ux}`, ...look }));
  }
  spots.forEach(([cx, cy], place) => {
    const bad = place === at;
    picture.append(svg("circle", { cx, cy, r, fill: "var(--jp-layout-color0, var(--paper, Canvas))", stroke: bad ? LIVE : "currentColor", "stroke-width": bad ? 4 : 1.5 }));
    if (r > 9) picture.append(svg("text", { x: cx, y: cy + 4, "text-anchor": "middle", style: "font-size: 10px" }, typeset(names[shown[place].state])));
  });
  return [picture, html("p", {}, ...symbols.flatMap((symbol, token) => [
    html("span", { "aria-hidden": "true", style: `color: ${INK[token % INK.length]}` }, "\u2192"), ` ${typeset(symbol)}\u2003`]),
    values.length > MOST ? `the first ${MOST} of ${values.length} values` : "each circle: a value of the state, and the machine's state there")];
};

const counted = (many, name) => `${many} ${name}${many === 1 ? "" : "s"}`;

const render = ({ model, el }) => {
  const { root, controls, panels, data, at, put, say, follow } = stage(model, el);
  root.classList.add("golf");
  root.append(html("style", {}, OWN));
  const tried = text => {
    const begin = performance.now();
    try { return { ...judge(data.holes[at().hole], text), milliseconds: performance.now() - begin }; }
    catch (error) { return { fault: error.message, milliseconds: 0 }; }
  };
  let last = { key: null };
  const found = () => {
    const key = `${at().hole} ${at().text}`;
    if (last.key !== key) last = { key, ...tried(at().text) };
    return last;
  };
  const play = change => {
    put(change);
    const { proved, numbers } = found(), { hole, best } = at();
    if (proved && !(best[hole] <= numbers)) put({ best: { ...best, [hole]: numbers } });
  };
  const rows = data.holes.map((hole, i) => {
    const press = button(`${i + 1} ${hole.name}`, () => play({ hole: i, text: hole.start })), mine = html("td");
    return { press, mine, node: html("tr", {}, html("th", { scope: "row" }, press), html("td", {}, String(hole.names.length)),
      html("td", {}, `${hole.par}${hole.least < hole.par ? "?" : ""}`), mine) };
  });
  const head = ["hole", "states", "par", "yours"].map(name => html("th", { scope: "col" }, name));
  const about = html("p"), form = html("p", {}, "start: x.  Then for each letter: the rows of A, with ; between them, + b."), values = html("div", { class: "values" });
  const input = html("textarea", { "aria-label": "your entry: the start, and for each letter the rows of A and b", spellcheck: "false",
    autocapitalize: "off", autocomplete: "off", input: () => play({ text: input.value }) });
  const again = button("write the start again", () => play({ text: data.holes[at().hole].start }));
  controls.append(again);
  panels.append(html("div", { class: "entry" }, about, input, form), values);
  if (data.holes.length > 1) panels.append(html("div", { class: "holes", tabindex: 0, role: "group", "aria-label": "twelve holes" },
      html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows.map(row => row.node)))));
  panels.before(root.querySelector("[role=status]"));

  const draw = () => {
    const { hole: i, text, best } = at(), hole = data.holes[i], now = found();
    again.setAttribute("aria-disabled", String(text === hole.start)); // not disabled, or the focus would be lost with the press
    const spell = word => (word.length ? word.map(token => safe(typeset(hole.symbols[token]))).join(" ") : "nothing");
    rows.forEach(({ press, mine }, k) => {
      press.setAttribute("aria-pressed", String(k === i));
      mine.textContent = best[k] ?? "\u2013";
    });
    about.innerHTML = `<b>${safe(hole.name)}</b>: ${safe(hole.about)} ${hole.names.length} states; letters ${hole.symbols.map(one => safe(typeset(one))).join(" ")}.
      Par ${hole.par}. ${safe(hole.why)}`;
    if (document.activeElement !== input || input.value !== text) input.value = text;
    values.replaceChildren(...(now.values ? drawn(now, hole.names, hole.symbols) : []));
    const size = now.values && `${counted(now.values.length, "value")}, ${counted(now.arrows.length, "arrow")}`;
    const place = now.numbers < hole.par ? " <b>Below par!</b>" : now.numbers === hole.par ? " Par." : "";
    say(now.fault ? `<b>${safe(now.fault)}</b>`
      : now.proved ? `<b>Proved: ${counted(now.numbers, "number")} hold${now.numbers === 1 ? "s" : ""} it for ever</b>, after every string of every length: ${size}, no new value, `
        + `and each belongs to one state of the machine (exact fractions, ${now.milliseconds.toFixed(0)} ms).${place}`
      : now.clash ? `<b>Refuted.</b> After <b>${spell(now.clash[0])}</b> and after <b>${spell(now.clash[1])}</b> your state is the same, `
        + `${typeset(now.values[now.at].x.map(writtenFraction).join(" "))}; the machine's is not.`
      : now.never ? `<b>Refused: it never closes.</b> The matrix of ${spell(now.never[0])} has the trace ${typeset(now.never[1])}, and a matrix of fractions `
        + "that maps finitely many states, which span the space, to themselves has a whole trace. A rounded turn never comes back: it drifts."
      : `<b>Not closed</b> after ${size}: a counter, or a drift. In floats either is lost at some length.`);
  };
  return follow(draw);
};

const brief = ({ numbers, proved, clash, never, values }) => ({ numbers, proved, clash, never, values: values.length });

export default { render, mathematics: {
  judge: (machine, text) => { try { return brief(judge(machine, text)); } catch (error) { return { fault: error.message }; } },
} };
