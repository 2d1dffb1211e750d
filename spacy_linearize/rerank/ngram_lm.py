"""spacy_linearize.NgramLM.v1: the opinion of an n-gram language model in KenLM's format, or in ARPA format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import LinearizeError, error
from .reranker import Question, RerankOptions


class NgramLM:
    """A `Reranker`. The model is loaded when it is first asked.

    path (str): What KenLM's `build_binary` or `lmplz` wrote.
    lowercase (bool): Whether it was made of lower-cased text.
    """

    def __init__(self, path: str, options: RerankOptions, *, lowercase: bool = False) -> None:
        self.path = path
        self.options = options
        self.lowercase = lowercase
        self._model: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_model": None}

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """The logarithm, to the base 10, of the probability of each text, word by word, from begin to end."""
        if self._model is None:
            self._model = self._load()
        return [[self._score(words) for words in question.words] for question in questions]

    def _load(self) -> Any:
        try:
            import kenlm

            if not Path(self.path).is_file():
                raise FileNotFoundError("there is no such file")
            return kenlm.Model(self.path)
        except ImportError as problem:
            raise _not_loaded(self.path, "kenlm is not installed") from problem
        except Exception as problem:
            raise _not_loaded(self.path, f"{type(problem).__name__}: {problem}") from problem

    def _score(self, words: Sequence[str]) -> float:
        # KenLM separates words by spaces, and has no others.
        text = " ".join("_".join(word.split()) or "_" for word in words)
        return float(self._model.score(text.lower() if self.lowercase else text, bos=True, eos=True))


def _not_loaded(path: str, problem: str) -> LinearizeError:
    return error("SL234", model=path, problem=problem)
