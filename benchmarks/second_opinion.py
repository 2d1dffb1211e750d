"""What a second opinion brings, and what it takes.

    python benchmarks/second_opinion.py DEV.spacy MODEL [--cells everything,half,nothing] [--limit N] [--set KEY=VALUE]

MODEL is a causal language model: a name or folder of `transformers`, or a .gguf file. For each cell: BLEU / exact match
without and with it, the share of Docs that it was asked about, and ms a sentence of both. `--set` takes arguments of
spacy_linearize.CausalLM.v1 as JSON, such as `--set tail=null --set share_prefixes=false`; `--model` another pipeline.
OMP_NUM_THREADS is the number of threads of torch.

With `--missed N`, instead: of every Nth sentence of three words and more, nothing given, how many come out right with
the second opinion, of how many the gold order has the best score of both but was not found, and of how many another one
has.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from _core import load_pipeline
from spacy.language import Language
from spacy.tokens import Doc, DocBin

import spacy_linearize
from spacy_linearize.training.evaluate import Run, evaluate

CELLS = {"everything": (1.0, 1.0), "half": (1.0, 0.5), "nothing": (0.0, 0.0)}


def row(run: Run) -> str:
    asked = sum("second" in output._.linearization for output, _ in run.pairs if len(output))
    share = 100 * asked / len(run.pairs)
    return f"{run.scores['bleu']:.1f} / {run.scores['exact']:.1f} | {share:.0f} | {run.ms:.1f}"


def missed(nlp: Language, path: Path, every: int) -> str:
    """Whether it is the search that errs, or the scores."""
    component = nlp.get_pipe("linearizer")
    docs = [doc for doc in DocBin().from_disk(path).get_docs(nlp.vocab) if len(doc) > 2][::every]
    counts = {"right": 0, "gold is best, and was not found": 0, "another order is better": 0}
    for doc in docs:
        words = [token.text for token in doc]
        bare = Doc(nlp.vocab, words=words)
        if [token.text for token in component(bare)] == words:
            counts["right"] += 1
        elif component.score_order(bare).gap <= 1e-6:
            counts["gold is best, and was not found"] += 1
        else:
            counts["another order is better"] += 1
    return f"{len(docs)} sentences, " + ", ".join(f"{what}: {n}" for what, n in counts.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("reranker")
    parser.add_argument("--model", default=None)
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--missed", type=int, metavar="N")
    options = parser.parse_args()
    nlp = load_pipeline(options.model)
    settings: dict[str, Any] = {key: json.loads(value) for key, _, value in (one.partition("=") for one in options.set)}
    reranker = {"@misc": "spacy_linearize.CausalLM.v1", "model": options.reranker, "strict": True, **settings}
    if options.missed:
        spacy_linearize.configure(nlp, reranker=reranker)
        print(missed(nlp, options.dev, options.missed))
        return
    print("| given | second opinion | BLEU / exact | asked, % | ms a sentence |\n|---|---|---|---|---|", flush=True)
    for cell in options.cells.split(","):
        tags, heads = CELLS[cell]
        for name, config in (("no", None), ("yes", reranker)):
            spacy_linearize.configure(nlp, reranker=config)
            run = evaluate(nlp, options.dev, tags=tags, heads=heads, limit=options.limit)
            print(f"| {cell} | {name} | {row(run)} |", flush=True)


if __name__ == "__main__":
    main()
