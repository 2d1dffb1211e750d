"""Damaged files, and what may come of them. Used by the tests, and in larger numbers by benchmarks/faults.py."""

import random
import zlib
from collections import Counter
from pathlib import Path

import spacy
from docs import read_docs
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from treebank import read_conllu as read_sentences

from spacy_linearize.core import store
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.settings import Settings
from spacy_linearize.corpus import give
from spacy_linearize.errors import LinearizeError
from spacy_linearize.treebanks.conllu import read_conllu
from spacy_linearize.treebanks.ptb import read_brackets

DATA = Path(__file__).parent / "data"
SMALL = {"table_bits": 6, "attach_bits": 4, "markers": (7, 8), "groups": ("next",)}
MODELS = {
    "compact": {"direction": "both", "ngram_order": 2, "experts": ("tree", "free"), "copies": 2},
    "plain": {"ngram_order": 3},
    "joint": {"system": "joint", "tags": "search"},
}

# Saves two models in turn until it is killed.
SAVER = """
import sys
from pathlib import Path
from spacy_linearize.atomic import save
path, *sources = map(Path, sys.argv[1:])
contents = [source.read_bytes() for source in sources]
print("ready", flush=True)
while True:
    for content in contents:
        save(path, content)
"""


def gold():
    """A few sentences to learn from and to decode."""
    return [s for s in read_sentences(DATA / "mini_en.conllu") if s.projective][:3]


def make_model(kind):
    """The bytes of a very small model."""
    engine = Engine(Settings(**SMALL, **MODELS[kind]))
    engine.train(gold(), epochs=2)
    if kind == "compact":
        engine.compact(0.01)
    return engine.to_bytes()


def make_component():
    """The bytes of a small component, compact and without its vocabulary, trained on the mini treebank."""
    nlp = spacy.blank("en")
    component = nlp.add_pipe("linearizer", config={"model": {"table_bits": 14, "attach_bits": 12, "copies": 2}})
    rng = random.Random(0)
    golds = read_docs(nlp.vocab)
    for epoch in range(5):
        shares = [rng.choice(((0.0, 0.0), (1.0, 0.5), (1.0, 1.0))) for _ in golds]
        examples = [Example(give(gold, *share, rng=rng), gold) for gold, share in zip(golds, shares, strict=True)]
        if epoch == 0:
            nlp.initialize(lambda examples=examples: examples)
        nlp.update(examples, drop=0.0)
    component.shim.engine.compact(0.3)
    return component.to_bytes(exclude=["vocab"])


def flipped(data, rng, first=0, last=None):
    """The same with one byte changed."""
    broken = bytearray(data)
    broken[rng.randrange(first, len(data) if last is None else last)] ^= rng.randrange(1, 256)
    return bytes(broken)


def flipped_and_sealed(model, rng):
    """A model with one byte changed, in the header or in an array, and a checksum that fits."""
    _, version, length, _ = store.PREFIX.unpack_from(model)
    end = store.PREFIX.size + length
    body = flipped(model, rng, store.PREFIX.size, end if rng.random() < 0.5 else None)[store.PREFIX.size :]
    return store.PREFIX.pack(store.SIGNATURE, version, length, zlib.crc32(body)) + body


def decodes(data, sentences):
    """Whether bytes are a model that orders words. Nothing but an error of this package may come of them."""
    try:
        engine = Engine.from_bytes(data)
    except LinearizeError:
        return False
    for s in sentences[:2]:
        for tags, heads in ((0, 0), (1, 1)):
            result = engine.order(engine.hide(s, tags=tags, heads=heads), beam_width=2)[0]
            assert sorted(result.order.tolist()) == list(range(len(s)))
    return True


def pipeline_decodes(nlp, data):
    """As `decodes`, for the bytes of the file `linearizer/model` of a pipeline."""
    component = nlp.get_pipe("linearizer")
    try:
        component.model.from_bytes(data)
        doc = component(Doc(nlp.vocab, words=["door", "the", "opened", "?", "Who"]))
    except LinearizeError:
        return False
    assert sorted(token.text for token in doc) == ["?", "Who", "door", "opened", "the"]
    return True


