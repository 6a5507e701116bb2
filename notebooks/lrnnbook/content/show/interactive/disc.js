import { GREEN, LIVE, axes, button, choice, handle, path, set, stage, svg } from "./parts.js";

// Complex numbers are pairs [real, imaginary].
const times = ([a, b], [c, d]) => [a * c - b * d, a * d + b * c];

// What the recurrence answers to 1, 0, 0, ...: the real part of the weighted powers of the modes, by stepping.
const response = (nodes, weights, steps) => {
  const found = [];
  let state = nodes.map(() => [1, 0]);
  for (let k = 0; k < steps; k++) {
    found.push(weights.reduce((sum, w, n) => sum + times(w, state[n])[0], 0));
    state = state.map((x, n) => times(nodes[n], x));
  }
  return found;
};

// The size of the frequency response of some taps, at 0, 1, ..., 180 degrees a step.
const frequencies = taps => Array.from({ length: 181 }, (_, degrees) => {
  let real = 0, imaginary = 0;
  taps.forEach((tap, k) => {
    real += tap * Math.cos(k * degrees * Math.PI / 180);
    imaginary -= tap * Math.sin(k * degrees * Math.PI / 180);
  });
  return Math.hypot(real, imaginary);
});

// The singular values, the largest first, of the real table whose columns are Re and Im of the modes' powers, and its
// rank and condition number.  One-sided Jacobi rotations make the columns orthogonal; their lengths are the values.
const spectrum = (nodes, L) => {
  let columns = nodes.flatMap(node => {
    const powers = [[1, 0]];
    while (powers.length < L) powers.push(times(powers.at(-1), node));
    return [powers.map(one => one[0]), powers.map(one => -one[1])];
  });
  if (columns.length > L) columns = columns[0].map((_, k) => columns.map(column => column[k]));
  const dot = (a, b) => a.reduce((sum, one, k) => sum + one * b[k], 0);
  for (let turned = true, round = 0; turned && round < 30; round++) {
    turned = false;
    for (let i = 0; i < columns.length; i++) {
      for (let j = i + 1; j < columns.length; j++) {
        const a = columns[i], b = columns[j], aa = dot(a, a), bb = dot(b, b), ab = dot(a, b);
        if (Math.abs(ab) <= 1e-14 * Math.sqrt(aa * bb)) continue;
        turned = true;
        const half = (bb - aa) / (2 * ab), t = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.hypot(1, half));
        const c = 1 / Math.hypot(1, t), s = c * t;
        columns[i] = a.map((one, k) => c * one - s * b[k]);
        columns[j] = b.map((one, k) => s * a[k] + c * one);
      }
    }
  }
  const values = columns.map(column => Math.sqrt(dot(column, column))).sort((a, b) => b - a);
  const rank = values.filter(one => one > 1e-10 * values[0]).length;
  return { values, rank, condition: rank === values.length ? values[0] / values.at(-1) : Infinity };
};

// The least of 1, 1.5, 2, 3, 5, 7.5 times a power of ten that is not below.
const rounded = value => {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return power * [1, 1.5, 2, 3, 5, 7.5, 10].find(step => step * power >= value - 1e-12);
};

