"""What the parts of a page share: escaped text, colours, and what was given of a word.

Every text that comes from a Doc goes through `esc`.
"""

from html import escape

from spacy.tokens import Doc, Token

LONGEST = 22  # letters of a word in a diagram or beside another word; the rest of the page has all of them


def esc(text: str) -> str:
    """A text escaped for HTML and SVG, in elements and in attributes."""
    return escape(text, quote=True)


def shorten(text: str, longest: int) -> str:
    """A text in one line, truncated if it is long."""
    text = " ".join(text.split()) or text
    return text if len(text) <= longest else text[: longest - 1] + "…"


def scroll(label: str, content: str) -> str:
    """A box that scrolls, with the keyboard, too."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{esc(label)}">{content}</div>'


def spoken(doc: Doc) -> str:
    """Attributes of elements that hold words: their language and direction of writing."""
    return f'lang="{esc(doc.lang_)}" dir="{"rtl" if is_rtl(doc) else "ltr"}"'


def is_rtl(doc: Doc) -> bool:
    return bool(doc.vocab.writing_system.get("direction") == "rtl")


def order_of(doc: Doc) -> tuple[int, ...]:
    """The positions in the bag, in the order of the sentence."""
    return tuple(doc._.linearization["order"])


def given_tag(token: Token) -> bool:
    return bool(token.doc._.linearization["given_tags"][token.i])


def given_head(token: Token) -> bool:
    return bool(token.doc._.linearization["given_heads"][token.i])


def given_label(token: Token) -> bool:
    """Whether the label of the arc was given. That of a given root is known with it."""
    return given_head(token) and (is_root(token) or bool(token.doc._.linearization["given_labels"][token.i]))


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
