"""Two pipelines side by side, on the same sentences with the same tags and arcs given."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sacrebleu
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from .evaluate import Run, sentence_bleu

LENGTHS = (5, 10, 15, 20, 30, 40)  # sentences of at most so many words; longer ones are one more class


@dataclass(frozen=True)
class Comparison:
    """What a paired bootstrap says of two runs, and where they differ.

    bleu (Tuple[float, float]): BLEU of both.
    intervals (Tuple[float, float]): Half the width of the 95% confidence interval of each.
    p_value (float): How likely a difference as large as this one is, if the two are equally good.
    differing (List[Dict[str, Any]]): The sentences that differ, those that differ most in BLEU first.
    lengths (Dict[str, Dict[str, float]]): For each of the two, BLEU by the length of the sentence.
    """

    bleu: tuple[float, float]
    intervals: tuple[float, float]
    p_value: float
    differing: list[dict[str, Any]]
    lengths: dict[str, dict[str, float]]


def compare(a: Run, b: Run, *, names: tuple[str, str] = ("A", "B"), n_samples: int = 1000) -> Comparison:
    """Compare two evaluations of the same corpus under the same setting.

    names (Tuple[str, str]): What to call the two. They have to differ.
    n_samples (int): How many samples the bootstrap draws.

    Example:

        compare(evaluate(one, path), evaluate(other, path)).p_value
    """
    references = a.references
    systems: list[tuple[str, Sequence[str]]] = [(names[0], a.hypotheses), (names[1], b.hypotheses)]
    metric = BLEU(tokenize="none", force=True, references=[references])
    test = PairedTest(systems, {"BLEU": metric}, references=None, test_type="bs", n_samples=n_samples)
    results: list[Any] = list(test()[1]["BLEU"])
    first, second = results
    return Comparison(
        bleu=(first.score, second.score),
        intervals=(first.ci, second.ci),
        # Of two that are the same, every sample has the same difference, and the test would call that a sure one.
        p_value=second.p_value if a.hypotheses != b.hypotheses else 1.0,
        differing=_differing(a, b),
        lengths={name: _by_length(hypotheses, references) for name, hypotheses in systems},
    )


def _differing(a: Run, b: Run) -> list[dict[str, Any]]:
    rows = []
    for one, other, gold in zip(a.hypotheses, b.hypotheses, a.references, strict=True):
        if one != other:
            scores = sentence_bleu(one, gold), sentence_bleu(other, gold)
            rows.append({"reference": gold, "a": one, "b": other, "bleu_a": scores[0], "bleu_b": scores[1]})
    return sorted(rows, key=_difference, reverse=True)


def _difference(row: dict[str, Any]) -> float:
    difference: float = abs(row["bleu_a"] - row["bleu_b"])
    return difference


def _by_length(hypotheses: Sequence[str], references: list[str]) -> dict[str, float]:
    classes: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in zip(hypotheses, references, strict=True):
        n = len(pair[1].split(" "))
        classes[next((f"up to {limit}" for limit in LENGTHS if n <= limit), f"over {LENGTHS[-1]}")].append(pair)
    found = {}
    for name in (*(f"up to {limit}" for limit in LENGTHS), f"over {LENGTHS[-1]}"):
        if classes[name]:
            ours, gold = zip(*classes[name], strict=True)
            found[name] = sacrebleu.corpus_bleu(ours, [gold], tokenize="none", force=True).score
    return found
