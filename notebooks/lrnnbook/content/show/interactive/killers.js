import { LIVE, button, choice, set, stage, svg, typeset } from "./parts.js";

// The states of one channel, complex, from 0.75 on: a letter turns and shrinks by its gate, towards the letter's point.
const channel = (word, gates, points) => [...word].reduce((way, letter) => {
  const [size, degrees] = gates[letter], [x, y] = way.at(-1), [px, py] = points[letter];
  const c = size * Math.cos(degrees * Math.PI / 180), s = size * Math.sin(degrees * Math.PI / 180);
  return [...way, [c * x - s * y + (1 - size) * px, s * x + c * y + (1 - size) * py]];
}, [[0.75, 0]]);

// The states of a block of size 2 that stores the first number of an expression mod M; the minus does nothing.
const block = (word, M) => [...word].reduce((way, letter) => {
  const [x, y] = way.at(-1), s = Number(letter) / (M - 1);
  return [...way, letter === "-" ? [x, y] : [x - s * y + s, 1]];
}, [[0, 0]]);

const gap = ([a, b], [c, d]) => Math.hypot(a - c, b - d);

const WIDTH = 344, STEP = 40, DIAL = 17, ROW = 86;
const KEYS = { zero: "0", one: "1", minus: "-" };

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow, panel } = stage(model, el), words = Object.keys(data.words);
  const menus = Object.entries(KEYS).map(([key, letter]) => {
    const menu = choice(`gate of ${typeset(letter)}`, Object.keys(data.gates).map(name => [name, name]),
      name => put({ [key]: name }));
    controls.append(menu.node);
    return () => menu.show(at()[key]);
  });
  const both = button("with a block of size 2", () => put({ block: !at().block }));
  controls.append(both);

  const rows = (title, frame) => {
    const right = 22 + STEP * Math.max(...words.map(word => word.length)) + DIAL + 22;  // of the bracket from end to end
    const picture = panel(WIDTH, 2 * ROW + 10, title), ends = svg("text", { x: right - 8, y: ROW + 8, "text-anchor": "end" });
    const join = svg("path", { d: `M${right - 6} 42H${right}V${ROW + 42}H${right - 6}`, fill: "none", "stroke-width": 2 });
    picture.append(join);
    const dots = words.map((word, row) => {
      const y = ROW * row + 42;
      picture.append(svg("text", { x: 4, y: y - DIAL - 8 }, `${title}, right answer ${data.words[word]}`));
      return ["", ...word].map((letter, t) => {
        const x = 22 + STEP * t, last = t === word.length;
        if (last) picture.append(svg("text", { x: x + DIAL + 4, y: y + 5, "font-weight": "bold" }, data.words[word]));
        picture.append(frame(x, y, last), svg("text", { x, y: y + DIAL + 15, "text-anchor": "middle" }, typeset(letter) || "start"));
        const line = svg("path", { class: "faint" }), dot = svg("circle", { r: 5, fill: LIVE, stroke: "currentColor" });
        picture.append(line, dot);
        return { x, y, line, dot };
      });
    });
    picture.append(ends);
    return { picture, dots, ends, join };
  };
  const border = last => ({ fill: "none", stroke: "currentColor", "stroke-opacity": last ? 1 : .4, "stroke-width": last ? 2.5 : 1 });
  const dials = rows("channel", (cx, cy, last) => svg("circle", { cx, cy, r: DIAL, ...border(last) }));
  const squares = rows("block of size 2", (x, y, last) =>
    svg("rect", { x: x - DIAL, y: y - DIAL, width: 2 * DIAL, height: 2 * DIAL, ...border(last) }));
  panels.append(dials.picture, squares.picture);
  const told = far => far < 1e-9 ? "same state" : `${far.toFixed(2)} apart`;

  const draw = () => {
    const chosen = Object.fromEntries(Object.entries(KEYS).map(([key, letter]) => [letter, data.gates[at()[key]]]));
    menus.forEach(show => show());
    both.setAttribute("aria-pressed", at().block);
    const ways = words.map(word => channel(word, chosen, data.points)), stored = words.map(word => block(word, data.M));
    ways.forEach((way, row) => way.forEach(([a, b], t) => {
      const { x, y, line, dot } = dials.dots[row][t];
      set(line, { d: `M${x} ${y}L${x + DIAL * a} ${y - DIAL * b}` });
      set(dot, { cx: x + DIAL * a, cy: y - DIAL * b });
    }));
    stored.forEach((way, row) => way.forEach(([a, b], t) => {
      const { x, y, dot } = squares.dots[row][t], inside = 2 * DIAL - 12;
      const colour = b ? Math.round(a * (data.M - 1)) : data.M;  // the last colour: nothing is stored yet
      set(dot, { cx: x - DIAL + 6 + inside * a, cy: y + DIAL - 6 - inside * b, fill: data.colours[colour] });
    }));
    const far = gap(...ways.map(way => way.at(-1)));
    for (const [rows, apart] of [[dials, far], [squares, gap(...stored.map(way => way.at(-1)))]]) {
      rows.ends.textContent = told(apart);
      set(rows.join, { stroke: apart < 1e-9 ? LIVE : "currentColor", "stroke-dasharray": apart < 1e-9 ? "none" : "3 4" });
    }
    squares.picture.style.display = at().block ? "" : "none";
    const values = words.map(word => data.words[word]).join(" and ");
    say((far < 1e-9
      ? `The words end in <b>one state</b>, and their values are ${values}: whatever this channel is used for, it cannot tell them apart.`
      : `The words come <b>apart</b>, by ${far.toFixed(2)}. A gate that shrinks lets the channel have infinitely many states, and `
        + "<b>step 1</b> of Theorem D goes first: a map that keeps different states different need not reach every state of an infinite set.")
      + (at().block ? " The <b>block of size 2</b> tells them apart: it still knows that one began with 0, the other with 1." : ""));
  };
  return follow(draw);
};

export default { render, mathematics: { channel, block } };
