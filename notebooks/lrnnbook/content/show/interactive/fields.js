import { LIVE, RECORDED, choice, html, range, safe, set, stage, svg, typeset } from "./parts.js";

// The answer of a machine after a word (tokens).
const answer = ({ initial, transitions, outputs }, word) =>
  outputs[word.reduce((state, token) => transitions[token][state], initial)];

// For each letter of a word, the share of the other letters that would change the answer if they stood in its place.
const field = (machine, word) => {
  const right = answer(machine, word), others = machine.transitions.length - 1;
  return word.map((token, k) => machine.transitions
    .filter((_, other) => other !== token && answer(machine, word.with(k, other)) !== right).length / others);
};

// How many of the last letters decide the answer, whatever stands before them; null if no number does.
const reach = ({ transitions, outputs, initial }) => {
  const met = new Set([initial]);
  for (const state of met) transitions.forEach(moves => met.add(moves[state]));
  let together = [[...met]];  // the states that one ending of so many letters can lead to
  for (let letters = 0; letters <= outputs.length ** 2; letters++) {
    if (together.every(states => states.every(state => outputs[state] === outputs[states[0]]))) return letters;
    const next = new Map(together.flatMap(states => transitions.map(moves => {
      const after = [...new Set(states.map(state => moves[state]))].sort((a, b) => a - b);
      return [after.join(), after];
    })));
    together = [...next.values()];
  }
  return null;
};

const SIDE = 34, HIGH = 90;

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow } = stage(model, el);
  const machine = () => data.tasks[at().task];
  const task = choice("task", Object.keys(data.tasks).map(name => [name, name]),
    name => put({ task: name, word: data.tasks[name].word, position: data.tasks[name].word.length }));
  const position = range("answer after", 1, 16, position => put({ position }));
  controls.append(task.node, position.node);
  const word = html("div", { class: "keys", role: "group", "aria-label": "the word; a press changes a letter" });
  panels.append(word);
  const turn = (k, by) => {
    const many = machine().symbols.length;
    put({ word: at().word.with(k, (at().word[k] + by + many) % many) });
  };
  const columns = Array.from({ length: 16 }, (_, k) => {
    const bar = svg("rect", { x: 4, width: SIDE - 8, fill: RECORDED, stroke: "currentColor" });
    const letter = html("button", { type: "button", click: () => turn(k, 1), keydown: event => {
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      turn(k, event.key === "ArrowUp" ? 1 : -1);
    } });
    const picture = svg("svg", { viewBox: `0 0 ${SIDE} ${HIGH}`, width: SIDE, height: HIGH, "aria-hidden": true },
      svg("path", { class: "faint", d: `M0 ${HIGH - 1}h${SIDE}` }), bar);
    const node = html("div", { style: "text-align: center" }, picture, letter);
    word.append(node);
    return { node, bar, letter };
  });

  const draw = () => {
    const { task: name, word: letters, position: end } = at(), here = machine(), read = letters.slice(0, end);
    task.show(name);
    position.show(end, `${end} letters`);
    const seen = field(here, read), said = answer(here, read), far = reach(here);
    columns.forEach(({ node, bar, letter }, k) => {
      const share = seen[k] ?? 0;
      node.style.opacity = k < end ? 1 : .6;
      set(bar, { y: HIGH - 2 - (HIGH - 4) * share, height: (HIGH - 4) * share, fill: k === end - 1 ? LIVE : RECORDED });
      letter.textContent = typeset(here.symbols[letters[k]]);
      letter.setAttribute("aria-label", `letter ${k + 1}, ${here.symbols[letters[k]]}`
        + (k < end ? `: ${Math.round(100 * share)} % of the other letters change the answer` : ", not read yet"));
    });
    const matter = seen.filter(share => share > 0).length;
    say(`<b>${safe(name)}</b> answers <b>${said < 0 ? "nothing" : said}</b> after ${end} letter${end > 1 ? "s" : ""}, the orange one the last. `
      + `Changing one letter can change that at <b>${matter}</b> of ${end} places. `
      + (far === null ? "No number of last letters decides its answer on all words: a model of it must remember."
        : `On every word the last <b>${far}</b> letters decide, so a window of ${far} is enough.`));
  };
  return follow(draw);
};

export default { render, mathematics: { answer, field, reach } };
