"""The pages of `spacy linearize view`: their content, their files, and how a browser shows them."""

import base64
import copy
import hashlib
import re

import pytest
import spacy
from helpers.page import DOOR, ODD, Page
from spacy.tokens import Doc, Span

from spacy_linearize.errors import LinearizeError
from spacy_linearize.view.page import frame, render


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


@pytest.fixture(scope="module")
def show(nlp):
    def show_bag(words=DOOR, n_best=5, nlp=nlp, **given):
        source = Doc(nlp.vocab, words=words, **given)
        return Page(render(nlp.get_pipe("linearizer").alternatives(source, n_best), source))

    return show_bag


def test_a_page_shows_the_bag_and_the_sentence(show):
    found = show()
    assert [h1["text"] for h1 in found.find("h1")] == ["Who opened the door?"]
    assert [title["text"] for title in found.find("title")] == ["Who opened the door?"]
    chips = [li["text"] for li in found.find("li") if "data-word" in li]
    assert chips == ["door1", "the2", "opened3", "?4", "Who5"]
    assert "Nothing was given but the words." in found.text


def test_lines_join_the_places_of_a_word(show):
    found = show()
    lines = [re.findall(r"[\d.]+", path["d"]) for path in found.find("path", "line")]
    assert len(lines) == 5
    assert [float(line[-2]) for line in lines] == sorted(float(line[-2]) for line in lines)  # in order of the sentence
    starts = sorted(float(line[0]) for line in lines)
    assert [starts.index(float(line[0])) for line in lines] == [4, 2, 1, 0, 3]  # the places in the bag


def test_scores_are_sorted_and_differences_marked(show):
    found = show(n_best=4)
    scores = [float(cell["text"]) for cell in found.find("span", "score")]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    sentences = list(found.find("td", "sentence"))
    assert sentences[0]["text"] == "Who opened the door?"
    assert len({cell["text"] for cell in sentences}) == 4
    assert len(list(found.find("mark"))) >= 3
    assert all(mark["text"] == mark["text"].strip() != "" for mark in found.find("mark"))


def test_one_order_and_one_word(show):
    found = show(["dog"], n_best=3)
    assert len(list(found.find("path", "line"))) == len(list(found.find("span", "score"))) == 1
    assert not list(found.find("mark"))


def test_given_is_told_from_predicted(show):
    deps = ["dep", "det", "", "", ""]
    found = show(tags=["NN", "", "", "", ""], heads=[2, 0, None, None, None], deps=deps)
    given = [span["text"].removesuffix("given") for span in found.find("span", "given")]
    assert given == ["door", "det", "NN", "opened"]  # of "the" head and label, of "door" tag and head
    assert len(list(found.find("span", "predicted"))) == 15 - 4
    arrows = list(found.find("g", "arrow"))
    assert len(arrows) == 4
    assert sum("given" in arrow["class"].split() for arrow in arrows) == 2
    assert sum("given-label" in arrow["class"].split() for arrow in arrows) == 1
    assert sum("given-tag" in text["class"].split() for text in found.find("g", "token")) == 1
    chips = [li["text"] for li in found.find("li") if "data-word" in li]
    assert chips[:3] == ["door1NN · below opened", "the2det of door", "opened3"]


def test_what_was_asked_for(nlp):
    source = Doc(nlp.vocab, words=DOOR)
    source._.linearize_first, source._.linearize_before = 4, [(2, 0)]
    source.spans["linearize_units"] = [Span(source, 1, 3)]
    html = render(nlp.get_pipe("linearizer").alternatives(source, 2), source)
    found = Page(html)
    (asked,) = found.find("ul", "asked")
    assert asked["text"] == "Who comes firstopened before doorthe opened together"
    assert [li["text"] for li in found.find("li", "unit")] == ["the2", "opened3"]
    assert not list(found.find("button", "tile"))  # nobody would answer
    assert not [button for button in found.find("button") if "data-remove" in button]


def test_the_other_orders_are_kept_for_the_script(nlp):
    source = Doc(nlp.vocab, words=DOOR)
    orders = nlp.get_pipe("linearizer").alternatives(source, 3)
    found = Page(render(orders, source))
    assert [element["text"] for element in found.kept if element["tag"] == "h1"] == [doc.text for doc in orders[1:]]
    shown = {element["id"] for element in found.elements if "id" in element}
    assert {element["id"] for element in found.kept if "id" in element} <= shown


