// What a reader of this page would trip over at this width: pairs [kind, words].  `rendered.py` runs it in a browser.
() => {
  const found = new Map(), root = document.querySelector(".bd-article") ?? document.querySelector("main") ?? document.body;
  const words = one => (one.innerText ?? one.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, 60);
  const fault = (kind, where, said = words(where)) => found.has(where) || found.set(where, [kind, said || where.outerHTML.slice(0, 90)]);
  const styles = new Map(), style = one => styles.get(one) ?? styles.set(one, getComputedStyle(one)).get(one);
  const seen = one => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".visually-hidden, .sr-only");
  const boxes = range => [...range.getClientRects()].filter(one => one.width > 0.5);
  const rects = node => {
    if (node.nodeType === Node.ELEMENT_NODE) return [node.getBoundingClientRect()];
    return [...node.data.matchAll(/\S+/g)].flatMap(word => {  // not the blanks at the end of a line that wraps
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      return boxes(range);
    });
  };

  // Text, formulas and pictures, each with the boxes around it: the first that it reaches out of must say so.
  const FRAMES = "pre, figure, table, blockquote, details, .cell_input, .cell_output, .admonition";
  const says = box => style(box).maskImage !== "none" || box.offsetHeight - box.clientHeight - parseFloat(style(box).borderTopWidth) * 2 >= 4;
  const reaches = (rect, node) => {
    for (let box = node.parentElement; box && box !== root.parentElement; box = box.parentElement) {
      const { overflowX, overflowY, display } = style(box), { left, right, top, bottom } = box.getBoundingClientRect();
      if (display.startsWith("inline") || display === "contents") continue;
      const scrolls = ["auto", "scroll"].includes(overflowX), clips = overflowX !== "visible";
      if (["hidden", "clip"].includes(overflowY) && Math.max(rect.bottom - bottom, top - rect.top) > 0.4 * rect.height)
        return fault("is cut above or below", box);
      if (rect.right <= right + 1 && rect.left >= left - 1) {
        if (scrolls || style(box).position === "absolute") return;
        continue;
      }
      if (scrolls && rect.left >= left - 1) return says(box) || fault("is cut at the right without a sign", box);
      if (clips) return fault("is cut", box);
      if (box.matches(FRAMES) || box === root) return fault("reaches out of its frame", box);
    }
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    const drawn = node === element ? node.matches("img, math, video, canvas, svg:not(svg svg), input, select, button") : node.data.trim();
    if (!drawn || element.closest("script, style, noscript, template") || !seen(element)) continue;
    if (node !== element) texts.push(node);
    if (!node.parentElement.closest("math, svg")) rects(node).forEach(rect => reaches(rect, node));
  }
  if (document.scrollingElement.scrollWidth > innerWidth + 1) fault("is wider than the window", document.body, "the whole page");

  // Signs of LaTeX that nobody has set, and letters that a browser does not draw as they are meant.
  for (const text of texts) {
    const parent = text.parentElement;
    if (parent.closest("code, pre, kbd, samp, math, svg, select, .highlight")) continue;
    if (/\$|\\[a-zA-Z]{2,}/.test(text.data)) fault("shows unset LaTeX", parent.closest("p, li, td, th, dd, h1, h2, h3, h4, figcaption, div"));
  }
  for (const letter of root.querySelectorAll("[mathvariant]:not([mathvariant=normal])"))
    fault(`shows ${letter.textContent} without its ${letter.getAttribute("mathvariant")} form`, letter.closest("math"), letter.closest("math").getAttribute("alttext"));

  // Cells beside each other: their texts need a gap.
  for (const row of root.querySelectorAll("tr")) {
    const cells = [...row.cells].filter(seen).map(cell => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return boxes(range);
    });
    cells.slice(1).forEach((right, i) => {
      const gap = Math.min(...right.map(one => one.left)) - Math.max(...cells[i].map(one => one.right));
      if (gap < 6) fault("has columns that touch", row);  // without text on one side it is infinite
    });
  }

  // A fold, shut or open, needs air below it; folds below each other are a list.
  for (const fold of root.querySelectorAll("details")) {
    let last = fold;
    while (last !== root && !last.nextElementSibling) last = last.parentElement;
    const next = last.nextElementSibling, open = fold.open;
    if (last === root || !seen(fold) || !seen(next) || !words(next) || next.matches("details")) continue;
    for (fold.open of [false, true])
      if (next.getBoundingClientRect().top - fold.getBoundingClientRect().bottom < 6) fault("has no space below it", fold);
    fold.open = open;
  }

  for (const picture of root.querySelectorAll("img"))
    if (seen(picture) && picture.complete && !picture.naturalWidth) fault("is a picture that cannot be drawn", picture, picture.alt.slice(0, 60));
  return [...found.values()];
}
