"""Evaluation of a trained pipeline: under one setting, over the grid of the papers, and the papers' analyses.

Everything here returns data. `spacy linearize evaluate` prints it.
"""

import copy
import platform
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import sacrebleu
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..doc.known import text_of
from ..errors import error
from ..linearizer import Linearizer
from .corpus import Corpus
from .scorer import linearizer_score

GRID = tuple(product((0.0, 0.5, 1.0), (0.0, 0.5, 1.0)))  # shares of tags and of arcs that are given
SPAN_LIMITS = (5, 10, 15, 30)  # Table 4 of Liu et al. 2015: spans shorter than these

Pairs = list[tuple[Doc, Doc]]


@dataclass(frozen=True)
class Run:
    """One evaluation: what was given, the scores in percent, the time, and the outputs beside the gold Docs."""

    tags: float
    heads: float
    beam_width: int
    scores: dict[str, float | None]
    ms: float
    pairs: Pairs

    @property
    def hypotheses(self) -> list[str]:
        """The outputs as tokens with spaces between them, as BLEU takes them."""
        return [_tokens(output) for output, _ in self.pairs]

    @property
    def references(self) -> list[str]:
        return [_tokens(gold) for _, gold in self.pairs]

    def sentences(self) -> Iterator[dict[str, Any]]:
        """Each sentence on its own: what came out, what it should be, its BLEU in percent, which words of what came out
        had a tag or an arc given, and the score that the linearizer gave it."""
        for (output, _), hypothesis, reference in zip(self.pairs, self.hypotheses, self.references, strict=True):
            info = output._.linearization
            yield {
                "hypothesis": hypothesis,
                "reference": reference,
                "bleu": sentence_bleu(hypothesis, reference),
                "words": len(output),
                "given_tags": [i for i, is_given in enumerate(info["given_tags"]) if is_given],
                "given_heads": [i for i, is_given in enumerate(info["given_heads"]) if is_given],
                "score": info["score"],
            }

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        return {
            "given": {"tags": self.tags, "heads": self.heads},
            "beam_width": self.beam_width,
            "sentences": len(self.pairs),
            **self.scores,
            "ms": self.ms,
        }


def _tokens(doc: Doc) -> str:
    return " ".join(token.text for token in doc)


def sentence_bleu(hypothesis: str, reference: str) -> float:
    """BLEU of one sentence in percent, smoothed, as sacrebleu computes it; 100 for the same words in the same order."""
    score: float = sacrebleu.sentence_bleu(hypothesis, [reference], tokenize="none").score
    return score


def provenance(component: Linearizer) -> dict[str, Any]:
    """What figures depend on beside the corpus: settings of component and model, all templates, versions."""
    settings, strings = component.engine.settings, component.vocab.strings
    packages = ("spacy-linearize", "spacy", "sacrebleu", "numpy")
    return {
        "options": component.options.to_dict(),
        "settings": {**settings.to_dict(), "markers": [text_of(key, strings) for key in settings.markers]},
        "templates": {kind: settings.expand(kind) for kind in settings.groups},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
    }


def given(component: Linearizer, tags: float, heads: float) -> tuple[float, float]:
    """The shares of tags and arcs that are really given. What the component ignores does not count as given."""
    return tags if component.options.use_tags else 0.0, heads if component.options.use_heads else 0.0


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

    nlp (Language): A pipeline with a trained linearizer. Only this component runs. It takes each sentence as a bag of
        single words.
    path (Path): A .spacy file.
    tags, heads, labelled, limit, seed: As for `Corpus`. What the component ignores does not count as given: it has
        to be predicted, and is scored.
    beam_width (Optional[int]): For all bags, instead of the component's own widths.
    name (str): The name of the linearizer in the pipeline.
    """
    # A copy with other settings and the same model. The given Docs have no sentence boundaries and no spans.
    component = copy.copy(nlp.get_pipe(name))
    component.sentences, component.units = "doc", None
    if beam_width is not None:
        component.beam_width = component.tree_beam_width = beam_width
    options = component.options
    tags, heads = given(component, tags, heads)
    labelled = labelled and options.use_deps
    corpus = Corpus(path, tags=tags, heads=heads, labelled=labelled, gold_preproc=True, limit=limit, seed=seed)
    examples = list(corpus(nlp))
    if not examples:
        raise error("SL185", path=path)
    start = time.perf_counter()
    outputs = list(component.pipe(eg.predicted for eg in examples))
    ms = 1000 * (time.perf_counter() - start) / len(examples)
    scored = [Example(output, eg.reference) for output, eg in zip(outputs, examples, strict=True)]
    percent = {key: None if score is None else 100 * score for key, score in linearizer_score(scored).items()}
    width = options.beam_width if heads < 1 else options.tree_beam_width or options.beam_width
    return Run(tags, heads, width, percent, ms, [(eg.predicted, eg.reference) for eg in scored])


def analyse(pairs: Pairs) -> dict[str, Any]:
    """The papers' analyses of spans, for outputs beside gold Docs."""
    return {"spans": span_scores(pairs), "span_lengths": span_lengths(pairs)}


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


def steps(log: Path) -> list[dict[str, float]]:
    """BLEU by step from the log of `spacy train` (spacy.ConsoleLogger.v3 with an output file)."""
    rows = [row for row in srsly.read_jsonl(log) if row.get("scores", {}).get("bleu") is not None]
    # It is in percent already.
    return [{"step": row["step"], "epoch": row["epoch"], "bleu": float(row["scores"]["bleu"])} for row in rows]


def epochs(rows: Iterable[dict[str, float]]) -> list[dict[str, float]]:
    """The last BLEU of each epoch, from `steps` (Fig. 7)."""
    last = {row["epoch"]: row["bleu"] for row in rows}
    return [{"epoch": epoch, "bleu": last[epoch]} for epoch in sorted(last)]
