import { LIVE, RECORDED, axes, choice, path, player, range, safe, set, stage, svg } from "./parts.js";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

// Numbers from 0 to 1 that were written as a character each.
const read = text => [...text].map(sign => DIGITS.indexOf(sign) / 63);

// Of a frame, the blocks of one token: [head][to][from].
const blocks = (text, [, h, b], token) => {
  const values = read(text.slice(token * h * b * b, (token + 1) * h * b * b));
  return Array.from({ length: h }, (_, head) =>
    Array.from({ length: b }, (_, i) => values.slice((head * b + i) * b, (head * b + i + 1) * b)));
};

// How many columns have at least such a share in one place.
const pure = (heads, least) => heads.reduce((sum, rows) =>
  sum + rows[0].filter((_, j) => Math.max(...rows.map(row => row[j])) >= least).length, 0);

const SIDE = 208, CELL = 5.5, HIGH = 226;  // three panels fit side by side on a page of the book

const render = ({ model, el }) => {
  const { root, controls, panels, data, at, put, say, follow, panel } = stage(model, el);
  root.style.maxWidth = "54rem";
  const [, h, b] = data.shape, frames = data.frames, wide = CELL * b + 8;
  const slider = range("frame", 0, frames.length - 1, frame => put({ frame }));
  const play = player(slider, () => put({ frame: at().frame + 1 }), frame => put({ frame }), 250);
  const token = choice("token", data.symbols.map((symbol, i) => [String(i), symbol]), i => put({ token: Number(i) }));
  controls.append(play.node, slider.node, token.node);

  const matrices = panel(SIDE, HIGH, "the blocks of the heads");
  const cells = Array.from({ length: h }, (_, head) => {
    const x = 2 + (head % 4) * wide, y = 26 + Math.floor(head / 4) * (wide + 22);
    matrices.append(svg("text", { x, y: y - 5 }, `head ${head}`),
      svg("rect", { x: x - .5, y: y - .5, width: CELL * b + 1, height: CELL * b + 1, class: "faint" }));
    const made = Array.from({ length: b * b }, (_, k) => svg("rect", { x: x + CELL * (k % b), y: y + CELL * Math.floor(k / b),
      width: CELL, height: CELL, fill: LIVE }));
    matrices.append(...made);
    return made;
  });
  const cloud = panel(SIDE, HIGH, "answers of 60 strings"), radius = 78, middle = [SIDE / 2, 122];
  const corner = (c, far = 1) => [middle[0] + far * radius * Math.cos(2 * Math.PI * c / data.colours.length),
    middle[1] - far * radius * Math.sin(2 * Math.PI * c / data.colours.length)];
  cloud.append(svg("text", { x: 0, y: 12 }, `${data.answers.length} strings and their answers`),
    svg("path", { class: "faint", d: `${path(data.colours.map((_, c) => corner(c)))}Z` }),
    ...data.colours.map((_, c) => svg("text", { x: corner(c, 1.14)[0], y: corner(c, 1.14)[1] + 4, "text-anchor": "middle" }, String(c))));
  const dots = data.answers.map(answer =>
    svg("circle", { r: 5, fill: data.colours[answer], stroke: "currentColor", "fill-opacity": .9, "stroke-width": .8 }));
  cloud.append(...dots);

  const curve = panel(SIDE, HIGH, "accuracy by position"), ends = data.positions.map(Math.log10);
  const plot = axes(curve, { left: 48, right: SIDE - 8, top: 30, bottom: 186, x: [ends[0], ends.at(-1)], y: [0, 1],
    title: "right, by position" });
  plot.across = [1, 10, 40, 500].map(one => [Math.log10(one), one === 500 ? "500" : String(one)]);
  plot.limits(0, 1, [0, .5, 1], one => `${100 * one} %`);
  const seen = plot.x(Math.log10(data.train_length)), guess = plot.y(data.chance);
  const line = svg("path", { fill: "none", stroke: RECORDED, "stroke-width": 2 });
  const points = data.positions.map(() => svg("circle", { r: 3.5, fill: RECORDED }));
  const snapped = svg("path", { fill: "none", stroke: LIVE, "stroke-width": 2.5, "stroke-dasharray": "7 5" });
  const named = svg("text", { x: 48, y: 221 }, "dashed: snapped");
  curve.append(svg("path", { class: "faint", d: `M${seen} 30V186M48 ${guess}H${SIDE - 8}`, "stroke-dasharray": "4 3" }),
    svg("text", { x: seen - 4, y: 183, "text-anchor": "end" }, `trained: ${data.train_length}`),
    svg("text", { x: 44, y: guess + 4, "text-anchor": "end" }, "chance"), line, ...points, snapped, named);
  panels.append(matrices, cloud, curve);

  const percent = share => `${share === 1 ? "100" : (Math.floor(1000 * share) / 10).toFixed(1)} %`;
  const draw = () => {
    const { frame, token: which } = at(), now = frames[frame], heads = blocks(now.matrices, data.shape, which);
    slider.show(frame, `step ${now.step}`);
    token.show(String(which));
    heads.forEach((rows, head) => rows.forEach((row, i) => row.forEach((value, j) =>
      cells[head][i * b + j].setAttribute("fill-opacity", value.toFixed(2)))));
    const places = read(now.places);
    dots.forEach((dot, k) => set(dot, {
      cx: middle[0] + radius * (2 * places[2 * k] - 1), cy: middle[1] - radius * (2 * places[2 * k + 1] - 1),
    }));
    set(line, { d: path(now.right.map((share, k) => [plot.x(ends[k]), plot.y(share)])) });
    now.right.forEach((share, k) => set(points[k], { cx: plot.x(ends[k]), cy: plot.y(share) }));
    set(snapped, { d: `M48 ${plot.y(now.snapped)}H${SIDE - 8}` });
    const inside = data.positions.indexOf(data.train_length);
    say(`After <b>${now.step}</b> steps: right at position ${data.train_length}, the last one trained, <b>${percent(now.right[inside])}</b>; `
      + `at ${data.positions.at(-1)} <b>${percent(now.right.at(-1))}</b>. Of the ${h * b} columns of token ${safe(data.symbols[which])}, `
      + `<b>${pure(heads, .9)}</b> have nine tenths of their mass in one place; snapped, the network is right at ${percent(now.snapped)} of all positions.`);
  };
  const stop = follow(draw);
  return () => { play.stop(); stop(); };
};

export default { render, mathematics: { read, blocks, pure } };
