"""A linearization as one HTML page: the bag, the sentence, the lines between them, the tree, and the alternatives.

The page is self-contained: it needs no other files, no network and no scripts.
"""

from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from string import Template

from spacy.tokens import Doc

from .. import __version__
from ..errors import error
from .diagrams import draw_lines, draw_tree
from .marks import arc_in_words, esc, given_head, given_label, given_tag, mark, order_of, scroll, shorten, spoken


def render(alternatives: list[Doc], source: Doc) -> str:
    """The page that shows how a bag of words was ordered.

    alternatives (List[Doc]): The best orders of the bag, best first: from `Linearizer.alternatives`, or from
        `spacy_linearize.alternative`.
    source (Doc): The bag, as it was handed in.
    RETURNS (str): The page, as HTML.

    Example:

        nlp = spacy_linearize.load()
        bag = Doc(nlp.vocab, words=["door", "the", "opened", "?", "Who"])
        html = render(nlp.get_pipe("linearizer").alternatives(bag, 5), bag)
        Path("page.html").write_text(html, encoding="utf8")
    """
    if not alternatives or not len(source):
        raise error("SL071")
    for doc in alternatives:
        if len(doc) != len(source) or not doc._.linearization:
            raise error("SL072", text=shorten(doc.text, 60))
    best = alternatives[0]
    body = [
        _header(best, len(alternatives)),
        _section("The bag", _bag(best, source)),
        _section("From the bag to the sentence", draw_lines(best, source)),
        _section("The tree", draw_tree(best)),
        _section("Word by word", _word_table(best)),
        _section("The best orders", _alternatives_table(alternatives, source)),
    ]
    return frame(best.text, "\n".join(body))


def frame(title: str, body: str) -> str:
    """A page in the common style.

    title (str): As text, not as HTML.
    body (str): As HTML.
    """
    return _template().substitute(title=esc(shorten(title, 80)), body=body, version=__version__)


@cache
def _template() -> Template:
    return Template((Path(__file__).parent / "page.html").read_text(encoding="utf8"))


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{title}</h2>\n{content}\n</section>"


def _header(best: Doc, n_orders: int) -> str:
    words = "".join(f"<bdi {mark(token)}>{esc(token.text)}</bdi>{token.whitespace_}" for token in best)
    n = len(best)
    heads = sum(map(given_head, best))
    facts = {
        "Words": str(n),
        "Tags given": f"{sum(map(given_tag, best))} of {n}",
        "Heads given": f"{heads} of {n}",
        "Score": f"{best._.linearization['score']:.2f}",
        "Orders shown": str(n_orders),
    }
    items = "".join(f"<div><dt>{key}</dt><dd>{value}</dd></div>" for key, value in facts.items())
    return (
        f'<header>\n<p class="over">A bag of words, ordered</p>\n<h1 {spoken(best)}>{words}</h1>\n'
        f'<dl class="facts">{items}</dl>\n</header>'
    )


def _bag(best: Doc, source: Doc) -> str:
    by_source = dict(zip(order_of(best), best, strict=True))
    items = []
    for token in source:
        new = by_source[token.i]
        given = [esc(new.tag_)] if given_tag(new) else []
        given += [arc_in_words(new, labelled=given_label(new))] if given_head(new) else []
        small = f"<small lang=en dir=ltr>{' · '.join(given)}</small>" if given else ""
        items.append(f"<li {mark(new)}><bdi>{esc(token.text)}</bdi><sup>{token.i + 1}</sup>{small}</li>")
    some = any(map(given_tag, best)) or any(map(given_head, best))
    note = "Below a word: what was given of it." if some else "Nothing was given but the words."
    return f'<p class="note">As it was handed in. {note}</p>\n<ol class="bag" {spoken(source)}>{"".join(items)}</ol>'


