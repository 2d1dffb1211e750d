"""What a second opinion brings, and what it takes.

    python benchmarks/second_opinion.py DEV.spacy MODEL [--cells everything,half,nothing] [--limit N] [--set KEY=VALUE]

MODEL is a causal language model: a name or folder of `transformers`, or a .gguf file. For each cell: BLEU / exact match
without and with it, the share of Docs that it was asked about, and ms a sentence of both. `--set` takes arguments of
spacy_linearize.CausalLM.v1 as JSON, such as `--set tail=null --set share_prefixes=false`; `--model` another pipeline.
OMP_NUM_THREADS is the number of threads of torch.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from _core import load_pipeline

import spacy_linearize
from spacy_linearize.training.evaluate import Run, evaluate

CELLS = {"everything": (1.0, 1.0), "half": (1.0, 0.5), "nothing": (0.0, 0.0)}


def row(run: Run) -> str:
    asked = sum("second" in output._.linearization for output, _ in run.pairs if len(output))
    share = 100 * asked / len(run.pairs)
    return f"{run.scores['bleu']:.1f} / {run.scores['exact']:.1f} | {share:.0f} | {run.ms:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("reranker")
    parser.add_argument("--model", default=None)
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    nlp = load_pipeline(options.model)
    settings: dict[str, Any] = {key: json.loads(value) for key, _, value in (one.partition("=") for one in options.set)}
    reranker = {"@misc": "spacy_linearize.CausalLM.v1", "model": options.reranker, "strict": True, **settings}
    print("| given | second opinion | BLEU / exact | asked, % | ms a sentence |\n|---|---|---|---|---|", flush=True)
    for cell in options.cells.split(","):
        tags, heads = CELLS[cell]
        for name, config in (("no", None), ("yes", reranker)):
            spacy_linearize.configure(nlp, reranker=config)
            run = evaluate(nlp, options.dev, tags=tags, heads=heads, limit=options.limit)
            print(f"| {cell} | {name} | {row(run)} |", flush=True)


if __name__ == "__main__":
    main()
