import { LIVE, choice, html, player, range, safe, set, stage, svg, typeset } from "./parts.js";

// Of every group its members and, the commonest first, how many of them have each action.
const groups = (labels, actions) => {
  const found = new Map();
  labels.forEach((label, i) => {
    if (!found.has(label)) found.set(label, { members: [], held: new Map() });
    const { members, held } = found.get(label);
    members.push(i);
    held.set(actions[i], (held.get(actions[i]) ?? 0) + 1);
  });
  return new Map([...found].sort(([a], [b]) => a - b).map(([label, { members, held }]) =>
    [label, { members, held: [...held].sort((a, b) => b[1] - a[1] || a[0] - b[0]) }]));
};

// From the group of each word u to that of ua: how many words take the arrow, the share of its letter there, and how many of
// them end among words of another action.
const arrows = (labels, { parent, letter, action }) => {
  const main = new Map([...groups(labels, action)].map(([label, { held }]) => [label, held[0][0]])), found = new Map(), all = new Map();
  labels.forEach((to, i) => {
    if (parent[i] < 0) return;
    const start = `${labels[parent[i]]},${letter[i]}`, key = `${start},${to}`;
    if (!found.has(key)) found.set(key, { from: labels[parent[i]], to, letter: letter[i], words: 0, wrong: 0 });
    const arrow = found.get(key);
    arrow.words += 1;
    arrow.wrong += main.get(to) !== action[i];
    all.set(start, (all.get(start) ?? 0) + 1);
  });
  return [...found.values()].map(arrow => ({ ...arrow, share: arrow.words / all.get(`${arrow.from},${arrow.letter}`) }));
};

const SIDE = 310, EDGE = 60, PAPER = "var(--jp-layout-color0, var(--paper, Canvas))", HALO = `stroke: ${PAPER}; stroke-width: 4px`;
const place = value => EDGE + (SIDE - 2 * EDGE) * value / 1000;

const sector = (x, y, r, from, to) => {
  const at = turn => `${x + r * Math.sin(2 * Math.PI * turn)} ${y - r * Math.cos(2 * Math.PI * turn)}`;
  return `M${x} ${y}L${at(from)}A${r} ${r} 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to)}Z`;
};

