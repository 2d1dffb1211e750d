"""Finds the weight of the language model, or of a second opinion, on held-out sentences, for each kind of bag, by
trying several."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spacy.language import Language

from ..core.settings import KINDS
from ..errors import error
from ..model import engine_of
from ..rerank.reranker import Question, Reranker
from .evaluate import evaluate
from .language_model import store_settings

RERANKER_WEIGHTS = (0.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0)
WEIGHTS = (0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0)
# Shares of tags and of arcs that make bags of each kind
SETTINGS = {"free": ((0.0, 0.0), (1.0, 0.0)), "partial": ((0.0, 0.5), (1.0, 0.5)), "tree": ((0.0, 1.0), (1.0, 1.0))}


@dataclass(frozen=True)
class Trial:
    """One weight: BLEU and exact match in percent, each the mean over the settings of its kind of bag."""

    kind: str
    weight: float
    bleu: float
    exact: float


def tune(
    nlp: Language,
    name: str,
    path: Path,
    *,
    weights: Sequence[float] = WEIGHTS,
    limit: int = 0,
    report: Callable[[Trial], object] | None = None,
) -> dict[str, float]:
    """Find the weights of the language model with which the sentences of a corpus come out best, and store them in the
    linearizer of a pipeline and in its config. If two have equal BLEU, the smaller weight wins.

    nlp (Language): The pipeline. It is changed.
    name (str): The name of its linearizer.
    path (Path): A .spacy file that the pipeline was not trained on.
    weights (Sequence[float]): The weights to try.
    limit (int): Read only this many Docs; 0 for all.
    report (Optional[Callable[[Trial], object]]): Is told of each trial.
    RETURNS (Dict[str, float]): The best weight for each kind of bag.
    """
    engine = engine_of(nlp.get_pipe(name).model)
    before, best = dict(engine.settings.ngram_weights), {}
    try:
        for kind in KINDS:
            trials = []
            for weight in sorted(set(weights)):
                engine.change_ngrams(weights={kind: weight})
                trials.append(_try(nlp, name, path, kind, weight, limit))
                if report is not None:
                    report(trials[-1])
            best[kind] = max(trials, key=lambda trial: trial.bleu).weight
    except BaseException:
        engine.change_ngrams(weights=before)
        raise
    engine.change_ngrams(weights=best)
    store_settings(nlp, name)
    return best


def tune_reranker(
    nlp: Language,
    name: str,
    path: Path,
    *,
    weights: Sequence[float] = RERANKER_WEIGHTS,
    limit: int = 0,
    report: Callable[[Trial], object] | None = None,
) -> dict[str, float]:
    """The same for the weights of a second opinion. Takes the same as `tune`; each text is scored only once."""
    component = nlp.get_pipe(name)
    if component.reranker is None:
        raise error("SL022", key="reranker", value=None, expected="a reranker whose weight can be tuned")
    asked = component.reranker
    trials: dict[str, list[Trial]] = {}
    component.reranker = Remembered(asked)
    try:
        for kind in KINDS:
            trials[kind] = []
            for weight in sorted(set(weights)):
                options = component.reranker.options
                component.reranker.options = replace(options, weights={**options.weights, kind: weight})
                trials[kind].append(_try(nlp, name, path, kind, weight, limit))
                if report is not None:
                    report(trials[kind][-1])
    finally:
        component.reranker = asked
    best = {kind: max(trials[kind], key=lambda trial: trial.bleu).weight for kind in KINDS}
    asked.options = replace(asked.options, weights=best)
    nlp.get_pipe_config(name)["reranker"]["weights"] = dict(best)
    return best


def _try(nlp: Language, name: str, path: Path, kind: str, weight: float, limit: int) -> Trial:
    runs = [evaluate(nlp, path, tags=tags, heads=heads, limit=limit, name=name) for tags, heads in SETTINGS[kind]]
    bleu, exact = (sum(run.scores[key] or 0.0 for run in runs) / len(runs) for key in ("bleu", "exact"))
    return Trial(kind, weight, bleu, exact)


class Remembered:
    """A reranker whose answers are kept: for trying several weights.

    reranker (Reranker): Who is asked what was not asked before.
    """

    def __init__(self, reranker: Reranker) -> None:
        self.reranker = reranker
        self.options = reranker.options
        self._answers: dict[Question, Sequence[float]] = {}

    def score(self, questions: Sequence[Question]) -> list[Sequence[float]]:
        new = [question for question in dict.fromkeys(questions) if question not in self._answers]
        if new:
            self._answers.update(zip(new, self.reranker.score(new), strict=True))
        return [self._answers[question] for question in questions]
