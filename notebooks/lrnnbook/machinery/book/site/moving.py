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
    state = json.dumps({"data": picture.data, "at": picture.at, "alt": picture.alt}, separators=(",", ":"))
    state = state.replace("<", "\\u003c")  # no text of ours ends the script
    return (
        f'<figure data-moving="{picture.name}"><script type="application/json">{state}</script>'
        f"<p>{escape(picture.alt)} (It moves where the page may run scripts.)</p></figure>"
        f'<script src="{escape(address)}" defer></script>'
    )
