"""What the benchmarks share: pipelines, gold sentences, and bags with a part of them given."""

import random
from pathlib import Path

import numpy as np
import spacy
from spacy.lang.en import English
from spacy.language import Language
from spacy.strings import get_string_id
from spacy.vocab import create_vocab

import spacy_linearize
from spacy_linearize.bundled import DEFAULT, bundled_names
from spacy_linearize.core.records import Bag
from spacy_linearize.trees import FREE, ROOT


def load_pipeline(name: str | None) -> Language:
    """A bundled pipeline by its name, or any other; by default the one for Universal Dependencies."""
    return spacy_linearize.load(name or DEFAULT) if name in (None, *bundled_names()) else spacy.load(name)


def hide(sentence: Bag, *, tags: float, heads: float, rng: random.Random) -> Bag:
    """The bag of a gold sentence, with a random share of its tags and of its labelled arcs given."""
    keep_tag = [rng.random() < tags for _ in range(len(sentence))]
    keep_head = [rng.random() < heads for _ in range(len(sentence))]
    return Bag(
        forms=sentence.forms,
        tags=np.where(keep_tag, sentence.column("tags"), np.uint64(0)),
        heads=np.where(keep_head, sentence.column("heads"), FREE),
        labels=np.where(keep_head, sentence.column("labels"), np.uint64(0)),
        lowers=sentence.lowers,
        suffixes=sentence.suffixes,
        shapes=sentence.shapes,
        puncts=sentence.puncts,
    )


def read_sentences(path: Path) -> list[Bag]:
    """The sentences of a CoNLL-U file, with the attributes that spaCy gives to their words."""
    vocab = create_vocab("en", English.Defaults)
    sentences = []
    for block in path.read_text(encoding="utf8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        rows = [row for row in rows if row[0].isdigit()]
        words = [row[1] for row in rows]
        lexemes = [vocab[word] for word in words]
        sentences.append(
            Bag(
                forms=[lexeme.orth for lexeme in lexemes],
                tags=[get_string_id(row[4]) for row in rows],
                heads=[int(row[6]) - 1 if row[6] != "0" else ROOT for row in rows],
                labels=[get_string_id(row[7]) for row in rows],
                lowers=[lexeme.lower for lexeme in lexemes],
                suffixes=[lexeme.suffix for lexeme in lexemes],
                shapes=[lexeme.shape for lexeme in lexemes],
                puncts=[lexeme.is_punct * (2 if "?" in lexeme.text else 1) for lexeme in lexemes],
                texts=words,
            )
        )
    return sentences
