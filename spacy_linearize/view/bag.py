"""The bag of a page: its words as tiles, what was given of each, and what was asked for."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spacy.tokens import Doc

from .markup import LONGEST, arc_in_words, esc, mark, section, shorten, spoken
from .words import Word

PINS = ("first", "last")
HINT = "Drag a word to its place. Draw an arc from a dot to a dependent. Click a tag to keep it."


def show_bag(
    source: Doc,
    words: Sequence[Word],
    bag: dict[str, Any],
    live: bool,
    names: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The words as they were handed in.

    words (Sequence[Word]): The best order.
    bag (Dict[str, Any]): The bag as an object, see `files.jsonl`.
    live (bool): Whether tiles can be clicked and dragged.
    names (Optional[Mapping[str, Sequence[str]]]): The tags and labels that the pipeline knows.
    """
    unit_of = {i: unit for unit in bag.get("units", ()) for i in range(*unit)}
    items = []
    for word in sorted(words, key=lambda word: word.source):
        pins = [key for key in PINS if bag.get(key) == word.source]
        arc = [arc_in_words(word, words, labelled=word.given_label)] if word.given_head else []
        tag = [esc(word.tag)] if word.given_tag and not live else []  # a live tile has a switch for it
        known = " · ".join(pins + tag + arc)
        gap = " " * live  # what a button says is read in one go
        text = f"<bdi>{esc(word.text)}</bdi>{gap}<sup>{word.source + 1}</sup>"
        text += f'{gap}<small lang="en" dir="ltr">{known}</small>' if known else ""
        kind = _place_in_unit(word.source, unit_of.get(word.source))
        items.append(f'<li class="{kind}" {mark(word)}>{_tile(word, text) if live else text}</li>')
    tiles = f'<ol class="bag{" live" if live else ""}" {spoken(source)}>{"".join(items)}</ol>'
    if live:
        first, last = (f'<span class="zone" data-pin="{pin}" aria-hidden="true">{pin}</span>' for pin in PINS)
        tiles = f'<div class="table">{first}{tiles}{last}</div>'
    is_known = any(word.given_tag or word.given_head for word in words)
    note = "Below a word: what was given of it." if is_known else "Nothing was given but the words."
    note = HINT if live else f"As it was handed in. {note}"
    return section("bag", "The bag", f'<p class="note">{note}</p>\n{tiles}\n{_asked(bag, live)}{_unknown(bag, names)}')


def _tile(word: Word, text: str) -> str:
    """A word that can be clicked, with its tag as a switch and a dot to draw arcs from. The panel of the word does the
    same for those who do not point."""
    kind = "switch on" if word.given_tag else "switch"
    text += f' <span class="unseen">tagged {esc(word.tag)}</span>' if word.given_tag else ""
    return (
        f'<button type="button" class="tile" tabindex="-1" aria-pressed="false">{text}</button>'
        f'<span class="extras" aria-hidden="true"><span class="{kind}" data-act="tag">{esc(word.tag) or "tag"}</span>'
        '<span class="dot"></span></span>'
    )


def _place_in_unit(i: int, unit: Sequence[int] | None) -> str:
    """The classes of a word of a unit, which is shown as one piece."""
    return "" if unit is None else "unit" + " unit-start" * (i == unit[0]) + " unit-end" * (i == unit[1] - 1)


def _asked(bag: dict[str, Any], live: bool) -> str:
    """What was asked for of the order, each with a button that takes it back if the page is live."""
    items = []
    for key, text in _wishes(bag):
        label = f"Take back: {re.sub('<[^>]*>', '', text)}"
        button = f'<button type="button" data-remove="{key}" aria-label="{label}">×</button>' if live else ""
        items.append(f"<li><span>{text}</span>{button}</li>")
    return f'<ul class="asked" aria-label="Asked for">{"".join(items)}</ul>' if items else ""


def _unknown(bag: dict[str, Any], names: Mapping[str, Sequence[str]] | None) -> str:
    """A note of the tags and labels that the search does not see, since training never saw them."""
    given = {kind: dict.fromkeys(filter(None, bag.get(kind, ()))) for kind in ("tags", "labels")}
    usual = {"ROOT", "root", "dep"}
    found = [name for kind in given for name in given[kind] if names and name not in {*names[kind], *usual}]
    if not found:
        return ""
    listed = ", ".join(f"<code>{esc(shorten(name, LONGEST))}</code>" for name in found)
    return f'<p class="note">Kept, but as if not given, since the pipeline does not know them: {listed}.</p>'


def _wishes(bag: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Where each is in the bag, and what it says."""
    words = bag["words"]

    def name(i: int) -> str:
        number = f"<sup>{i + 1}</sup>" if words.count(words[i]) > 1 else ""
        return f"<bdi>{esc(shorten(words[i], LONGEST))}</bdi>{number}"

    for key in PINS:
        if bag.get(key) is not None:
            yield key, f"{name(bag[key])} comes {key}"
    for number, (a, b) in enumerate(bag.get("precedences", ())):
        yield f"precedences/{number}", f"{name(a)} before {name(b)}"
    for number, unit in enumerate(bag.get("units", ())):
        yield f"units/{number}", f"{' '.join(map(name, range(*unit)))} together"
