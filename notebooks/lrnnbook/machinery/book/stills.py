"""The still of a picture that moves: a browser's photograph of how it opens (or of ``still`` in its data), for readers without a kernel."""

import io
import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

from lrnnbook.content.show.output import still_html
from lrnnbook.machinery.book.browser import required_chromium
from lrnnbook.machinery.book.outputs import WIDGET_VIEW
from lrnnbook.machinery.book.running import BookError, Execution, where

WIDTH, HEIGHT, MARGIN, SCALE = 736, 1600, 8, 1.5  # of the window, in CSS pixels; and the pixels to each of them
PAGE = """<!doctype html><meta charset="utf-8"><style>.controls {{ display: none !important; }}</style>
<body style="margin: {margin}px; background: #fff; font: 15px system-ui, 'DejaVu Sans', sans-serif"><script type="module">
{module}
const state = {state};
picture.render({{ el: document.body, model: {{ get: name => state[name], set() {{}}, on() {{}}, off() {{}}, save_changes() {{}} }} }});
</script>"""


def add_stills(run: Execution) -> None:
    """Give each picture that moves, among the outputs of a run, its still beside its widget."""
    for i, cell in enumerate(run.notebook.cells):
        for output in cell.get("outputs", ()):
            state = run.widgets.get(output.get("data", {}).get(WIDGET_VIEW, {}).get("model_id"), {})
            if "_esm" in state:
                try:
                    picture, width = photograph(state)
                except (OSError, subprocess.SubprocessError) as error:
                    raise BookError(f"{where(run.notebook.cells, i)}: no still of a picture that moves: {error}") from error
                output.data["text/html"] = still_html(picture, width, state["alt"])


def photograph(state: Mapping[str, Any]) -> tuple[bytes, int]:
    """How a moving picture in this ``state`` opens, or where its data's ``still`` moves it, as a PNG file; and its width in CSS pixels."""
    at = {**state["at"], **state["data"].get("still", {})}
    shown = json.dumps({"data": state["data"], "at": at, "alt": state["alt"]}).replace("<", "\\u003c")  # no end of a script
    page = PAGE.format(module=state["_esm"].replace("export default", "const picture ="), state=shown, margin=MARGIN)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "page.html").write_text(page, encoding="utf-8")
        command = [required_chromium(), "--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
                   f"--window-size={WIDTH},{HEIGHT}", f"--force-device-scale-factor={SCALE}", "--virtual-time-budget=2000",
                   f"--screenshot={folder}/page.png", f"file://{folder}/page.html"]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        seen = Image.open(Path(folder, "page.png")).convert("RGB")
    drawn = ImageChops.difference(seen, Image.new("RGB", seen.size, "white")).getbbox()
    if drawn is None:
        raise OSError("the browser shows nothing of it")
    (right, low), file = (edge + round(MARGIN * SCALE) for edge in drawn[2:]), io.BytesIO()
    seen.crop((0, 0, right, low)).save(file, "PNG")
    return file.getvalue(), round(right / SCALE)
