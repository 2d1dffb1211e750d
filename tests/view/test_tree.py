"""The drawing of a tree: arcs stand above what they cover, those that cross are told apart, both forms say the same."""

import re
from dataclasses import replace

import pytest
from helpers.page import Page

from spacy_linearize.view.tree import crossing_places, draw_tree
from spacy_linearize.view.words import Word

# "hearing ... on" crosses "is ... scheduled" in no way, but "scheduled ... today" crosses "issue ... nobody".
CROSSING = [1, 2, 2, 2, 1, 6, 4, 3, 9, 6]
PROJECTIVE = [1, 2, 2, 2, 3, 6, 4, 2]


def words_of(heads):
    shared = {"space": " ", "tag": "NN", "given_tag": False, "given_head": False, "given_label": False, "hue": 0}
    return [Word(text=f"w{i}", place=i, source=i, label=f"l{i}", head=head, **shared) for i, head in enumerate(heads)]


def corners(page, way):
    """Of each arc, by its word: the least and the greatest x and y."""
    found = {}
    arrows = list(page.find("g", "arrow", way))
    for arrow, path in zip(arrows, page.find("path", "arc", way), strict=True):
        x, y = 0.0, 0.0
        xs, ys = [], []
        for command, numbers in re.findall(r"([MVHQ])([^MVHQ]*)", path["d"]):
            values = [float(number) for number in re.findall(r"[\d.]+", numbers)]
            if command in "MQ":
                x, y = values[-2:]
            elif command == "V":
                y = values[0]
            else:
                x = values[0]
            xs.append(x)
            ys.append(y)
        found[int(arrow["data-word"])] = (min(xs), max(xs), min(ys), max(ys))
    return found


@pytest.mark.parametrize("heads", [CROSSING, PROJECTIVE])
@pytest.mark.parametrize("rtl", [False, True])
def test_an_arc_stands_above_what_it_covers(heads, rtl):
    page = Page(draw_tree(words_of(heads), rtl))
    boxes = corners(page, "across")
    assert set(boxes) == {i for i, head in enumerate(heads) if head != i}
    for word, (left, right, top, _) in boxes.items():
        for other, (other_left, other_right, other_top, _) in boxes.items():
            if word != other and left <= other_left and other_right <= right:
                assert top < other_top
            elif word != other and other_left < right and left < other_right:
                assert top != other_top  # no two run along the same line


def test_which_arcs_cross():
    assert crossing_places(words_of(PROJECTIVE)) == set()
    expected = {
        d
        for d, h in enumerate(CROSSING)
        for e, g in enumerate(CROSSING)
        if d != h and e != g and len({d, h, e, g}) == 4
        if (min(d, h) < min(e, g) < max(d, h)) != (min(d, h) < max(e, g) < max(d, h))
    }
    assert expected
    assert crossing_places(words_of(CROSSING)) == expected
    page = Page(draw_tree(words_of(CROSSING), rtl=False))
    for way in ("across", "down"):
        assert {int(arrow["data-word"]) for arrow in page.find("g", "crossing", way)} == expected
    assert f"{len(expected)} of which cross" in next(page.find("svg"))["aria-label"]
    assert "Arcs that cross" in page.text


def test_lifted_words_are_named():
    words = words_of(CROSSING)
    assert "as if" not in draw_tree(words, rtl=False)
    words[7] = replace(words[7], text="<what>", lifted_to=2)
    page = Page(draw_tree(words, rtl=False))
    assert "<what> is ordered as if it were below w2." in page.text


def test_both_forms_say_the_same():
    page = Page(draw_tree(words_of(CROSSING), rtl=False))
    for tag, kind in (("g", "arrow"), ("g", "token"), ("text", "label"), ("text", "tag"), ("path", "tip")):
        across = sorted(element["text"] for element in page.find(tag, kind, "across"))
        assert across == sorted(element["text"] for element in page.find(tag, kind, "down"))
        assert across
    rows = [float(text["y"]) for text in page.find("text", "word", "down")]
    assert rows == sorted(rows)  # a line for each word


def test_a_wide_tree_only_goes_down_and_a_small_one_across():
    assert "across" not in draw_tree(words_of([0] * 60), rtl=False)
    assert "down" not in draw_tree(words_of([0, 0]), rtl=False)
