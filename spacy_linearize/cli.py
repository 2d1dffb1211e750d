"""`spacy linearize`: order, convert, evaluate, lm, compact. The same as `python -m spacy_linearize`."""

import functools
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from spacy.cli._util import app as spacy_app

from .errors import LinearizeError, error

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from .files import Bag, Problem

HELP = "Order words into sentences, and train and evaluate pipelines that do."
BATCH = 1000  # bags for which new words are kept in memory

app = typer.Typer(name="linearize", help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
spacy_app.add_typer(app, name="linearize")


class Tag(str, Enum):
    xpos = "xpos"
    upos = "upos"


class Format(str, Enum):
    text = "text"
    conllu = "conllu"
    jsonl = "jsonl"
    spacy = "spacy"


class TreebankFormat(str, Enum):
    conllu = "conllu"
    ptb = "ptb"


def one_line_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Errors that a user can do something about are one line on standard error, without a traceback."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (LinearizeError, OSError, ValueError) as problem:
            say(f"✘ {' '.join(str(problem).split())}")
            raise typer.Exit(1) from problem

    return wrapper


def say(text: str) -> None:
    """Results go to standard output, everything else here."""
    print(text, file=sys.stderr)


@app.command("order")
@one_line_errors
def order_command(
    words: list[str] = typer.Argument(None, help="The words of one bag, in any order"),
    model: str = typer.Option(None, "--model", "-m", help="A trained pipeline, instead of the bundled English one"),
    input_path: Path = typer.Option(None, "--input", "-i", help="A file of bags: .txt (one a line), .conllu or .spacy"),
    input_format: Format = typer.Option(None, help="The format of the input, when its suffix does not tell"),
    output_path: Path = typer.Option(None, "--output", "-o", help="Write here: .txt, .conllu, .jsonl or .spacy"),
    output_format: Format = typer.Option(None, "--format", "-f", help="The format of the output"),
    beam: int = typer.Option(None, "--beam", "-b", help="Width of the beam, instead of the pipeline's own"),
    nbest: int = typer.Option(1, "--nbest", "-n", help="Show so many orders of each bag"),
    threads: int = typer.Option(1, "--threads", "-t", help="Order so many bags at the same time"),
    use_tags: bool = typer.Option(None, help="Whether tags of the input are given, instead of the pipeline's own"),
    use_heads: bool = typer.Option(None, help="Whether arcs of the input are given, likewise"),
) -> None:
    """Order bags of words: arguments, a file, or the lines of standard input.

    A bag that cannot be ordered is reported with its number and skipped; the exit code is then 1. Everything streams,
    but a .spacy file is read, and written, as a whole.

    \b
    Examples:
      spacy linearize order door the opened '?' Who
      spacy linearize order --model my_model --input bags.txt --output sentences.txt
      spacy linearize order --model my_model --input trees.conllu --format jsonl --nbest 5
    """
    from .files import Writer, format_of, read_bags

    in_kind = format_of(input_path, input_format.value if input_format else None)
    out_kind = format_of(output_path, output_format.value if output_format else None)
    if in_kind in (None, "jsonl"):
        raise error("SL022", key="input format", value=in_kind, expected="text, conllu or spacy")
    if input_path is None and in_kind != "text":
        raise error("SL022", key="input", value=None, expected=f"a path, for the format {in_kind}")
    if words and input_path is not None:
        raise error("SL022", key="input", value=str(input_path), expected="left out when words are given")
    if nbest < 1:
        raise error("SL022", key="nbest", value=nbest, expected="1 or more")
    if out_kind == "spacy" and output_path is None:
        raise error("SL022", key="output", value=None, expected="a path, for the format spacy")
    nlp = load(model, beam)
    component = nlp.get_pipe("linearizer")
    component.use_tags = component.use_tags if use_tags is None else use_tags
    component.use_heads = component.use_heads if use_heads is None else use_heads
    from spacy.tokens import Doc

    bags = iter([(1, Doc(nlp.vocab, words=words))]) if words else read_bags(input_path, in_kind or "text", nlp.vocab)
    writer = Writer(output_path, out_kind or "text")
    # A polite end keeps what is done, like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        n_failed = order_stream(nlp, bags, writer, nbest, threads)
    except KeyboardInterrupt:
        say("Stopped.")
        raise typer.Exit(130) from None
    finally:
        writer.close()
    if n_failed:
        raise typer.Exit(1)


def order_stream(nlp: "Language", bags: Iterator["Bag"], writer: Any, nbest: int, threads: int) -> int:
    """Order a stream of bags, in batches whose new words are forgotten afterwards. Returns how many failed."""
    from tqdm import tqdm

    from .files import Problem

    component = nlp.get_pipe("linearizer")

    def order(bag: "Bag") -> "tuple[int, list[Doc] | Problem]":
        number, doc = bag
        if isinstance(doc, Problem):
            return number, doc
        try:
            return number, component.alternatives(doc, nbest)
        except LinearizeError as problem:
            return number, Problem(str(problem))

    n_failed = 0
    with ThreadPoolExecutor(threads) as pool, tqdm(unit=" bags", disable=not sys.stderr.isatty()) as progress:
        while True:
            with nlp.memory_zone():
                batch = list(islice(bags, BATCH))
                for number, result in pool.map(order, batch) if threads > 1 else map(order, batch):
                    progress.update()
                    if isinstance(result, Problem):
                        n_failed += 1
                        say(f"✘ {number}: {result.message}")
                    else:
                        writer.write(number, result)
            if not batch:
                return n_failed


def load(model: str | None, beam: int | None = None) -> "Language":
    """A trained pipeline that has a linearizer; the bundled one, if none is named."""
    import spacy

    from . import load as load_bundled

    nlp = load_bundled() if model is None else spacy.load(model)
    if "linearizer" not in nlp.pipe_names:
        raise error("SL052", model=model)
    if beam is not None:
        if beam < 1:
            raise error("SL022", key="beam", value=beam, expected="1 or more")
        component = nlp.get_pipe("linearizer")
        component.beam_width = component.tree_beam_width = beam
    return nlp


@app.command("convert")
@one_line_errors
def convert_command(
    input_path: Path = typer.Argument(..., help="A file, or a folder of files: .mrg, .parse or .conllu", exists=True),
    output_path: Path = typer.Argument(..., help="The .spacy file to write"),
    file_format: TreebankFormat = typer.Option(None, "--format", "-f", help="When the suffix does not tell"),
    tag: Tag = typer.Option(Tag.xpos, help="CoNLL-U: the column that becomes token.tag"),
    base_nps: bool = typer.Option(False, help="Brackets: merge base noun phrases into single units"),
    split: str = typer.Option(
        None, help="Only some files: train, dev, test (WSJ 2-21, 22, 23), or globs, set apart by commas"
    ),
) -> None:
    """Convert a treebank to a .spacy file: one Doc a sentence, in order.

    A sentence that cannot be read is reported with file and line, and skipped.

    \b
    Examples:
      spacy linearize convert en_ewt-ud-train.conllu train.spacy
      spacy linearize convert wsj/ train.spacy --split train --base-nps
    """
    from .treebanks.convert import convert

    counts = convert(
        input_path,
        output_path,
        kind=file_format.value if file_format else None,
        tag=tag.value,
        base_nps=base_nps,
        split=split,
        report=lambda path, line, message: say(f"✘ {path}:{line}: {message}"),
    )
    say(
        f"✔ {counts.sentences} sentences from {counts.files} files ({counts.not_projective} not projective, "
        f"{counts.skipped} skipped) to {output_path}"
    )


@app.command("evaluate")
@one_line_errors
def evaluate_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    corpus: Path = typer.Argument(..., help="A .spacy file", exists=True),
    tags: float = typer.Option(1.0, help="Share of the tags that is given"),
    heads: float = typer.Option(1.0, help="Share of the arcs that is given"),
    labelled: bool = typer.Option(True, help="Whether given arcs have their labels"),
    grid: bool = typer.Option(False, help="All of 0, 50, 100% tags with 0, 50, 100% arcs"),
    beam: int = typer.Option(None, "--beam", "-b", help="Width of the beam, instead of the pipeline's own"),
    limit: int = typer.Option(0, help="Only so many Docs"),
    seed: int = typer.Option(0, help="For the choice of what is given"),
    analyse: bool = typer.Option(False, help="Spans by length, span lengths, brevity"),
    beams: str = typer.Option(None, help="BLEU for several widths of the beam, such as 1,4,16"),
    log: Path = typer.Option(None, help="BLEU by epoch, from a log file of spacy train", exists=True),
    json_path: Path = typer.Option(None, "--json", help="Write all figures here"),
    plot: Path = typer.Option(None, help="Analyse, and draw all figures into this folder (needs the extra 'plots')"),
    png: bool = typer.Option(False, help="Draw PNG instead of SVG"),
) -> None:
    """Evaluate a pipeline: BLEU, exact match, UAS, LAS and tag accuracy of what was not given, and the time.

    \b
    Examples:
      spacy linearize evaluate my_model dev.spacy
      spacy linearize evaluate my_model dev.spacy --grid --json grid.json
      spacy linearize evaluate my_model dev.spacy --tags 0 --heads 0 --analyse --beams 1,4,16,64 --plot figures
    """
    import srsly

    from . import evaluation
    from .core.store import save
    from .plots import draw, require_matplotlib

    if corpus.is_file() and corpus.suffix != ".spacy":
        raise error("SL054", path=corpus)
    if beams and not all(b.strip().isdecimal() and int(b) > 0 for b in beams.split(",")):
        raise error("SL022", key="beams", value=beams, expected="widths set apart by commas, such as 1,4,16")
    if plot:
        require_matplotlib()
    nlp = load(model, beam)
    settings: dict[str, Any] = {"labelled": labelled, "limit": limit, "seed": seed}
    print("| tags | arcs | beam | BLEU | exact | UAS | LAS | tags right | ms a sentence |\n|" + "---|" * 9)

    def run(tags: float, heads: float, width: int | None = None) -> evaluation.Run:
        result = evaluation.evaluate(nlp, corpus, tags=tags, heads=heads, beam_width=width, **settings)
        scores = (f"{value:.2f}" if value is not None else "–" for value in result.scores.values())
        print(
            f"| {tags:.0%} | {heads:.0%} | {result.beam_width} | {' | '.join(scores)} | {result.ms:.2f} |", flush=True
        )
        return result

    runs = [run(t, h) for t, h in (evaluation.GRID if grid else [(tags, heads)])]
    figures: dict[str, Any] = {"model": str(model), "corpus": corpus.name, "runs": [r.to_dict() for r in runs]}
    if beams:
        figures["beams"] = [run(tags, heads, int(b)).to_dict() for b in beams.split(",")]
    if log:
        figures["epochs"] = evaluation.epochs(log)
    if analyse or plot:
        pairs = runs[-1].pairs
        figures["spans"] = evaluation.span_scores(pairs)
        figures["span_lengths"] = evaluation.span_lengths(pairs)
        figures["brevity"] = evaluation.brevity(pairs)
        print("\n| spans shorter than | precision | recall | F |\n|---|---|---|---|")
        for row in figures["spans"]:
            print(f"| {row['shorter_than']} | {row['precision']:.2f} | {row['recall']:.2f} | {row['f']:.2f} |")
        print("\n| words | brevity |\n|---|---|")
        for row in figures["brevity"]:
            print(f"| from {row['from_words']} | {row['brevity']:.3f} |")
    if json_path:
        json_path.parent.mkdir(parents=True, exist_ok=True)
        save(json_path, srsly.json_dumps(figures, indent=2).encode("utf8"))
    if plot:
        for path in draw(figures, plot, "png" if png else "svg"):
            say(f"✔ {path}")


