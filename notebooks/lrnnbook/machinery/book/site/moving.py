"""A moving picture on a page without a kernel: the same module as in JupyterLab, and a model of a few lines.

A page that was opened from a disk (``file://``) may load a script and no module, so the module's ``export default``
becomes a constant.
"""

import json
from html import escape

from lrnnbook.content.show.interactive import Moving, module

MODEL = """
for (const figure of document.querySelectorAll('figure[data-moving="NAME"]')) {
  const state = JSON.parse(figure.querySelector("script").textContent), heard = [];
  const model = {
    get: name => state[name],
    set: (name, value) => { state[name] = value; heard.forEach(draw => draw()); },
    on: (name, draw) => { heard.push(draw); },
    save_changes: () => {},
  };
  figure.removeAttribute("data-moving");
  figure.replaceChildren();
  picture.render({ model, el: figure });
}
"""


def script(name: str) -> str:
    """The script that brings all pictures of this name on a page to life."""
    return f"(() => {{\n{module(name).replace('export default', 'const picture =')}{MODEL.replace('NAME', name)}}})();\n"


def moving_html(picture: Moving, address: str) -> str:
    """The HTML of a moving picture whose script lies at ``address``; without scripts it says what could be seen."""
    return f'{_figure(picture)}<script src="{escape(address)}" defer></script>'


def _figure(picture: Moving) -> str:
    state = json.dumps({"data": picture.data, "at": picture.at, "alt": picture.alt}, separators=(",", ":"))
    state = state.replace("<", "\\u003c")  # no text of ours ends the script
    return (
        f'<figure data-moving="{picture.name}"><script type="application/json">{state}</script>'
        f"<p>{escape(picture.alt)} (It moves where the page may run scripts.)</p></figure>"
    )


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 0 auto; max-width: 72rem; padding: .8rem 1.2rem; }}
h1 {{ font-size: 1.5rem; margin: .3rem 0; }}
figure {{ margin: 0; }}
main .moving-picture.moving-picture {{ max-width: none; }}
</style>
<main>
<h1>{title}</h1>
<p>{lead}</p>
{figure}
</main>
<script>
{script}</script>
</html>
"""


def page_alone(picture: Moving, title: str, lead: str) -> str:
    """A page that is one file: a moving picture, what it needs, and nothing from elsewhere."""
    return PAGE.format(title=escape(title), lead=escape(lead), figure=_figure(picture), script=script(picture.name))
