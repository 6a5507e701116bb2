import { LIVE, RECORDED, choice, html, player, range, stage, svg, typeset } from "./parts.js";

// The row after every level of the scan of x_t = A_t x_(t-1) + b_t: at first x_0 and the inputs; a move adds to its
// target the product of the A that it spells times its source.
const rows = (levels, A, b) => levels.reduce((found, moves) => {
  const row = [...found.at(-1)];
  for (const { source, target, word } of moves) {
    row[target] += word.reduce((product, t) => product * A[t], 1) * found.at(-1)[source];
  }
  return [...found, row];
}, [b]);

// How many states are right after every level: those whose sum reaches back to x_0.
const right = (levels, L) => {
  const begins = Array.from({ length: L }, (_, t) => t);
  return [1, ...levels.map(moves => {
    for (const { source, target } of moves) begins[target] = begins[source];
    return begins.filter(one => one === 0).length;
  })];
};

const LOW = "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089";
const low = number => [...String(number)].map(digit => LOW[digit]).join("");
const COLUMN = 128, ROW = 28, LEFT = 128, TOP = 44;

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow } = stage(model, el);
  const length = choice("length L", Object.keys(data.levels).map(L => [L, L]), L => put({ L, level: 0 }));
  const slider = range("level", 0, 4, level => put({ level }));
  const play = player(slider, () => put({ level: at().level + 1 }), level => put({ level }), 1100);
  controls.append(length.node, play.node, slider.node);
  const box = html("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "the levels of the scan" });
  panels.append(box);

  const draw = () => {
    const { L, level } = at(), levels = data.levels[L], many = Number(L), last = levels.length;
    slider.input.max = last;
    length.show(L);
    slider.show(level, `${level} of ${last}`);
    const A = data.A.slice(0, many), b = data.b.slice(0, many), values = rows(levels, A, b);
    const width = LEFT + COLUMN * last + 40, height = TOP + ROW * many;
    const x = column => LEFT + COLUMN * column, y = t => TOP + ROW * t + 4, nodes = [];
    for (let t = 0; t < many; t++) {
      nodes.push(svg("path", { class: "faint", d: `M${x(0)} ${y(t)}H${x(last)}`, "stroke-opacity": .2 }),
        svg("text", { x: x(0) - 24, y: y(t) + 4, "text-anchor": "end" },
          t ? typeset(`A${low(t)} = ${A[t]}, b${low(t)} =`) : "x\u2080 ="));
    }
    const begins = Array.from({ length: many }, (_, t) => t);
    for (let column = 0; column <= last; column++) {
      nodes.push(svg("text", { x: x(column), y: 14, "text-anchor": "middle", "font-weight": column === level ? 700 : 400 },
        column ? `level ${column}` : "inputs"));
      const moves = column < last ? levels[column] : [];
      if (column < level) {
        for (const { source, target, word } of moves) {
          const now = column === level - 1;
          const line = svg("path", { d: `M${x(column) + 18} ${y(source)}L${x(column + 1) - 20} ${y(target)}`, fill: "none",
            stroke: now ? LIVE : "currentColor", "stroke-opacity": now ? 1 : .35, "stroke-width": now ? 2 : 1 });
          nodes.push(line);
          if (now && many <= 8) {
            nodes.push(svg("text", { x: x(column + 1) - 22, y: y(target) - 4, "text-anchor": "end",
              style: "stroke: var(--jp-layout-color0, var(--paper, Canvas)); stroke-width: 3px", "paint-order": "stroke" },
            word.map(t => `A${low(t)}`).join("")));
          }
        }
      }
      if (column <= level) {
        for (let t = 0; t < many; t++) {
          const done = begins[t] === 0;
          nodes.push(svg("rect", { x: x(column) - 18, y: y(t) - 11, width: 36, height: 22, rx: 11,
            fill: done ? RECORDED : "var(--jp-layout-color0, var(--paper, Canvas))", stroke: "currentColor", "stroke-opacity": done ? 1 : .5 }),
          svg("text", { x: x(column), y: y(t) + 4, "text-anchor": "middle", ...(done ? { style: "fill: #fff" } : {}) },
            typeset(values[column][t])));
        }
      }
      for (const { source, target } of moves) begins[target] = begins[source];
    }
    box.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `rows of ${L} numbers after ${level} levels` }, ...nodes));
    const made = levels.flat().filter(({ word }) => word.length > 1).length, ready = right(levels, many);
    const applied = level ? levels[level - 1].length : 0;
    say((level ? `Level ${level} applies ${applied} matri${applied === 1 ? "x" : "ces"}, all at the same time. `
      : "Nothing is added yet: every place has its input alone. ")
      + `<b>${ready[level]}</b> of ${L} states ${ready[level] === 1 ? "is" : "are"} right (filled)`
      + (level < last ? "." : `: the numbers are those of the loop, after ${last} level${last === 1 ? "" : "s"} instead of ${many - 1} steps, `
        + `and with ${made} product${made === 1 ? "" : "s"} of two matrices that the loop does not make.`));
  };
  const stop = follow(draw);
  return () => { play.stop(); stop(); };
};

export default { render, mathematics: { rows, right } };
