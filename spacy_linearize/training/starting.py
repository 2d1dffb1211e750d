"""A config to start from, for a language and a corpus."""

from pathlib import Path

import spacy
from spacy.language import Language
from spacy.util import load_model_from_config
from thinc.api import Config

from ..errors import error
from .corpus import Corpus

PASSES, BATCH = 32, 512
STEPS = (100, 4000)  # the least and the most
PLAIN = {"@tokenizers": "spacy.Tokenizer.v1"}
MARKERS = ("case", "mark", "prep")  # labels of words that mark the constituent of their head
TEMPLATE = """
[paths]
train = null
dev = null

[nlp]
lang = "en"
pipeline = ["linearizer"]
batch_size = 256

[corpora]

[corpora.train]
@readers = "spacy_linearize.Corpus.v1"
path = ${paths.train}
settings = [[0, 0], [0.5, 0], [1, 0], [1, 0], [0, 0.5], [0.5, 0.5], [1, 0.5], [1, 0.5],
    [0, 1], [0.5, 1], [1, 1], [1, 1], [0, 1], [0.5, 1], [1, 1], [1, 1]]
gold_preproc = true
resample = true

[corpora.dev]
@readers = "spacy_linearize.Corpus.v1"
path = ${paths.dev}
settings = [[1, 1], [1, 0.5], [0, 0]]
gold_preproc = true

[training]
dropout = 0.0
max_epochs = -1
max_steps = 800
eval_frequency = 50
patience = 0

[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 512

[training.logger]
@loggers = "spacy.ConsoleLogger.v3"
progress_bar = "train"

[training.score_weights]
bleu = 1.0
exact = 0.0
uas = 0.0
las = 0.0
tags = 0.0

[components]

[components.linearizer]
factory = "linearizer"
beam_width = 16
tree_beam_width = 4
update_beam_width = 8

[components.linearizer.model]
@architectures = "spacy_linearize.TransitionLinearizer.v1"
table_bits = null
min_updates = 4

[initialize]

[initialize.components]

[initialize.components.linearizer]

[initialize.components.linearizer.corpus]
@readers = "spacy_linearize.Corpus.v1"
path = ${paths.train}
gold_preproc = true
"""


def starting_config(lang: str, train: Path | None = None, dev: Path | None = None, *, labelled: bool = True) -> Config:
    """A filled config that trains one model for every amount of input.

    lang (str): The language, as spaCy names it.
    train, dev (Optional[Path]): .spacy files. From the first one follow the number of steps, and the labels of words
        that mark the constituent of their head.

    labelled (bool): Whether the model knows the labels of arcs.

    Example:

        starting_config("de", Path("train.spacy"), Path("dev.spacy")).to_disk("config.cfg")
    """
    config = Config().from_str(TEMPLATE, interpolate=False)
    config["nlp"]["lang"] = lang
    try:
        nlp = spacy.blank(lang)
    except (
        ImportError
    ):  # that of Japanese, for instance, needs a tokenizer that is not installed, and training does not
        try:
            nlp = spacy.blank(lang, config={"nlp": {"tokenizer": PLAIN}})
        except ImportError as problem:
            raise error("SL253", lang=lang) from problem
        config["nlp"]["tokenizer"] = PLAIN
    config["paths"] |= {name: str(path) for name, path in (("train", train), ("dev", dev)) if path is not None}
    if train is not None:
        n_sentences, labels = _survey(nlp, train)
        steps = max(STEPS[0], min(STEPS[1], round(PASSES * n_sentences / BATCH)))
        config["training"] |= {"max_steps": steps, "eval_frequency": max(1, min(50, steps // 4))}
        config["components"]["linearizer"]["model"]["markers"] = [label for label in MARKERS if label in labels]
    if not labelled:
        config["components"]["linearizer"]["model"] |= {"labelled": False, "markers": []}
        del config["training"]["score_weights"]["las"]  # which is not measured then
        for part in ("train", "dev"):
            config["corpora"][part]["labelled"] = False
    filled: Config = load_model_from_config(config, auto_fill=True, validate=False).config
    filled["corpora"].pop("pretrain", None)
    return filled


def _survey(nlp: Language, path: Path) -> tuple[int, set[str]]:
    """How many sentences a corpus has, and its labels."""
    n_sentences, labels = 0, set()
    for eg in Corpus(path, gold_preproc=True)(nlp):
        n_sentences += 1
        labels |= {token.dep_ for token in eg.reference}
    return n_sentences, labels
