"""What a second opinion costs: the same questions with each trick, and through llama.cpp.

    python benchmarks/second_opinion_cost.py DEV.spacy MODEL [--cell everything] [--limit 100] [--no-llama]

MODEL is a causal language model: a name or folder of `transformers`, or a .gguf file; llama.cpp takes only the latter,
and only where `llama-cpp-python` is installed. The questions are those that `en_ud` asks about the first dev sentences.
For each way of answering them: candidates, tokens that go through the model, ms of wall and of CPU time a sentence
(asked about or not), candidates a second of CPU time, and how far its scores are from those of the first row.
OMP_NUM_THREADS is the number of threads of both.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _core import load_pipeline
from second_opinion import CELLS

from spacy_linearize.core.settings import KINDS
from spacy_linearize.registered import make_causal_lm
from spacy_linearize.rerank.causal_lm import GGUF, CausalLM, Network
from spacy_linearize.rerank.prefix_tree import Tokens, cut_tails, n_common
from spacy_linearize.rerank.reranker import Question, RerankOptions
from spacy_linearize.training.evaluate import evaluate

# Each row adds one trick to those before it.
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("float32, one text after the other", {"dtype": "float32", "share_prefixes": False, "tail": None, "batch_size": 1}),
    ("in batches of 512 tokens, by length", {"batch_size": 512}),
    ("beginnings shared", {"share_prefixes": True}),
    ("end that all share cut", {"tail": 2}),
    ("bfloat16", {"dtype": "bfloat16"}),
)


class Recorder:
    """A reranker that has no opinion, and keeps what it was asked."""

    def __init__(self, options: RerankOptions) -> None:
        self.options = options
        self.questions: list[Question] = []

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        self.questions += questions
        return [[0.0] * len(question.texts) for question in questions]


class Llama:
    """The same scores through llama.cpp: a text keeps what its beginning shares with the text before it."""

    def __init__(self, path: str, network: Network, *, shares: bool) -> None:
        import llama_cpp

        threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
        more = {"n_threads": threads, "n_threads_batch": threads}
        self.model = llama_cpp.Llama(path, n_ctx=1024, n_batch=512, logits_all=True, verbose=False, **more)
        self.network = network
        self.shares = shares
        self.n_tokens = 0

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> list[float]:
        start, candidates = self.network.encode(question)
        candidates = cut_tails(candidates, 2)
        scores, before = [0.0] * len(candidates), ()
        for i in sorted(range(len(candidates)), key=candidates.__getitem__):
            scores[i] = float(self._logs(candidates[i], before)[start - 1 :].sum())
            before = candidates[i]
        return scores

    def _logs(self, tokens: Tokens, before: Tokens) -> Any:
        n_kept = min(n_common(tokens, before), len(tokens) - 1) if self.shares else 0
        self.model.n_tokens = n_kept  # what stands behind is forgotten
        self.model.eval(tokens[n_kept:])
        self.n_tokens += len(tokens) - n_kept
        logits = np.asarray(self.model.scores[: len(tokens) - 1], dtype=np.float64)
        top = logits.max(axis=-1)
        norms = top + np.log(np.exp(logits - top[:, None]).sum(axis=-1))
        return logits[np.arange(len(tokens) - 1), list(tokens[1:])] - norms


def ways(path: str, options: RerankOptions, with_llama: bool) -> Iterator[tuple[str, Any, Callable[[], int]]]:
    """Every way to answer, with a function that tells how many tokens it took."""
    settings: dict[str, Any] = {}
    last: CausalLM | None = None
    for name, more in WAYS:
        settings |= more
        last = make_causal_lm(path, **settings)
        counted = [0]
        run = last.network._run_tree if last.network.shares else last.network._run_padded

        def counting(sequences: Sequence[Tokens], run: Any = run, counted: Any = counted, own: Any = last) -> Any:
            before: Tokens = ()
            for tokens in sorted(sequences):
                counted[0] += len(tokens) - 1 - (n_common(tokens[:-1], before[:-1]) if own.network.shares else 0)
                before = tokens
            return run(sequences)

        last.network.run = counting  # type: ignore[method-assign]
        yield name, last, lambda counted=counted: counted[0]  # type: ignore[misc]
    if with_llama and last is not None:
        for name, shares in (("llama.cpp, 4 bits, end cut", False), ("beginnings shared", True)):
            llama = Llama(path, last.network, shares=shares)
            yield f"llama.cpp: {name}", llama, lambda llama=llama: llama.n_tokens  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("reranker")
    parser.add_argument("--model", default=None)
    parser.add_argument("--cell", default="everything", choices=CELLS)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--llama", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    nlp = load_pipeline(options.model)
    component = nlp.get_pipe("linearizer")
    usual = make_causal_lm(options.reranker).options
    tags, heads = CELLS[options.cell]
    asked = {}
    for name, own in (("all", replace(usual, margins=dict.fromkeys(KINDS))), ("margin", usual)):
        component.reranker = recorder = Recorder(own)
        n = len(evaluate(nlp, options.dev, tags=tags, heads=heads, limit=options.limit).pairs)
        asked[name] = recorder.questions
    print("| way | asked about | candidates | tokens | ms | CPU ms | candidates a CPU second | differs by |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    first: list[float] = []
    with_llama = options.llama and options.reranker.endswith(GGUF)
    for name, way, n_tokens in ways(options.reranker, usual, with_llama):
        for which, questions in asked.items():
            if which == "margin" and not name.startswith(("bfloat16", "llama.cpp: beginnings")):
                continue
            n_candidates, before = sum(len(question.texts) for question in questions), n_tokens()
            way.score(questions[:2])  # loads and warms up
            before, wall, cpu = n_tokens(), time.perf_counter(), time.process_time()
            scores = [score for row in way.score(questions) for score in row]
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            first = first or scores
            apart = max(map(abs, np.subtract(scores, first))) if which == "all" else None
            print(
                f"| {name}{', orders within the margin' if which == 'margin' else ''} | {len(questions)} of {n} "
                f"| {n_candidates} | {n_tokens() - before} | {1000 * wall / n:.0f} | {1000 * cpu / n:.0f} "
                f"| {n_candidates / cpu:.0f} | {'–' if apart is None else f'{apart:.2f}'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
