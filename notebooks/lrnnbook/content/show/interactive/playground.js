import { button, choice, GREEN, html, LIVE, path, player, range, safe, set, stage, svg, typeset } from "./parts.js";
import { certificateOf, codesOf, columns, netOf, run, searchBlocks, searchCodes, snapped, tablesOf, wanted, whyNoProof, widest } from "./engine.js";

const OWN = `
.moving-picture.playground { max-width: 43rem; }
.playground > p { max-width: 60em; }
.moving-picture.playground .panels { display: grid; align-items: stretch; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: .8rem; }
.playground section { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .5rem; padding: .6rem .8rem;
  min-width: 0; }
.playground .head { font-weight: 600; margin: 0 0 .3rem; }
.playground section p { margin: .3rem 0; }
.playground :is(select, label) { max-width: 100%; min-width: 0; }
.playground input[type=text] { width: 100%; box-sizing: border-box; font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
.playground .wrong { background: ${LIVE}; color: #000; border-radius: 3px; }
.playground .word { min-height: 3.6em; }
.playground .bars svg { width: 100%; height: .9rem; }
.playground .bars small { display: block; line-height: 1.3; }
.playground .verdict { font-weight: 600; min-height: 3em; }
.playground textarea { width: 100%; box-sizing: border-box; font: .8rem ui-monospace, monospace; color: inherit; background: transparent; }
.playground .cells { margin: .3rem 0; }
.playground .cells [role=row] { display: flex; }
.playground .cells button { width: 1.7rem; min-width: 0; height: 1.7rem; min-height: 0; padding: 0; display: block; margin: 1px; border-radius: 3px; }
.playground .cells button.cut { outline: 3px solid ${LIVE}; outline-offset: -3px; }
`;
const SHOWN = 24;  // letters of a long word
const GRAPH = 40;  // places that are drawn
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const number = value => value.toLocaleString("en");

const corner = (i, n, r) => [r * Math.sin(2 * Math.PI * i / n), -r * Math.cos(2 * Math.PI * i / n)];

// Runs of equal values: [value, from, to], of a long row a few.
const runs = values => values.reduce((found, value, i) => {
  if (found.length && found.at(-1)[0] === value) found.at(-1)[2] = i + 1;
  else found.push([value, i, i + 1]);
  return found;
}, []);

// The two directions in which the codes lie farthest apart, by repeated multiplication.
const planeOf = codes => {
  const D = codes[0].length, mean = Array.from({ length: D }, (_, d) => codes.reduce((sum, code) => sum + code[d], 0) / codes.length);
  const rows = codes.map(code => mean.map((value, d) => code[d] - value));
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const ways = [];
  for (let k = 0; k < 2; k++) {
    let way = mean.map((_, d) => Math.sin(1 + d * (k + 2)));
    for (let turn = 0; turn < 200; turn++) {
      const next = new Array(D).fill(0);
      for (const row of rows) { const by = dot(row, way); row.forEach((value, d) => { next[d] += by * value; }); }
      for (const one of ways) { const by = dot(one, next); one.forEach((value, d) => { next[d] -= by * value; }); }
      const size = Math.hypot(...next);
      if (size < 1e-9) break;
      way = next.map(value => value / size);
    }
    ways.push(way);
  }
  return state => ways.map(way => dot(way, mean.map((value, d) => state[d] - value)));
};

