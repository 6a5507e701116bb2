"""A training run as a moving picture, for pages where nothing can be dragged: ``figures/film.gif``."""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from lrnnbook.content.show.style import FAINT, INK, LIVE, styled, value_colour
from lrnnbook.content.tables import records
from lrnnbook.content.tables.lrnn_film import DIGITS

COMMENT = b"lrnnlab figures film"
SHOWN = 8  # heads whose matrices are shown, for one letter
SIZE, DPI, PAUSE = (8.6, 2.6), 100, 3500  # inches, dots an inch, milliseconds that the last frame stays


def read(text: str, *shape: int) -> np.ndarray:
    """Numbers from 0 to 1 from the characters of a recorded frame."""
    return np.array([DIGITS.index(one) for one in text]).reshape(shape) / 63


@styled
def frame(run: dict, index: int, proved: bool) -> Figure:
    """Strings at the corners of their answers, matrices of one letter, and accuracy by position, at one look."""
    look = run["frames"][index]
    figure = Figure(SIZE, layout="constrained")
    strings, blocks, curve = figure.subplots(1, 3, width_ratios=(1, 1.5, 1.5))
    places, answers = 2 * read(look["places"], -1, 2) - 1, np.array(run["answers"])
    classes = answers.max() + 1
    corners = np.exp(2j * np.pi * np.arange(classes) / classes)
    strings.scatter(*places.T, c=[value_colour(answer, classes) for answer in answers], s=22, linewidths=0)
    for number, corner in enumerate(corners):
        strings.text(1.25 * corner.real, 1.25 * corner.imag, str(number), ha="center", va="center", color=INK)
    strings.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal", title="60 strings of 40 digits")
    strings.axis("off")
    matrices = read(look["matrices"], *run["shape"])[1, :SHOWN]
    side = matrices.shape[-1]
    wall = np.full((2 * (side + 1), 4 * (side + 1)), np.nan)
    for head, block in enumerate(matrices):
        top, left = (head // 4) * (side + 1), (head % 4) * (side + 1)
        wall[top : top + side, left : left + side] = np.eye(side)[block.argmax(0)].T if proved else block
    blocks.imshow(wall, cmap="Greys", vmin=0, vmax=1)
    blocks.set_title("what the digit 1 does")
    blocks.axis("off")
    curve.axvline(run["train_length"], color=FAINT, lw=1, ls=":")
    curve.axhline(1 / classes, color=FAINT, lw=1)
    curve.text(500, 1 / classes + 0.02, "chance", ha="right", color=INK)
    curve.text(run["train_length"] + 6, 0.02, "trained up to here", color=INK)
    right = np.full(len(run["positions"]), look["snapped"]) if proved else look["right"]
    curve.plot(run["positions"], right, color=LIVE, marker="o", ms=3)
    curve.set(xlim=(0, 505), ylim=(0, 1.05), xlabel="position in the string",
              title="snapped: proved for every string" if proved else f"right answers after {look['step']} steps")
    return figure


def film(path: Path) -> Path:
    """Draw the recorded run of ``lrnn/film`` frame by frame, then its snapped copy, which a search has proved right."""
    (run,) = records.recorded("lrnn/film")[:1]
    kept = [*range(0, len(run["frames"]) - 1, 2), len(run["frames"]) - 1]
    pictures = []
    for index, proved in [*((index, False) for index in kept), (kept[-1], True)]:
        canvas = FigureCanvasAgg(frame(run, index, proved))
        canvas.figure.set_dpi(DPI)
        canvas.draw()
        pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]).quantize(64, dither=Image.Dither.NONE))
    pictures[0].save(path, save_all=True, append_images=pictures[1:], loop=0, optimize=True, comment=COMMENT,
                     duration=[220] * (len(pictures) - 2) + [1200, PAUSE])
    return path
