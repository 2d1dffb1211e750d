"""BLEU and exact match of the core for a choice of templates and settings, after each pass over a treebank.

    python benchmarks/ablation.py TRAIN.conllu DEV.conllu [--tags 1] [--heads 1] [--epochs 5] [--beam 8] [--seed 0]
        [--set groups=unigram,bigram] [--set direction=both] [--without pairs,shapes] ...

Without the spaCy training loop, so that an experiment takes minutes. Times are those of the search, without trees.
"""

import argparse
import random
import time
from pathlib import Path
from typing import Any

import sacrebleu
from _core import hide, read_sentences
from spacy.strings import get_string_id

from spacy_linearize.core.engine import Engine
from spacy_linearize.core.features.templates import DEFAULT_GROUPS, TREE_GROUPS
from spacy_linearize.core.ngrams.estimate import text_of
from spacy_linearize.core.records import Progress, SearchOptions
from spacy_linearize.core.settings import Settings

SEED_OF_DEV = 1  # what is given in dev is the same for every run
BATCH = 64


def parse(text: str) -> tuple[str, Any]:
    """A setting: key=value, with lists separated by commas."""
    key, _, value = text.partition("=")
    if key in ("groups", "templates"):
        return key, tuple(value.split(","))
    if key == "markers":
        return key, tuple(get_string_id(label) for label in value.split(","))
    if value.isdigit():
        return key, int(value)
    return key, {"true": True, "false": False}.get(value, value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--tags", type=float, default=1.0)
    parser.add_argument("--heads", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--beam", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the engine")
    parser.add_argument("--without", default="", help="default groups to leave out, separated by commas")
    options = parser.parse_args()
    groups = TREE_GROUPS if options.heads == 1 else DEFAULT_GROUPS
    left_out = options.without.split(",")
    settings: dict[str, Any] = {"groups": tuple(group for group in groups if group not in left_out)}
    settings |= {"direction": "left_to_right", "ngram_order": 0}
    settings.update(parse(text) for text in ["markers=case,mark", *options.set])
    # One expert is enough for one kind of bag.
    engine = Engine(Settings.from_dict({"experts": {"partial": settings.pop("groups")}, **settings}))
    train, dev = read_sentences(options.train), read_sentences(options.dev)
    engine.learn_lexicon(train)
    engine.learn_ngrams([text_of(train)])
    rng = random.Random(options.seed)
    given = {"tags": options.tags, "heads": options.heads}
    how = SearchOptions(beam_width=options.beam, tree=False)
    print("| pass | violations | BLEU | exact | ms a sentence | s to train |\n|---|---|---|---|---|---|")
    for epoch in range(1, options.epochs + 1):
        start = time.perf_counter()
        progress = Progress()
        rng.shuffle(train)
        for first in range(0, len(train), BATCH):
            pairs = [(hide(sentence, **given, rng=rng), sentence) for sentence in train[first : first + BATCH]]
            seed = rng.getrandbits(63)
            progress += engine.update(pairs, beam_width=options.beam, seed=seed, n_threads=options.threads)
        seconds = time.perf_counter() - start
        sampler = random.Random(SEED_OF_DEV)
        bags = [hide(sentence, **given, rng=sampler) for sentence in dev]
        engine.order(bags[:1], how)  # averages the weights
        start = time.perf_counter()
        orders = [best.order.tolist() for best, *_ in engine.order(bags, how)]
        ms = 1000 * (time.perf_counter() - start) / len(bags)
        texts = [sentence.texts or () for sentence in dev]
        outputs = [" ".join(words[k] for k in order) for order, words in zip(orders, texts, strict=True)]
        golds = [" ".join(words) for words in texts]
        bleu = sacrebleu.corpus_bleu(outputs, [golds], tokenize="none", force=True).score
        exact = 100 * sum(o == g for o, g in zip(outputs, golds, strict=True)) / len(golds)
        row = f"| {epoch} | {progress.violations} | {bleu:.2f} | {exact:.2f} | {ms:.2f} | {seconds:.0f} |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