// A curve from ring to ring as points outside of both; a loop where they are one.
const curve = (one, other, turn, middle) => {
  const points = [];
  if (one === other) {
    const r = 13, out = Math.atan2(one.y - middle[1], one.x - middle[0]) + turn * 0.9, inside = one.x + (one.r + 2 * r) * Math.cos(out);
    const way = inside > 8 && inside < SIDE - 8 ? out : turn * 0.9 - Math.PI / 2;  // upwards where there is no room beside it
    const [x, y] = [one.x + (one.r + r * 0.6) * Math.cos(way), one.y + (one.r + r * 0.6) * Math.sin(way)];
    for (let i = 0; i <= 40; i++) points.push([x + r * Math.cos(way + Math.PI + i * Math.PI / 20), y + r * Math.sin(way + Math.PI + i * Math.PI / 20)]);
  } else {
    const [dx, dy] = [other.x - one.x, other.y - one.y], long = Math.hypot(dx, dy) || 1, bend = 0.14 * long + 10 + 16 * turn;
    const [cx, cy] = [(one.x + other.x) / 2 - dy / long * bend, (one.y + other.y) / 2 + dx / long * bend];
    for (let t = 0; t <= 1.0001; t += 1 / 40) points.push([0, 1].map(k =>
      (1 - t) ** 2 * [one.x, one.y][k] + 2 * t * (1 - t) * [cx, cy][k] + t * t * [other.x, other.y][k]));
  }
  const outside = points.filter(([x, y]) => [one, other].every(ring => Math.hypot(x - ring.x, y - ring.y) > ring.r + 2));
  return outside.length > 3 ? outside : points.slice(8, -8);
};

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow, panel } = stage(model, el);
  const net = choice("net", Object.keys(data.nets).map(name => [name, name]), name => put({ net: name, frame: data.nets[name].frames.length - 1 }));
  const slider = range("training step", 0, 1, frame => put({ frame }));
  const play = player(slider, () => put({ frame: at().frame + 1 }), frame => put({ frame }), 1200);
  controls.append(net.node, play.node, slider.node);
  const sides = ["The net: scikit-learn's clusters", "The algebra: the automaton"].map(title => {
    const picture = panel(SIDE, SIDE, title), layers = ["rings", "arrows", "points", "names", "lit"].map(name => svg("g", { "pointer-events": name === "points" ? "auto" : "none" }));
    picture.append(...layers);
    panels.append(html("div", { style: `max-width: ${SIDE}px` }, html("div", { style: "font-weight: 600" }, title), picture));
    return layers;
  });
  const hovered = html("div", { style: "flex: 1 0 100%; min-height: 1.6em" });
  panels.append(hovered);
  let shown = null, dots = [], seen = null;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const task = () => data.tasks[data.nets[at().net].task], frame = () => data.nets[at().net].frames[at().frame];
  const word = i => typeset(task().words[i]), spot = i => [place(frame().x[i]), place(1000 - frame().y[i])];
  const node = action => {  // of the automaton, on a circle
    const turn = 2 * Math.PI * task().circle[action] / task().names.length - Math.PI;
    return { x: SIDE / 2 + 88 * Math.cos(turn), y: SIDE / 2 + 88 * Math.sin(turn), r: 24 };
  };

  // One word u and its ua: where they lie, and what they do.
  const light = i => {
    seen = i;
    const { parent, action, names, symbols, letter } = task(), from = i === null || parent[i] < 0 ? i : parent[i];
    const next = i === null ? [] : from === i ? parent.flatMap((one, k) => (one === i ? [k] : [])) : [i];
    const here = i === null ? [] : [from, ...next], ring = (x, y, r) => svg("circle", { cx: x, cy: y, r, fill: "none", stroke: LIVE, "stroke-width": 2.5 });
    sides[0][4].replaceChildren(...next.map(k => svg("path", { d: `M${spot(from)}L${spot(k)}`, stroke: LIVE, "stroke-width": 2 })), ...here.map(k => ring(...spot(k), 7)));
    sides[1][4].replaceChildren(...here.map(k => node(action[k])).map(({ x, y, r }) => ring(x, y, r + 3)));
    hovered.textContent = i === null ? "Point at a state: whose is it, and where does a letter take it?"
      : `${word(from)} does what ${typeset(names[action[from]])} does; ${next.map(k => `then ${typeset(symbols[letter[k]])}: what ${typeset(names[action[k]])} does`).join("; ")}.`;
  };

  const draw = () => {
    const { net: name, frame: number } = at(), { steps, frames, guessing } = data.nets[name], here = task(), { x, y, cluster, right } = frame();
    net.show(name);
    slider.input.max = frames.length - 1;
    slider.show(number, String(steps[number]));
    if (shown !== name) {
      shown = name;
      dots = here.words.map((_, i) => svg("circle", { r: 4, fill: here.colours[here.action[i]], stroke: "currentColor", "stroke-width": .7,
        style: still ? "" : "transition: transform .5s", pointerenter: () => light(i), pointerleave: () => light(null) }));
      sides[0][2].replaceChildren(...dots);
    }
    const counted = [];
    sides.forEach(([rings, lines, , names], side) => {
      const labels = side ? here.action : cluster, found = groups(labels, here.action), all = arrows(labels, here);
      if (!side) dots.forEach((dot, i) => { dot.style.transform = `translate(${spot(i)[0]}px, ${spot(i)[1]}px)`; });
      const places = new Map([...found].map(([label, { members }]) => {
        if (side) return [label, node(label)];
        const points = members.map(spot), [cx, cy] = [0, 1].map(k => points.reduce((sum, point) => sum + point[k], 0) / points.length);
        const far = points.map(([px, py]) => Math.hypot(px - cx, py - cy)).sort((a, b) => a - b);
        return [label, { x: cx, y: cy, r: Math.min(120, 9 + far[Math.floor(0.95 * (far.length - 1))]) }];
      }));
      const middle = [0, 1].map(k => [...places.values()].reduce((sum, ring) => sum + [ring.x, ring.y][k], 0) / places.size);
      rings.replaceChildren(...[...found].flatMap(([label, { members, held }]) => {
        const { x: cx, y: cy, r } = places.get(label);
        let from = 0;
        return [...held.map(([action, count]) => {
          const to = Math.min(from + count / members.length, 0.9999), slice = svg("path", { d: sector(cx, cy, r, from, to), fill: here.colours[action], "fill-opacity": .3 });
          from = to;
          return slice;
        }), svg("circle", { cx, cy, r, class: "line", "stroke-width": 1.2 })];
      }));
      lines.replaceChildren(...all.filter(arrow => arrow.share >= 0.08).flatMap(({ from, to, letter, share, wrong }) => {
        const points = curve(places.get(from), places.get(to), letter, middle), [tip, before] = [points.at(-1), points.at(-4)];
        const way = Math.atan2(tip[1] - before[1], tip[0] - before[0]), colour = wrong ? LIVE : "currentColor", [tx, ty] = points[Math.floor(points.length / 2)];
        const wing = turn => `${tip[0] - 9 * Math.cos(way + turn)} ${tip[1] - 9 * Math.sin(way + turn)}`;
        return [svg("path", { d: `M${points.map(point => point.map(one => one.toFixed(1)).join(" ")).join("L")}`, fill: "none", stroke: colour, "stroke-width": 0.8 + 1.6 * share }),
          svg("path", { d: `M${wing(0.45)}L${tip}L${wing(-0.45)}`, fill: "none", stroke: colour, "stroke-width": 1.6 }),
          svg("text", { x: tx, y: ty + 4, "text-anchor": "middle", style: HALO, "paint-order": "stroke" },
            typeset(here.symbols[letter]) + (share < 0.995 ? `: ${Math.round(100 * share)} %` : ""))];
      }));
      names.replaceChildren(...[...found].map(([label, { members, held }]) => {
        const { x: cx, y: cy } = places.get(label), most = held.filter(([, count]) => count > 0.05 * members.length).slice(0, 5);
        return svg("text", { x: cx, y: cy + 5, "text-anchor": "middle", style: `${HALO}; font-size: 15px; font-weight: 700`, "paint-order": "stroke" },
          most.map(([action]) => typeset(here.names[action])).join("/"));
      }));
      counted.push({ many: found.size, all, split: all.filter(({ wrong }) => wrong).length });
    });
    light(seen !== null && seen < here.words.length ? seen : null);
    const [by, due] = counted, share = Math.round(100 * right), level = Math.round(100 * guessing), mixed = [...groups(cluster, here.action).values()].filter(({ held }) => held.length > 1).length;
    say(`${right >= 0.995 ? "<b>It knows the task</b>" : right < guessing + 0.1 ? "<b>It guesses</b>" : "<b>It is on its way</b>"}: right on <b>${share} %</b> of strings of ${data.nets[name].length} letters `
      + `(guessing: ${level} %). scikit-learn finds <b>${by.many}</b> clusters, the algebra has <b>${due.many}</b> actions. `
      + (by.split ? `<b>${by.split}</b> of ${by.all.length} arrows are orange: they lead words to states of another action. ${mixed ? `${mixed} cluster${mixed > 1 ? "s mix" : " mixes"} actions.` : ""}`
        : `No arrow is orange: the clusters and their arrows are an automaton for ${safe(data.nets[name].task)}${by.many > due.many ? ", with more states than it needs" : ""}.`));
  };
  const stop = follow(draw);
  return () => { play.stop(); stop(); };
};

export default { render, mathematics: { groups, arrows } };
