"""The pages of `spacy linearize view`: their content, their files, and how a browser shows them."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import spacy
from browser import Browser, find_browser
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_linearize.cli import app
from spacy_linearize.errors import LinearizeError
from spacy_linearize.view import page, render

DATA = Path(__file__).parent / "data"
DOOR = ["door", "the", "opened", "?", "Who"]
ODD = ["<script>alert(1)</script>", "&", '"a"', "it's", "🦊", "naïve", "שלום", "日本語", "&amp;", "$body", "x" * 300]
VOID = {"meta", "link"}


class Page(HTMLParser):
    """What is on a page: elements with the text in them, and all attributes. Refuses elements that do not match."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.text = [], [], ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append({"tag": tag, "text": "", **dict(attrs)})
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append({"tag": tag, "text": "", **dict(attrs)})

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        if self.open and self.open[-1]["tag"] in ("script", "style"):
            return
        self.text += data
        for element in self.open:
            element["text"] += data

    def find(self, tag=None, kind=None):
        for element in self.elements:
            if tag in (None, element["tag"]) and (kind is None or kind in (element.get("class") or "").split()):
                yield element


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
    scores = [float(cell["text"]) for cell in found.find("td", "score")]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    sentences = list(found.find("td", "sentence"))
    assert sentences[0]["text"] == "Who opened the door?"
    assert len({cell["text"] for cell in sentences}) == 4
    assert len(list(found.find("mark"))) >= 3
    assert all(mark["text"] == mark["text"].strip() != "" for mark in found.find("mark"))


def test_one_order_and_one_word(show):
    found = show(["dog"], n_best=3)
    assert len(list(found.find("path", "line"))) == len(list(found.find("td", "score"))) == 1
    assert not list(found.find("mark"))


def test_given_is_told_from_predicted(show):
    deps = ["dep", "det", "", "", ""]
    found = show(tags=["NN", "", "", "", ""], heads=[2, 0, None, None, None], deps=deps)
    given = [span["text"].removesuffix("given") for span in found.find("span", "given")]
    assert given == ["door", "det", "NN", "opened"]  # of "the" head and label, of "door" tag and head
    assert len(list(found.find("span", "predicted"))) == 15 - 4
    arrows = list(found.find("g", "displacy-arrow"))
    assert len(arrows) == 4
    assert sum("given" in arrow["class"].split() for arrow in arrows) == 2
    assert sum("given-label" in arrow["class"].split() for arrow in arrows) == 1
    assert sum("given-tag" in text["class"].split() for text in found.find("text", "displacy-token")) == 1
    chips = [li["text"] for li in found.find("li") if "data-word" in li]
    assert chips[:3] == ["door1NN · below opened", "the2det of door", "opened3"]


def test_a_given_root(show):
    found = show(["dog", "sleeps"], heads=[1, 1], deps=["nsubj", "ROOT"])
    assert len(list(found.find("span", "given"))) == 4
    assert [text["text"].split()[0] for text in found.find("text", "root")] == ["sleeps"]


def test_without_a_tree(nlp):
    source = Doc(nlp.vocab, words=DOOR)
    component = nlp.get_pipe("linearizer")
    component.tree = False
    try:
        found = Page(render(component.alternatives(source, 2), source))
    finally:
        component.tree = True
    assert not list(found.find("g", "displacy-arrow"))
    assert len(list(found.find("text", "displacy-token"))) == 5


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
    tree = [text["text"].split()[0] for text in found.find("text", "displacy-token")]
    assert "".join(tree[::-1]) == h1["text"].replace(" ", "")


def test_nothing_comes_from_elsewhere(show):
    found = show(["http://example.com/x.js", "dog"])
    addresses = [value for e in found.elements for key, value in e.items() if key in ("src", "href", "xlink:href")]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    template = page("", "")
    assert not re.search(r"url\(|@import|https?:|//[a-z]+\.", template)
    assert "default-src 'none'" in template


def test_can_be_read_by_all(show):
    found = show()
    assert next(found.find("html"))["lang"] == "en"
    headings = [element["tag"] for element in found.elements if element["tag"] in ("h1", "h2")]
    assert headings == ["h1", *["h2"] * 5]
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


