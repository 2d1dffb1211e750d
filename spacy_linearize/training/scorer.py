"""Scores of reordered Docs against gold ones.

All scores are shares from 0 to 1, as everywhere in spaCy (BLEU too), and None where there was nothing to score. Words
of output and gold are matched by form: the first "the" of one with the first "the" of the other, and so on. So no
score depends on the sequence in which the words were handed in.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import sacrebleu
from spacy.symbols import dep as UNLABELLED
from spacy.tokens import Doc
from spacy.training import Example

SCORES = ("bleu", "exact", "uas", "las", "tags")
NO_LABEL = (0, UNLABELLED)


def linearizer_score(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Score examples whose predicted Docs come out of a linearizer.

    RETURNS (Dict[str, Any]): bleu (corpus BLEU on tokens; 0 if no output has four, even if all are
        right), exact (sentences in gold order), and over what was not given: uas and las (arcs; a model without
        labels has no las), tags.
    """
    outputs, golds = [], []
    right: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    for eg in examples:
        outputs.append(" ".join(token.text for token in eg.predicted))
        golds.append(" ".join(token.text for token in eg.reference))
        _count(eg.predicted, eg.reference, right, total)
    if not outputs:
        return dict.fromkeys(SCORES)
    bleu = sacrebleu.corpus_bleu(outputs, [golds], tokenize="none", force=True).score / 100
    exact = sum(output == gold for output, gold in zip(outputs, golds, strict=True)) / len(outputs)
    if total["labels"]:  # a model without labels has none but that of the root
        total["las"] = total["uas"]
    shares = {name: right[name] / total[name] if total[name] else None for name in ("uas", "las", "tags")}
    return {"bleu": bleu, "exact": exact, **shares}


def match(output: Doc, gold: Doc) -> dict[int, int]:
    """For each token of the output, the gold token with the same form and the same number of occurrence."""
    places = defaultdict(list)
    for token in gold:
        places[token.orth].append(token.i)
    seen: dict[int, int] = defaultdict(int)
    found = {}
    for token in output:
        if seen[token.orth] < len(places[token.orth]):
            found[token.i] = places[token.orth][seen[token.orth]]
        seen[token.orth] += 1
    return found


def _count(output: Doc, gold: Doc, right: dict[str, int], total: dict[str, int]) -> None:
    info = output._.linearization if Doc.has_extension("linearization") else None
    if info is None or len(info["given_tags"]) != len(output):  # not ordered, or tokens were merged or split since
        return
    gold_of = match(output, gold)
    for token in output:
        if token.i not in gold_of:
            continue
        twin = gold[gold_of[token.i]]
        if twin.tag and not info["given_tags"][token.i]:
            total["tags"] += 1
            right["tags"] += token.tag == twin.tag
        if twin.has_head() and token.has_head() and not info["given_heads"][token.i]:
            same_head = gold_of.get(token.head.i) == twin.head.i
            total["uas"] += 1
            right["uas"] += same_head
            right["las"] += same_head and token.dep == twin.dep
            total["labels"] += token.dep not in NO_LABEL and token.head.i != token.i
