// What scrolls sideways is reached by the keyboard, and what does not is no stop on its way.
const reach = () => {
  for (const box of document.querySelectorAll(".bd-article :is(pre, p, ul, ol, dl, table, .formula, .text_html, figure, .pst-scrollable-table-container)")) {
    if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto") box.tabIndex = 0;
    else if (!box.matches("pre")) box.removeAttribute("tabindex");
  }
};
addEventListener("load", reach);
addEventListener("resize", reach);
document.addEventListener("toggle", reach, true);

// A flipbook shows the picture that its controls choose; its pictures are fetched when the reader comes to them.
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
