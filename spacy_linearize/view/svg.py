"""What the diagrams share. Each is drawn twice: across, as one reads, and down, with a line for each word, for windows
that are too narrow for it."""

import unicodedata
from typing import NamedTuple

LETTER, SMALL_LETTER = 9.5, 8.0  # width in pixels of a letter of a word, and of a tag or label; generous
ROW = 27  # height of a line of a diagram that goes down
# A diagram across shrinks to this share of its width before the one that goes down takes its place. The style has a
# rule for each multiple of STEP up to WIDEST: `fit-500` goes down where there are less than 500 pixels.
SMALLEST, STEP, WIDEST = 0.72, 100, 1100


class Drawing(NamedTuple):
    """A diagram without its frame.

    kind (str): The class of its element.
    width, height (float): Its size in pixels.
    content (str): What is in it, as SVG.
    """

    kind: str
    width: float
    height: float
    content: str


def letters(text: str) -> int:
    """About how many letters wide a text is."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def diagram(label: str, across: Drawing, down: Drawing) -> str:
    """A diagram in both forms, of which the style shows the one that fits.

    label (str): What it is, in words.
    """
    needed = -(-across.width * SMALLEST // STEP) * STEP
    parts = [_frame(label, across, "across")] if needed <= WIDEST else []
    parts += [_frame(label, down, "down")] if needed > 3 * STEP else []
    kind = f" fit-{needed:.0f}" if len(parts) == 2 else ""
    return f'<div class="diagram{kind}">{"".join(parts)}</div>'


def _frame(label: str, drawing: Drawing, way: str) -> str:
    kind, width, height, content = drawing
    return (
        f'<svg class="{kind} {way}" role="img" aria-label="{label} The table of words says the same." '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">{content}</svg>'
    )
