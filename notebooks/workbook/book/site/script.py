"""The site's one script: what scrolls is reached by the keyboard, contents, folds, search, flipbooks.

Plain JavaScript that loads nothing from a network.  Without it a page is whole: contents and code can be unfolded one
by one, and a flipbook shows the picture at which it opens, which is what print shows, too.
"""

# What scrolls sideways is reached by the keyboard, and what does not is no stop on its way; data-more until its end is shown.
REACH = """
const more = box => box.toggleAttribute("data-more", box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
const reach = () => {
  for (const box of document.querySelectorAll("pre, p, ul, ol, table, figure, nav, .output_area")) {
    if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto") box.tabIndex = 0;
    else box.removeAttribute("tabindex");
    more(box);
  }
};
addEventListener("scroll", event => event.target instanceof Element && more(event.target), { capture: true, passive: true });
addEventListener("load", reach);
addEventListener("resize", reach);
document.addEventListener("toggle", reach, true);
"""

# The contents are open beside the text and folded above it; the section that is being read is marked.
CONTENTS = """
const contents = document.querySelector(".contents details");
if (contents) {
  const beside = matchMedia("(min-width: 75rem)");
  const place = () => { contents.open = beside.matches; };
  place();
  beside.addEventListener("change", place);
  const links = [...contents.querySelectorAll("a")];
  const heads = links.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const mark = () => {
    const here = heads.findLastIndex(head => head.getBoundingClientRect().top < 100);
    links.forEach((link, i) => i === here ? link.setAttribute("aria-current", "true")
                                          : link.removeAttribute("aria-current"));
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}
"""

FOLDS = """
const folds = [...document.querySelectorAll(".fold")], unfold = document.getElementById("unfold");
if (unfold && folds.length) {
  unfold.hidden = false;
  const word = () => { unfold.textContent = folds.every(one => one.open) ? "Fold code" : "Unfold all code"; };
  unfold.addEventListener("click", () => {
    const open = !folds.every(one => one.open);
    folds.forEach(one => { one.open = open; });
    word();
  });
  document.addEventListener("toggle", word, true);
  word();
}
"""

# The index is fetched from beside the page when the field is first used.
SEARCH = """
const form = document.querySelector("form.search");
if (form) {
  const field = form.querySelector("input"), said = form.querySelector("output"), list = form.querySelector("ol");
  let book = null;
  const load = () => new Promise(done => {
    const script = document.createElement("script");
    script.src = "search.js";
    script.onload = () => done(BOOK.flatMap(([file, title, parts]) => parts.map(([id, heading, text]) =>
      ({ file, title, id, heading, text, head: heading.toLowerCase(), low: text.toLowerCase() }))));
    document.head.append(script);
  });
  const excerpt = (text, at, size) => {
    const from = Math.max(0, text.lastIndexOf(" ", Math.max(0, at - 60)) + 1), end = at + size;
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, end);
    return [from ? "\\u2026 " : "", text.slice(from, at), mark, text.slice(end, end + 80), " \\u2026"];
  };
  const find = async () => {
    const asked = field.value, words = asked.toLowerCase().split(/\\s+/).filter(Boolean);
    const all = words.length ? await (book ??= load()) : [];
    if (asked !== field.value) return;  // while the index came, more was typed
    const found = all.filter(one => words.every(word => one.head.includes(word) || one.low.includes(word)));
    const points = one => words.reduce((sum, word) =>
      sum + (one.head.includes(word) ? 20 : 0) + Math.min(10, one.low.split(word).length - 1), 0);
    found.sort((one, other) => points(other) - points(one));
    list.replaceChildren(...found.slice(0, 20).map(one => {
      const item = document.createElement("li"), link = document.createElement("a");
      const text = document.createElement("span");
      link.href = one.file + (one.id ? "#" + one.id : "");
      link.textContent = one.heading && one.heading !== one.title ? `${one.title}: ${one.heading}` : one.title;
      const word = words.find(word => one.low.includes(word));
      text.append(...(word ? excerpt(one.text, one.low.indexOf(word), word.length) : [one.text.slice(0, 120)]));
      item.append(link, text);
      return item;
    }));
    const many = found.length > 20 ? ", the first 20 are shown" : "";
    said.textContent = words.length ? `${found.length} place${found.length === 1 ? "" : "s"}${many}` : "";
    reach();
  };
  form.hidden = false;
  field.addEventListener("input", find);
  form.addEventListener("submit", event => { event.preventDefault(); list.querySelector("a")?.focus(); });
  form.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    field.value = "";
    field.focus();
    find();
  });
}
"""

# The pictures of a book are fetched when the reader comes to its controls.
FLIPBOOKS = """
for (const book of document.querySelectorAll(".flipbook")) {
  const controls = [...book.querySelectorAll("input, select")], frames = [...book.querySelectorAll(".frame")];
  const turn = () => {
    let shown = 0;
    for (const one of controls) {
      const values = JSON.parse(one.dataset.values), said = values[one.value];
      shown = shown * values.length + Number(one.value);
      if (one.type !== "range") continue;
      book.querySelector(`output[for="${one.id}"]`).textContent = said;
      one.setAttribute("aria-valuetext", said);
    }
    frames.forEach((frame, i) => { frame.hidden = i !== shown; });
  };
  const fetch = () => book.querySelectorAll("img").forEach(one => { one.loading = "eager"; });
  for (const coming of ["focusin", "pointerenter"]) book.addEventListener(coming, fetch, { once: true });
  book.addEventListener("input", turn);
  turn();
}
"""

SCRIPT = REACH + CONTENTS + FOLDS + SEARCH + FLIPBOOKS
