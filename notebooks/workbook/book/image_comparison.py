"""Two pictures compared as an eye would: by pixels, forgiving the edge of a letter but not a line elsewhere."""

from __future__ import annotations

import base64
import binascii
import io

import numpy as np
from PIL import Image, UnidentifiedImageError

# Measured on a 1024 x 640 line plot: lines drawn without antialiasing differ by (0.9, 25) and must pass; a flat line
# for a sine by (1.8, 58), another title by (0.8, 40) and must not.  The same machine gives (0, 0).
MEAN_TOLERANCE = 1.0  # mean absolute difference over all pixels and channels, 0..255
PATCH_TOLERANCE = 30.0  # largest difference between the mean colours of two patches
PATCH = 16  # pixels


def pixels(encoded: str) -> np.ndarray:
    """A base64 picture as an array (height, width, 3) of 0..255, transparent parts on white.

    Raises ValueError where there is no readable picture in it.
    """
    try:
        picture = Image.open(io.BytesIO(base64.b64decode(encoded, validate=False))).convert("RGBA")
    except (binascii.Error, UnidentifiedImageError, OSError) as error:
        raise ValueError(f"not a readable picture: {error}") from error
    paper = Image.new("RGBA", picture.size, "white")
    return np.asarray(Image.alpha_composite(paper, picture).convert("RGB"), dtype=np.float64)


def picture_difference(committed: str, fresh: str) -> str | None:
    """None where two base64 pictures look the same, else what differs."""
    if committed == fresh:
        return None
    try:
        old, new = pixels(committed), pixels(fresh)
    except ValueError as error:
        return str(error)
    if old.shape != new.shape:
        (h, w, _), (fresh_h, fresh_w, _) = old.shape, new.shape
        return f"committed {w} x {h} pixels, fresh run {fresh_w} x {fresh_h}"
    mean, patch = np.abs(old - new).mean(), np.abs(_patches(old) - _patches(new)).max()
    if mean > MEAN_TOLERANCE or patch > PATCH_TOLERANCE:
        return (
            f"pixels differ by {mean:.1f} of 255 on average (at most {MEAN_TOLERANCE:g} allowed), "
            f"by {patch:.0f} in one patch (at most {PATCH_TOLERANCE:g})"
        )
    return None


def _patches(picture: np.ndarray) -> np.ndarray:
    """Mean colour of each PATCH x PATCH square; what is left over at the right and lower edge joins the last ones."""
    h, w = (max(1, side // PATCH) for side in picture.shape[:2])
    rows, columns = np.arange(h) * PATCH, np.arange(w) * PATCH
    sums = np.add.reduceat(np.add.reduceat(picture, rows, axis=0), columns, axis=1)
    heights = np.diff([*rows, picture.shape[0]])[:, None, None]
    widths = np.diff([*columns, picture.shape[1]])[None, :, None]
    return sums / (heights * widths)
