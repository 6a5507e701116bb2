import { button, html, path, safe, set, stage, svg, typeset } from "./parts.js";

// The states a word leads through, the initial one first.
const run = ({ initial, transitions }, word) =>
  word.reduce((way, token) => [...way, transitions[token][way.at(-1)]], [initial]);

// For every state the shortest word that leads there, of several the first in the order of the letters.
const shortest = ({ initial, transitions }) => {
  const words = transitions[0].map(() => null), found = [initial];
  words[initial] = [];
  for (const state of found) {
    transitions.forEach((moves, token) => {
      if (words[moves[state]]) return;
      words[moves[state]] = [...words[state], token];
      found.push(moves[state]);
    });
  }
  return words;
};

const arrow = points => {
  const tip = points.at(-1), back = points.findLast(([x, y]) => Math.hypot(x - tip[0], y - tip[1]) > 8) ?? points[0];
  const size = Math.hypot(tip[0] - back[0], tip[1] - back[1]);
  const [a, b] = [(tip[0] - back[0]) / size, (tip[1] - back[1]) / size];
  const head = [tip, [tip[0] - 8 * a - 4 * b, tip[1] - 8 * b + 4 * a], [tip[0] - 8 * a + 4 * b, tip[1] - 8 * b - 4 * a]];
  return svg("g", { stroke: "currentColor" },
    svg("path", { d: path(points), fill: "none" }), svg("path", { d: `${path(head)}Z`, fill: "currentColor" }));
};

const SHOWN = 40;  // letters of a long word

const render = ({ model, el }) => {
  const { root, controls, panels, data, at, put, say, follow, panel } = stage(model, el);
  const words = shortest(data), spell = word => typeset(word.map(token => data.symbols[token]).join("")) || "nothing";
  const read = token => put({ word: [...at().word, token] });
  const back = () => put({ word: at().word.slice(0, -1) }), anew = () => put({ word: [] });
  controls.append(
    html("div", { class: "keys", role: "group", "aria-label": "letters" },
      ...data.symbols.map((symbol, token) => button(typeset(symbol), () => read(token), `read ${symbol}`))),
    button("\u232b back", back), button("start again", anew));
  root.addEventListener("keydown", event => {
    const token = data.symbols.indexOf(event.key);
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (token >= 0) read(token);
    else if (event.key === "Backspace") back();
    else if (event.key === "Escape") anew();
    else return;
    event.preventDefault();
  });

  const strip = html("ol", { class: "word", "aria-label": "the word so far, and its answers" });
  const picture = panel(data.width, data.height, "the machine");
  const edges = data.edges.map(edge => ({ ...edge, node: arrow(edge.points) }));
  const states = data.centres.map(([cx, cy], state) => svg("g", {},
    svg("circle", { cx, cy, r: data.size + 6, class: "ring", fill: "none", stroke: "none", "stroke-width": 4 }),
    svg("circle", { cx, cy, r: data.size, fill: data.colours[state], stroke: "currentColor" }),
    svg("text", { x: cx, y: cy + 4, "text-anchor": "middle", style: `fill: ${data.inks[state]}` }, data.names[state])));
  picture.append(arrow(data.entry), ...edges.map(edge => edge.node), ...states,
    ...edges.map(({ at: [x, y], label }) => svg("text", {
      x, y: y + 4, "text-anchor": "middle", "paint-order": "stroke",
      style: "stroke: var(--jp-layout-color0, var(--paper, Canvas)); stroke-width: 4px",
    }, typeset(label))));
  panels.append(strip, html("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "the machine drawn" }, picture));

  const told = state => html("span", {
    class: "answer", style: `background: ${data.colours[state]}; color: ${data.inks[state]}`,
  }, data.outputs[state] < 0 ? "\u2013" : String(data.outputs[state]));
  const draw = () => {
    const { word } = at(), way = run(data, word), here = way.at(-1), first = Math.max(0, word.length - SHOWN);
    const items = word.slice(first).map((token, k) => html("li", { class: first + k === word.length - 1 ? "now" : "" },
      typeset(data.symbols[token]), told(way[first + k + 1])));
    strip.replaceChildren(html("li", {}, first ? "\u2026" : "start", told(way[first])), ...items);
    states.forEach((node, state) => set(node.firstChild, { stroke: state === here ? "#D55E00" : "none" }));
    const used = new Set(way.slice(1).map((to, k) => `${way[k]} ${to}`));
    const last = word.length ? `${way.at(-2)} ${here}` : "";
    for (const { node, from, to } of edges) {
      const name = `${from} ${to}`;
      set(node, { "stroke-width": name === last ? 3 : 1.3, opacity: name === last || !word.length ? 1 : used.has(name) ? .75 : .35 });
    }
    const state = `the machine is in state <b>${safe(data.names[here])}</b> and `
      + (data.outputs[here] < 0 ? "has no answer" : `answers <b>${data.outputs[here]}</b>`);
    const short = words[here];
    say(!word.length ? `Nothing is read yet: ${state}. Press a letter, here or on the keyboard.`
      : `After <b>${safe(spell(word))}</b> ${state}. ` + (short.length < word.length
        ? `The shortest word that leads here is <b>${safe(spell(short))}</b>: whatever follows, the machine answers both alike.`
        : "No shorter word leads here."));
  };
  return follow(draw);
};

export default { render, mathematics: { run, shortest } };
