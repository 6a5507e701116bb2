// What scrolls sideways is reached by the keyboard, and says on which side there is more; what does not is no stop on the way.
const scrolls = box => box.scrollWidth > box.clientWidth && ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
const say = box => {
  const more = [["left", box.scrollLeft > 0.5], ["right", box.scrollLeft + box.clientWidth < box.scrollWidth - 0.5]];
  box.dataset.more = more.filter(([, there]) => there).map(([side]) => side).join(" ");
};
const reach = () => {
  for (const box of document.querySelectorAll(".bd-article *")) {
    if (scrolls(box)) {
      if (!box.hasAttribute("tabindex")) box.tabIndex = box.dataset.stop = 0;
      say(box);
    } else if (box.dataset.more !== undefined) {
      if (box.dataset.stop) box.removeAttribute("tabindex");
      delete box.dataset.more;
      delete box.dataset.stop;
    }
  }
};
addEventListener("load", reach);
for (const article of document.querySelectorAll(".bd-article")) new ResizeObserver(reach).observe(article);
document.addEventListener("toggle", reach, true);
document.addEventListener("scroll", event => { if (event.target.dataset?.more !== undefined) say(event.target); }, true);

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

// A prediction is made first; then the fold opens, and the line above it says how it did.
for (const asked of document.querySelectorAll(".predict")) {
  const fold = asked.querySelector("details"), choices = [...asked.querySelectorAll("input")];
  const judge = open => {
    const chosen = choices.find(one => one.checked), right = chosen?.value === asked.dataset.right;
    const said = chosen ? `${right ? "Right" : "Not yet"}: you predicted ${chosen.nextElementSibling.textContent}.` : "Nothing is chosen yet: choose one of the answers above.";
    asked.querySelector(".verdict").textContent = open ? said : "";
    return chosen;
  };
  fold.querySelector("summary").addEventListener("click", event => {
    if (!fold.open && !judge(true)) event.preventDefault();
  });
  asked.addEventListener("input", () => judge(fold.open));
}
