"""The two diagrams of a page, as SVG: the lines from the bag to the sentence, and the dependency tree."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spacy.tokens import Doc, Token

from .marks import LONGEST, esc, given_head, given_label, given_tag, is_root, is_rtl, mark, order_of, scroll, shorten

LETTER, SMALL_LETTER = 9.5, 8.0  # width in pixels of a letter of a word, and of a tag or label; generous
LONGEST_IN_TREE = 14  # letters of a word, a tag or a label
# Of the tree, in pixels: between two words; between the ends of two arcs at one word; between two levels of arcs.
WORD_GAP, END_GAP, LEVEL = 26, 11, 30
CORNER, ARROW = 9, 7
ABOVE, BELOW = 24, 50  # the room for the label of the highest arc, and for words and tags


def draw_lines(best: Doc, source: Doc) -> str:
    """Lines from the places of words in the bag to those in the sentence. Both rows hold the same words, and so are of
    the same width."""
    rtl = is_rtl(best)
    widths = [max(_letters(shorten(token.text, LONGEST)) * LETTER + 22, 44) for token in source]
    total = round(sum(widths))
    top, bottom = dict(_middles(range(len(source)), widths)), dict(_middles(order_of(best), widths))
    parts = []
    for token, i in zip(best, order_of(best), strict=True):
        a, b = (total - x if rtl else x for x in (top[i], bottom[i]))
        curve = f'd="M{a:.1f},44 C{a:.1f},110 {b:.1f},94 {b:.1f},160"'
        text = esc(shorten(token.text, LONGEST))
        parts.append(
            f'<g {mark(token)}><path class="under" {curve}/><path class="line" {curve}/>'
            f'<text class="place" x="{a:.1f}" y="12">{i + 1}</text><text x="{a:.1f}" y="34">{text}</text>'
            f'<text x="{b:.1f}" y="182">{text}</text><text class="place" x="{b:.1f}" y="201">{token.i + 1}</text></g>'
        )
    label = f"Lines from the place of each of {len(best)} words in the bag to its place in the sentence."
    svg = (
        f'<svg class="lines" role="img" aria-label="{label} The table of words says the same." width="{total}" '
        f'height="206" viewBox="0 0 {total} 206">{"".join(parts)}</svg>'
    )
    return f'<p class="note">Above the places in the bag, below those in the sentence.</p>\n{scroll(label, svg)}'


def _letters(text: str) -> float:
    """About how many letters wide a text is."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _middles(order: Iterable[int], widths: list[float]) -> Iterator[tuple[int, float]]:
    """Where the middle of each word is if the words stand in this order."""
    start = 0.0
    for i in order:
        yield i, start + widths[i] / 2
        start += widths[i]


class Arc(NamedTuple):
    """An arc of the tree. Columns count from the left, also where words are read from right to left.

    token (Token): The dependent.
    left, right (int): The columns of its ends.
    is_head_left (bool): Whether the head is the left one.
    """

    token: Token
    left: int
    right: int
    is_head_left: bool

    @property
    def label(self) -> str:
        return shorten(self.token.dep_, LONGEST_IN_TREE)


def draw_tree(best: Doc) -> str:
    """The dependency tree of the sentence, with what was given told apart from what was added."""
    tokens = list(best)[::-1] if is_rtl(best) else list(best)
    arcs = _arcs(tokens)
    levels = _levels(arcs, len(tokens))
    ends, columns, width = _place(tokens, arcs)
    base = ABOVE + LEVEL * max(levels, default=0)
    parts = [_word(token, x, base) for token, x in zip(tokens, columns, strict=True)]
    for i, (arc, level) in enumerate(zip(arcs, levels, strict=True)):
        parts.append(_arrow(arc, ends[i, arc.left], ends[i, arc.right], base, base - LEVEL * level))
    height = base + BELOW
    label = f"The dependency tree of the sentence, {len(arcs)} {'arc' if len(arcs) == 1 else 'arcs'}."
    svg = (
        '<svg class="tree" role="img" aria-label="The dependency tree. The table of words says the same." '
        f'width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}">{"".join(parts)}</svg>'
    )
    note = (
        "<figcaption>Solid arcs, upright labels and tags were given; dashed arcs, slanted labels and tags are "
        "predicted. The root is bold.</figcaption>"
    )
    return f"<figure>{scroll(label, svg)}{note}</figure>"


