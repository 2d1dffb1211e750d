"""How well is the probability of `score_order` calibrated?

    python benchmarks/calibrated.py DEV.spacy

The bundled `en_ud`, or --model, on what readers chose (`training.calibrate.judge`): fitted on one half of the
sentences, measured on the other. The expected calibration error is the mean distance between the probability and the
share of gold orders, over ten bins of equal width; gold and other orders count the same, as in fitting. Beside it, the
same with the constants that the pipeline has.
"""

import argparse
from pathlib import Path

import numpy as np
from _core import load_pipeline
from spacy.tokens import Doc

from spacy_linearize.insight.calibration import Calibration, fit
from spacy_linearize.training.calibrate import judge
from spacy_linearize.training.corpus import Corpus

N_BINS = 10
Gaps = list[tuple[float, float]]


def calibration_error(calibration: Calibration, gaps: Gaps, is_gold: list[bool]) -> float:
    """The expected calibration error, from 0 to 1."""
    gold = np.array(is_gold)
    weights = np.where(gold, 0.5 / gold.sum(), 0.5 / (~gold).sum())
    found = np.array([calibration.probability(*pair) for pair in gaps])
    bins = np.minimum((found * N_BINS).astype(int), N_BINS - 1)
    return float(np.abs(np.bincount(bins, weights * (found - gold), minlength=N_BINS)).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--model", default=None)
    parser.add_argument("--limit", type=int, default=0)
    options = parser.parse_args()
    nlp = load_pipeline(options.model)
    docs = [eg.reference for eg in Corpus(options.dev, gold_preproc=True, limit=options.limit)(nlp)]
    bare = [Doc(nlp.vocab, words=[token.text for token in doc]) for doc in docs]
    linearizer = nlp.get_pipe("linearizer")
    stored = linearizer.cfg["calibration"]
    middle = len(docs) // 2
    print("| given | measured on | orders | fitted on the other half | as it comes |\n|---|---|---|---|---|")
    for given, kind, sentences in (("the tree", "tree", docs), ("words alone", "words", bare)):
        halves = [judge(linearizer, half) for half in (sentences[:middle], sentences[middle:])]
        for name, measured, other in (("first half", *halves), ("second half", *reversed(halves))):
            both = (_fit(kind, *other), Calibration.from_dict(stored[kind]))
            errors = [calibration_error(constants, *measured) for constants in both]
            print(f"| {given} | {name} | {len(measured[0])} | {errors[0]:.3f} | {errors[1]:.3f} |", flush=True)


def _fit(kind: str, gaps: Gaps, is_gold: list[bool]) -> Calibration:
    """As `calibrate` does."""
    return fit(gaps if kind == "tree" else [(0.0, free) for _, free in gaps], is_gold)


if __name__ == "__main__":
    main()
