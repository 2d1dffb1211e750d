"""The parts of a page that show orders: the sentence, its words one by one, and the best orders."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from spacy.tokens import Doc

from .lines import draw_lines
from .markup import arc_in_words, count, esc, mark, section, spoken, table
from .tree import draw_tree
from .words import Word, is_rtl


def show_order(doc: Doc, words: Sequence[Word], rank: int) -> dict[str, str]:
    """The parts that show one of the orders, by their ids: the sentence, its tree, the lines from the bag, its words.

    rank (int): From 1 for the best order.
    """
    rtl = is_rtl(doc)
    return {
        "sentence": _header(doc, words, rank),
        "tree": section("tree", "The tree", draw_tree(words, rtl)),
        "lines": section("lines", "From the bag to the sentence", draw_lines(words, rtl)),
        "words": section("words", "Word by word", _word_table(words)),
    }


def _header(doc: Doc, words: Sequence[Word], rank: int) -> str:
    text = "".join(f"<bdi {mark(word)}>{esc(word.text)}</bdi>{word.space}" for word in words)
    n = len(words)
    facts = {
        "Words": str(n),
        "Tags given": f"{sum(word.given_tag for word in words)} of {n}",
        "Heads given": f"{sum(word.given_head for word in words)} of {n}",
        "Rank": str(rank),
        "Score": f"{doc._.linearization['score']:.2f}",
    }
    if "second" in doc._.linearization:
        facts["Second opinion"] = f"{doc._.linearization['second']:+.2f}"
    items = "".join(f"<div><dt>{key}</dt><dd>{value}</dd></div>" for key, value in facts.items())
    return f'<header id="sentence">\n<h1 {spoken(doc)}>{text}</h1>\n<dl class="facts">{items}</dl>\n</header>'


def _word_table(words: Sequence[Word]) -> str:
    rows = []
    for word in words:
        head = arc_in_words(word, words, labelled=False).removeprefix("below ")
        cells = [
            _fact(esc(word.tag), word.given_tag),
            _fact(head, word.given_head) if word.head is not None else "–",
            _fact(esc(word.label), word.given_label),
        ]
        source = "" if word.head is None else words[word.head].source
        rows.append(
            f'<tr {mark(word)} data-tag="{esc(word.tag)}" data-head="{source}" data-label="{esc(word.label)}">'
            f'<td class="number">{word.place + 1}</td><th scope="row"><bdi>{esc(word.text)}</bdi></th>'
            f'<td class="number">{word.source + 1}</td>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        )
    names = ("Place", "Word", "In the bag", "Tag", "Head", "Label")
    return table("words", "What was given of each word, and what is predicted.", names, rows, numbers=(0, 2))


def _fact(text: str, given: bool) -> str:
    if not text:
        return "–"
    kind = "given" if given else "predicted"
    return f'<span class="{kind}">{text}<small>{kind}</small></span>'


def show_orders(docs: Sequence[Doc], orders: Sequence[Sequence[Word]]) -> str:
    """The best orders with their scores. Each is a button that shows it; without a script it is only a text."""
    gaps = [doc._.linearization["score"] - docs[0]._.linearization["score"] for doc in docs]
    rows = []
    for i, (doc, words) in enumerate(zip(docs, orders, strict=True)):
        bar = f'<span class="gap" style="width:{100 * gaps[i] / (min(gaps) or 1):.0f}%"></span>' if i else ""
        changes = _changes(orders[0], words)
        details = f"<ul>{''.join(f'<li>{change}</li>' for change in changes)}</ul>"
        more = f"<details><summary>{count(len(changes), 'change')} in tags and tree</summary>{details}</details>"
        rows.append(
            f'<tr data-rank="{i + 1}"{"" if i else " class=shown"}><th scope="row" class="number">{i + 1}</th>'
            f'<td class="sentence">'
            f'<button type="button" class="choose" aria-pressed="{"false" if i else "true"}" {spoken(doc)}>'
            f"{_with_differences(orders[0], words)}</button>{more if changes else ''}</td>"
            f'<td class="number"><span class="score">{doc._.linearization["score"]:.2f}</span>'
            f"{f'<small>{gaps[i]:.2f}</small>{bar}' if i else ''}{_second(doc)}</td></tr>"
        )
    note = (
        "Choose one to see it. Marked: what stands elsewhere than in the best. Scores, and their gaps to the best, "
        "compare orders of this bag only."
    )
    names = ("Rank", "Sentence", "Score")
    return section("orders", "The best orders", table("orders", note, names, rows, numbers=(0, 2)))


def _second(doc: Doc) -> str:
    """The share of a second opinion in the score, if there was one."""
    record = doc._.linearization
    return f"<small>second opinion {record['second']:+.2f}</small>" if "second" in record else ""


def _with_differences(best: Sequence[Word], words: Sequence[Word]) -> str:
    """A sentence, with what would have to move marked."""
    old, new = [word.text for word in best], [word.text for word in words]
    parts = []
    for kind, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        text = "".join(f"<bdi>{esc(word.text)}</bdi>{word.space}" for word in words[start:end])
        parts.append(
            text if kind == "equal" or not text else f"<mark>{text.rstrip()}</mark>{text[len(text.rstrip()) :]}"
        )
    return "".join(parts)


def _changes(best: Sequence[Word], words: Sequence[Word]) -> list[str]:
    """How tags and arcs differ from those of the best order, in words."""
    by_source = {word.source: word for word in words}
    changes = []
    for old in best:
        new = by_source[old.source]
        pairs = [
            (esc(old.tag or "no tag"), esc(new.tag or "no tag")),
            (arc_in_words(old, best), arc_in_words(new, words)),
        ]
        parts = [f"{a} → {b}" for a, b in pairs if a != b]
        if parts:
            changes.append(f"<bdi>{esc(old.text)}</bdi>: {', '.join(parts)}")
    return changes
