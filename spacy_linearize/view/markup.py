"""What the parts of a page share as HTML: escaped text, boxes, tables, colours.

Every text that comes from a Doc goes through `esc`.
"""

from collections.abc import Iterable, Sequence
from html import escape

from spacy.tokens import Doc

from .words import Word, is_rtl

LONGEST = 22  # letters of a word in a diagram or beside another word; the rest of the page has all of them


def esc(text: str) -> str:
    """A text escaped for HTML and SVG, in elements and in attributes."""
    return escape(text, quote=True)


def shorten(text: str, longest: int) -> str:
    """A text in one line, truncated if it is long."""
    text = " ".join(text.split()) or text
    return text if len(text) <= longest else text[: longest - 1] + "…"


def name(text: str) -> str:
    """A word in a sentence about it."""
    return f"<bdi>{esc(shorten(text, LONGEST))}</bdi>"


def spoken(doc: Doc) -> str:
    """Attributes of elements that hold words: their language and direction of writing."""
    return f'lang="{esc(doc.lang_)}" dir="{"rtl" if is_rtl(doc) else "ltr"}"'


def mark(word: Word) -> str:
    """Attributes of everything that stands for a word: its place in the bag, and its hue."""
    return f'data-word="{word.source}" style="--h:{word.hue}"'


def count(n: int, name: str) -> str:
    """A number with its noun."""
    return f"{n} {name}" if n == 1 else f"{n} {name}s"


def section(kind: str, title: str, content: str) -> str:
    """A part of a page with its heading. A live page replaces it by its id."""
    return f'<section id="{kind}">\n<h2>{title}</h2>\n{content}\n</section>'


def scroll(label: str, content: str) -> str:
    """A box that scrolls, with the keyboard, too."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{esc(label)}">{content}</div>'


def table(kind: str, note: str, names: Sequence[str], rows: Iterable[str], numbers: Sequence[int]) -> str:
    """A table that scrolls if it is too wide.

    numbers (Sequence[int]): Which columns hold numbers.
    """
    heads = "".join(
        f'<th scope="col"{" class=number" if i in numbers else ""}>{name}</th>' for i, name in enumerate(names)
    )
    content = f'<table class="{kind}"><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    # Not a caption of the table, which would scroll away with it.
    return f'<p class="note">{note}</p>\n{scroll(note, content)}'


def arc_in_words(word: Word, words: Sequence[Word], labelled: bool = True) -> str:
    """The arc to a word, in words."""
    if word.head is None:
        return "no head"
    if word.is_root:
        return "root"
    head = name(words[word.head].text)
    return f"{esc(word.label)} of {head}" if labelled else f"below {head}"
