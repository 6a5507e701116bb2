// One slide at a time: arrow keys, Page up and down, space, Home, End; the address says which. Without this all are one page.
const slides = [...document.querySelectorAll(".slide")];
let at = 0;
function show(to) {
  at = Math.max(0, Math.min(slides.length - 1, to));
  slides.forEach((slide, n) => { slide.hidden = n !== at; });
  document.querySelector(".at").textContent = `${at + 1} of ${slides.length}`;
  history.replaceState(null, "", `#${at + 1}`);
  slides[at].focus({ preventScroll: true });
  scrollTo(0, 0);
}
const turns = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Home: -99, End: 99 };
addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea, button, a") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in turns) { event.preventDefault(); show(at + turns[event.key]); }
});
addEventListener("click", (event) => { if (!event.target.closest("a, input, button, select, figure")) show(at + 1); });
const said = () => show((parseInt(location.hash.slice(1), 10) || 1) - 1);
addEventListener("hashchange", said);
said();
