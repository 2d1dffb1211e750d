"""How a browser shows a page."""

import json

import pytest
import spacy
from helpers.browser import OUTSIDE, require_browser
from helpers.page import DOOR, ODD
from spacy.tokens import Doc

from spacy_linearize.view import render

pytestmark = pytest.mark.slow

# Lines or arcs that can be seen. One form of each diagram is hidden.
SHOWN = "[...document.querySelectorAll('{}')].filter(e => e.getClientRects().length && e.getTotalLength() > 20).length"
IN_ITS_BOX = "svg => svg.getBoundingClientRect().width <= svg.parentNode.getBoundingClientRect().width + 1"


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


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


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_a_missing_browser_is_an_error_in_ci(monkeypatch, tmp_path, ci, outcome):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("helpers.browser.NAMES", ("chromium",))
    with pytest.raises(outcome):
        require_browser()


class TestInABrowser:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1200, 400])
    def test_as_shown(self, browser, shown, width, scheme):
        path, best = shown
        browser.open(path, width=width, scheme=scheme)
        assert browser.evaluate("document.querySelector('h1').innerText") == best.text
        assert browser.evaluate(SHOWN.format(".line")) == len(best)
        assert browser.evaluate(SHOWN.format(".arc")) == len(best) - 1
        assert browser.evaluate("[...document.querySelectorAll('.diagram svg')].every(" + IN_ITS_BOX + ")")
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
          return [...svg.querySelectorAll("text, .arc, .line")].filter(part => {
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
        assert browser.evaluate(lit) == [str(shown[1]._.linearization["order"][0])]
        assert browser.evaluate("document.querySelectorAll('.lit').length") >= 4
        browser.evaluate(word + event.format("pointerout"))
        assert browser.evaluate(lit) == []

    def test_a_click_on_an_order_shows_it(self, browser, shown):
        """Sentence, lines, tree and table change, and back again, with or without motion."""
        path, best = shown
        text = "document.querySelector('h1').innerText"
        drawn = "[...document.querySelectorAll('.line, .arc')].map(e => e.getAttribute('d')).join()"
        for motion in ("reduce", "no-preference"):
            browser.open(path, motion=motion)
            first = browser.evaluate(drawn)
            browser.click("tr[data-rank='2'] .choose")
            assert browser.evaluate(text) != best.text
            assert browser.evaluate("document.querySelectorAll('.choose[aria-pressed=true]').length") == 1
            other = browser.evaluate("new Promise(done => setTimeout(done, 600)).then(() => " + drawn + ")")
            assert other != first
            browser.click("tr[data-rank='1'] .choose")
            assert browser.evaluate(text) == best.text
            browser.wait(f"{drawn} === {json.dumps(first)}")
            assert browser.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)") == browser.evaluate(
                "[...new Set([...document.querySelectorAll('[id]')].map(e => e.id))]"
            )

    def test_the_way_to_another_order_can_be_seen(self, browser, shown):
        """Half way, words stand between their old and their new places."""
        browser.open(shown[0], motion="no-preference")
        seen = browser.evaluate("""new Promise(done => {
          const seen = [];
          const look = () => {
            seen.push([...document.querySelectorAll(".line")].map(line => line.getAttribute("d")).join());
            if (seen.length < 60) requestAnimationFrame(look); else done(seen);
          };
          look();
          show(2);
        })""")
        assert len(set(seen)) > 3

    def test_copying(self, browser, shown):
        browser.open(shown[0])
        origin = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
        browser.send("Browser.grantPermissions", **origin)
        browser.click("[data-copies=python]")
        browser.wait("/^(Copied|Selected)/.test(document.querySelector('[data-copies=python]').textContent)")

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
            assert browser.evaluate(SHOWN.format(".line")) == len(best)
        finally:
            browser.send("Emulation.setScriptExecutionDisabled", value=False)
