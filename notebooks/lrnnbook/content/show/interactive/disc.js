import { GREEN, LIVE, axes, button, choice, handle, path, set, stage, svg } from "./parts.js";

// Complex numbers are pairs [real, imaginary].
const times = ([a, b], [c, d]) => [a * c - b * d, a * d + b * c];

// What the recurrence answers to an input: the real part of the weighted modes, by stepping.
const response = (nodes, weights, input) => {
  let state = nodes.map(() => [0, 0]);
  return input.map(u => {
    state = state.map((x, n) => { const [a, b] = times(nodes[n], x); return [a + u, b]; });
    return weights.reduce((sum, w, n) => sum + times(w, state[n])[0], 0);
  });
};

// What each mode adds to the impulse response, a row for each mode.
const waves = (nodes, weights, steps) => nodes.map((node, n) => {
  const row = [weights[n]];
  while (row.length < steps) row.push(times(row.at(-1), node));
  return row.map(one => one[0]);
});

// The size of the frequency response of some taps, at 0, 1, ..., 180 degrees a step.
const frequencies = taps => Array.from({ length: 181 }, (_, degrees) => {
  let real = 0, imaginary = 0;
  taps.forEach((tap, k) => {
    real += tap * Math.cos(k * degrees * Math.PI / 180);
    imaginary -= tap * Math.sin(k * degrees * Math.PI / 180);
  });
  return Math.hypot(real, imaginary);
});

const dot = (a, b) => a.reduce((sum, one, k) => sum + one * b[k], 0);

// The real table whose columns are Re and -Im of the modes' powers.
const table = (nodes, L) => nodes.flatMap(node => {
  const powers = [[1, 0]];
  while (powers.length < L) powers.push(times(powers.at(-1), node));
  return [powers.map(one => one[0]), powers.map(one => -one[1])];
});

// One-sided Jacobi rotations, which make columns orthogonal: the columns then, and what was done to them, column by column.
const orthogonal = given => {
  const columns = given.map(one => [...one]), turns = given.map((_, i) => given.map((_, j) => Number(i === j)));
  for (let turned = true, round = 0; turned && round < 30; round++) {
    turned = false;
    for (let i = 0; i < columns.length; i++) {
      for (let j = i + 1; j < columns.length; j++) {
        const aa = dot(columns[i], columns[i]), bb = dot(columns[j], columns[j]), ab = dot(columns[i], columns[j]);
        if (Math.abs(ab) <= 1e-14 * Math.sqrt(aa * bb)) continue;
        turned = true;
        const half = (bb - aa) / (2 * ab), t = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.hypot(1, half));
        const c = 1 / Math.hypot(1, t), s = c * t;
        for (const both of [columns, turns]) {
          const [a, b] = [both[i], both[j]];
          both[i] = a.map((one, k) => c * one - s * b[k]);
          both[j] = b.map((one, k) => s * a[k] + c * one);
        }
      }
    }
  }
  return { columns, turns };
};
const turned = columns => columns[0].map((_, k) => columns.map(column => column[k]));

// The singular values of the table, the largest first, its rank and its condition number.
const spectrum = (nodes, L) => {
  const columns = table(nodes, L);
  const values = orthogonal(columns.length > L ? turned(columns) : columns).columns
    .map(column => Math.sqrt(dot(column, column))).sort((a, b) => b - a);
  const rank = values.filter(one => one > 1e-10 * values[0]).length;
  return { values, rank, condition: rank === values.length ? values[0] / values.at(-1) : Infinity };
};

// The weights of these nodes whose kernel is nearest to the wanted one; of equally good ones the smallest.
const fitted = (nodes, wanted) => {
  const given = table(nodes, wanted.length), wide = given.length > wanted.length;
  const { columns, turns } = orthogonal(wide ? turned(given) : given);
  const squares = columns.map(column => dot(column, column)), least = 1e-20 * Math.max(...squares);
  // with given = U S V': a wide table has the columns V S and the turns U
  const shares = columns.map((column, i) => squares[i] <= least ? 0 : dot(wide ? turns[i] : column, wanted) / squares[i]);
  const found = given.map((_, k) => shares.reduce((sum, share, i) => sum + share * (wide ? columns : turns)[i][k], 0));
  return nodes.map((_, n) => [found[2 * n], found[2 * n + 1]]);
};

