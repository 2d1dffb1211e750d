"""Pages as the tests read them."""

from html.parser import HTMLParser

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
