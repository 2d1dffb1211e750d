"""The dependency tree of a sentence, with what was given told apart from what was added.

Arcs are brackets with round corners. Each stands above all that it covers, so two of them only meet where they cross;
there the one drawn later interrupts the other, as a bridge does.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ..trees import FREE, is_projective
from .markup import count, esc, mark, name, shorten
from .svg import LETTER, ROW, SMALL_LETTER, Drawing, diagram, letters
from .words import Word

LONGEST = 14  # letters of a word, a tag or a label
# Across, in pixels: between two words; between the ends of two arcs at one word; between two levels of arcs.
WORD_GAP, END_GAP, LEVEL = 26, 11, 30
ABOVE, BELOW = 24, 50  # the room for the label of the highest arc, and for words and tags
LEVEL_DOWN, COLUMN_GAP = 15, 14  # down: between two levels, between two columns
END_GAP_DOWN = 6
CORNER, ARROW = 9, 7


class Arc(NamedTuple):
    """An arc of the tree. Columns count from the left, also where words are read from right to left.

    word (Word): The dependent.
    left, right (int): The columns of its ends.
    is_head_left (bool): Whether the head is the left one.
    """

    word: Word
    left: int
    right: int
    is_head_left: bool

    @property
    def label(self) -> str:
        return shorten(self.word.label, LONGEST)

    def crosses(self, other: "Arc") -> bool:
        """Whether one of its ends, and only one, is inside of the other arc."""
        return self.left < other.left < self.right < other.right or other.left < self.left < other.right < self.right


class Ends(NamedTuple):
    """Where arcs end beside the middle of their words, by arc and column: at each word one after another.

    shift (Dict[Tuple[int, int], int]): Of each end its number at its word, from the middle, doubled.
    at_word (Dict[int, int]): How many there are at each word.
    """

    shift: dict[tuple[int, int], int]
    at_word: dict[int, int]


def draw_tree(words: Sequence[Word], rtl: bool) -> str:
    """The tree in a box, with a note.

    rtl (bool): Whether words are read from right to left.
    """
    n_arcs = sum(word.head is not None and not word.is_root for word in words)
    crossing = crossing_places(words)
    number = count(n_arcs, "arc") + (f", {len(crossing)} of which cross" if crossing else "")
    label = f"The dependency tree of the sentence, {number}."
    note = (
        "Solid arcs, upright labels and tags were given; dashed arcs, slanted labels and tags are predicted. The root "
        "is bold."
    )
    note += " Arcs that cross have the colours of their words." if crossing else ""
    note += "".join(
        f" {name(word.text)} is ordered as if it were below {name(words[word.lifted_to].text)}."
        for word in words
        if word.lifted_to is not None
    )
    both = diagram(label, _across(words[::-1] if rtl else words, crossing), _down(words, crossing))
    return f"<figure>{both}<figcaption>{note}</figcaption></figure>"


def crossing_places(words: Sequence[Word]) -> set[int]:
    """The places of words whose arcs cross others."""
    if is_projective([FREE if word.head is None or word.is_root else word.head for word in words]):
        return set()
    arcs = _arcs(words)
    return {arc.word.place for arc in arcs if any(arc.crosses(other) for other in arcs)}


def _arcs(words: Sequence[Word]) -> list[Arc]:
    """The arcs between words, short ones first."""
    column = {word.place: i for i, word in enumerate(words)}
    arcs = []
    for at, word in enumerate(words):
        if word.head is not None and not word.is_root:
            head = column[word.head]
            arcs.append(Arc(word, min(at, head), max(at, head), head < at))
    return sorted(arcs, key=lambda arc: (arc.right - arc.left, arc.left))


def _levels(arcs: list[Arc], n_words: int) -> list[int]:
    """How high each arc stands: above all that it covers, the lowest at 1."""
    highest = [0] * n_words  # between a word and the next
    levels = []
    for arc in arcs:
        level = max(highest[arc.left : arc.right]) + 1
        highest[arc.left : arc.right] = [level] * (arc.right - arc.left)
        levels.append(level)
    return levels


def _ends(arcs: list[Arc]) -> Ends:
    """At a word, arcs to the left come first, from short to long, then those to the right, from long to short: so arcs
    run through each other only if they cross."""
    at_word: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for i, arc in enumerate(arcs):
        at_word[arc.right].append((0, i))
        at_word[arc.left].append((1, -i))
    shift = {}
    for column, those in at_word.items():
        for place, (_, i) in enumerate(sorted(those)):
            shift[abs(i), column] = 2 * place - (len(those) - 1)
    return Ends(shift, {column: len(those) for column, those in at_word.items()})


def _across(words: Sequence[Word], crossing: set[int]) -> Drawing:
    arcs = _arcs(words)
    levels, ends = _levels(arcs, len(words)), _ends(arcs)
    columns, width = _columns(words, arcs, ends)
    base = ABOVE + LEVEL * max(levels, default=0)
    parts = []
    for i, (arc, level) in enumerate(zip(arcs, levels, strict=True)):
        left, right = (columns[c] + END_GAP / 2 * ends.shift[i, c] for c in (arc.left, arc.right))
        top = base - LEVEL * level
        end = right if arc.is_head_left else left
        curve = (
            f"M{left:.1f},{base:.1f} V{top + CORNER:.1f} Q{left:.1f},{top:.1f} {left + CORNER:.1f},{top:.1f} "
            f"H{right - CORNER:.1f} Q{right:.1f},{top:.1f} {right:.1f},{top + CORNER:.1f} V{base:.1f}"
        )
        tip = f"M{end - ARROW / 2:.1f},{base - ARROW:.1f} h{ARROW} L{end:.1f},{base + 1:.1f} Z"
        parts.append(_arrow(arc, curve, tip, ((left + right) / 2, top - 5), crossing))
    for word, x in zip(words, columns, strict=True):
        parts.append(_word(word, (x, base + 22), (x, base + 42)))
    return Drawing("tree", width, base + BELOW, "".join(parts))


def _columns(words: Sequence[Word], arcs: list[Arc], ends: Ends) -> tuple[list[float], float]:
    """The middle of the column of each word, so that no text runs into another, and the width of all."""
    widths = [
        max(
            letters(shorten(word.text, LONGEST)) * LETTER,
            letters(shorten(word.tag, LONGEST)) * SMALL_LETTER,
            END_GAP * ends.at_word.get(i, 0),
        )
        for i, word in enumerate(words)
    ]
    columns = [0.0] * len(words)
    by_right = defaultdict(list)
    for i, arc in enumerate(arcs):
        by_right[arc.right].append(i)
    for k, width in enumerate(widths):
        columns[k] = WORD_GAP / 2 + width / 2 if k == 0 else columns[k - 1] + (widths[k - 1] + width) / 2 + WORD_GAP
        for i in by_right[k]:  # room for its label between its ends
            start = columns[arcs[i].left] + END_GAP / 2 * ends.shift[i, arcs[i].left]
            needed = letters(arcs[i].label) * SMALL_LETTER + 2 * CORNER
            columns[k] = max(columns[k], start + needed - END_GAP / 2 * ends.shift[i, k])
    return columns, columns[-1] + widths[-1] / 2 + WORD_GAP / 2


def _down(words: Sequence[Word], crossing: set[int]) -> Drawing:
    """A line for each word: arcs, word, tag, and the label of its arc."""
    arcs = _arcs(words)
    levels, ends = _levels(arcs, len(words)), _ends(arcs)
    base = LEVEL_DOWN * max(levels, default=0) + CORNER
    at_tag = base + 6 + COLUMN_GAP + LETTER * max(letters(shorten(word.text, LONGEST)) for word in words)
    at_label = at_tag + COLUMN_GAP + SMALL_LETTER * max(letters(shorten(word.tag, LONGEST)) for word in words)
    width = at_label + COLUMN_GAP + SMALL_LETTER * max(letters(shorten(word.label, LONGEST)) for word in words)
    parts = []
    for i, (arc, level) in enumerate(zip(arcs, levels, strict=True)):
        top, bottom = (ROW * (c + 0.5) + _spread(ends.shift[i, c], ends.at_word[c]) for c in (arc.left, arc.right))
        side = base - LEVEL_DOWN * level
        end = bottom if arc.is_head_left else top
        curve = (
            f"M{base:.1f},{top:.1f} H{side + CORNER:.1f} Q{side:.1f},{top:.1f} {side:.1f},{top + CORNER:.1f} "
            f"V{bottom - CORNER:.1f} Q{side:.1f},{bottom:.1f} {side + CORNER:.1f},{bottom:.1f} H{base:.1f}"
        )
        tip = f"M{base - ARROW:.1f},{end - ARROW / 2:.1f} v{ARROW} L{base + 1:.1f},{end:.1f} Z"
        parts.append(_arrow(arc, curve, tip, (at_label, ROW * (arc.word.place + 0.5) + 5), crossing))
    for word in words:
        y = ROW * (word.place + 0.5) + 5
        parts.append(_word(word, (base + 6, y), (at_tag, y)))
    return Drawing("tree", width, ROW * len(words), "".join(parts))


def _spread(shift: int, n: int) -> float:
    """Where an arc ends beside the middle of its line: close together where many end at one word."""
    return shift / 2 * min(END_GAP_DOWN, (ROW - 6) / max(n, 1))


def _word(word: Word, at: tuple[float, float], tag_at: tuple[float, float]) -> str:
    kind = "token" + " root" * word.is_root + " given-tag" * word.given_tag
    tag = f'<text class="tag" x="{tag_at[0]:.1f}" y="{tag_at[1]:.1f}">{esc(shorten(word.tag, LONGEST))}</text>'
    return (
        f'<g class="{kind}" {mark(word)}><text class="word" x="{at[0]:.1f}" y="{at[1]:.1f}">'
        f"{esc(shorten(word.text, LONGEST))}</text>{tag if word.tag else ''}</g>"
    )


def _arrow(arc: Arc, curve: str, tip: str, at: tuple[float, float], crossing: set[int]) -> str:
    """An arc with an arrow head at the dependent, and its label."""
    kind = "arrow" + " given" * arc.word.given_head + " given-label" * arc.word.given_label
    kind += " crossing" * (arc.word.place in crossing)
    label = f'<text class="label" x="{at[0]:.1f}" y="{at[1]:.1f}">{esc(arc.label)}</text>'
    return (
        f'<g class="{kind}" {mark(arc.word)}><path class="under" d="{curve}"/><path class="arc" d="{curve}"/>'
        f'<path class="tip" d="{tip}"/>{label if arc.label else ""}</g>'
    )