def component_decodes(nlp, data):
    """As `decodes`, for the bytes of a component, which are loaded into a new one with a new vocabulary."""
    new = nlp.create_pipe("linearizer")
    new.vocab = Vocab()
    try:
        doc = new.from_bytes(data)(Doc(new.vocab, words=["door", "the", "opened", "?", "Who"]))
    except LinearizeError:
        return False
    assert sorted(token.text for token in doc) == ["?", "Who", "door", "opened", "the"]
    return True


class Treebank:
    """A treebank file that is damaged again and again.

    blocks (List[Tuple[int, int]]): Where each sentence begins and ends, with the line ends after it.
    """

    def __init__(self, kind, folder):
        self.kind = kind
        self.path = folder / f"damaged.{kind}"
        self.vocab = Vocab()
        self.data = (DATA / ("mini_en.conllu" if kind == "conllu" else "mini.mrg")).read_bytes()
        start = b"\n\n#" if kind == "conllu" else b"\n("
        starts = [0] if self.data.startswith(start.strip()) else []
        at = self.data.find(start)
        while at >= 0:
            starts.append(at + len(start) - 1)
            at = self.data.find(start, at + 1)
        self.blocks = list(zip(starts, [*starts[1:], len(self.data)], strict=True))
        self.good, problems = self.read(self.data)
        assert len(self.good) == len(self.blocks)
        assert not problems

    def read(self, data):
        """The sentences that can be read, and the lines and messages of those that cannot."""
        self.path.write_bytes(data)
        problems = []

        def report(path, line, message):
            assert path == self.path
            assert 1 <= line <= data.count(b"\n") + 1
            assert message
            problems.append((line, message))

        read = read_conllu if self.kind == "conllu" else read_brackets
        docs = read(self.path, self.vocab, report=report)
        return [tuple((t.text, t.tag_, t.dep_, t.head.i) for t in doc) for doc in docs], problems

    def damage(self, rng):
        """Put something else, or nothing, in the place of a few bytes: where they begin and end, and what is there."""
        start = rng.randrange(len(self.data))
        how = rng.choice(("flip", "flip", "flip", "NUL", "not UTF-8", "garbage", "cut out", "long"))
        end = start + (rng.randint(1, 20) if how == "cut out" else 1)
        new = {
            "flip": bytes([self.data[start] ^ rng.randrange(1, 256)]),
            "NUL": bytes(rng.randint(1, 3)),
            "not UTF-8": rng.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80")),
            "garbage": rng.randbytes(rng.randint(1, 60)),
            "cut out": b"",
            "long": rng.choice((b"x", b"\t", b" ", b"9")) * 50_000,
        }[how]
        return start, min(end, len(self.data)), new

    def check(self, start, end, new):
        """Read the file with some bytes replaced: the sentences that these do not touch are all there."""
        docs, problems = self.read(self.data[:start] + new + self.data[end:])
        missing = Counter(self.good) - Counter(docs)
        touched = Counter()
        for sentence, (first, last) in zip(self.good, self.blocks, strict=True):
            # With the line ends before it go the bounds of a sentence; its first byte may close the one before.
            if start < last + 1 and end > first - 2:
                touched[sentence] += 1
        assert not missing - touched, (start, end, new[:100])
        return len(docs), len(problems)


def garbage(rng):
    """A file of nothing in particular, with the characters that matter to the readers."""
    pieces = (b"(", b")", b"\n", b"\n\n", b"\t", b"_", b"1", b"2-3", b"1.1", b"#", b" ", b"NP", b"\x00", b"\xff", b"\r")
    rows = (b"1\ta\ta\tX\tY\t_\t0\troot\t_\t_\n", b"(S (NN a))\n")
    return b"".join(
        rng.choice(rows) if rng.random() < 0.1 else rng.choice(pieces) if rng.random() < 0.8 else rng.randbytes(3)
        for _ in range(rng.randint(0, 200))
    )


def rng_for(*what):
    return random.Random(" ".join(map(str, what)))
