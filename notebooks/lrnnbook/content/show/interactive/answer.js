import { GREEN, html, LIVE, PINK, path, RECORDED, safe, stage, svg } from "./parts.js";

// An exercise answered on a page without a kernel: what is typed is judged as content/exercises judges it in Python.

const RIGHT = "right", NOT_YET = "not yet", UNJUDGED = "cannot be judged", UNTRIED = "not tried yet";
const SIGNS = { [RIGHT]: ["\u2713", `solid ${GREEN}`], [NOT_YET]: ["\u2717", `dashed ${LIVE}`], [UNJUDGED]: ["?", `double ${PINK}`],
  [UNTRIED]: ["\u25cb", "dotted #8a8a8a"] };
class Said extends Error {
  constructor(outcome, says) { super(says); this.outcome = outcome; }
}
const claim = (holds, says) => { if (!holds) throw new Said(NOT_YET, says); };

// As Python writes a text, a float in a fixed number of digits.
const quoted = text => (text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text.replaceAll("'", "\\'")}'`);
const float = value => (Number.isInteger(value) ? value.toFixed(1) : String(value));
const brief = (value, digits) => {
  const [mantissa, power] = value.toExponential(digits - 1).split("e"), e = Number(power), bare = text => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  return e < -4 || e >= digits ? `${bare(mantissa)}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}` : bare(value.toFixed(digits - 1 - e));
};
const rounded = values => `[${values.map(value => float(Math.round(value * 1e4) / 1e4)).join(", ")}]`;

// Words, with blanks or commas between them; "" is the empty one.
const wordsOf = text => (text.match(/"[^"]*"|'[^']*'|[^\s,[\]()]+/g) ?? []).map(word => word.replace(/^(["'])(.*)\1$/, "$2"));
const sum = word => [...word].reduce((total, digit) => total + Number(digit), 0) % 5;

// Rows of numbers, with ; or a new line between them, or Python's brackets.
const typedRows = text => text.replaceAll("\u2212", "-").split(/[;\n\]]/).map(row => row.match(/[^\s,[]+/g) ?? []).filter(row => row.length);
const rowsOf = text => typedRows(text).map(row => row.map(one => {
  const found = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+))?$/i.exec(one);
  if (!found) throw new Said(UNJUDGED, `${one} is no number`);
  return Number(found[1]) / Number(found[2] ?? 1);
}));
const product = (A, B) => A.map(row => B[0].map((_, j) => row.reduce((total, value, k) => total + value * B[k][j], 0)));
const gap = A => A.reduce((total, [one, other]) => total + Math.abs(other - one), 0);

const JUDGES = {
  words: text => {
    const words = wordsOf(text);
    claim(words.length === 5, `five words are asked for, and these are ${words.length}`);
    words.forEach((word, place) => {
      claim(/^[0-4]*$/.test(word), `${quoted(word)} is no word of the digits 0 to 4`);
      for (const other of words.slice(0, place))
        claim(sum(word) !== sum(other), `${quoted(other)} and ${quoted(word)} may end in one state: whatever is read next, their answers agree`);
    });
  },
  matrix: text => {
    const A = rowsOf(text), wide = new Set(A.map(row => row.length));
    if (A.length !== 2 || wide.size !== 1 || !wide.has(2))
      throw new Said(UNJUDGED, `A should be real numbers of shape (2, 2), got [${typedRows(text).map(row => `[${row.join(", ")}]`).join(", ")}]`
        + (wide.size === 1 ? `, of shape (${A.length}, ${A[0].length})` : ""));
    const sums = [0, 1].map(j => A[0][j] + A[1][j]), least = Math.min(...A.flat()), diagonal = [A[0][0], A[1][1]];
    claim(least >= 0 && sums.every(one => Math.abs(one - 1) <= 1e-8 + 1e-5),
      `the columns are no probabilities: their sums are ${rounded(sums)}, the least entry is ${brief(least, 4)}`);
    claim(Math.min(...diagonal) > 0.9 - 1e-6, `the diagonal is ${rounded(diagonal)}, and should be at least 0.9 in each column`);
    let power = null;
    for (let n = 500, square = A; n; n >>= 1, square = product(square, square))
      if (n & 1) power = power ? product(power, square) : square;
    claim(gap(power) < 1e-6, `after 500 steps the two states are still ${brief(gap(power), 3)} apart (in 1-norm)`);
  },
};

const judge = (kind, text) => {
  if (!text.trim()) return { outcome: UNTRIED, says: "" };
  try { JUDGES[kind](text); } catch (error) {
    if (!(error instanceof Said)) throw error;
    return { outcome: error.outcome, says: error.message };
  }
  return { outcome: RIGHT, says: "" };
};

// What is seen of an answer: where each word leads in the machine; how far apart the two states are, step by step.
const INK = [RECORDED, LIVE, GREEN, PINK, "currentColor"];
const PICTURES = {
  words: (picture, text) => {
    const groups = [0, 1, 2, 3, 4].map(() => []);
    for (const word of wordsOf(text)) if (/^[0-4]*$/.test(word)) groups[sum(word)].push(word.length > 8 ? `${word.slice(0, 7)}\u2026` : word || "\u201c\u201d");
    groups.forEach((words, state) => {
      const y = 18 + 26 * state;
      picture.append(svg("circle", { cx: 20, cy: y, r: 11, fill: "none", stroke: words.length > 1 ? LIVE : words.length ? GREEN : "currentColor",
        "stroke-width": words.length ? 3 : 1 }), svg("text", { x: 20, y: y + 4, "text-anchor": "middle" }, String(state)),
      svg("text", { x: 40, y: y + 4 }, words.join("   ")));
    });
  },
  matrix: (picture, text) => {
    picture.append(svg("path", { class: "faint", d: "M30 10V124H310" }), svg("text", { x: 310, y: 139, "text-anchor": "end" }, "500 steps"),
      svg("text", { x: 26, y: 16, "text-anchor": "end" }, "2"), svg("text", { x: 26, y: 128, "text-anchor": "end" }, "0"));
    let A = null;
    try { A = rowsOf(text); } catch { return; }
    if (A.length !== 2 || A.some(row => row.length !== 2)) return;
    const points = [];
    for (let t = 0, power = [[1, 0], [0, 1]]; t <= 500; t++, power = product(power, A)) points.push([30 + 0.56 * t, 124 - 57 * Math.min(2, gap(power))]);
    picture.append(svg("path", { d: path(points), fill: "none", stroke: INK[0], "stroke-width": 2 }));
  },
};

const render = ({ model, el }) => {
  const { controls, panels, data, at, put, say, follow, panel } = stage(model, el);
  const input = html("input", { type: "text", "aria-label": data.asks, placeholder: data.asks, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
    style: "width: min(26rem, 100%); box-sizing: border-box", input: () => put({ text: input.value }) });
  controls.append(input);
  return follow(() => {
    const { text } = at(), { outcome, says } = judge(data.kind, text), [sign, bar] = SIGNS[outcome], picture = panel(320, 144, data.shows);
    if (document.activeElement !== input || input.value !== text) input.value = text;
    PICTURES[data.kind](picture, text);
    panels.replaceChildren(picture);
    say(`<span style="display: block; padding: 0 .8em; border-left: 6px ${bar}"><span aria-hidden="true">${sign}</span> <b>${outcome}</b>`
      + `${says && `: ${safe(says)}`}</span>`);
  });
};

export default { render, mathematics: { judge } };