const SIDE = 320, UNIT = 128;  // pixels: the disc's panel, the radius 1
const MOST = 1.12;  // a radius that a mode may be dragged to

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow, panel } = stage(model, el);
  const place = ([a, b]) => [SIDE / 2 + UNIT * a, SIDE / 2 - UNIT * b];
  const start = modes => put({ modes, nodes: data.sets[modes].nodes });
  const modes = choice("modes", Object.keys(data.sets).map(name => [name, name]), start);
  const drag = choice("drag", [["all", "all modes"], ["one", "one mode"]], drag => put({ drag }));
  controls.append(modes.node, drag.node, button("put back", () => start(at().modes)));

  const disc = panel(SIDE, SIDE, "the disc"), plots = panel(SIDE, SIDE, "kernel and spectrum");
  panels.append(disc, plots);
  disc.append(
    svg("circle", { cx: SIDE / 2, cy: SIDE / 2, r: UNIT, class: "faint", "stroke-width": 1.5 }),
    svg("path", { class: "faint", d: `M${SIDE / 2 - UNIT} ${SIDE / 2}h${2 * UNIT}M${SIDE / 2} ${SIDE / 2 - UNIT}v${2 * UNIT}` }),
    svg("text", { x: 0, y: 12 }, "modes (dots) and their mirror images (rings)"));
  const rings = svg("g"), ways = svg("path", { class: "faint" });
  disc.append(rings, ways);
  let handles = [];

  // moves mode n to a place; all modes turn and grow alike, where all are dragged
  const move = (n, [a, b]) => {
    const { nodes, drag } = at(), size = Math.hypot(a, b), most = Math.min(1, MOST / size);
    const to = [a * most, b * most];
    const now = nodes[n], square = now[0] ** 2 + now[1] ** 2;
    if (drag === "one" || square < 1e-12) {
      put({ nodes: nodes.map((node, m) => m === n ? to : node) });
      return;
    }
    const factor = times(to, [now[0] / square, -now[1] / square]);
    const moved = nodes.map(node => times(node, factor));
    if (moved.every(([c, d]) => Math.hypot(c, d) <= MOST + 0.01)) put({ nodes: moved });
  };
  const turned = (n, degrees, grow) => {
    const [a, b] = at().nodes[n], r = Math.max(0.01, Math.hypot(a, b) + grow);
    const turn = Math.atan2(b, a) + degrees * Math.PI / 180;
    move(n, [r * Math.cos(turn), r * Math.sin(turn)]);
  };
  const remake = many => {
    handles.forEach(one => one.node.remove());
    handles = Array.from({ length: many }, (_, n) => handle(disc, {
      label: `mode ${n + 1}`, colour: GREEN, least: -180, most: 180,
      move: (x, y) => move(n, [(x - SIDE / 2) / UNIT, (SIDE / 2 - y) / UNIT]),
      step: (across, up) => turned(n, -across, up / 100),
    }));
    rings.replaceChildren(...handles.map(() => svg("circle", { r: 6, fill: "none", stroke: GREEN, "stroke-width": 1.5 })));
  };

  const steps = data.periods * data.L;
  const upper = axes(plots, { left: 40, right: SIDE - 6, top: 24, bottom: 126, x: [-1, steps], y: [-1, 1],
    title: `impulse response (dots: the kernel, L = ${data.L})` });
  const lower = axes(plots, { left: 40, right: SIDE - 6, top: 188, bottom: 290, x: [0, 180], y: [0, 1],
    title: "frequency response (ticks: modes)" });
  upper.across = Array.from({ length: data.periods + 1 }, (_, i) => [i * data.L, `${i * data.L}`]);
  lower.across = [[0, "0\u00b0"], [60, "60\u00b0"], [120, "120\u00b0"], [180, "180\u00b0"]];
  const line = svg("path", { class: "line", "stroke-opacity": .55, "stroke-width": 1.2 });
  const taps = Array.from({ length: data.L }, () => svg("circle", { r: 3, fill: GREEN }));
  const curve = svg("path", { fill: "none", stroke: GREEN, "stroke-width": 2 });
  const ticks = svg("path", { stroke: LIVE, "stroke-width": 2 });
  plots.append(line, ...taps, curve, ticks);

  const draw = () => {
    const { nodes, modes: name, drag: which } = at(), { weights, nodes: before } = data.sets[name];
    modes.show(name);
    drag.show(which);
    if (handles.length !== nodes.length) remake(nodes.length);
    const heaviest = Math.max(...weights.map(w => Math.hypot(...w)));
    nodes.forEach(([a, b], n) => {
      const degrees = Math.atan2(b, a) * 180 / Math.PI, text = `|\u03bb| = ${Math.hypot(a, b).toFixed(3)}, angle ${degrees.toFixed(1)}\u00b0`;
      const [x, y] = place([a, b]), [, mirrored] = place([a, -b]);
      handles[n].show(x, y, Math.round(degrees), text, 3.5 + 3 * Math.hypot(...weights[n]) / heaviest);
      set(rings.children[n], { cx: x, cy: mirrored });
    });
    set(ways, { d: nodes.map((node, n) => path([place(before[n]), place(node)])).join("") });

    const found = response(nodes, weights, steps), kernel = found.slice(0, data.L), sizes = frequencies(kernel);
    const high = Math.max(...found), low = Math.min(...found);
    const top = rounded(Math.max(high, -low / 5)), bottom = low < 0 ? -rounded(Math.max(-low, high / 5)) : -top / 10;
    upper.limits(bottom, top, low < 0 ? [bottom, 0, top] : [0, top]);
    lower.limits(0, rounded(Math.max(...sizes)), [0, rounded(Math.max(...sizes))]);
    set(line, { d: path(found.map((value, k) => [upper.x(k), upper.y(value)])) });
    kernel.forEach((value, k) => set(taps[k], { cx: upper.x(k), cy: upper.y(value) }));
    set(curve, { d: path(sizes.map((value, degrees) => [lower.x(degrees), lower.y(value)])) });
    set(ticks, { d: nodes.map(([a, b]) =>
      `M${lower.x(Math.abs(Math.atan2(b, a)) * 180 / Math.PI).toFixed(1)} ${lower.y(0) - 5}v10`).join("") });

    const slowest = Math.max(...nodes.map(node => Math.hypot(...node)));
    const lasts = Math.abs(slowest - 1) < 1e-9 ? "never fades"
      : slowest < 1 ? `is down to 1/e after ${Math.round(-1 / Math.log(slowest))} steps`
      : `grows tenfold in ${Math.round(Math.log(10) / Math.log(slowest))} steps`;
    const largest = kernel.reduce((best, value, k) => Math.abs(value) > Math.abs(kernel[best]) ? k : best, 0);
    const energy = kernel.reduce((sum, value) => sum + value * value, 0);
    const { rank, condition } = spectrum(nodes, data.L);
    const share = Math.round(100 * kernel[largest] ** 2 / energy);
    say(`<b>${nodes.length} mode${nodes.length > 1 ? "s" : ""}</b>: the slowest has |\u03bb| = ${slowest.toPrecision(4)} and `
      + `${lasts}; the largest tap on 0..${data.L - 1} is K<sub>${largest}</sub> = ${kernel[largest].toPrecision(3)}, with `
      + `${share} % of the kernel's energy. The ${data.L} x ${2 * nodes.length} real table of powers has rank ${rank} and `
      + `condition number ${Number.isFinite(condition) ? condition.toPrecision(3) : "infinite"}.`);
  };
  return follow(draw);
};

export default { render, mathematics: { response, frequencies, spectrum } };
