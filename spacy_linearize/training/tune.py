"""Finds the weight of the language model on held-out sentences, for each kind of bag, by trying several."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy.language import Language

from ..core.settings import KINDS
from ..model import engine_of
from .evaluate import evaluate
from .language_model import store_settings

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


def _try(nlp: Language, name: str, path: Path, kind: str, weight: float, limit: int) -> Trial:
    runs = [evaluate(nlp, path, tags=tags, heads=heads, limit=limit, name=name) for tags, heads in SETTINGS[kind]]
    bleu, exact = (sum(run.scores[key] or 0.0 for run in runs) / len(runs) for key in ("bleu", "exact"))
    return Trial(kind, weight, bleu, exact)
