import { LIVE, choice, html, player, range, safe, set, stage, svg, typeset } from "./parts.js";

// What the nodes of every depth hold, the letters first: a node merges two neighbours, the earlier one first.
const fill = ({ letters, times }, word) => {
  const rows = [word.map(token => letters[token])];
  while (rows.at(-1).length > 1) {
    const row = rows.at(-1);
    rows.push(row.filter((_, i) => i % 2 === 0).map((first, i) => times[first][row[2 * i + 1]]));
  }
  return rows;
};

const SIDE = 40, RISE = 62, TOP = 18, PAPER = "var(--jp-layout-color0, var(--paper, Canvas))";

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow } = stage(model, el);
  const here = () => data.tasks[at().task], depths = Math.log2(here().word.length);
  const task = choice("task", Object.keys(data.tasks).map(name => [name, name]),
    name => put({ task: name, word: data.tasks[name].word, changed: null }));
  const slider = range("rounds", 0, depths, done => put({ done, changed: null }));
  const play = player(slider, () => put({ done: at().done + 1, changed: null }), done => put({ done, changed: null }), 1100);
  controls.append(task.node, play.node, slider.node);
  const picture = html("div"), keys = html("div", { style: "display: flex", role: "group", "aria-label": "the letters; a press changes one" });
  panels.append(html("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "the tree" }, picture, keys));
  const buttons = here().word.map((_, k) => html("button", { type: "button", style: `width: ${SIDE - 4}px; margin: 2px; padding: 0`,
    click: () => put({ word: at().word.with(k, (at().word[k] + 1) % here().symbols.length), changed: k }) }));
  keys.append(...buttons);

  const draw = () => {
    const { task: name, word, done, changed } = at(), { symbols, colours, inks, names, answers } = here();
    const rows = fill(here(), word), width = SIDE * word.length, height = TOP + RISE * depths + 16, nodes = [];
    const x = (depth, i) => SIDE * ((i + 1) * 2 ** depth - 0.5), y = depth => TOP + RISE * (depths - depth);
    task.show(name);
    slider.show(done, `${done} of ${depths}`);
    const again = (depth, i) => changed !== null && changed >> depth === i;
    for (let depth = 1; depth <= depths; depth++) rows[depth].forEach((_, i) => [2 * i, 2 * i + 1].forEach(child => {
      const anew = depth <= done && again(depth - 1, child);
      nodes.push(svg("path", { d: `M${x(depth - 1, child)} ${y(depth - 1)}L${x(depth, i)} ${y(depth)}`, fill: "none",
        stroke: anew ? LIVE : "currentColor", "stroke-width": anew ? 3 : 1.3, "stroke-opacity": depth <= done ? 1 : .25 }));
    }));
    rows.forEach((row, depth) => row.forEach((element, i) => {
      const held = depth <= done;
      nodes.push(svg("circle", { cx: x(depth, i), cy: y(depth), r: 15, fill: held ? colours[element] : PAPER,
        stroke: held && again(depth, i) ? LIVE : "currentColor", "stroke-width": held && again(depth, i) ? 3 : 1, "stroke-opacity": held ? 1 : .4 }));
      if (held) nodes.push(svg("text", { x: x(depth, i), y: y(depth) + 4, "text-anchor": "middle", style: `fill: ${inks[element]}` },
        typeset(depth ? names[element] : symbols[word[i]])));
    }));
    picture.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `a tree over ${word.length} letters, filled in ${done} of ${depths} rounds of merges` }, ...nodes));
    buttons.forEach((button, k) => {
      button.textContent = typeset(symbols[word[k]]);
      set(button, { "aria-label": `letter ${k + 1}, ${symbols[word[k]]}` });
    });
    const root = rows[depths][0], many = 2 ** done;
    say((done === depths ? `The root does what <b>${safe(typeset(names[root]))}</b> does: ${safe(name)} answers <b>${answers[root]}</b> after ${word.length} letters. `
      : `After ${done} round${done === 1 ? "" : "s"} of merges each circle holds what its ${many} letter${many === 1 ? "" : "s"} do${many === 1 ? "es" : ""}. `)
      + (changed === null || !done ? "Press a letter to change it." : `Letter ${changed + 1} has changed: <b>${done}</b> of ${word.length - word.length / many} merges had to be done again.`));
  };
  const stop = follow(draw);
  return () => { play.stop(); stop(); };
};

export default { render, mathematics: { fill } };
