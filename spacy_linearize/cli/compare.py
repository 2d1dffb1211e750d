"""spacy linearize compare"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from ..errors import error
from . import _util
from ._util import app, check_count, check_places, linearizer_name, linearizer_of, load, one_line_errors, say, shown


@app.command("compare")
@one_line_errors
def compare_command(
    model_a: str = typer.Argument(..., help="A trained pipeline, or a bundled one"),
    model_b: str = typer.Argument(..., help="Another one"),
    corpus: Path = typer.Argument(..., help="A .spacy file", exists=True),
    tags: float = typer.Option(1.0, help="Share of the tags that is given"),
    heads: float = typer.Option(1.0, help="Share of the arcs that is given"),
    labelled: bool = typer.Option(True, help="Whether given arcs have their labels"),
    beam: int = _util.BEAM,
    reranker: str = typer.Option(
        None, help="A causal language model for a second opinion in the second pipeline alone"
    ),
    limit: int = typer.Option(0, help="Read only this many Docs; 0 for all"),
    seed: int = typer.Option(0, help="For the choice of what is given"),
    show: int = typer.Option(5, help="How many of the sentences that differ most to print"),
    samples: int = typer.Option(1000, help="How many samples the paired bootstrap draws"),
    json_path: Path = typer.Option(None, "--json", help="Write all figures here, with every sentence that differs"),
    plot: Path = typer.Option(None, help="Draw BLEU by length, both lines, into this folder (needs the extra 'plots')"),
    png: bool = typer.Option(False, help="Draw PNG instead of SVG"),
) -> None:
    """Compare two pipelines on the same sentences: BLEU with a paired bootstrap, and the sentences that differ most.

    The p-value says how likely such a difference is if both are equally good: below 0.05 it is seldom chance.

    \b
    Examples:
      spacy linearize compare training/one/model-best training/other/model-best dev.spacy
      spacy linearize compare en_ud en_ud dev.spacy --reranker SmolLM2-135M-Instruct.Q4_1.gguf
      spacy linearize compare en_ud my_model dev.spacy --heads 0.5 --json compared.json --plot figures
    """
    import srsly

    from ..atomic import save
    from ..training.compare import compare
    from ..training.evaluate import evaluate, provenance
    from ..training.plots import draw, require_matplotlib

    if corpus.is_file() and corpus.suffix != ".spacy":
        raise error("SL054", path=corpus)
    check_count("samples", samples)
    if plot:
        require_matplotlib()
    suffix = "png" if png else "svg"
    check_places([corpus, *corpus.rglob("*.spacy")], [json_path, plot / f"lengths.{suffix}" if plot else None])
    runs, sources = [], []
    for model, opinion in ((model_a, None), (model_b, reranker)):
        nlp = load(model, beam, reranker=opinion)
        shares: dict[str, Any] = {"tags": tags, "heads": heads, "labelled": labelled}
        sources.append({"model": shown(model), "reranker": opinion, **provenance(linearizer_of(nlp))})
        runs.append(evaluate(nlp, corpus, **shares, limit=limit, seed=seed, name=linearizer_name(nlp)))
    with_opinion = f", {shown(reranker)}" if reranker else ""
    names = (f"A: {shown(model_a)}", f"B: {shown(model_b)}{with_opinion}")
    found = compare(*runs, names=names, n_samples=samples)
    print("| pipeline | BLEU | 95% interval | exact | ms a sentence |\n|---|---|---|---|---|")
    for name, run, bleu, interval in zip(names, runs, found.bleu, found.intervals, strict=True):
        print(f"| {name} | {bleu:.2f} | ± {interval:.2f} | {run.scores['exact']:.2f} | {run.ms:.2f} |")
    n = len(runs[0].pairs)
    print(f"\nPaired bootstrap, {samples:,} samples: p = {found.p_value:.4f}.", end=" ")
    print(f"{len(found.differing)} of {n} sentences differ.")
    for row in found.differing[:show]:
        print(
            f"\ngold       {row['reference']}\nA {row['bleu_a']:7.2f}  {row['a']}\nB {row['bleu_b']:7.2f}  {row['b']}"
        )
    if json_path:
        figures = {
            "corpus": shown(corpus.name),
            "seed": seed,
            "labelled": labelled,
            "limit": limit,
            "runs": [{**source, **run.to_dict()} for source, run in zip(sources, runs, strict=True)],
            **asdict(found),
        }
        json_path.parent.mkdir(parents=True, exist_ok=True)
        save(json_path, srsly.json_dumps(figures, indent=2).encode("utf8"))
    if plot:
        for path in draw({"lengths": found.lengths}, plot, suffix):
            say(f"✔ {path}")
