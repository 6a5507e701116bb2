"""The site's one style sheet: a column of text, code on a tint, what is too wide scrolls in its own box.

Dark pages where the reader asks for them, with pictures on white.  Every colour of text is one of the sheet's variables
or of pygments' two styles, which are chosen because all their colours have a contrast of 4.5 or more to the tint.
"""

import re

from pygments.formatters import HtmlFormatter

LIGHT, DARK = "xcode", "monokai"  # pygments' styles of code

SHEET = """
@font-face { font-family: "Lrnnlab Math"; src: url("math.woff2") format("woff2");
  ascent-override: 80%; descent-override: 25%; }  /* its own are those of its tallest sign: lines would seem cut */
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #ffffff; --tint: #f5f5f3; --line: #cfcfcb; --way: #00508a;
        --quiet: #666666; --shade: #00000040; --under: var(--paper); }
body { margin: 0 auto; max-width: 50rem; padding: 0 1rem 3rem; background: var(--paper); color: var(--ink);
       font: 1.05rem/1.6 system-ui, "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; margin: 2em 0 .5em; }
h1 { margin-top: 1em; }
a { color: var(--way); }
:focus-visible { outline: 3px solid var(--way); outline-offset: 2px; }
.search label { margin-right: .4em; }
.search input { font: inherit; width: 14rem; max-width: 100%; box-sizing: border-box; padding: .1em .4em; }
.search ol { list-style: none; padding: 0; max-height: 60vh; overflow-y: auto; }
.search ol:empty { display: none; }
.search li { margin: .6em 0; }
.search li span { display: block; font-size: .95rem; }
#unfold { font: inherit; font-size: .9rem; float: right; }
mark { background: #ffe58a; color: #1a1a1a; }
.contents { font-size: .95rem; line-height: 1.4; padding: .8em 0; overflow-wrap: anywhere; }
.contents ol { list-style: none; margin: 0; padding: 0; overflow: visible; background: none; }
.contents li { margin: .5em 0; }
.contents .level3 { margin-left: 1.2em; }
.contents a { text-decoration: none; color: inherit; }
.contents a:hover, .contents a[aria-current] { text-decoration: underline; color: var(--way); }
summary { cursor: pointer; width: fit-content; }
.contents summary { font-weight: 600; }
.fold summary { font-size: .9rem; color: var(--quiet); margin: 1em 0 .3em; }
.fold .input_area { margin-top: 0; }
.anchor-link { margin-left: .4em; text-decoration: none; color: var(--quiet); }
header { border-bottom: 1px solid var(--line); padding: .8em 0; }
.ways { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .3em 1.5em; margin-bottom: .8em; }
.run { display: flex; flex-wrap: wrap; gap: .3em .8em; font-size: .9rem; }
.run a { border: 1px solid currentcolor; border-radius: 4px; padding: .1em .6em; text-decoration: none; }
main + .ways { border-top: 1px solid var(--line); margin-top: 3em; padding-top: .8em; }
pre, code { font: .9rem/1.45 "DejaVu Sans Mono", ui-monospace, monospace; }
pre { margin: 0; padding: .6em .8em; }
.input_area { --under: var(--tint); background: var(--tint); border-left: 3px solid var(--line); margin: 1em 0 .3em; }
.output_area { margin: .3em 0 1em; overflow-x: auto; }
.output_text pre { border-left: 3px solid transparent; }
.output_error pre { color: #8b0000; background: #fdecea; }
blockquote { margin: 1em 0; padding: .1em 1em; border-left: 4px solid var(--way); background: var(--tint);
             --under: var(--tint); }
figure { margin: 1em 0; }
figcaption { font-size: .95rem; }
img { max-width: 100%; height: auto; background: #fff; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1em 0; font-size: .95rem; }
td code { overflow-wrap: anywhere; }
th, td { border-bottom: 1px solid var(--line); padding: .25em .7em; text-align: left; vertical-align: top; }
math { font-family: "Lrnnlab Math", math; font-size: 1.12em; }  /* its small letters as high as the text's */
math[display="block"] { padding: .3em 0; }
p, ul, ol, table, pre { overflow-x: auto; overflow-y: hidden; background:  /* a shade at the side where more is hidden */
  linear-gradient(to right, var(--under) 1rem, transparent 2rem) left / 2rem 100% no-repeat local,
  linear-gradient(to left, var(--under) 1rem, transparent 2rem) right / 2rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / .8rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) right / .8rem 100% no-repeat scroll; }
p { margin: .7em -.3em; padding: .2em .3em; }
li p { margin-inline: 0; padding-inline: 0; }
.flipbook { border: 1px solid var(--line); border-radius: 6px; padding: .8em 1em; }
.flipbook label { font-weight: 600; }
.flipbook input { width: min(24rem, 55vw); vertical-align: middle; margin: 0 .6em; }
.flipbook select { font: inherit; max-width: 100%; margin-left: .6em; }
.flipbook .control { margin-bottom: .4em; }
.flipbook figcaption { color: inherit; font-style: italic; margin-top: .5em; }
.chapters { list-style: none; padding: 0; }
.chapters li { margin: 1.2em 0; }
.parts { list-style: none; display: flex; flex-wrap: wrap; gap: .2em 1.2em; padding: 0; }
.chapters .parts li { margin: 0; }
.chapters > li > a { font-size: 1.15rem; font-weight: 600; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #f4f4f4; --paper: #161616; --tint: #222222; --line: #4a4a4a; --way: #8cc8ff;
          --quiet: #8c8c8c; --shade: #ffffff40; }
}
@media (min-width: 75rem) {  /* the contents stand beside the text */
  .beside { display: grid; grid-template-columns: 15rem minmax(0, 1fr); column-gap: 3rem; max-width: 68rem; }
  .beside > header, .beside > main + .ways { grid-column: 1 / -1; }
  .contents { position: sticky; top: 0; align-self: start; box-sizing: border-box; max-height: 100vh;
              overflow: hidden auto; }
  /* the longest line of code, 107 letters, needs no scrolling where the window is as wide as 80rem */
  main pre { font-size: .8125rem; }
  main .input_area, main .output_area:has(pre) { margin-right: calc(-1 * clamp(0rem, (100vw - 70rem) / 2, 6rem)); }
}
@media (max-width: 40rem) {  /* a picture keeps its letters legible, and scrolls */
  figure { overflow-x: auto; }
  figure img { max-width: 36rem !important; }
  figure[data-more] { mask-image: linear-gradient(to left, transparent, #000 1.5rem); }  /* the script says where more is */
  figcaption, caption { display: block; position: sticky; left: 0; padding-right: 1.5rem !important; }
}
@media print {  /* paper is white, nothing on it can be moved or scrolled, and code that is folded stays so */
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  header, .ways, .contents, .anchor-link, .flipbook input, .flipbook select, .fold:not([open]) { display: none; }
  .beside { display: block; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  p, ul, ol, table, pre, figure, .output_area { overflow: visible; background: none; mask: none; }
  figure, img, table, blockquote, math { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
}
"""


def sheet() -> str:
    """The whole style sheet, with the colours of code.

    >>> ".highlight .k {" in sheet()
    True
    """
    return f"{SHEET}{_code(LIGHT)}@media screen and (prefers-color-scheme: dark) {{\n{_code(DARK)}}}\n"


def _code(style: str) -> str:
    """The rules of a style's tokens, and no others."""
    rules = HtmlFormatter(style=style, nobackground=True).get_style_defs(".highlight").splitlines()
    return "".join(f"{rule}\n" for rule in rules if re.match(r"\.highlight \.(?!hll)\w+ {", rule))
