"""Evaluation of a trained pipeline: under one setting, over the grid of the papers, and the papers' analyses."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .corpus import Corpus
from .errors import error
from .scorer import linearizer_score

GRID = tuple(product((0.0, 0.5, 1.0), (0.0, 0.5, 1.0)))  # shares of tags and of arcs that are given
SPAN_LIMITS = (5, 10, 15, 30)  # Table 4 of Liu et al. 2015: spans shorter than these
LENGTH_BUCKET = 5


@dataclass(frozen=True)
class Run:
    """One evaluation: what was given, the scores in percent, the time, and the outputs beside the gold Docs."""

    tags: float
    heads: float
    beam_width: int
    scores: dict[str, float | None]
    ms: float
    pairs: list[tuple[Doc, Doc]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "tags": self.tags,
            "heads": self.heads,
            "beam_width": self.beam_width,
            "sentences": len(self.pairs),
            **self.scores,
            "ms": self.ms,
        }


def given(component: Any, tags: float, heads: float) -> tuple[float, float]:
    """The shares of tags and arcs that are really given: none of those that the component ignores."""
    return tags if component.use_tags else 0.0, heads if component.use_heads else 0.0


def evaluate(
    nlp: Language,
    path: Path,
    *,
    tags: float = 1.0,
    heads: float = 1.0,
    labelled: bool = True,
    beam_width: int | None = None,
    limit: int = 0,
    seed: int = 0,
    name: str = "linearizer",
) -> Run:
    """Order the sentences of a corpus with a share of their tags and arcs given.

    nlp (Language): A pipeline with a trained linearizer. Only this component runs, and takes each sentence as a bag of
        single words.
    path (Path): A .spacy file.
    tags, heads, labelled, limit, seed: As for `Corpus`. What the component ignores is not given: then it has to be
        found, and is scored.
    beam_width (Optional[int]): For all bags, instead of the component's own widths.
    name (str): The name of the linearizer in the pipeline.
    """
    component = nlp.get_pipe(name)
    tags, heads = given(component, tags, heads)
    labelled = labelled and component.use_deps
    corpus = Corpus(path, tags=tags, heads=heads, labelled=labelled, gold_preproc=True, limit=limit, seed=seed)
    examples = list(corpus(nlp))
    if not examples:
        raise error("SL185", path=path)
    widths, parts = (component.beam_width, component.tree_beam_width), (component.sentences, component.units)
    # What is given has no boundaries, and needs none; nor has it spans.
    component.sentences, component.units = "doc", None
    if beam_width is not None:
        component.beam_width = component.tree_beam_width = beam_width
    width = component.width_for(heads < 1)
    start = time.perf_counter()
    try:
        outputs = [component(eg.predicted) for eg in examples]
    finally:
        component.beam_width, component.tree_beam_width = widths
        component.sentences, component.units = parts
    ms = 1000 * (time.perf_counter() - start) / len(examples)
    scored = [Example(output, eg.reference) for output, eg in zip(outputs, examples, strict=True)]
    scores = linearizer_score(scored)
    percent = {key.removeprefix("linearize_"): None if v is None else 100 * v for key, v in scores.items()}
    pairs = [(eg.predicted, eg.reference) for eg in scored]
    return Run(tags, heads, width, percent, ms, pairs)


def spans(doc: Doc) -> list[tuple[str, ...]]:
    """The projective spans of a tree: for each word with dependents, the words of its subtree in their order, if they
    stand side by side."""
    words = [token.text for token in doc]
    found = []
    for token in doc:
        places = [t.i for t in token.subtree]
        if len(places) > 1 and max(places) - min(places) + 1 == len(places):
            found.append(tuple(words[min(places) : max(places) + 1]))
    return found


def span_scores(pairs: Iterable[tuple[Doc, Doc]]) -> list[dict[str, float]]:
    """Precision, recall and F of projective spans, for spans shorter than each of SPAN_LIMITS (Table 4)."""
    hits: Counter[int] = Counter()
    found: Counter[int] = Counter()
    wanted: Counter[int] = Counter()
    for output, gold in pairs:
        ours, theirs = Counter(spans(output)), Counter(spans(gold))
        for limit in SPAN_LIMITS:
            found[limit] += sum(n for span, n in ours.items() if len(span) < limit)
            wanted[limit] += sum(n for span, n in theirs.items() if len(span) < limit)
            hits[limit] += sum(n for span, n in (ours & theirs).items() if len(span) < limit)
    rows = []
    for limit in SPAN_LIMITS:
        precision, recall = 100 * hits[limit] / max(1, found[limit]), 100 * hits[limit] / max(1, wanted[limit])
        f = 2 * precision * recall / (precision + recall) if hits[limit] else 0.0
        rows.append({"shorter_than": limit, "precision": precision, "recall": recall, "f": f})
    return rows


def span_lengths(pairs: Iterable[tuple[Doc, Doc]]) -> dict[str, dict[int, float]]:
    """The share of each span length, in the output and in the gold trees (Fig. 9)."""
    counts: dict[str, Counter[int]] = {"output": Counter(), "gold": Counter()}
    for output, gold in pairs:
        counts["output"].update(len(span) for span in spans(output))
        counts["gold"].update(len(span) for span in spans(gold))
    return {
        name: {length: counter[length] / counter.total() for length in sorted(counter)}
        for name, counter in counts.items()
    }


def brevity(pairs: Iterable[tuple[Doc, Doc]]) -> list[dict[str, float]]:
    """Words in the output for each word of the gold sentence, by its length (Fig. 8). Always 1, since an output is a
    permutation: here to be seen beside systems for which it is not."""
    ours: Counter[int] = Counter()
    theirs: Counter[int] = Counter()
    for output, gold in pairs:
        bucket = len(gold) // LENGTH_BUCKET * LENGTH_BUCKET
        ours[bucket] += len(output)
        theirs[bucket] += len(gold)
    return [{"from_words": bucket, "brevity": ours[bucket] / theirs[bucket]} for bucket in sorted(theirs)]


def epochs(log: Path) -> list[dict[str, float]]:
    """BLEU by epoch from the log of `spacy train` (spacy.ConsoleLogger.v3 with an output file; Fig. 7)."""
    import srsly

    best: dict[int, float] = {}
    for row in srsly.read_jsonl(log):
        score = row.get("scores", {}).get("linearize_bleu")
        if score is not None:
            best[int(row["epoch"])] = float(score)  # in percent already
    return [{"epoch": epoch, "bleu": best[epoch]} for epoch in sorted(best)]