// The least of 1, 1.5, 2, 3, 5, 7.5 times a power of ten that is not below.
const rounded = value => {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return power * [1, 1.5, 2, 3, 5, 7.5, 10].find(step => step * power >= value - 1e-12);
};

const SIDE = 320, LOW = 196, UNIT = 122;  // pixels: a panel's width and the upper ones' height, the lower ones' height, the radius 1
const MIDDLE = [SIDE / 2, SIDE / 2 + 14];
const MOST = 1.12;  // a radius that a mode may be dragged to
const WANTED = "#8a8a8a";

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow, panel } = stage(model, el);
  const place = ([a, b]) => [MIDDLE[0] + UNIT * a, MIDDLE[1] - UNIT * b];
  const start = modes => put({ modes, nodes: data.sets[modes].nodes, weights: data.sets[modes].weights });
  const modes = choice("modes", Object.keys(data.sets).map(name => [name, name]), start);
  const drag = choice("drag", [["all", "all modes"], ["one", "one mode"]], drag => put({ drag }));
  controls.append(modes.node, drag.node,
    button("fit the weights again", () => put({ weights: fitted(at().nodes, data.sets[at().modes].wanted) })),
    button("put back", () => start(at().modes)));

  const disc = panel(SIDE, SIDE, "the disc"), plots = panel(SIDE, SIDE, "waves and kernel");
  const drawn = panel(SIDE, LOW, "an input to draw, and its output"), sizes = panel(SIDE, LOW, "frequency response");
  panels.append(disc, plots, drawn, sizes);
  disc.append(
    svg("circle", { cx: MIDDLE[0], cy: MIDDLE[1], r: UNIT, class: "faint", "stroke-width": 1.5 }),
    svg("path", { class: "faint", d: `M${MIDDLE[0] - UNIT} ${MIDDLE[1]}h${2 * UNIT}M${MIDDLE[0]} ${MIDDLE[1] - UNIT}v${2 * UNIT}` }),
    svg("text", { x: 0, y: 12 }, "modes to drag (larger: larger weight), mirrors (rings)"));
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
  const turnedBy = (n, degrees, grow) => {
    const [a, b] = at().nodes[n], r = Math.max(0.01, Math.hypot(a, b) + grow);
    const turn = Math.atan2(b, a) + degrees * Math.PI / 180;
    move(n, [r * Math.cos(turn), r * Math.sin(turn)]);
  };
  const remake = many => {
    handles.forEach(one => one.node.remove());
    handles = Array.from({ length: many }, (_, n) => handle(disc, {
      label: `mode ${n + 1}`, colour: GREEN, least: -180, most: 180,
      move: (x, y) => move(n, [(x - MIDDLE[0]) / UNIT, (MIDDLE[1] - y) / UNIT]),
      step: (across, up) => turnedBy(n, -across, up / 100),
    }));
    rings.replaceChildren(...handles.map(() => svg("circle", { r: 6, fill: "none", stroke: GREEN, "stroke-width": 1.5 })));
    all.replaceChildren(...handles.map(() => svg("path", { stroke: GREEN, "stroke-width": 3.6, "stroke-linecap": "round", "stroke-opacity": .7 })));
  };

  const steps = data.periods * data.L;
  const upper = axes(plots, { left: 40, right: SIDE - 6, top: 24, bottom: 112, x: [-1, steps], y: [-1, 1],
    title: "the waves: what each mode adds" });
  const lower = axes(plots, { left: 40, right: SIDE - 6, top: 162, bottom: 296, x: [-1, steps], y: [0, 1],
    title: "their sum; dots: the kernel; grey: wanted" });
  const above = axes(drawn, { left: 40, right: SIDE - 6, top: 24, bottom: 70, x: [-0.5, steps - 0.5], y: [-1, 1],
    title: "input: draw here, or focus it and use the arrows" });
  const below = axes(drawn, { left: 40, right: SIDE - 6, top: 116, bottom: 172, x: [-0.5, steps - 0.5], y: [-1, 1], title: "output" });
  const response_ = axes(sizes, { left: 40, right: SIDE - 6, top: 24, bottom: 172, x: [0, 180], y: [0, 1],
    title: "frequency response (ticks: modes)" });
  lower.across = below.across = Array.from({ length: data.periods + 1 }, (_, i) => [i * data.L, `${i * data.L}`]);
  response_.across = [[0, "0\u00b0"], [60, "60\u00b0"], [120, "120\u00b0"], [180, "180\u00b0"]];
  above.limits(-1, 1, [-1, 0, 1]);
  const all = svg("g"), line = svg("path", { class: "line", "stroke-opacity": .55, "stroke-width": 1.2 });
  const goal = Array.from({ length: data.L }, () => svg("rect", { width: 7, height: 7, fill: WANTED, "fill-opacity": .55 }));
  const taps = Array.from({ length: data.L }, () => svg("circle", { r: 2.6, fill: GREEN }));
  plots.append(all, line, ...goal, ...taps);
  const curve = svg("path", { fill: "none", stroke: GREEN, "stroke-width": 2 });
  const ticks = svg("path", { stroke: LIVE, "stroke-width": 2 });
  sizes.append(curve, ticks);

  // the input, a step under the pointer or the cursor
  let cursor = 0;
  const write = (k, value) => {
    cursor = Math.max(0, Math.min(steps - 1, k));
    const kept = Math.round(20 * Math.max(-1, Math.min(1, value))) / 20;
    put({ input: at().input.map((one, j) => j === cursor ? kept : one) });
  };
  const under = event => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawn.getScreenCTM().inverse());
    write(Math.round(steps * (x - 40) / (SIDE - 46) - 0.5), 1 - 2 * (y - 24) / 46);
  };
  const pad = svg("g", {
    role: "slider", tabindex: 0, "aria-label": "input", "aria-valuemin": -1, "aria-valuemax": 1, "aria-valuenow": 0,
    pointerdown: event => { pad.setPointerCapture(event.pointerId); pad.focus(); event.preventDefault(); under(event); },
    pointermove: event => { if (pad.hasPointerCapture(event.pointerId)) under(event); },
    keydown: event => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!way) return;
      event.preventDefault();
      const k = Math.max(0, Math.min(steps - 1, cursor + way[0]));
      write(k, at().input[k] + way[1] / (event.shiftKey ? 2 : 10));
    },
  }, svg("rect", { x: 40, y: 18, width: SIDE - 46, height: 58, fill: "transparent", class: "halo" }));
  const bars = svg("path", { stroke: LIVE, "stroke-width": 3 }), mark = svg("path", { class: "line", "stroke-width": 1 });
  pad.append(bars, mark);
  const made = svg("path", { stroke: GREEN, "stroke-width": 3 });
  drawn.append(pad, made);

  const sticks = (plot, values) => values.map((value, k) =>
    value ? `M${plot.x(k).toFixed(1)} ${plot.y(0).toFixed(1)}V${plot.y(value).toFixed(1)}` : "").join("");
  const percent = share => share < 0.0005 ? "0 %" : share > 10 ? "more than 1,000 %" : `${(100 * share).toPrecision(share < 0.1 ? 2 : 3)} %`;

  const draw = () => {
    const { nodes, weights, modes: name, drag: which, input } = at(), { wanted, nodes: before } = data.sets[name];
    modes.show(name);
    drag.show(which);
    if (handles.length !== nodes.length) remake(nodes.length);
    const heaviest = Math.max(...weights.map(w => Math.hypot(...w)), 1e-12);
    nodes.forEach(([a, b], n) => {
      const degrees = Math.atan2(b, a) * 180 / Math.PI, text = `|\u03bb| = ${Math.hypot(a, b).toFixed(3)}, angle ${degrees.toFixed(1)}\u00b0`;
      const [x, y] = place([a, b]), [, mirrored] = place([a, -b]);
      handles[n].show(x, y, Math.round(degrees), text, 2.5 + 5 * Math.hypot(...weights[n]) / heaviest);
      set(rings.children[n], { cx: x, cy: mirrored });
    });
    set(ways, { d: nodes.map((node, n) => path([place(before[n]), place(node)])).join("") });

    const impulse = Array.from({ length: steps }, (_, k) => Number(k === 0));
    const found = response(nodes, weights, impulse), kernel = found.slice(0, data.L), spread = frequencies(kernel);
    const rows = waves(nodes, weights, steps), tall = rounded(Math.max(...rows.flat().map(Math.abs)));
    upper.limits(-tall, tall, [-tall, 0, tall]);
    rows.forEach((row, n) => set(all.children[n], { d: row.map((value, k) => `M${upper.x(k).toFixed(1)} ${upper.y(value).toFixed(1)}h0`).join("") }));
    const high = Math.max(...found, ...wanted), low = Math.min(...found, ...wanted);
    const top = rounded(Math.max(high, -low / 5)), bottom = low < -1e-9 ? -rounded(Math.max(-low, high / 5)) : -top / 10;
    lower.limits(bottom, top, low < -1e-9 ? [bottom, 0, top] : [0, top]);
    set(line, { d: path(found.map((value, k) => [lower.x(k), lower.y(value)])) });
    wanted.forEach((value, k) => set(goal[k], { x: lower.x(k) - 3.5, y: lower.y(value) - 3.5 }));
    kernel.forEach((value, k) => set(taps[k], { cx: lower.x(k), cy: lower.y(value) }));
    response_.limits(0, rounded(Math.max(...spread)), [0, rounded(Math.max(...spread))]);
    set(curve, { d: path(spread.map((value, degrees) => [response_.x(degrees), response_.y(value)])) });
    set(ticks, { d: nodes.map(([a, b]) =>
      `M${response_.x(Math.abs(Math.atan2(b, a)) * 180 / Math.PI).toFixed(1)} ${response_.y(0) - 5}v10`).join("") });
    const output = response(nodes, weights, input), far = rounded(Math.max(...output.map(Math.abs), 0.1));
    below.limits(-far, far, [-far, 0, far]);
    set(bars, { d: sticks(above, input) });
    set(mark, { d: `M${above.x(cursor).toFixed(1)} 18v4` });
    set(pad, { "aria-valuenow": input[cursor], "aria-valuetext": `step ${cursor}: ${input[cursor]}` });
    set(made, { d: sticks(below, output) });

    const slowest = Math.max(...nodes.map(node => Math.hypot(...node)));
    const lasts = Math.abs(slowest - 1) < 1e-9 ? "never fades"
      : slowest < 1 ? `is down to 1/e after ${Math.round(-1 / Math.log(slowest))} steps`
      : `grows tenfold in ${Math.round(Math.log(10) / Math.log(slowest))} steps`;
    const length = Math.sqrt(dot(wanted, wanted));
    const missed = these => Math.sqrt(wanted.reduce((sum, value, k) => sum + (value - these[k]) ** 2, 0)) / length;
    const now = missed(kernel), best = missed(response(nodes, fitted(nodes, wanted), impulse));
    const { rank, condition } = spectrum(nodes, data.L);
    say(`<b>${nodes.length} mode${nodes.length > 1 ? "s" : ""}</b>: the slowest has |\u03bb| = ${slowest.toPrecision(4)} and `
      + `${lasts}. The kernel misses the wanted one by ${percent(now)} of its norm`
      + `${now - best > 0.0005 ? `; <b>fitted again, these nodes would miss it by ${percent(best)}</b>` : ", and no other weights do better"}. `
      + `The ${data.L} x ${2 * nodes.length} real table of powers has rank ${rank} and `
      + `condition number ${Number.isFinite(condition) ? condition.toPrecision(3) : "infinite"}.`);
  };
  return follow(draw);
};

export default { render, mathematics: { response, waves, frequencies, spectrum, fitted } };