def _arcs(tokens: list[Token]) -> list[Arc]:
    """The arcs between words, short ones first."""
    column = {token.i: i for i, token in enumerate(tokens)}
    arcs = []
    for at, token in enumerate(tokens):
        if token.has_head() and not is_root(token):
            head = column[token.head.i]
            arcs.append(Arc(token, min(at, head), max(at, head), head < at))
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


def _place(tokens: list[Token], arcs: list[Arc]) -> tuple[dict[tuple[int, int], float], list[float], float]:
    """Where arcs end and words stand, so that no text runs into another.

    RETURNS (Tuple[Dict[Tuple[int, int], float], List[float], float]): For each arc, by its number, and for each of its
        columns the end; the middle of each column; and the width of all.
    """
    # At a word, arcs to the left come first, from short to long, then those to the right, from long to short: so no
    # arc runs through another.
    at_word: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for i, arc in enumerate(arcs):
        at_word[arc.right].append((0, i))
        at_word[arc.left].append((1, -i))
    shift: dict[tuple[int, int], float] = {}  # of an end from the middle of its word
    for column, those in at_word.items():
        for place, (_, i) in enumerate(sorted(those)):
            shift[abs(i), column] = END_GAP * (place - (len(those) - 1) / 2)
    widths = [
        max(
            _letters(shorten(token.text, LONGEST_IN_TREE)) * LETTER,
            _letters(shorten(token.tag_, LONGEST_IN_TREE)) * SMALL_LETTER,
            END_GAP * len(at_word[i]),
        )
        for i, token in enumerate(tokens)
    ]
    columns = [0.0] * len(tokens)
    by_right = defaultdict(list)
    for i, arc in enumerate(arcs):
        by_right[arc.right].append(i)
    for k, width in enumerate(widths):
        columns[k] = WORD_GAP / 2 + width / 2 if k == 0 else columns[k - 1] + (widths[k - 1] + width) / 2 + WORD_GAP
        for i in by_right[k]:  # room for its label between its ends
            start = columns[arcs[i].left] + shift[i, arcs[i].left]
            needed = _letters(arcs[i].label) * SMALL_LETTER + 2 * CORNER
            columns[k] = max(columns[k], start + needed - shift[i, k])
    ends = {(i, column): columns[column] + x for (i, column), x in shift.items()}
    return ends, columns, columns[-1] + widths[-1] / 2 + WORD_GAP / 2


def _word(token: Token, x: float, base: float) -> str:
    kind = "token" + " root" * is_root(token) + " given-tag" * given_tag(token)
    tag = f'<text class="tag" x="{x:.1f}" y="{base + 42:.1f}">{esc(shorten(token.tag_, LONGEST_IN_TREE))}</text>'
    return (
        f'<g class="{kind}" {mark(token)}><text class="word" x="{x:.1f}" y="{base + 22:.1f}">'
        f"{esc(shorten(token.text, LONGEST_IN_TREE))}</text>{tag if token.tag_ else ''}</g>"
    )


def _arrow(arc: Arc, left: float, right: float, base: float, top: float) -> str:
    """An arc with round corners, an arrow head at the dependent, and its label above."""
    kind = "arrow" + " given" * given_head(arc.token) + " given-label" * given_label(arc.token)
    end = right if arc.is_head_left else left
    curve = (
        f"M{left:.1f},{base:.1f} V{top + CORNER:.1f} Q{left:.1f},{top:.1f} {left + CORNER:.1f},{top:.1f} "
        f"H{right - CORNER:.1f} Q{right:.1f},{top:.1f} {right:.1f},{top + CORNER:.1f} V{base:.1f}"
    )
    tip = f"M{end - ARROW / 2:.1f},{base - ARROW:.1f} h{ARROW} L{end:.1f},{base + 1:.1f} Z"
    label = f'<text class="label" x="{(left + right) / 2:.1f}" y="{top - 5:.1f}">{esc(arc.label)}</text>'
    return (
        f'<g class="{kind}" {mark(arc.token)}><path class="arc" d="{curve}"/><path class="tip" d="{tip}"/>'
        f"{label if arc.label else ''}</g>"
    )