def _word_table(best: Doc) -> str:
    rows = []
    for token, i in zip(best, order_of(best), strict=True):
        head = arc_in_words(token, labelled=False).removeprefix("below ")
        cells = [
            _fact(esc(token.tag_), given_tag(token)),
            _fact(head, given_head(token)) if token.has_head() else "–",
            _fact(esc(token.dep_), given_label(token)),
        ]
        rows.append(
            f'<tr {mark(token)}><td class="number">{token.i + 1}</td><th scope="row"><bdi>{esc(token.text)}</bdi></th>'
            f'<td class="number">{i + 1}</td>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        )
    names = ("Place", "Word", "In the bag", "Tag", "Head", "Label")
    return _table("words", "What was given of each word, and what is predicted.", names, rows, numbers=(0, 2))


def _fact(text: str, given: bool) -> str:
    if not text:
        return "–"
    kind = "given" if given else "predicted"
    return f'<span class="{kind}">{text}<small>{kind}</small></span>'


def _table(kind: str, note: str, names: tuple[str, ...], rows: list[str], numbers: tuple[int, ...]) -> str:
    heads = "".join(
        f'<th scope="col"{" class=number" if i in numbers else ""}>{name}</th>' for i, name in enumerate(names)
    )
    table = (
        f'<table class="{kind}" aria-describedby="{kind}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    # Not a caption of the table, which would scroll away with it.
    return f'<p class="note" id="{kind}">{note}</p>\n{scroll(note, table)}'


def _alternatives_table(alternatives: list[Doc], source: Doc) -> str:
    best = alternatives[0]
    gaps = [doc._.linearization["score"] - best._.linearization["score"] for doc in alternatives]
    rows = []
    for rank, (doc, gap) in enumerate(zip(alternatives, gaps, strict=True), start=1):
        bar = f'<span class="gap" style="width:{100 * gap / (min(gaps) or 1):.0f}%"></span>' if rank > 1 else ""
        changes = _changes(best, doc, source)
        details = f"<ul>{''.join(f'<li>{change}</li>' for change in changes)}</ul>"
        count = f"{len(changes)} {'change' if len(changes) == 1 else 'changes'} in tags and tree"
        more = f"<details><summary>{count}</summary>{details}</details>" if changes else ""
        rows.append(
            f'<tr><th scope="row" class="number">{rank}</th>'
            f'<td class="sentence"><div {spoken(doc)}>{_with_differences(best, doc)}</div>{more}</td>'
            f'<td class="number score">{doc._.linearization["score"]:.2f}</td>'
            f'<td class="number">{f"{gap:.2f}" if rank > 1 else "–"}{bar}</td></tr>'
        )
    note = "Marked: words that stand elsewhere than in the best order. Scores compare orders of this bag only."
    return _table("orders", note, ("Rank", "Sentence", "Score", "Gap to the best"), rows, numbers=(0, 2, 3))


def _with_differences(best: Doc, doc: Doc) -> str:
    """A sentence, with what would have to move marked."""
    old, new = [token.text for token in best], [token.text for token in doc]
    parts = []
    for kind, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        text = "".join(f"<bdi>{esc(token.text)}</bdi>{token.whitespace_}" for token in doc[start:end])
        parts.append(
            text if kind == "equal" or not text else f"<mark>{text.rstrip()}</mark>{text[len(text.rstrip()) :]}"
        )
    return "".join(parts)


def _changes(best: Doc, doc: Doc, source: Doc) -> list[str]:
    """How tags and arcs differ from those of the best order, in words."""
    by_source = dict(zip(order_of(doc), doc, strict=True))
    changes = []
    for old, i in zip(best, order_of(best), strict=True):
        new = by_source[i]
        pairs = [(esc(old.tag_ or "no tag"), esc(new.tag_ or "no tag")), (arc_in_words(old), arc_in_words(new))]
        parts = [f"{a} → {b}" for a, b in pairs if a != b]
        if parts:
            changes.append(f"<bdi>{esc(source[i].text)}</bdi>: {', '.join(parts)}")
    return changes
