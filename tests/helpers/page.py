"""Pages as the tests read them."""

from html.parser import HTMLParser

DOOR = ["door", "the", "opened", "?", "Who"]
ODD = ["<script>alert(1)</script>", "&", '"a"', "it's", "🦊", "naïve", "שלום", "日本語", "&amp;", "$body", "x" * 300]
VOID = {"meta", "link", "input"}


class Page(HTMLParser):
    """What is on a page: elements with the text in them, and all attributes. Refuses elements that do not match. What
    is in a template, for a script, is in `kept` instead. Of elements in a diagram, "way" says in which form of it."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.kept, self.text = [], [], [], ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        element = self.add(tag, attrs)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.add(tag, attrs)

    def add(self, tag, attrs):
        element = {"tag": tag, "text": "", **dict(attrs)}
        drawing = next((one["class"].split() for one in self.open if one["tag"] == "svg"), [])
        element["way"] = "down" if "down" in drawing else "across"
        (self.kept if any(one["tag"] == "template" for one in self.open) else self.elements).append(element)
        return element

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        if self.open and self.open[-1]["tag"] in ("script", "style"):
            return
        if not any(one["tag"] == "template" for one in self.open):
            self.text += data
        for element in self.open:
            element["text"] += data

    def find(self, tag=None, kind=None, way="across"):
        for element in self.elements:
            kinds = (element.get("class") or "").split()
            if tag in (None, element["tag"]) and element["way"] == way and (kind is None or kind in kinds):
                yield element
