import { choice, html, player, range, stage, svg, typeset } from "./parts.js";

// What is left of every value under the one key after each write: the sum keeps it, the delta rule keeps 1 - beta of it.
const left = (values, beta) => values.map((_, t) => values.slice(0, t + 1).map((value, s) =>
  beta === null ? value : beta * value * (1 - beta) ** (t - s)));

const total = parts => parts.reduce((sum, part) => sum + part, 0);

// Where the parts of a bar begin and end: those above 0 upwards, the others downwards.
const stacked = parts => {
  let above = 0, below = 0;
  return parts.map(part => (part < 0 ? [below, below += part] : [above, above += part]));
};

const STEP = 44, BAR = 30, UNIT = 11, TOP = 26, LEFT = 8;
const MOVE = "transition: y .7s, height .7s, opacity .3s";
const said = number => typeset(Number(number.toFixed(2)));

const render = ({ model, el }) => {
  const { root, controls, panels, data, at, put, say, follow } = stage(model, el), { values, colours, inks, most, least } = data;
  const width = LEFT + STEP * values.length, zero = TOP + UNIT * most, height = zero - UNIT * least + 34;
  const beta = choice("β", data.betas.map(one => [one, one]), one => put({ beta: Number(one) }));
  const slider = range("writes", 0, values.length, done => put({ done }));
  const play = player(slider, () => put({ done: at().done + 1 }), done => put({ done }), 1400);
  controls.append(beta.node, play.node, slider.node);
  root.append(html("style", {}, "@media (prefers-reduced-motion: reduce) { .moving-picture rect { transition: none !important; } }"));

  const panel = title => {
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" }), name = svg("text", { x: LEFT, y: 14, "font-weight": 600 });
    const x = t => LEFT + STEP * t + (STEP - BAR) / 2;
    const bars = values.map((_, t) => values.slice(0, t + 1).map((_, s) =>
      svg("rect", { x: x(t), width: BAR, fill: colours[s], stroke: "currentColor", "stroke-width": .7 })));
    const wanted = values.map((value, t) => svg("path", { class: "line", "stroke-width": 2.5, d: `M${x(t) - 5} ${zero - UNIT * value}h${BAR + 10}` }));
    const answers = values.map((_, t) => svg("text", { x: x(t) + BAR / 2, "text-anchor": "middle", "font-weight": 700 }));
    const keys = values.flatMap((value, t) => [
      svg("rect", { x: x(t) + 4, y: height - 24, width: BAR - 8, height: 20, rx: 3, fill: colours[t] }),
      svg("text", { x: x(t) + BAR / 2, y: height - 10, "text-anchor": "middle", style: `fill: ${inks[t]}` }, value)]);
    picture.append(name, svg("path", { class: "faint", d: `M${LEFT} ${zero}H${width}` }), ...bars.flat(), ...wanted, ...answers, ...keys);
    panels.append(picture);
    return (rate, done) => {
      const rows = left(values, rate);
      name.textContent = title(rate);
      picture.setAttribute("aria-label", `${title(rate)}, after ${done} writes`);
      bars.forEach((bar, t) => {
        // a bar that is not written yet waits where the one before it ends, and moves from there
        const shown = t < done, places = stacked(shown ? rows[t] : [...(rows[t - 1] ?? []), 0]);
        bar.forEach((part, s) => {
          const [from, to] = places[s], high = UNIT * Math.max(from, to);
          part.setAttribute("style", `${MOVE}; y: ${zero - high}px; height: ${UNIT * Math.abs(to - from)}px; opacity: ${Number(shown)}`);
        });
        wanted[t].style.opacity = answers[t].style.opacity = Number(shown);
        answers[t].textContent = said(total(rows[t]));
        answers[t].setAttribute("y", zero - UNIT * Math.max(...stacked(rows[t]).flat(), values[t]) - 7);
      });
    };
  };
  const shows = [[panel(() => "sum"), () => null], [panel(rate => `delta rule, β = ${rate}`), rate => rate]];

  const draw = () => {
    const { beta: rate, done } = at(), value = values[done - 1];
    const answer = (one, count) => (count > 0 ? total(left(values, one)[count - 1]) : 0);
    beta.show(rate);
    slider.show(done, `${done} of ${values.length}`);
    shows.forEach(([show, rule]) => show(rule(rate), done));
    const before = answer(rate, done - 1);
    say(done ? `The value ${value} is written. The sum now answers <b>${said(answer(null, done))}</b>: ${done > 1 ? `all ${done} values are in it` : "there is only one value"}. `
      + `The delta rule answered ${said(before)}, so ${said(value - before)} was missing. It adds β times that, and now answers <b>${said(answer(rate, done))}</b>: `
      + `of what was there the share 1 − β = ${said(1 - rate)} is left.`
      : "Nothing is written yet: both memories answer 0.");
  };
  const stop = follow(draw);
  return () => { play.stop(); stop(); };
};

export default { render, mathematics: { left, stacked } };
