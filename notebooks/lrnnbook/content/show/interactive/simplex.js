import { GREEN, LIVE, RECORDED, axes, choice, handle, path, range, set, stage, svg } from "./parts.js";

// A block of three states is its columns: columns[j] says where state j goes, three shares that sum to 1.

// The states that e_1, e_2, e_3 become after 0, 1, ..., steps products with the block.
const ways = (columns, steps) => {
  const found = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]];
  while (found.length <= steps) {
    found.push(found.at(-1).map(x => [0, 1, 2].map(i => x.reduce((sum, share, j) => sum + columns[j][i] * share, 0))));
  }
  return found;
};

// Half the 1-norm of a difference: the share of two states that lies in different places.
const apart = (a, b) => a.reduce((sum, one, i) => sum + Math.abs(one - b[i]), 0) / 2;

// Of three states, which two lie farthest apart: [distance, one, other].
const farthest = states => [[0, 1], [0, 2], [1, 2]]
  .map(([i, j]) => [apart(states[i], states[j]), i, j])
  .reduce((best, one) => one[0] > best[0] + 1e-15 ? one : best);

// The first step at which no two states differ by more than `least`; null if that is not within `most` steps.
const forgotten = (columns, least, most) => {
  let states = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let t = 0; t <= most; t++) {
    if (farthest(states)[0] <= least) return t;
    states = states.map(x => [0, 1, 2].map(i => x.reduce((sum, share, j) => sum + columns[j][i] * share, 0)));
  }
  return null;
};

const SIDE = 320, STEPS = 60, ROUNDING = 2 ** -24, LATEST = 20000, OWN = "your own";
const CORNERS = [[SIDE / 2, 34], [26, 286], [SIDE - 26, 286]], COLOURS = [RECORDED, LIVE, GREEN];
const place = state => [0, 1].map(axis => state.reduce((sum, share, i) => sum + share * CORNERS[i][axis], 0));

// The distribution that lies at a place; from outside the triangle, one on its rim.
const shares = ([x, y]) => {
  const [[ax, ay], [bx, by], [cx, cy]] = CORNERS, all = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy);
  const a = ((by - cy) * (x - cx) + (cx - bx) * (y - cy)) / all, b = ((cy - ay) * (x - cx) + (ax - cx) * (y - cy)) / all;
  const kept = [a, b, 1 - a - b].map(share => Math.max(0, share)), sum = kept[0] + kept[1] + kept[2];
  return kept.map(share => share / sum);
};

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow, panel } = stage(model, el);
  const block = choice("block", [...Object.keys(data.blocks), OWN].map(name => [name, name]),
    name => put(name === OWN ? { block: OWN } : { block: name, columns: data.blocks[name] }));
  const steps = range("steps t", 0, STEPS, t => put({ t }));
  controls.append(block.node, steps.node);

  const triangle = panel(SIDE, SIDE, "the simplex"), right = panel(SIDE, SIDE, "distance of the states");
  panels.append(triangle, right);
  triangle.append(svg("path", { class: "line", "stroke-opacity": .6, d: `${path(CORNERS)}Z` }),
    ...CORNERS.map(([x, y], i) =>
      svg("text", { x, y: y + (i ? 20 : -12), "text-anchor": "middle", "font-weight": 600 }, `state ${i + 1}`)));
  const lines = COLOURS.map(stroke => svg("path", { fill: "none", stroke, "stroke-width": 1.2, "stroke-opacity": .7 }));
  const dots = COLOURS.map(fill => svg("g", { fill }));
  const now = COLOURS.map(fill => svg("circle", { r: 8, fill: "none", stroke: fill, "stroke-width": 3 }));
  triangle.append(...lines, ...dots, ...now);
  const move = (j, to) => put({ block: OWN, columns: at().columns.map((column, k) => k === j ? shares(to) : column) });
  const columns = COLOURS.map((colour, j) => handle(triangle, {
    label: `column ${j + 1}`, colour, least: 0, most: 100,
    move: (x, y) => move(j, [x, y]),
    step: (across, up) => {
      const [x, y] = place(at().columns[j]);
      move(j, [x + 4 * across, y - 4 * up]);
    },
  }));
  columns.forEach(({ node }, j) => node.append(svg("text", { x: 10, y: -8 }, `column ${j + 1}`)));

  const plot = axes(right, { left: 46, right: SIDE - 6, top: 34, bottom: 286, x: [0, STEPS], y: [-8, 0],
    title: "farthest two states, half the 1-norm" });
  plot.across = [[0, "0"], [20, "20"], [40, "40"], [60, "t = 60"]];
  plot.limits(-8, 0.3, [0, -2, -4, -6, -8], power => power ? `1e${String(power).replace("-", "\u2212")}` : "1");
  const bound = svg("path", { class: "line", "stroke-dasharray": "5 4" });
  const distance = svg("path", { fill: "none", stroke: LIVE, "stroke-width": 2 });
  const here = svg("circle", { r: 5, fill: LIVE });
  const rounding = plot.y(Math.log10(ROUNDING));
  right.append(svg("path", { class: "faint", d: `M46 ${rounding}H${SIDE - 6}`, "stroke-dasharray": "1 3" }),
    svg("text", { x: SIDE - 6, y: rounding - 4, "text-anchor": "end" }, "float32 rounds here"), bound, distance, here);
  const height = value => plot.y(Math.max(-8, Math.log10(Math.max(value, 1e-8))));

  const draw = () => {
    const { block: name, columns: A, t } = at(), found = ways(A, STEPS);
    block.show(name);
    steps.show(t, String(t));
    COLOURS.forEach((_, j) => {
      const way = found.map(states => place(states[j]));
      set(lines[j], { d: path(way.slice(0, t + 1)) });
      dots[j].replaceChildren(...way.slice(1, t + 1).map(([cx, cy]) => svg("circle", { cx, cy, r: 2 })));
      set(now[j], { cx: way[t][0], cy: way[t][1], r: 8 + 3 * j });  // where two meet, both are seen
      const said = A[j].map((share, i) => `${Math.round(100 * share)} % to state ${i + 1}`).join(", ");
      columns[j].show(...place(A[j]), Math.round(100 * A[j][j]), said);
    });
    const tau = farthest(A)[0], [far, i, j] = farthest(found[t]);
    set(bound, { d: path(found.map((_, k) => [plot.x(k), height(tau ** k)])) });
    set(distance, { d: path(found.map((states, k) => [plot.x(k), height(farthest(states)[0])])) });
    set(here, { cx: plot.x(t), cy: height(far) });
    const lost = forgotten(A, ROUNDING, LATEST);
    const few = value => value < 0.001 ? value.toExponential(1).replace("-", "\u2212") : value.toFixed(3);
    say(`After <b>${t}</b> step${t === 1 ? "" : "s"} the states that began in ${i + 1} and ${j + 1} are <b>${few(far)}</b> apart`
      + (tau < 1 - 1e-12 ? `; two columns are at most \u03c4 = ${tau.toFixed(3)} apart, so no more than \u03c4<sup>t</sup> = ${few(tau ** t)} is left. `
        : ": \u03c4 = 1, two columns share no place, and the bound \u03c4<sup>t</sup> says nothing. ")
      + (lost === null ? `No state is forgotten within ${LATEST.toLocaleString("en")} steps.`
        : `From step <b>${lost}</b> on float32 no longer tells any two apart.`));
  };
  return follow(draw);
};

export default { render, mathematics: { ways, farthest, forgotten, shares } };
