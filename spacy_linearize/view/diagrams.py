"""The two diagrams of a page, its lines and its tree, and what they share with its text.

Every text that comes from a Doc goes through `esc`, or through displaCy, which escapes words but no tags and labels.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from spacy import displacy
from spacy.tokens import Doc, Token

LETTER = 9.5  # pixels that a letter of a diagram takes, rather too many than too few
WORD_SPACING = 30  # pixels from the arcs down to the words
LONGEST, LONGEST_IN_TREE = 22, 14  # letters of a word in a diagram; the rest of the page has all of them


def esc(text: str) -> str:
    return escape(text, quote=True)


def shorten(text: str, longest: int) -> str:
    """A text in one line, its end left out if it is long."""
    text = " ".join(text.split()) or text
    return text if len(text) <= longest else text[: longest - 1] + "…"


def scroll(label: str, content: str) -> str:
    """A box that scrolls, also with the keyboard."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{esc(label)}">{content}</div>'


def spoken(doc: Doc) -> str:
    """Attributes of elements that hold words: their language and the side they start from."""
    settings = displacy.get_doc_settings(doc)
    return f'lang="{esc(settings["lang"])}" dir="{esc(settings["direction"])}"'


def is_rtl(doc: Doc) -> bool:
    return bool(displacy.get_doc_settings(doc)["direction"] == "rtl")


# What was given. A Doc says it of tags and heads; of a label the source has to say it.


def order_of(doc: Doc) -> tuple[int, ...]:
    return tuple(doc._.linearization["order"])


def given_tag(token: Token) -> bool:
    return bool(token.doc._.linearization["given_tags"][token.i])


def given_head(token: Token) -> bool:
    return bool(token.doc._.linearization["given_heads"][token.i])


def given_label(token: Token, source: Doc) -> bool:
    label = source[order_of(token.doc)[token.i]].dep_
    return given_head(token) and (is_root(token) or (label not in ("", "dep") and label == token.dep_))


def is_root(token: Token) -> bool:
    return bool(token.has_head() and token.head.i == token.i)


def mark(token: Token) -> str:
    """Attributes of everything that stands for a word: the word's number and its hue, by its place in the sentence."""
    share = token.i / max(len(token.doc) - 1, 1)
    return f'data-word="{token.i + 1}" style="--h:{round(264 + 290 * share) % 360}"'


def arc_in_words(token: Token, labelled: bool = True) -> str:
    """The arc to a token, in words."""
    if not token.has_head():
        return "no head"
    if is_root(token):
        return "root"
    head = f"<bdi>{esc(shorten(token.head.text, LONGEST))}</bdi>"
    return f"{esc(token.dep_)} of {head}" if labelled else f"below {head}"


def _width(text: str) -> float:
    """About how many letters wide a text is."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def draw_lines(best: Doc, source: Doc) -> str:
    """Lines from the places of words in the bag to those in the sentence. Both rows hold the same words, and so are of
    the same width."""
    rtl = is_rtl(best)
    widths = [max(_width(shorten(token.text, LONGEST)) * LETTER + 22, 44) for token in source]
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


def _middles(order: Iterable[int], widths: list[float]) -> Iterator[tuple[int, float]]:
    """Where the middle of each word is if the words stand in this order."""
    start = 0.0
    for i in order:
        yield i, start + widths[i] / 2
        start += widths[i]


def draw_tree(best: Doc, source: Doc) -> str:
    """displaCy's tree of the sentence, with what was given told apart."""
    # Browsers turn the labels of displaCy's own trees from right to left upside down: ours is mirrored here.
    tokens = list(best)[::-1] if is_rtl(best) else list(best)
    column = {token.i: i for i, token in enumerate(tokens)}
    words = [{"text": shorten(token.text, LONGEST_IN_TREE), "tag": esc(token.tag_)} for token in tokens]
    dependents = [token for token in tokens if token.has_head() and not is_root(token)]
    arcs: list[dict[str, Any]] = []
    for token in dependents:
        at, head = column[token.i], column[token.head.i]
        direction = "left" if at < head else "right"
        arcs.append({"start": min(at, head), "end": max(at, head), "label": esc(token.dep_), "dir": direction})
    # From one word to the next: room for the longest word, and for each label between the ends of its arc.
    letters = max(_width(word["text"]) for word in words)
    letters = max([letters, *(_width(arc["label"]) / (arc["end"] - arc["start"]) for arc in arcs)])
    distance = max(round(letters * LETTER + 24), 120)
    svg = displacy.render(
        {"words": words, "arcs": arcs},
        manual=True,
        page=False,
        jupyter=False,
        options={
            "compact": True,
            "distance": distance,
            "offset_x": distance // 2,
            "word_spacing": WORD_SPACING,
            "arrow_spacing": 12,
            "arrow_width": 6,
        },
    )
    svg = _mark_tree(_crop(svg, distance * len(best)), tokens, dependents, source)
    label = f"The dependency tree of the sentence, {len(arcs)} arcs."
    note = (
        "<figcaption>Solid arcs, upright labels and tags were given; dashed arcs, slanted labels and tags are "
        "predicted. The root is bold.</figcaption>"
    )
    return f"<figure>{scroll(label, svg)}{note}</figure>"


def _crop(svg: str, width: int) -> str:
    """displaCy leaves room above its curves and fixes size and colours: a tree of ours can shrink on paper, has the
    page's colours, and an id that is the same each time."""
    found = re.search(r'id="([^"]+)".*? height="([\d.]+)"', svg)
    if not found:  # another displaCy than those we know: as it comes
        return svg
    base = float(found[2]) - 3 * WORD_SPACING  # where the arcs stand
    top = max(base * 2 / 3 - 8, 0)  # of half a word's distance for each level, an arc takes a sixth
    height = base + 72 - top
    tag = (
        '<svg class="displacy" role="img" aria-label="The dependency tree. The table of words says the same." '
        f'width="{width}" height="{height:.0f}" viewBox="0 {top:.0f} {width} {height:.0f}">'
    )
    return re.sub("<svg[^>]*>", tag, svg, count=1).replace(found[1], "tree")


def _mark_tree(svg: str, tokens: list[Token], dependents: list[Token], source: Doc) -> str:
    """Say of words and arcs whether they were given. In the text of a word no quote is left that could be taken for
    one of displaCy's own."""
    words, arcs = iter(tokens), iter(dependents)

    def mark_word(_: Any) -> str:
        token = next(words)
        more = " root" * is_root(token) + " given-tag" * given_tag(token)
        return f'class="displacy-token{more}" {mark(token)}'

    def mark_arc(_: Any) -> str:
        token = next(arcs)
        more = " given" * given_head(token) + " given-label" * given_label(token, source)
        return f'class="displacy-arrow{more}" {mark(token)}'

    return re.sub('class="displacy-arrow"', mark_arc, re.sub('class="displacy-token"', mark_word, svg))
