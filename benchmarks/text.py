"""How often the words of a sentence, in their own order, become its own text again: contractions and spaces.

    python benchmarks/text.py ../shared/data/ud ../shared/data/ud_english_ewt --json text.json

Each argument is a folder with train.conllu and dev.conllu, or a folder of such folders. What a text looks like is
learned from the first, and what becomes of the words and tags of the second is compared with the comment "# text".
Sentences without one are left out; what kind of space it is does not count.

    apart       single spaces between all words
    words       spaces are learned, but multiword tokens are not contracted
    text        all of it
    truecase    all of it, with the first word in lower case, and truecase on
"""

import argparse
import json
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_linearize.doc.contraction import Contractions
from spacy_linearize.doc.surface import Surface, Written, read_written, surface_text
from spacy_linearize.doc.write import _set_ranges
from spacy_linearize.files.conllu import read_conllu

LANGUAGES = {"Chinese": "zh"}  # one that is written without spaces, and needs nothing installed


def folders(path: Path) -> list[Path]:
    return [path] if (path / "train.conllu").exists() else sorted(p.parent for p in path.glob("*/train.conllu"))


def ignore(path: Path, line: int, message: str) -> None:
    """Sentences that cannot be read are left out."""


def plain(text: str) -> str:
    return " ".join(text.split())


def written_text(doc: Doc, written: Written) -> str:
    words = written.words or [token.text for token in doc]
    new = Doc(doc.vocab, words=words, spaces=written.spaces)
    _set_ranges(new, written.ranges)
    return plain(surface_text(new))


def read(path: Path, nlp: Language, tag: str) -> list[Doc]:
    return list(read_conllu(path, nlp.vocab, tag=tag, report=ignore))


def columns(doc: Doc) -> list[Any]:
    return [doc.to_array(name) for name in ("ORTH", "SHAPE", "TAG")]


def measure(folder: Path, n_shown: int, tag: str) -> dict[str, object]:
    nlp = spacy.blank(LANGUAGES.get(folder.name.partition("-")[0], "xx"))
    train, dev = (read(folder / f"{part}.conllu", nlp, tag) for part in ("train", "dev"))
    surface = Surface(joins=not nlp.vocab.writing_system.get("has_letters", True))
    surface.learn(map(read_written, train))
    without = Surface.from_dict({**surface.to_dict(), "contractions": Contractions().to_dict()})
    dev = [doc for doc in dev if "text" in doc.user_data]
    same = {"apart": 0, "words": 0, "text": 0, "truecase": 0}
    for doc in dev:
        gold, words = plain(doc.user_data["text"]), [token.text for token in doc]
        found = written_text(doc, surface.write(*columns(doc), nlp.vocab.strings))
        small = Doc(nlp.vocab, words=[words[0].lower(), *words[1:]], tags=[token.tag_ for token in doc])
        same["apart"] += " ".join(words) == gold
        same["words"] += written_text(doc, without.write(*columns(doc), nlp.vocab.strings)) == gold
        same["text"] += found == gold
        same["truecase"] += (
            written_text(small, surface.write(*columns(small), nlp.vocab.strings, truecase=True)) == gold
        )
        if found != gold and n_shown:
            n_shown -= 1
            print(f"  {gold}\n  {found}\n")
    n_ranges = sum(len(doc.user_data.get(("._.", "linearize_ranges", None, None), ())) for doc in train)
    shares = {key: round(100 * n / len(dev), 1) if dev else None for key, n in same.items()}
    return {"sentences": len(dev), "multiword tokens in training": n_ranges, **shares}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=0, help="show so many texts that differ")
    parser.add_argument("--tag", default="xpos", choices=("xpos", "upos"), help="the column with the tags")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = {}
    for folder in [folder for path in options.paths for folder in folders(path)]:
        results[folder.name] = found = measure(folder, options.show, options.tag)
        print(folder.name, found, flush=True)
    if not results:
        print("No treebanks there.")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
