"""Right sentences beside the same with one word or phrase moved: does `score_order` tell them apart?

    python benchmarks/moved.py

AUC is how often a right sentence has a higher probability than a moved one, over all pairs. The sentences are those of
tests/data/moved.tsv; tests/data/moved.spacy has them as en_core_web_sm parses them, each as it stands.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from spacy.tokens import Doc, DocBin

import spacy_linearize
from spacy_linearize.linearizer import Linearizer

DATA = Path(__file__).parent.parent / "tests" / "data"
Pair = tuple[Doc, Doc]


def read_pairs(linearizer: Linearizer) -> list[Pair]:
    """Each right sentence with the moved one."""
    docs = list(DocBin().from_disk(DATA / "moved.spacy").get_docs(linearizer.vocab))
    return list(zip(docs[::2], docs[1::2], strict=True))


def words_alone(pair: Pair) -> Pair:
    bare = [Doc(doc.vocab, words=[token.text for token in doc]) for doc in pair]
    return bare[0], bare[1]


def tree_carried(pair: Pair) -> Pair:
    """The moved words with the arcs of the right sentence, as an editor knows them that watched the move."""
    right, moved = pair
    places = defaultdict(list)
    for token in right:
        places[token.orth].append(token.i)
    order = [places[token.orth].pop(0) for token in moved]
    heads = [order.index(right[k].head.i) for k in order]
    tags, deps = [right[k].tag_ for k in order], [right[k].dep_ for k in order]
    return right, Doc(right.vocab, words=[token.text for token in moved], tags=tags, heads=heads, deps=deps)


CONDITIONS: dict[str, Callable[[Pair], Pair]] = {
    "words alone": words_alone,
    "parsed as they stand": lambda pair: pair,
    "the tree of the right sentence": tree_carried,
}


def probabilities(linearizer: Linearizer, pairs: list[Pair]) -> Iterator[tuple[float, float]]:
    """The probability of both. Where arcs cross, words alone count."""
    for pair in pairs:
        found = []
        for doc in pair:
            try:
                result = linearizer.score_order(doc)
            except spacy_linearize.LinearizeError:
                result = linearizer.score_order(words_alone((doc, doc))[0])
            found.append(result.probability or 0.0)
        yield found[0], found[1]


def auc(right: np.ndarray, moved: np.ndarray) -> float:
    difference = right[:, np.newaxis] - moved
    return float((difference > 0).mean() + 0.5 * (difference == 0).mean())


def main() -> None:
    print("| pipeline | given | AUC | right ones below 0.5 | moved ones below 0.5 |\n|---|---|---|---|---|")
    for name in ("en_core_web", "en_ud"):
        linearizer = spacy_linearize.load(name).get_pipe("linearizer")
        pairs = read_pairs(linearizer)
        for condition, given in CONDITIONS.items():
            if name == "en_ud" and condition != "words alone":
                continue  # it does not know these labels
            right, moved = np.array(list(probabilities(linearizer, list(map(given, pairs))))).T
            below = f"{(right < 0.5).mean():.1%} | {(moved < 0.5).mean():.1%}"
            print(f"| `{name}` | {condition} | {auc(right, moved):.3f} | {below} |", flush=True)


if __name__ == "__main__":
    main()
