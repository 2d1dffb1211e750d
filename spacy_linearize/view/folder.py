"""Pages into files: one page for one bag, or a folder of pages with an index."""

from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc

from ..atomic import save
from ..errors import error
from .markup import esc, shorten, spoken
from .page import frame, render

DEFAULT = Path("linearization.html")


class Page(NamedTuple):
    """The page of one bag.

    html (str): The page.
    text, attributes (str): What an index says of it, as HTML, and the attributes of an element with this text.
    """

    html: str
    text: str
    attributes: str


def make_page(alternatives: list[Doc], source: Doc, model: str | None = None) -> Page:
    """The page of a bag. See `render`."""
    html = render(alternatives, source, model=model)
    best = alternatives[0]
    return Page(html, esc(shorten(best.text, 300)), spoken(best))


class Pages:
    """Writes the pages of bags, each atomically.

    path (Optional[Path]): The file of one page, or the folder of several. `linearization.html` or `linearization` if
        there is none. A folder that exists takes one page, too. A file without a suffix gets one.
    several (bool): Whether there are several bags.
    """

    def __init__(self, path: Path | None, several: bool) -> None:
        self.path = path or (DEFAULT.with_suffix("") if several else DEFAULT)
        self.in_folder = several or self.path.is_dir()
        if not self.in_folder and not self.path.suffix:
            self.path = self.path.with_name(f"{self.path.name}{DEFAULT.suffix}")
        self.items: list[str] = []
        if several and (self.path.is_file() or self.path.suffix.lower() in (".html", ".htm")):
            raise error("SL073", path=self.path)

    @property
    def old(self) -> list[Path]:
        """The files that are there already and may be written over."""
        return list(self.path.glob("*.html")) if self.in_folder else [self.path]

    def write(self, number: int, page: Page) -> None:
        """Write the page of one bag."""
        name = f"{number}.html"
        path = self.path / name if self.in_folder else self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        save(path, page.html.encode("utf8"))
        self.items.append(f'<li value="{number}"><a href="{name}" {page.attributes}>{page.text}</a></li>')

    def close(self) -> None:
        """Write the index, if there is something to list."""
        if self.in_folder and self.items:
            title = f"{len(self.items)} {'bag' if len(self.items) == 1 else 'bags'} of words, ordered"
            body = f'<header><h1>{title}</h1></header>\n<section><ol class="pages">{"".join(self.items)}</ol></section>'
            save(self.path / "index.html", frame(title, body).encode("utf8"))

    @property
    def written(self) -> str:
        """What was written, in words."""
        count = "1 page" if len(self.items) == 1 else f"{len(self.items)} pages"
        return f"{count} to {self.path / 'index.html' if self.in_folder else self.path}"
