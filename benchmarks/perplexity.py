"""The same perplexity as another toolkit: ours of held-out text beside the one that KenLM computes from our ARPA file.

    pip install kenlm
    python benchmarks/perplexity.py TEXT... [--order 4] [--limit 20000]

Nine of ten sentences make a language model, which is written in ARPA format. Of the others, both give the perplexity:
10 to the power of minus the mean log10 probability of a word, with the end of each sentence as a word.
"""

import argparse
import tempfile
from itertools import islice
from pathlib import Path

import kenlm
import numpy as np
import spacy

from spacy_linearize.core.ngrams.counts import Text
from spacy_linearize.core.ngrams.estimate import Estimation, Estimator, Vocabulary
from spacy_linearize.files.arpa import write_arpa
from spacy_linearize.lines import read_lines

HELD_OUT = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="TEXT")
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--limit", type=int, default=20_000, help="how many lines to read")
    options = parser.parse_args()
    nlp = spacy.blank("en")
    docs = [nlp.make_doc(line) for line in islice(read_lines(options.files), options.limit)]
    sentences = [[token for token in doc if not token.is_space] for doc in docs]
    parts = Text(), Text()
    for k, sentence in enumerate(sentences):
        keys = np.array([token.orth for token in sentence], dtype=np.uint64)
        text = parts[k % HELD_OUT == 0]
        text.add(keys, np.array([len(keys)]))
        text.add_forms(np.array([[t.orth, t.suffix, t.shape] for t in sentence], dtype=np.uint64))
    most, held_out = parts
    # Words that only the held-out part has are in the vocabulary, too: unseen words are not what is compared.
    how = Estimation(order=options.order)
    estimator = Estimator([most, held_out], how)
    vocabulary = Vocabulary.choose([most, held_out], 1)
    model = estimator._model_of(most, vocabulary.numbers[0], vocabulary)
    found = model.probabilities(held_out.read(), vocabulary.numbers[1])
    ours = 10 ** -np.log10(found).mean()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.arpa"
        write_arpa(path, model, vocabulary, nlp.vocab.strings.__getitem__)
        other = kenlm.Model(str(path))
        total = sum(other.score(" ".join(t.text for t in sentence)) for sentence in sentences[::HELD_OUT])
    theirs = 10 ** (-total / len(found))
    print("| order | words held out | ours | KenLM, our ARPA file | ratio |\n|---|---|---|---|---|")
    print(f"| {options.order} | {len(found):,} | {ours:.4f} | {theirs:.4f} | {ours / theirs:.6f} |")


if __name__ == "__main__":
    main()