def test_only_its_own_script_runs(show, nlp):
    source = Doc(nlp.vocab, words=DOOR)
    html = render(nlp.get_pipe("linearizer").alternatives(source, 1), source)
    script = html.partition("<script>")[2].rpartition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode("utf8")).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in html


def test_a_given_root(show):
    found = show(["dog", "sleeps"], heads=[1, 1], deps=["nsubj", "ROOT"])
    assert len(list(found.find("span", "given"))) == 4
    assert [group["text"].startswith("sleeps") for group in found.find("g", "root")] == [True]


def test_without_a_tree(nlp):
    source = Doc(nlp.vocab, words=DOOR)
    component = copy.copy(nlp.get_pipe("linearizer"))
    component.tree = False
    found = Page(render(component.alternatives(source, 2), source))
    assert not list(found.find("g", "arrow"))
    assert len(list(found.find("g", "token"))) == 5


@pytest.mark.filterwarnings("ignore:.*SL058")
def test_everything_is_escaped(show):
    """Words, tags and labels of all kinds come out as they went in, and none becomes a part of the page."""
    n = len(ODD)
    found = show(ODD, tags=["<b>&"] * n, heads=[0] * n, deps=["ROOT", *['"<i>'] * (n - 1)])
    (h1,) = found.find("h1")
    assert all(word in h1["text"] for word in ODD)
    for word in ODD:
        assert any(element["text"] == word for element in found.find("bdi")), word
    assert len(list(found.find("script"))) == 1
    assert not [element for element in found.elements if element["tag"] in ("b", "i")]
    assert any(span["text"] == "<b>&given" for span in found.find("span", "given"))
    assert any(span["text"] == '"<i>given' for span in found.find("span", "given"))
    assert len(list(found.find("path", "line"))) == n
    assert not any(len(text["text"].split()[0]) > 22 for text in found.find("text") if text["text"].strip())


def test_right_to_left(show, nlp):
    """Everything with words in it starts at the right, the diagrams too."""
    hebrew = spacy.blank("he")
    hebrew.add_pipe("linearizer", source=nlp)
    found = show(["הכלב", "ישן", "."], nlp=hebrew, heads=[1, 1, 1], deps=["nsubj", "ROOT", "punct"])
    (h1,) = found.find("h1")
    assert (h1["lang"], h1["dir"]) == ("he", "rtl")
    ends = [float(re.findall(r"[\d.]+", path["d"])[-2]) for path in found.find("path", "line")]
    assert ends == sorted(ends, reverse=True)
    tree = [text["text"] for text in found.find("text", "word")]
    assert "".join(tree[::-1]) == h1["text"].replace(" ", "")


def test_nothing_comes_from_elsewhere(show):
    found = show(["http://example.com/x.js", "dog"])
    addresses = [value for e in found.elements for key, value in e.items() if key in ("src", "href", "xlink:href")]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    template = frame("", "")
    assert not re.search(r"url\(|@import|https?:|//[a-z]+\.", template)
    assert "default-src 'none'" in template


def test_can_be_read_by_all(show):
    found = show()
    assert next(found.find("html"))["lang"] == "en"
    headings = [element["tag"] for element in found.elements if element["tag"] in ("h1", "h2")]
    assert headings == ["h1", *["h2"] * 6]
    for svg in found.find("svg"):
        assert svg["role"] == "img"
        assert svg["aria-label"]
    assert all(th["scope"] in ("row", "col") for th in found.find("th"))
    assert all(box["tabindex"] == "0" and box["aria-label"] for box in found.find("div", "scroll"))
    ids = [element["id"] for element in found.elements if "id" in element]
    assert len(set(ids)) == len(ids)


def test_the_same_page_each_time(nlp):
    source = Doc(nlp.vocab, words=DOOR)
    alternatives = nlp.get_pipe("linearizer").alternatives(source, 3)
    assert render(alternatives, source) == render(alternatives, source)


def test_docs_that_do_not_fit(nlp):
    source, other = Doc(nlp.vocab, words=DOOR), Doc(nlp.vocab, words=["dog"])
    alternatives = nlp.get_pipe("linearizer").alternatives(source, 1)
    for docs, bag, code in (
        ([], source, "SL071"),
        ([Doc(nlp.vocab)], Doc(nlp.vocab), "SL071"),
        (alternatives, other, "SL072"),
        ([source], source, "SL072"),
    ):
        with pytest.raises(LinearizeError, match=code):
            render(docs, bag)