class TestCommand:
    @pytest.fixture
    def view(self, trained_path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

        def run_view(*arguments, stdin=None):
            command = ["view", "--model", trained_path, *arguments]
            result = CliRunner().invoke(app, [str(argument) for argument in command], input=stdin)
            assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
            assert result.stdout == ""
            return result.exit_code, result.stderr

        return run_view

    def test_words(self, view):
        assert view(*DOOR) == (0, "✔ 1 page to linearization.html\n")
        found = Page(Path("linearization.html").read_text(encoding="utf8"))
        assert next(found.find("h1"))["text"] == "Who opened the door?"
        assert len(list(found.find("td", "score"))) == 5

    @pytest.mark.filterwarnings("ignore:.*SL058")
    def test_one_bag_in_a_file(self, view, tmp_path):
        output = tmp_path / "new" / "page.html"
        assert view("-i", DATA / "unordered.conllu", "-o", output, "--n-best", 2, "--beam", 4)[0] == 0
        found = Page(output.read_text(encoding="utf8"))
        assert len(list(found.find("path", "line"))) == 15
        assert len(list(found.find("td", "score"))) == 2
        assert [path.name for path in output.parent.iterdir()] == ["page.html"]

    def test_several_bags_become_a_folder(self, view, tmp_path):
        bags = "door the opened ? Who\n\nsleeps The . dog\n"
        assert view("-o", "pages", stdin=bags) == (0, f"✔ 2 pages to {Path('pages', 'index.html')}\n")
        assert {path.name for path in Path("pages").iterdir()} == {"1.html", "3.html", "index.html"}
        index = Page(Path("pages", "index.html").read_text(encoding="utf8"))
        links = {link["href"]: link["text"] for link in index.find("a")}
        assert links == {"1.html": "Who opened the door?", "3.html": "The dog sleeps."}
        (tmp_path / "bags.txt").write_text(bags)
        assert view("-i", "bags.txt")[0] == 0
        assert Path("linearization", "3.html").exists()

    def test_spacy_file_into_a_folder_that_is_there(self, view, nlp):
        DocBin(docs=[Doc(nlp.vocab, words=DOOR)]).to_disk("one.spacy")
        Path("there").mkdir()
        assert view("-i", "one.spacy", "-o", "there") == (0, f"✔ 1 page to {Path('there', 'index.html')}\n")
        assert {path.name for path in Path("there").iterdir()} == {"1.html", "index.html"}

    def test_a_bad_bag_is_reported_and_skipped(self, view):
        Path("in.txt").write_bytes(b"dog\n\xff\xfe\ncat\n")
        code, err = view("-i", "in.txt", "-o", "pages")
        assert code == 1
        problem, written = err.splitlines()
        assert problem.startswith("✘ 2: [SL182] in.txt is not UTF-8 text.")
        assert written == f"✔ 2 pages to {Path('pages', 'index.html')}"
        Path("bad.txt").write_bytes(b"\xff\xfe\n")
        code, err = view("-i", "bad.txt")
        assert (code, err.count("\n")) == (1, 1)
        assert err.startswith("✘ 1: [SL182] bad.txt is not UTF-8 text.")
        assert not Path("linearization.html").exists()

    def test_mistakes_are_one_line(self, view):
        for message, arguments, stdin in (
            ("[SL070] There are no words to show", [], "\n\n"),
            ("[SL073] There are several bags, but x.html is", ["-o", "x.html"], "dog\ncat\n"),
            ("[SL022] Setting 'nbest' is 0", ["dog", "--n-best", "0"], None),
            ("[SL022] Setting 'beam' is 0", ["dog", "--beam", "0"], None),
            ("[SL022] Setting 'input' is", ["dog", "-i", "x.txt"], None),
            ("No such file", ["-i", "nothing.txt"], None),
        ):
            code, err = view(*arguments, stdin=stdin)
            assert (code, err.count("\n")) == (1, 1)
            assert message in err
        assert not list(Path().glob("*.html"))

    def test_no_half_page(self, view, monkeypatch):
        """If a page cannot be written, the one before stays, and nothing is left beside it."""
        Path("page.html").write_text("before")
        monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
        assert view("dog", "-o", "page.html") == (1, "✘ the disk is full\n")
        assert Path("page.html").read_text() == "before"
        assert [path.name for path in Path().iterdir()] == ["page.html"]


# Elements that stick out of the window at a side, but for those in boxes that scroll.
OUTSIDE = """[...document.querySelectorAll("body *")].filter(e => !e.parentElement.closest(".scroll")).filter(e => {
  const box = e.getBoundingClientRect(); return box.width && (box.left < -1 || box.right > innerWidth + 1);
}).map(e => e.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if sys.platform == "win32":
        pytest.skip("the browser is driven through pipes that Windows does not have")
    if not (program := find_browser()):
        pytest.skip("no Chromium or Chrome is on the PATH")
    browser = Browser(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module", params=["door", "odd", "clock"])
def shown(request, nlp, tmp_path_factory):
    """The file of a page, and the best order on it."""
    words = {
        "door": DOOR,
        "odd": [*ODD, "y" * 100],
        "clock": [
            "clock",
            "in",
            "it",
            "hears",
            ".",
            "old",
            "strikes",
            "every",
            "The",
            "hour",
            "but",
            "hall",
            "nobody",
        ],
    }[request.param]
    source = Doc(nlp.vocab, words=words)
    alternatives = nlp.get_pipe("linearizer").alternatives(source, 5)
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(render(alternatives, source), encoding="utf8")
    return path, alternatives[0]


class TestInABrowser:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1200, 400])
    def test_as_shown(self, browser, shown, width, scheme):
        path, best = shown
        browser.open(path, width=width, scheme=scheme)
        assert browser.evaluate("document.querySelector('h1').innerText") == best.text
        lines = "[...document.querySelectorAll('path.line')].filter(line => line.getTotalLength() > 100).length"
        assert browser.evaluate(lines) == len(best)
        arcs = "[...document.querySelectorAll('.displacy-arc')].filter(arc => arc.getBBox().width > 20).length"
        assert browser.evaluate(arcs) == len(best) - 1
        assert browser.evaluate(OUTSIDE) == []
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
        dark = browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 22, 27)"
        assert dark == (scheme == "dark")
        assert browser.requests() == []
        assert browser.complaints() == []
        assert browser.screenshot().startswith(b"\x89PNG")

    def test_words_and_arcs_are_inside_of_their_diagrams(self, browser, shown):
        browser.open(shown[0])
        outside = """[...document.querySelectorAll("svg")].flatMap(svg => {
          const box = svg.viewBox.baseVal;
          return [...svg.querySelectorAll("text, .displacy-arc, .line")].filter(part => {
            const at = part.getBBox();
            return at.x < box.x - 1 || at.y < box.y - 1 || at.x + at.width > box.x + box.width + 1
              || at.y + at.height > box.y + box.height + 1;
          }).map(part => part.outerHTML);
        })"""
        assert browser.evaluate(outside) == []

    def test_pointing_at_a_word_lights_it_up(self, browser, shown):
        browser.open(shown[0])
        event = 'dispatchEvent(new PointerEvent("{}", {{bubbles: true}}))'
        word = "document.querySelector('h1 [data-word]')."
        lit = "[...new Set([...document.querySelectorAll('.lit')].map(e => e.dataset.word))]"
        browser.evaluate(word + event.format("pointerover"))
        assert browser.evaluate(lit) == ["1"]
        assert browser.evaluate("document.querySelectorAll('.lit').length") >= 4
        browser.evaluate(word + event.format("pointerout"))
        assert browser.evaluate(lit) == []

    def test_on_paper(self, browser, shown):
        """Nothing can scroll there: the diagrams shrink to the width of the paper, and nothing is closed."""
        browser.open(shown[0], width=700, media="print")
        fits = "[...document.querySelectorAll('svg')].every(svg => svg.getBoundingClientRect().right <= innerWidth + 1)"
        assert browser.evaluate(fits)
        assert browser.pdf().startswith(b"%PDF")
        assert browser.evaluate("[...document.querySelectorAll('details')].every(part => part.open)")

    def test_without_a_script(self, browser, shown):
        """Everything is there to be read; only nothing lights up."""
        path, best = shown
        browser.send("Emulation.setScriptExecutionDisabled", value=True)
        try:
            browser.open(path)
            assert browser.evaluate("document.querySelector('h1').innerText") == best.text
            assert browser.evaluate("document.querySelectorAll('path.line').length") == len(best)
        finally:
            browser.send("Emulation.setScriptExecutionDisabled", value=False)