const render = ({ model, el }) => {
  const { root, controls, panels, data, at, put, say, follow, panel } = stage(model, el);
  root.classList.add("playground");
  root.append(html("style", {}, OWN));
  let found = null, clock = null, ran = {}, last = 0;
  const first = data.nets.map(one => (one.net.blocks ? widest(one.net)[0] : 0));  // whose break is felt
  const entry = () => data.nets[at().net], net = () => entry().net, block = () => at().block ?? first[at().net], broken = () => new Map(Object.entries(at().broken));
  const random = length => Array.from({ length }, () => Math.floor(Math.random() * net().V));
  const spell = word => typeset(word.map(token => net().symbols[token]).join(""));
  const anew = change => { clearInterval(clock); found = null; put(change); };
  const read = (word, strange = "") => put({ word, t: word.length, strange });

  // --- the controls: which net, and how it runs
  const menu = choice("network", data.nets.map((one, i) => [i, one.name]), value => anew({
    net: Number(value), word: data.nets[value].word, t: data.nets[value].word.length, broken: {}, hard: false, restart: false, block: null, strange: "",
    token: Math.min(1, data.nets[value].net.V - 1) }));
  const snap = button("snap", () => anew({ hard: !at().hard, restart: false, broken: {} }));
  const restart = button("restart", () => anew({ restart: !at().restart, hard: false, broken: {} }));
  const told = html("p");
  controls.append(menu.node, snap, restart);

  // --- 1: the word
  const input = html("input", { type: "text", "aria-label": "your word", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
    input: event => {
      const signs = [...event.target.value], strange = signs.filter(sign => !net().symbols.includes(sign) && sign.trim());
      read(signs.map(sign => net().symbols.indexOf(sign)).filter(token => token >= 0), [...new Set(strange)].join(" "));
    } });
  const strip = html("ol", { class: "word", "aria-label": "letters, and the answer after each" }), score = root.querySelector("[role=status]");
  const bars = html("div", { class: "bars" });
  const slider = range("position", 0, 1, t => put({ t }));
  const play = player(slider, () => put({ t: Math.min(at().word.length, at().t + Math.ceil(at().word.length / 100)) }), t => put({ t }), calm() ? 600 : 200);
  const typed = html("section", {}, html("p", { class: "head" }, "1 Type a word"), input,
    html("div", { class: "controls" }, "random", ...[40, 500, 5000].map(n => button(number(n), () => read(random(n)), `${number(n)} random letters`))),
    score, strip, bars, html("div", { class: "controls" }, slider.node, play.node));

  // --- 2: the state
  const where = html("p", { class: "head" }, "3 Where the state is"), state = html("div"), saying = html("p");
  const seen = html("section", {}, where, state, saying);

  // --- 3: what a letter does, in blocks
  const letters = html("div", { class: "keys", role: "group", "aria-label": "letter" });
  const blocks = choice("block", [], value => put({ block: Number(value) })), cells = html("div", { class: "cells", role: "grid" });
  const mend = button("mend", () => anew({ broken: {} }));
  const moved = html("section", {}, html("p", { class: "head" }, "4 What a letter does: break it"),
    html("div", { class: "controls" }, letters, blocks.node, mend), html("div", { class: "wide" }, cells),
    html("p", {}, "Each column says where the letter sends one state of the block. Press a cell: the column goes there now. "
      + "Then search. The answer may need some of the blocks only."));

  // --- 4: all strings
  const verdict = html("p", { class: "verdict", "aria-live": "polite" }), graph = html("div", { class: "wide" });
  const paper = html("details", { hidden: "" });
  const proved = html("section", {}, html("p", { class: "head" }, "2 Right on every string?"), button("search", () => search()), verdict, graph, paper);
  panels.before(told);
  panels.append(typed, proved, seen, moved);

  const compute = () => {
    const { hard, restart: put_back, word } = at(), key = JSON.stringify([at().net, hard, put_back, at().broken, word]);
    if (ran.key === key) return ran;
    const one = net(), tables = hard && one.blocks ? snapped(one, columns(one, broken())) : tablesOf(one), began = performance.now();
    const mine = run(netOf(one, tables), one, word, put_back), milliseconds = performance.now() - began;
    const due = wanted(one.machine, word), rival = entry().rival && run(netOf(entry().rival), entry().rival, word).answers;
    ran = { key, ...mine, due, rival, milliseconds, tables };
    return ran;
  };

  const search = () => {
    clearInterval(clock);
    const one = net();
    if (!at().restart && !one.blocks) put({ restart: true });
    if (at().restart) found = { ...searchCodes(netOf(one), one), of: "restart" };
    else {
      if (!at().hard) put({ hard: true });
      found = { ...searchBlocks(one, columns(one, broken())), of: "snap" };
    }
    if (found.word) read(found.word);
    last = found.places.length > GRAPH || calm() ? found.arrows.length : 0;
    tell();
    drawGraph();
    if (last < found.arrows.length) clock = setInterval(() => {
      last += Math.max(1, Math.round(found.arrows.length / 60));
      drawGraph();
      if (last >= found.arrows.length) { clearInterval(clock); tell(); }
    }, 60);
  };

  const tell = () => {
    paper.hidden = !found?.closed || last < found.arrows.length;
    if (!found) { verdict.textContent = ""; return; }
    if (!paper.hidden) {
      const text = certificateOf(found, net(), `of the page: ${entry().name}`), why = whyNoProof(text);
      paper.replaceChildren(html("summary", {}, `certificate: ${number(text.length)} characters, ${why || "checked again"}`),
        html("p", {}, "The search's places as text. A check that shares nothing with the search finds them closed, and every answer right; "
          + "Python's is lrnnlab.verification.check_certificate."),
        html("textarea", { readonly: "", rows: 4, "aria-label": "certificate" }, text));
    }
    const size = `${number(found.places.length)} places, ${number(found.arrows.length)} arrows, ${found.milliseconds.toFixed(0)} ms`;
    const cut = new Set([...broken().keys()].map(key => Number(key.split(",")[1])));
    const spared = [...cut].every(k => !found.blocks?.includes(k)) && cut.size ? ` You broke block ${[...cut].join(" and ")}, which the answer does not need.` : "";
    const what = found.of === "restart" ? "its codes" : found.blocks.length === net().blocks.h ? "all blocks"
      : `block${found.blocks.length > 1 ? "s" : ""} ${found.blocks.join(" and ")}`;
    verdict.textContent = found.word ? `Refuted: the shortest wrong string is ${spell(found.word)} (${size}). It is in the box.`
      : found.thin ? `Not decided: an answer leads by no more than rounding may take (${size}).`
      : !found.closed ? `Not decided: no wrong string among the first ${size}.`
      : last < found.arrows.length ? "Searching \u2026"
      : `Proved: the ${found.of === "snap" ? "snapped" : "restarted"} net is right on every string of every length. Every string leads to one of `
        + `${number(found.places.length)} places of ${what}, and all ${number(found.arrows.length)} arrows were followed (${found.milliseconds.toFixed(0)} ms); `
        + `there the right answer leads by ${found.lead.toPrecision(2)} at least.${spared} (In exact arithmetic; the library's verify bounds rounding.)`;
  };

  const drawGraph = () => {
    graph.replaceChildren();
    if (!found || found.places.length > GRAPH) return;
    const P = found.places.length, r = Math.min(17, 300 / P), R = 112;
    const spot = p => P === 1 ? [0, 0] : corner(p, P, R);
    const shown = found.arrows.slice(0, last), reached = new Set([0, ...shown.map(([, , to]) => to)]);
    const picture = svg("svg", { viewBox: "-150 -150 300 300", width: 300, height: 300, role: "img",
      "aria-label": `${reached.size} places and ${shown.length} arrows of the search` });
    for (const [from, , to] of shown) {
      const [x, y] = spot(from), [a, b] = spot(to);
      picture.append(from === to ? svg("circle", { cx: x * 1.16, cy: y * 1.16, r: r * .7, class: "faint" })
        : svg("path", { class: "faint", d: `M${x} ${y}Q${(x + a) / 2 + (b - y) * .14} ${(y + b) / 2 - (a - x) * .14} ${a} ${b}` }));
    }
    const bad = found.word ? found.arrows.at(-1)[2] : -1;
    for (const p of reached) {
      const [x, y] = spot(p), place = found.places[p], out = net().machine.outputs[place.due];
      picture.append(svg("circle", { cx: x, cy: y, r, fill: "var(--jp-layout-color0, var(--paper, Canvas))",
        stroke: p === bad ? LIVE : GREEN, "stroke-width": p === bad ? 4 : 2 }));
      if (r > 9) picture.append(svg("text", { x, y: y + 4, "text-anchor": "middle" }, out < 0 ? "\u2013" : String(out)));
    }
    graph.append(picture);
  };

  const drawBlocks = ({ states }) => {
    const { h, n } = net().blocks, { t } = at(), R = 29, across = Math.min(4, h), picture = panel(80 * across, 92 * Math.ceil(h / across), "the blocks");
    for (let k = 0; k < h; k++) {
      const hot = found?.closed && found.blocks?.includes(k) && found.blocks.length < h, share = x => x.slice(k * n, k * n + n);
      const g = svg("g", { transform: `translate(${40 + 80 * (k % across)} ${38 + 92 * Math.floor(k / across)})` });
      const spot = x => share(x).reduce((sum, value, i) => { const [a, b] = corner(i, n, R); return [sum[0] + value * a, sum[1] + value * b]; },
        [0, 0]);
      const trail = states.slice(Math.max(0, t - 6), t + 1).map(parts => spot(parts[0]));
      g.append(svg("path", { d: `${path(Array.from({ length: n }, (_, i) => corner(i, n, R)))}Z`, class: hot ? "line" : "faint" }),
        ...Array.from(share(states[t][0]), (value, i) => {
          const [cx, cy] = corner(i, n, R);
          return svg("circle", { cx, cy, r: 2 + 5 * Math.max(0, value), fill: value > .5 ? LIVE : "currentColor", "fill-opacity": value > .5 ? 1 : .4 });
        }), svg("path", { d: path(trail), fill: "none", stroke: LIVE, "stroke-opacity": .6 }),
        svg("circle", { cx: trail.at(-1)[0], cy: trail.at(-1)[1], r: 4, fill: LIVE }),
        svg("text", { x: 0, y: 47, "text-anchor": "middle", "font-weight": hot ? "bold" : null }, `block ${k}`));
      picture.append(g);
    }
    state.replaceChildren(picture);
    const off = Math.max(...Array.from({ length: h }, (_, k) => 1 - Math.max(...states[t][0].slice(k * n, k * n + n))));
    saying.textContent = at().hard ? "Snapped: each block is exactly in one of its states."
      : `Each polygon is a block, whose state is ${n} weights that sum to 1; the dot is the mean of the corners, so weighted. The least certain `
        + `block has ${(100 * off).toPrecision(2)} % of its weight off its main corner.`;
  };

  const drawPlane = ({ states }) => {
    const one = net(), codes = codesOf(one).map(parts => parts.flatMap(part => [...part])), plane = planeOf(codes), { t } = at();
    const all = codes.map(plane), walk = states.slice(Math.max(0, t - 200), t + 1).map(parts => plane(parts.flatMap(part => [...part])));
    const size = 1.35 * Math.max(...all.map(([x, y]) => Math.hypot(x, y))), spot = ([x, y]) => [
      150 + 130 * Math.max(-1.1, Math.min(1.1, x / size)), 120 - 105 * Math.max(-1.1, Math.min(1.1, y / size))];
    const picture = panel(300, 240, "the state in the plane of the codes");
    picture.append(...walk.map((point, i) => {
      const [cx, cy] = spot(point);
      return svg("circle", { cx, cy, r: i === walk.length - 1 ? 5 : 2.5, fill: LIVE, "fill-opacity": i === walk.length - 1 ? 1 : .35 });
    }), ...all.map((point, k) => {
      const [cx, cy] = spot(point);
      return svg("g", {}, svg("circle", { cx, cy, r: 11, fill: "none", stroke: GREEN, "stroke-width": 2 }),
        svg("text", { x: cx, y: cy - 14, "text-anchor": "middle" }, String(one.answers[k][0])));
    }));
    state.replaceChildren(picture);
    saying.textContent = "Rings: the codes, each with the answer that it stands for. Dots: where the last 200 letters led, in the plane in "
      + "which the codes lie farthest apart. " + (at().restart ? "After each letter the state is put back to a code."
        : "Nothing puts the state back: small errors add up.");
  };

  const drawCells = () => {
    const one = net();
    moved.hidden = !one.blocks;
    if (!one.blocks) return;
    const { h, n } = one.blocks, { token, hard } = at(), here = block();
    const A = compute().tables[one.blocks.table][token];
    letters.replaceChildren(...one.symbols.map((symbol, v) => set(button(typeset(symbol), () => put({ token: v }), `letter ${symbol}`),
      { "aria-pressed": String(v === token) })));
    blocks.node.querySelector("select").replaceChildren(...Array.from({ length: h }, (_, k) => html("option", { value: k }, String(k))));
    blocks.show(here);
    const focus = cells.contains(document.activeElement) ? document.activeElement.dataset.cell : null;
    const key = event => {
      const [i, j] = event.target.dataset.cell.split(",").map(Number);
      const way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const next = way && cells.querySelector(`[data-cell="${i + way[0]},${j + way[1]}"]`);
      if (!next) return;
      event.preventDefault();
      next.focus();
    };
    cells.setAttribute("aria-label", `letter ${one.symbols[token]}, block ${here}: columns are the state before, rows after`);
    cells.replaceChildren(...Array.from({ length: n }, (_, i) => html("div", { role: "row" }, ...Array.from({ length: n }, (_, j) => {
      const value = A[(here * n + i) * n + j], cut = at().broken[[token, here, j].join()] === i;
      const cell = html("button", { type: "button", "data-cell": `${i},${j}`, tabindex: i || j ? -1 : 0, keydown: key, class: cut ? "cut" : "",
        "aria-label": `from ${j} to ${i}: ${value.toFixed(hard ? 0 : 3)}${cut ? ", broken" : ""}`, title: value.toFixed(4),
        style: `background: color-mix(in srgb, ${LIVE} ${Math.round(100 * value)}%, transparent)`,
        click: () => anew({ hard: true, restart: false, broken: { ...at().broken, [[token, here, j].join()]: i } }) });
      return html("div", { role: "gridcell" }, cell);
    }))));
    if (focus) cells.querySelector(`[data-cell="${focus}"]`)?.focus();
    mend.disabled = !Object.keys(at().broken).length;
  };

  const draw = () => {
    const { word, t, hard, restart: put_back } = at(), one = net(), now = compute(), { answers, due, rival } = now;
    menu.show(at().net);
    told.innerHTML = entry().about;
    for (const [node, pressed, possible] of [[snap, hard, one.blocks], [restart, put_back, one.codes]]) {
      node.hidden = !possible;
      node.setAttribute("aria-pressed", String(pressed));
    }
    const text = word.map(token => one.symbols[token]).join("");
    if (document.activeElement !== input || input.value.length > 5000) input.value = text;
    const marks = answers.map((answer, i) => due[i] < 0 || answer === due[i]), miss = marks.indexOf(false);
    const wrong = marks.filter(mark => !mark).length;
    const strange = at().strange ? `<b>${safe(at().strange)}</b>: no letter of this network, left out. ` : "";
    say(strange + (!word.length ? `Letters: ${one.symbols.map(safe).map(typeset).join(" ")}.`
      : `${miss < 0 ? "<b>Right at every position</b>" : `<b>Wrong at ${number(wrong)} of ${number(word.length)}</b>, first at ${number(miss + 1)}`}`
        + ` (${number(word.length)} letters in ${now.milliseconds.toFixed(0)} ms).${wrong ? " Below a wrong answer, the right one." : ""}`));
    const start = Math.max(0, Math.min(t, word.length) - SHOWN);
    strip.replaceChildren(html("li", {}, start ? "\u2026" : "start"), ...word.slice(start, Math.max(t, Math.min(SHOWN, word.length))).map((token, i) =>
      html("li", { class: start + i === t - 1 ? "now" : "" }, typeset(one.symbols[token]),
        html("span", { class: `answer${marks[start + i] ? "" : " wrong"}` }, String(answers[start + i])),
        ...(marks[start + i] ? [] : [html("small", {}, String(due[start + i]))]))));
    slider.input.max = word.length;
    slider.show(t, `${number(t)} of ${number(word.length)}`);
    const rows = [["this net", answers], ...(rival ? [[entry().rival_name, rival]] : [])];
    bars.replaceChildren(...rows.flatMap(([name, given]) => {
      const right = given.map((answer, i) => due[i] < 0 || answer === due[i]), lost = right.filter(good => !good).length;
      return [html("small", {}, name), svg("svg", { viewBox: `0 0 ${Math.max(1, right.length)} 1`, preserveAspectRatio: "none", role: "img",
        "aria-label": `${name}: ${number(lost)} wrong answers` }, ...runs(right).map(([good, from, to]) => svg("rect", { x: from, y: 0, height: 1,
        width: good ? to - from : Math.max(to - from, right.length / 600), fill: good ? GREEN : LIVE, "fill-opacity": good ? .35 : 1 })))];
    }));
    where.textContent = `3 Where the state is after ${number(t)} letter${t === 1 ? "" : "s"}`;
    if (one.blocks) drawBlocks(now);
    else drawPlane(now);
    drawCells();
    seen.style.gridColumn = one.blocks ? "" : "1 / -1";
    if (!found) { paper.hidden = true; graph.replaceChildren(); verdict.textContent = hard || put_back ? "" : `A trained net's state can be in endlessly many places, so no search of them ends: `
      + `it is ${one.blocks ? "snapped" : "restarted"} first.`; }
    else tell();
  };
  return follow(draw);
};

const brief = ({ places, arrows, codes, ...found }) => ({ ...found, places: places.length, arrows: arrows.length });

export default { render, mathematics: {
  answers: (data, words, restart = false) => { const net = netOf(data); return words.map(word => run(net, data, word, restart).answers); },
  logits: (data, word) => { const net = netOf(data); return word.map((_, t) => [...net.step(run(net, data, word.slice(0, t)).states.at(-1), word[t]).logits]); },
  snapped: (data, broken = {}) => brief(searchBlocks(data, columns(data, new Map(Object.entries(broken))))),
  restarted: data => brief(searchCodes(netOf(data), data)),
  certificate: (data, restart) => certificateOf(restart ? searchCodes(netOf(data), data) : searchBlocks(data, columns(data)), data, "of the page"),
  whyNoProof,
} };
