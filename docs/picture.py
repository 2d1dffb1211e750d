"""The picture of the README, made by the bundled pipeline: python docs/picture.py"""

from html import escape
from pathlib import Path

from spacy.tokens import Doc

import spacy_linearize

PATH = Path(__file__).with_name("picture.svg")
WORDS = ["the", "key", ".", "door", "She", "a", "opened", "with"]
ARCS = {"door": ("opened", "obj"), "key": ("opened", "obl")}
TAGS = {"opened": "VBD", "key": "NN"}
TILT = (-7, 5, -8, -4, 8, 6, -5, 7)  # degrees of each word of the bag
DROP = (10, 0, 14, 6, -8, 12, 0, -4)  # pixels
WIDTH, HEIGHT, LEVEL = 760, 412, 26
BAG, SENTENCE = 120, 232  # where the rows are
STYLE = """
text { font: 19px Helvetica, Arial, sans-serif; fill: #1f2933; text-anchor: middle }
.tag { font-size: 12px; fill: #52606d; paint-order: stroke; stroke: #fff; stroke-width: 4px }
.note { font-size: 13px; fill: #52606d; text-anchor: start }
.label { font-size: 12px; fill: #52606d }
.arc { fill: none; stroke: #829ab1; stroke-width: 1.6; stroke-dasharray: 5 4 }
.tip { fill: #829ab1 }
.given.arc { stroke: #c2410c; stroke-width: 2.2; stroke-dasharray: none }
.given.tip, .given.label, .given.tag { fill: #c2410c }
.way { fill: none; stroke: #c3cfdb; stroke-width: 1.4 }
.tile { fill: #eef4fb; stroke: #9fb3c8 }
"""


def read_bag(nlp):
    """The words, with the arcs and tags that are known."""
    arcs = [ARCS.get(word, (None, "")) for word in WORDS]
    heads = [None if head is None else WORDS.index(head) for head, _ in arcs]
    tags = [TAGS.get(word, "") for word in WORDS]
    return Doc(nlp.vocab, words=WORDS, tags=tags, heads=heads, deps=[dep for _, dep in arcs])


def places(words):
    """The middle and the width of each word of a row."""
    widths = [len(word) * 11 + 26 for word in words]
    gap = (WIDTH - 80 - sum(widths)) / (len(words) - 1)
    found, start = [], 40.0
    for width in widths:
        found.append((start + width / 2, width))
        start += width + gap
    return found


def arc(head, to, base, level, label, given, side):
    """An arc from a head to its dependent, both as pixels, above (-1) or below (1) a row of words."""
    kind = " given" if given else ""
    far, turn = base + side * (14 + LEVEL * level), 12 if to > head else -12
    return (
        f'<path class="arc{kind}" d="M{head:.0f},{base} Q{head:.0f},{far:.0f} {head + turn:.0f},{far:.0f} '
        f'H{to - turn:.0f} Q{to:.0f},{far:.0f} {to:.0f},{base + side * 5}"/>'
        f'<path class="tip{kind}" d="M{to:.0f},{base} l-4,{side * 8} h8 z"/>'
        f'<text class="label{kind}" x="{(head + to) / 2:.0f}" y="{far - 4:.0f}">{escape(label)}</text>'
    )


def levels(doc):
    """How high the arc to each word is: above all arcs below it."""
    spans = {t.i: tuple(sorted((t.i, t.head.i))) for t in doc if t.head.i != t.i}
    found = {}
    for i, (a, b) in sorted(spans.items(), key=lambda item: item[1][1] - item[1][0]):
        inside = [found[k] for k, (c, d) in spans.items() if k in found and a <= c and d <= b]
        found[i] = max(inside, default=0) + 1
    return found


def draw(nlp):
    """The picture: a bag with some arcs, and the sentence with its tree."""
    bag = read_bag(nlp)
    best = nlp(bag)
    order = best._.linearization["order"]
    top, bottom = places(WORDS), places([t.text for t in best])
    parts = ['<text class="note" x="24" y="30">Words in no order, and what is known of them</text>']
    parts.append(f'<text class="note" x="24" y="{HEIGHT - 18}">The sentence with its tree. ')
    parts.append('<tspan fill="#c2410c">Orange was given, and is kept.</tspan> The rest was found.</text>')
    for token, i in zip(best, order, strict=True):
        (x, _), y, (to, _) = top[i], BAG + DROP[i], bottom[token.i]
        middle = (y + SENTENCE) / 2
        parts.append(
            f'<path class="way" d="M{x:.0f},{y} C{x:.0f},{middle:.0f} {to:.0f},{middle:.0f} {to:.0f},{SENTENCE - 18}"/>'
        )
    for token in bag:
        (x, width), y = top[token.i], BAG + DROP[token.i]
        parts.append(
            f'<g transform="translate({x:.0f},{y}) rotate({TILT[token.i]})"><rect class="tile" x="{-width / 2:.0f}" '
            f'y="-16" width="{width}" height="32" rx="6"/><text y="6">{escape(token.text)}</text>'
            f'<text class="tag given" y="30">{escape(token.tag_)}</text></g>'
        )
        if token.dep_:
            far = abs(token.head.i - token.i) > 3
            parts.append(arc(top[token.head.i][0], x, BAG - 18, 0.8 * far, token.dep_, True, -1))
    height, record = levels(best), best._.linearization
    for token in best:
        x = bottom[token.i][0]
        kind = " given" if record["given_tags"][token.i] else ""
        parts.append(f'<text x="{x:.0f}" y="{SENTENCE}">{escape(token.text)}</text>')
        parts.append(f'<text class="tag{kind}" x="{x:.0f}" y="{SENTENCE + 18}">{escape(token.tag_)}</text>')
        if token.i in height:
            given = record["given_heads"][token.i]
            parts.append(arc(bottom[token.head.i][0], x, SENTENCE + 26, height[token.i] - 0.6, token.dep_, given, 1))
    title = f"The words {', '.join(WORDS)} become the sentence: {best.text}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}"><title>{escape(title)}</title><style>{STYLE}</style>'
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="12" fill="#fff" stroke="#cbd5e0"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    PATH.write_text(draw(spacy_linearize.load()), encoding="utf8")
