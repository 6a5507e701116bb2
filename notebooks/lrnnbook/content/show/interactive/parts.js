// What the moving pictures share.  A picture is an anywidget module: `render` gets `model` (get, set, on, off,
// save_changes) and the element to fill.  Of the model, `data` is what is shown, `at` is where the reader has moved it,
// `alt` says in words what can be seen.  Colours are those of notebooks/lrnnbook/content/show/style.py; ink is the page's own.

const RECORDED = "#0072B2", LIVE = "#D55E00", GREEN = "#009E73", PINK = "#CC79A7";
const SHEET = `
.moving-picture { color: var(--jp-ui-font-color1, inherit); max-width: 46rem; line-height: 1.5; margin: .5em 0; }
.moving-picture .controls { display: flex; flex-wrap: wrap; gap: .4em 1em; align-items: center; margin: .4em 0; }
.moving-picture .keys { display: flex; flex-wrap: wrap; gap: .3em; }
.moving-picture .panels { display: flex; flex-wrap: wrap; gap: .6em 1.2em; align-items: flex-start; }
.moving-picture .wide { overflow-x: auto; max-width: 100%; }
.moving-picture svg { max-width: 100%; height: auto; display: block; overflow: visible; }
.moving-picture .wide svg { max-width: none; }
.moving-picture svg text { fill: currentColor; font: 12px system-ui, "DejaVu Sans", sans-serif; }
.moving-picture :is(button, select, input) { font: inherit; color: inherit; }
.moving-picture :is(button, select, input[type=text]) { background: transparent; border: 1px solid currentColor;
  border-radius: 4px; padding: .1em .6em; min-height: 1.8em; }
.moving-picture button { min-width: 2.2em; cursor: pointer; }
.moving-picture button[aria-pressed=true] { outline: 2px solid currentColor; outline-offset: 1px; font-weight: 600; }
.moving-picture option { color: #1a1a1a; background: #fff; }
.moving-picture input[type=range] { width: min(16rem, 50vw); vertical-align: middle; }
.moving-picture [role=status] { max-width: 44em; margin: .4em 0; padding: 0; background: none; }
.moving-picture [role=slider] { cursor: grab; touch-action: none; }
.moving-picture :focus-visible { outline: 3px solid ${RECORDED}; outline-offset: 2px; }
.moving-picture [role=slider]:focus-visible { outline: none; }
.moving-picture [role=slider]:focus-visible .halo { stroke: currentColor; stroke-width: 2; }
.moving-picture .faint { stroke: currentColor; stroke-opacity: .3; fill: none; }
.moving-picture .line { stroke: currentColor; fill: none; }
.moving-picture .word { list-style: none; display: flex; flex: 1 0 100%; flex-wrap: wrap; gap: .2em; margin: .3em 0; padding: 0;
  background: none; min-height: 3.4em; }
.moving-picture .word li { text-align: center; min-width: 1.7em; margin: 0; }
.moving-picture .word .now { font-weight: 700; box-shadow: inset 0 -2px currentColor; padding-bottom: 4px; }
.moving-picture .answer { display: block; border-radius: 1em; min-width: 1.5em; margin: 0 .1em; font-size: .9em; }
@media print { .moving-picture .controls { display: none; } }
`;

