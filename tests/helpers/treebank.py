"""The mini treebank as gold sentences of the core."""

from pathlib import Path

from spacy_linearize.core.hashing import hash_text
from spacy_linearize.core.records import Bag
from spacy_linearize.trees import ROOT

from . import brute


def shape(text):
    return "".join("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in text)[:5]


def is_projective(sentence):
    return brute.is_projective(sentence.column("heads").tolist())


def read_conllu(path: Path) -> list[Bag]:
    sentences = []
    for block in path.read_text(encoding="utf8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        rows = [row for row in rows if row[0].isdigit()]
        words = [row[1] for row in rows]
        sentences.append(
            Bag(
                forms=[hash_text(word) for word in words],
                tags=[hash_text(row[4]) for row in rows],
                heads=[int(row[6]) - 1 if row[6] != "0" else ROOT for row in rows],
                labels=[hash_text(row[7]) for row in rows],
                lowers=[hash_text(word.lower()) for word in words],
                suffixes=[hash_text(word[-3:]) for word in words],
                shapes=[hash_text(shape(word)) for word in words],
                puncts=[(row[3] == "PUNCT") * (2 if "?" in row[1] else 1) for row in rows],
                texts=words,
            )
        )
    return sentences
