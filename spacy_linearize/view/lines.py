"""The lines from the places of words in the bag to their places in the sentence."""

from collections.abc import Iterable, Iterator, Sequence

from .markup import LONGEST, esc, mark, shorten
from .svg import LETTER, ROW, Drawing, diagram, letters
from .words import Word

HEIGHT = 206  # across
LONGEST_DOWN, NUMBER, SLOPE = 13, 26, 92  # down: letters of a word, room for a place, room for the lines


def draw_lines(words: Sequence[Word], rtl: bool) -> str:
    """Lines from the bag to the sentence.

    rtl (bool): Whether words are read from right to left.
    """
    label = f"Lines from the place of each of {len(words)} words in the bag to its place in the sentence."
    note = '<p class="note">From the places in the bag to those in the sentence.</p>'
    return f"{note}\n{diagram(label, _across(words, rtl), _down(words))}"


def _across(words: Sequence[Word], rtl: bool) -> Drawing:
    """Both rows hold the same words, and so are of the same width."""
    texts = {word.source: shorten(word.text, LONGEST) for word in words}
    widths = {source: max(letters(text) * LETTER + 22, 44) for source, text in texts.items()}
    total = round(sum(widths.values()))
    top = dict(_middles(range(len(words)), widths))
    bottom = dict(_middles((word.source for word in words), widths))
    parts = []
    for word in words:
        a, b = (total - x if rtl else x for x in (top[word.source], bottom[word.source]))
        text = esc(texts[word.source])
        parts.append(
            f"<g {mark(word)}>{_line(f'M{a:.1f},44 C{a:.1f},110 {b:.1f},94 {b:.1f},160')}"
            f'<text class="place from" x="{a:.1f}" y="12">{word.source + 1}</text>'
            f'<text class="from" x="{a:.1f}" y="34">{text}</text><text class="to" x="{b:.1f}" y="182">{text}</text>'
            f'<text class="place to" x="{b:.1f}" y="201">{word.place + 1}</text></g>'
        )
    return Drawing("lines", total, HEIGHT, "".join(parts))


def _middles(order: Iterable[int], widths: dict[int, float]) -> Iterator[tuple[int, float]]:
    """Where the middle of each word is if the words stand in this order."""
    start = 0.0
    for source in order:
        yield source, start + widths[source] / 2
        start += widths[source]


def _down(words: Sequence[Word]) -> Drawing:
    """The bag at the left, the sentence at the right."""
    texts = [shorten(word.text, LONGEST_DOWN) for word in words]
    column = max(map(letters, texts)) * LETTER + 8
    left = NUMBER + column
    right = left + SLOPE
    parts = []
    for word, text in zip(words, map(esc, texts), strict=True):
        a, b = (ROW * (at + 0.5) for at in (word.source, word.place))
        bend = SLOPE * 0.6
        curve = f"M{left:.1f},{a:.1f} C{left + bend:.1f},{a:.1f} {right - bend:.1f},{b:.1f} {right:.1f},{b:.1f}"
        parts.append(
            f"<g {mark(word)}>{_line(curve)}"
            f'<text class="place from" x="{NUMBER / 2:.1f}" y="{a + 4:.1f}">{word.source + 1}</text>'
            f'<text class="from" x="{left - 6:.1f}" y="{a + 5:.1f}">{text}</text>'
            f'<text class="to" x="{right + 6:.1f}" y="{b + 5:.1f}">{text}</text>'
            f'<text class="place to" x="{right + column + NUMBER / 2:.1f}" y="{b + 4:.1f}">{word.place + 1}</text></g>'
        )
    return Drawing("lines", right + column + NUMBER, ROW * len(words), "".join(parts))


def _line(curve: str) -> str:
    return f'<path class="under" d="{curve}"/><path class="line" d="{curve}"/>'
