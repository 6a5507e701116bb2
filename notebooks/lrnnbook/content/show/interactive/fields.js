import { LIVE, RECORDED, choice, html, safe, set, stage, svg } from "./parts.js";

// The answer of a machine after a word of bits, and that of a net, read from the table of all words of this length.
const answer = ({ initial, transitions, outputs }, word) => outputs[word.reduce((state, token) => transitions[token][state], initial)];
const number = word => word.reduce((value, bit) => 2 * value + bit, 0);
const said = ({ answers }, word) => Number(answers[number(word)]);

// For each letter, whether the other one in its place changes the answer.
const turns = (says, word) => word.map((bit, k) => says(word.with(k, 1 - bit)) !== says(word));

// The share of the gradient at each letter: of every word a digit to base 64 for each letter.
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const shares = ({ gradients }, word) => {
  const at = number(word) * word.length, sizes = word.map((_, k) => DIGITS.indexOf(gradients[at + k]));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  return sizes.map(size => (all ? size / all : 0));
};

// On how few letters half of the gradient lies.
const half = share => {
  let [sum, many] = [0, 0];
  for (const one of share.toSorted((a, b) => b - a)) if (sum < 0.5 - 1e-9) { sum += one; many += 1; }
  return many;
};

const HIGH = 70;

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow } = stage(model, el);
  const here = () => data.tasks[at().task];
  const task = choice("task", Object.keys(data.tasks).map(name => [name, name]),
    name => put({ task: name, net: at().net in data.tasks[name].nets ? at().net : Object.keys(data.tasks[name].nets)[0] }));
  const tabs = html("div", { class: "keys", role: "group", "aria-label": "the net" });
  const nets = [...new Set(Object.values(data.tasks).flatMap(one => Object.keys(one.nets)))].map(name => html("button", { type: "button", click: () => put({ net: name }) }, name));
  tabs.append(...nets);
  controls.append(task.node, tabs);
  const length = at().word.length;
  const grid = html("div", { style: `display: grid; grid-template-columns: repeat(${length}, minmax(1.7rem, 3rem)); gap: .15rem .3rem; width: 100%` });
  panels.append(grid);
  const row = (caption, make) => {
    const cells = Array.from({ length }, (_, k) => make(k));
    grid.append(html("div", { style: "grid-column: 1 / -1; margin-top: .5rem" }, caption), ...cells);
    return cells;
  };
  const tile = () => html("span", { "aria-hidden": "true", style: "height: 1.3rem; border: 2px solid; border-radius: 3px" });
  const letters = row("The word. Press a letter to change it:", k => html("button", { type: "button", style: "padding: 0; min-width: 0",
    click: () => put({ word: at().word.with(k, 1 - at().word[k]) }) }));
  const right = row("1. Would the other letter change the right answer?", tile);
  const own = row("2. Would it change the net's answer?", tile);
  const bars = row("3. The gradient of the net's answer:", () => svg("svg", { viewBox: `0 0 34 ${HIGH}`, "aria-hidden": true },
    svg("path", { class: "faint", d: `M0 ${HIGH - 1}h34` }), svg("rect", { x: 4, width: 26, "stroke-width": 2 })));

  const draw = () => {
    const { task: name, net: row, word } = at(), machine = here(), net = machine.nets[row];
    const due = answer(machine, word), says = said(net, word), share = shares(net, word), most = Math.max(...share, 1 / length);
    const should = turns(one => answer(machine, one), word), does = turns(one => said(net, one), word);
    task.show(name);
    nets.forEach(button => {
      button.hidden = !(button.textContent in machine.nets);
      set(button, { "aria-pressed": String(button.textContent === row) });
    });
    word.forEach((bit, k) => {
      letters[k].textContent = machine.symbols[bit];
      set(letters[k], { "aria-label": `letter ${k + 1}, ${machine.symbols[bit]}: the other one ${should[k] ? "changes" : "keeps"} the right answer, `
        + `${does[k] ? "changes" : "keeps"} the net's; ${Math.round(100 * share[k])} % of the gradient` });
      for (const [cell, on] of [[right[k], should[k]], [own[k], does[k]]]) {
        const colour = should[k] === does[k] || cell === right[k] ? RECORDED : LIVE;
        cell.style.borderColor = on || colour === LIVE ? colour : "currentColor";
        cell.style.borderStyle = on || colour === RECORDED ? "solid" : "dashed";
        cell.style.background = on ? colour : "transparent";
      }
      const high = (HIGH - 4) * share[k] / most;
      set(bars[k].lastChild, { y: HIGH - 2 - high, height: high, fill: does[k] ? RECORDED : "transparent", stroke: does[k] ? RECORDED : "currentColor" });
    });
    const many = list => list.filter(Boolean).length;
    const missed = many(does.map((one, k) => one && share[k] < 0.4 / length)), idle = many(does.map((one, k) => !one && share[k] > 0.6 / length));
    say(`<b>${safe(row)}</b> answers <b>${says}</b>, ${says === due ? "rightly" : "<b>wrongly</b>"}; on all ${2 ** length} words of ${length} letters it is right on `
      + `<b>${Math.round(100 * net.right)} %</b>. The other letter would change the right answer at <b>${many(should)}</b> of ${length} places, and the net's at `
      + `<b>${many(does)}</b>. ${share.some(Boolean) ? `Half of the gradient lies on <b>${half(share)}</b> letter${half(share) > 1 ? "s" : ""}` : "There is no gradient"}. `
      + (missed || idle ? `It misleads: ${[missed ? `<b>${missed}</b> letter${missed > 1 ? "s" : ""} turn${missed > 1 ? "" : "s"} the net's answer with hardly any gradient` : "",
        idle ? `<b>${idle}</b> with a high bar do${idle > 1 ? "" : "es"} not turn it` : ""].filter(Boolean).join(", ")}.` : "Here the gradient tells the truth."));
  };
  return follow(draw);
};

export default { render, mathematics: { answer, number, said, turns, shares, half } };
