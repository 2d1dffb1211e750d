"""spacy linearize view"""

from pathlib import Path

import pytest
import spacy
from helpers.commands import run
from helpers.page import DOOR, Page
from spacy.tokens import Doc, DocBin

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


class TestCommand:
    @pytest.fixture
    def view(self, trained_path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

        def run_view(*arguments, stdin=None):
            code, out, err = run("view", "--model", trained_path, *arguments, stdin=stdin)
            assert out == ""
            return code, err

        return run_view

    def test_words(self, view):
        assert view(*DOOR) == (0, "✔ 1 page to linearization.html\n")
        found = Page(Path("linearization.html").read_text(encoding="utf8"))
        assert next(found.find("h1"))["text"] == "Who opened the door?"
        assert len(list(found.find("span", "score"))) == 5

    def test_a_page_without_a_suffix_gets_one(self, view):
        assert view(*DOOR, "-o", "simple") == (0, "✔ 1 page to simple.html\n")
        assert [path.name for path in Path().iterdir()] == ["simple.html"]

    @pytest.mark.filterwarnings("ignore:.*SL058")
    def test_one_bag_in_a_file(self, view, tmp_path):
        output = tmp_path / "new" / "page.html"
        assert view("-i", DATA / "unordered.conllu", "-o", output, "--n-best", 2, "--beam", 4)[0] == 0
        found = Page(output.read_text(encoding="utf8"))
        assert len(list(found.find("path", "line"))) == 15
        assert len(list(found.find("span", "score"))) == 2
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
