"""The picture of the playground, made by the bundled pipeline and a Chromium or Chrome: python docs/screenshot.py"""

import base64
import sys
import tempfile
from pathlib import Path

import spacy_linearize

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.browser import Browser, require_browser
from helpers.server import running

PATH = Path(__file__).with_name("playground.png")
BAG = '{ words: ["the", "telescope", ".", "boy", "She", "a", "saw", "with"], precedences: [[1, 3]] }'
WIDTH, HEIGHT = 1240, 960


def main():
    with tempfile.TemporaryDirectory() as folder, running(spacy_linearize.load(), model="en_ud") as server:
        browser = Browser(require_browser(), folder)
        try:
            browser.send("Emulation.setScrollbarsHidden", hidden=True)
            browser.open(server.address + "/", width=WIDTH, height=HEIGHT)
            browser.evaluate(f"ask({BAG}).then(() => setHead(1, 6, 'obj')).then(() => null)")
            browser.wait("hasHead(1) && !document.body.hasAttribute('aria-busy')")
            browser.evaluate("document.activeElement.blur()")
            PATH.write_bytes(base64.b64decode(browser.send("Page.captureScreenshot")["data"]))
        finally:
            browser.close()


if __name__ == "__main__":
    main()