@app.command("lm")
@one_line_errors
def lm_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    output_path: Path = typer.Argument(..., help="The folder to write the new pipeline to"),
    files: list[Path] = typer.Argument(..., help="Text (.txt, one sentence a line), .spacy, or one .arpa", exists=True),
    backward: Path = typer.Option(None, help="With .arpa: the model of the reversed sentences", exists=True),
    order: int = typer.Option(3, help="Length of the longest n-grams: 1 to 4"),
    weight: float = typer.Option(None, help="How much the model counts where arcs are missing"),
    tree_weight: float = typer.Option(None, help="How much it counts where all arcs are given"),
) -> None:
    """Give a pipeline another language model.

    \b
    Examples:
      spacy linearize lm model new_model train.spacy more_text.txt
      spacy linearize lm model new_model news.arpa --backward news_reversed.arpa
    """
    from .files import save_pipeline
    from .language_model import import_arpa, learn_from_files

    nlp = load(model)
    engine = nlp.get_pipe("linearizer").shim.engine
    if any(path.suffix == ".arpa" for path in files):
        if len(files) > 1:
            raise error("SL022", key="files", value=f"{len(files)} files", expected="one .arpa file, or none")
        import_arpa(engine, files[0], backward)
    else:
        learn_from_files(nlp, engine, files, order)
    weights = {"ngram_weight": weight, "tree_ngram_weight": tree_weight}
    engine.change(**{key: value for key, value in weights.items() if value is not None})
    if not any(len(decoder.ngrams) for decoder in engine.decoders):
        raise error("SL022", key="files", value=" ".join(map(str, files)), expected="files with sentences")
    # The config of a pipeline says what its model is made of.
    changed = {key: getattr(engine.settings, key) for key in ("ngram_order", *weights)}
    nlp.get_pipe_config("linearizer")["model"].update(changed)
    save_pipeline(nlp, output_path)
    sizes = ", ".join(f"{len(decoder.ngrams)} n-grams" for decoder in engine.decoders)
    say(f"✔ {sizes} to {output_path}")


@app.command("compact")
@one_line_errors
def compact_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    output_path: Path = typer.Argument(..., help="The folder to write the small pipeline to"),
    prune: float = typer.Option(0.5, help="Drop weights below this"),
    meta: Path = typer.Option(None, help="A JSON file with what meta.json should say of the pipeline", exists=True),
) -> None:
    """Make a trained pipeline small: drop light weights, and store the others as bytes.

    \b
    Example:
      spacy linearize compact training/ud-default/model-last en_linearizer_ewt --prune 0.5
    """
    import srsly

    from .files import save_pipeline

    if not 0 <= prune < float("inf"):
        raise error("SL022", key="prune", value=prune, expected="a number, 0 or more")
    nlp = load(model)
    nlp.get_pipe_config("linearizer")["n_threads"] = 1  # how many it was trained with is no matter of its users
    nlp.get_pipe("linearizer").shim.engine.compact(prune)
    if meta is not None:
        nlp.meta.update(srsly.read_json(meta))
    save_pipeline(nlp, output_path)
    size = sum(path.stat().st_size for path in output_path.rglob("*") if path.is_file())
    say(f"✔ {size / 1e6:.1f} MB to {output_path}")