const filled = (node, given, inside) => {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, value);
  }
  if (node.tabIndex >= 0) node.setAttribute("data-lm-suppress-shortcuts", "true");  // JupyterLab's: its keys are ours
  node.append(...inside);
  return node;
};
const html = (name, given = {}, ...inside) => filled(document.createElement(name), given, inside);
const svg = (name, given = {}, ...inside) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), given, inside);
const set = (node, given) => filled(node, given, []);
const path = points => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
const safe = text => String(text).replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`);
const typeset = text => String(text).replace(/-/g, "\u2212");

// The frame of a picture: controls above, panels, the sentence below; `put` moves the picture.
const stage = (model, el) => {
  const controls = html("div", { class: "controls" }), panels = html("div", { class: "panels" });
  const said = html("p", { role: "status", "aria-live": "polite" });
  const root = html("div", { class: "moving-picture", role: "group", "aria-label": model.get("alt") },
    html("style", {}, SHEET), controls, panels, said);
  el.append(root);
  return {
    root, controls, panels,
    data: model.get("data"),
    at: () => model.get("at"),
    put: change => { model.set("at", { ...model.get("at"), ...change }); model.save_changes(); },
    say: text => { said.innerHTML = text; },
    follow: draw => { model.on("change:at", draw); draw(); return () => model.off("change:at", draw); },
    panel: (width, height, label) => svg("svg", {
      viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label,
    }),
  };
};

const button = (text, click, label = null) =>
  html("button", { type: "button", click, "aria-label": label }, text);

const choice = (label, options, change) => {
  const select = html("select", { "aria-label": label, change: () => change(select.value) },
    ...options.map(([value, text]) => html("option", { value }, text)));
  const node = html("label", {}, `${label} `, select);
  return { node, show: value => { select.value = value; } };
};

const range = (label, least, most, change) => {
  const input = html("input", { type: "range", "aria-label": label, min: least, max: most, step: 1, autocomplete: "off",
    input: () => change(Number(input.value)) });
  const output = html("span");
  const node = html("label", {}, `${label} `, input, " ", output);
  return { node, input, show: (value, text) => {
    input.value = value;
    output.textContent = text;
    input.setAttribute("aria-valuetext", text);
  } };
};

// A button that moves a range on by itself, from its start again where it stands at the end.
const player = (slider, step, go, milliseconds) => {
  let clock = null;
  const node = button("\u25b6 play", () => {
    if (clock) { stop(); return; }
    if (slider.input.value === slider.input.max) go(Number(slider.input.min));
    node.textContent = "\u275a\u275a pause";
    clock = setInterval(() => {
      if (slider.input.value === slider.input.max) stop();
      else step();
    }, milliseconds);
  });
  const stop = () => { clearInterval(clock); clock = null; node.textContent = "\u25b6 play"; };
  return { node, stop };
};

// A point that is dragged, or moved by the arrow keys (with Shift in large steps).
const handle = (panel, { label, colour, least, most, move, step }) => {
  const node = svg("g", {
    role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": least, "aria-valuemax": most, "aria-valuenow": least,
    pointerdown: event => {
      node.setPointerCapture(event.pointerId);
      node.focus();
      event.preventDefault();
    },
    pointermove: event => {
      if (!node.hasPointerCapture(event.pointerId)) return;
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(panel.getScreenCTM().inverse());
      move(x, y);
    },
    keydown: event => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!way) return;
      event.preventDefault();
      step(...way.map(one => one * (event.shiftKey ? 5 : 1)));
    },
  }, svg("circle", { r: 13, fill: "transparent", class: "halo" }),
  svg("circle", { r: 6, fill: colour, stroke: "currentColor" }));
  panel.append(node);
  return {
    node,
    show: (x, y, now, text, r = 6) => {
      set(node, { transform: `translate(${x} ${y})`, "aria-valuenow": now, "aria-valuetext": text });
      node.lastChild.setAttribute("r", r);
    },
  };
};

// Axes of a small plot: where a value lies, and ticks with their texts.
const axes = (panel, { left, right, top, bottom, x, y, title }) => {
  const ends = { x, y }, ticks = svg("g");
  panel.append(svg("path", { class: "faint", d: `M${left} ${top}V${bottom}H${right}` }), ticks);
  panel.append(svg("text", { x: left, y: top - 8 }, title));
  const plot = {
    x: value => left + (right - left) * (value - ends.x[0]) / (ends.x[1] - ends.x[0]),
    y: value => bottom - (bottom - top) * (value - ends.y[0]) / (ends.y[1] - ends.y[0]),
    limits: (low, high, marks, name = one => String(one)) => {
      ends.y = [low, high];
      ticks.replaceChildren(
        ...plot.across.map(([value, text]) =>
          svg("text", { x: plot.x(value), y: bottom + 16, "text-anchor": "middle" }, text)),
        ...marks.flatMap(mark => [
          svg("path", { class: "faint", d: `M${left} ${plot.y(mark)}H${right}`, "stroke-opacity": .15 }),
          svg("text", { x: left - 5, y: plot.y(mark) + 4, "text-anchor": "end" }, name(mark))]));
    },
    across: [],
  };
  return plot;
};
