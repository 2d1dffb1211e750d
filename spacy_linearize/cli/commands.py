"""`spacy linearize`: order, view, score, convert, evaluate, lm, compact. The same as `python -m spacy_linearize`."""

from contextlib import closing
from enum import Enum
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from spacy.cli._util import app as spacy_app

from .cli_util import (
    BATCH,
    Format,
    InputFormat,
    bags_from,
    check_count,
    check_places,
    input_kind,
    is_typed,
    linearizer_name,
    linearizer_of,
    load,
    one_line_errors,
    order_stream,
    read_input,
    say,
    shown,
    stopped_politely,
    use,
)
from .errors import error

if TYPE_CHECKING:
    from spacy.tokens import Doc

HELP = "Order words into sentences, and train and evaluate pipelines that do."

app = typer.Typer(name="linearize", help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
spacy_app.add_typer(app, name="linearize")

# Options that several commands have.
MODEL = typer.Option(None, "--model", "-m", help="A trained pipeline, instead of the bundled en_linearizer_ewt")
WORDS = typer.Argument(None, help="The words of one bag, in any order, punctuation apart; in quotes or not")
BAGS = typer.Option(
    None,
    "--input",
    "-i",
    help="A file of bags: .txt (one a line, spaces between words and punctuation), .conllu, .spacy",
)
INPUT_FORMAT = typer.Option(None, help="The format of the input, when its suffix does not tell")
BEAM = typer.Option(None, "--beam", "-b", help="Width of the beam, instead of the pipeline's own")
USE_TAGS = typer.Option(None, help="Whether tags of the input are given, instead of the pipeline's own")
USE_HEADS = typer.Option(None, help="Whether arcs of the input are given, likewise")


class Tag(str, Enum):
    xpos = "xpos"
    upos = "upos"


class TreebankFormat(str, Enum):
    conllu = "conllu"
    ptb = "ptb"


@app.command("order")
@one_line_errors
def order_command(
    words: list[str] = WORDS,
    model: str = MODEL,
    input_path: Path = BAGS,
    input_format: InputFormat = INPUT_FORMAT,
    output_path: Path = typer.Option(
        None, "--output", "-o", help="Write here: .txt, .conllu, .jsonl or .spacy; others with --format"
    ),
    output_format: Format = typer.Option(None, "--format", "-f", help="The format of the output"),
    beam: int = BEAM,
    nbest: int = typer.Option(1, "--n-best", "--nbest", "-n", help="Show so many orders of each bag"),
    threads: int = typer.Option(1, "--threads", "-t", help="Order so many bags at the same time"),
    use_tags: bool = USE_TAGS,
    use_heads: bool = USE_HEADS,
) -> None:
    """Order bags of words: arguments, a file, or the lines of standard input.

    A bag that cannot be ordered is reported with its number, its place in the file, and skipped; the exit code is then
    1. In text output its line is empty, so that with one order for each bag the lines match. All is read and written
    bag by bag, a thousand at a time, but a .spacy file as a whole. What is done stays when an error or Ctrl-C comes.

    \b
    Examples:
      spacy linearize order door the opened '?' Who
      spacy linearize order 'door the opened ? Who'
      spacy linearize order --model my_model --input bags.txt --output sentences.txt
      spacy linearize order --model my_model --input trees.conllu --format jsonl --n-best 5
    """
    from .files import Writer, check_suffix, format_of

    in_kind = input_kind(words, input_path, input_format, nbest)
    if output_format is None:
        check_suffix(output_path, "output", "--format")
    out_kind = format_of(output_path, output_format.value if output_format else None)
    check_count("threads", threads)
    if out_kind == "spacy" and output_path is None:
        raise error("SL022", key="output", value=None, expected="a path, for the format spacy")
    check_places(bags_from(words, input_path), [output_path])
    nlp = load(model, beam)
    use(nlp, use_tags, use_heads)
    bags = read_input(nlp, words, input_path, in_kind)
    writer = Writer(output_path, out_kind or "text")

    def write(number: int, _: "Doc", docs: "list[Doc]") -> None:
        writer.write(number, docs)

    with stopped_politely(), writer:
        size = 1 if is_typed(words, input_path) else BATCH  # who types wants to see each answer
        n_failed = order_stream(nlp, bags, write, nbest, threads, writer.skip, size)
    if n_failed:
        raise typer.Exit(1)


@app.command("view")
@one_line_errors
def view_command(
    words: list[str] = WORDS,
    model: str = MODEL,
    input_path: Path = BAGS,
    input_format: InputFormat = INPUT_FORMAT,
    output_path: Path = typer.Option(
        None, "--output", "-o", help="The page; of several bags the folder [default: linearization(.html)]"
    ),
    beam: int = BEAM,
    nbest: int = typer.Option(5, "--n-best", "--nbest", "-n", help="Show so many orders of each bag"),
) -> None:
    """Show in a browser how bags were ordered: one HTML page a bag, which needs no network.

    A page has the bag, the sentence, the lines between them, the tree, what was given, and the best orders with their
    scores. Several bags become a folder with 1.html, 2.html, ... and index.html. A bag that cannot be ordered is
    reported with its number and skipped, as with `order`; an empty one has no page.

    \b
    Examples:
      spacy linearize view door the opened '?' Who
      spacy linearize view --input trees.conllu --output pages --n-best 10
    """
    from .files import Problem
    from .pages import Pages

    kind = input_kind(words, input_path, input_format, nbest)
    source = bags_from(words, input_path)
    check_places(source, [output_path])
    nlp = load(model, beam)
    bags = (bag for bag in read_input(nlp, words, input_path, kind) if isinstance(bag.doc, Problem) or len(bag.doc))
    first = list(islice(bags, 2))
    if not first:
        raise error("SL070")
    pages = Pages(output_path, several=len(first) > 1)
    check_places(source, pages.old)
    with stopped_politely(), closing(pages):
        n_failed = order_stream(nlp, chain(first, bags), pages.write, nbest)
    if pages.items:
        say(f"✔ {pages.written}")
    if n_failed:
        raise typer.Exit(1)


@app.command("score")
@one_line_errors
def score_command(
    words: list[str] = typer.Argument(
        None, help="The words of one sentence, in their order, punctuation apart; in quotes or not"
    ),
    model: str = MODEL,
    input_path: Path = typer.Option(
        None,
        "--input",
        "-i",
        help="Sentences: .txt (one a line, spaces between words and punctuation), .conllu, .spacy",
    ),
    input_format: InputFormat = INPUT_FORMAT,
    jsonl: bool = typer.Option(False, "--jsonl", help="Write one JSON object a line instead of a table"),
    beam: int = BEAM,
    use_tags: bool = USE_TAGS,
    use_heads: bool = USE_HEADS,
) -> None:
    """Score the order that sentences have, beside the best order of the same words.

    For each sentence: how much better the best order scores, over the number of words (0: it is the sentence's own),
    and that order if it is another one. What the file gives of tags and arcs, every order has to keep.

    \b
    Examples:
      spacy linearize score the door opened Who '?'
      spacy linearize score --input sentences.txt
      spacy linearize score --input parsed.conllu --no-use-heads --jsonl
    """
    from .score_table import write_scores

    kind = input_kind(words, input_path, input_format, nbest=1)
    check_places(bags_from(words, input_path))
    nlp = load(model, beam)
    use(nlp, use_tags, use_heads)
    if write_scores(nlp, read_input(nlp, words, input_path, kind), jsonl=jsonl):
        raise typer.Exit(1)


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

    check_places([input_path], [output_path])
    counts = convert(
        input_path,
        output_path,
        kind=file_format.value if file_format else None,
        tag=tag.value,
        base_nps=base_nps,
        split=split,
        report=lambda path, line, message: say(f"✘ {path}:{line}: {error('SL202', problem=message)}"),
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
    beam: int = BEAM,
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
    from .atomic import save
    from .plots import PLOTS, draw, require_matplotlib

    if corpus.is_file() and corpus.suffix != ".spacy":
        raise error("SL054", path=corpus)
    if beams and not all(b.strip().isdecimal() for b in beams.split(",")):
        raise error("SL022", key="beams", value=beams, expected="widths set apart by commas, such as 1,4,16")
    widths = [int(b) for b in beams.split(",")] if beams else []
    for width in widths:
        check_count("beams", width)
    if plot:
        require_matplotlib()
    suffix = "png" if png else "svg"
    drawn = [plot / f"{name}.{suffix}" for name in PLOTS] if plot else []
    check_places([corpus, *corpus.rglob("*.spacy"), log], [json_path, *drawn])
    nlp = load(model, beam)
    check_places(nlp.path.rglob("*") if nlp.path else (), [json_path, *drawn])
    name = linearizer_name(nlp)
    component = nlp.get_pipe(name)
    for kind in ("tags", "heads", "deps"):
        if not getattr(component, f"use_{kind}"):
            say(f"⚠ '{name}' has use_{kind} = false: none are given.")
    settings: dict[str, Any] = {"labelled": labelled, "limit": limit, "seed": seed, "name": name}
    head = ["| tags | arcs | beam | BLEU | exact | UAS | LAS | tags right | ms a sentence |", "|" + "---|" * 9]

    def run(tags: float, heads: float, width: int | None = None) -> evaluation.Run:
        result = evaluation.evaluate(nlp, corpus, tags=tags, heads=heads, beam_width=width, **settings)
        while head:  # above the first row, once there is one
            print(head.pop(0))
        scores = (f"{value:.2f}" if value is not None else "–" for value in result.scores.values())
        row = [f"{result.tags:.0%}", f"{result.heads:.0%}", result.beam_width, *scores, f"{result.ms:.2f}"]
        print(f"| {' | '.join(map(str, row))} |", flush=True)
        return result

    cell = evaluation.given(component, tags, heads)
    cells = [evaluation.given(component, *shares) for shares in evaluation.GRID] if grid else [cell]
    runs = {shares: run(*shares) for shares in dict.fromkeys(cells)}
    figures: dict[str, Any] = {"model": shown(model), "corpus": shown(corpus.name)}
    figures["runs"] = [result.to_dict() for result in runs.values()]
    if widths:
        figures["beams"] = [run(*cell, width).to_dict() for width in widths]
    if log:
        figures["epochs"] = evaluation.epochs(log)
    if analyse or plot:
        # With a grid, the cell that --tags and --heads name.
        pairs = (runs.get(cell) or run(*cell)).pairs
        figures["analysed"] = dict(zip(("tags", "heads"), cell, strict=True))
        print(f"\nWith {cell[0]:.0%} of the tags and {cell[1]:.0%} of the arcs given:")
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
        for path in draw(figures, plot, suffix):
            say(f"✔ {path}")


@app.command("lm")
@one_line_errors
def lm_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    output_path: Path = typer.Argument(..., help="The folder to write the new pipeline to"),
    files: list[Path] = typer.Argument(..., help="Text (.txt, one sentence a line), .spacy, or one .arpa", exists=True),
    backward: Path = typer.Option(None, help="With .arpa: the model of the reversed sentences", exists=True),
    order: int = typer.Option(None, help="Length of the longest n-grams: 1 to 4; of .arpa, its own  [default: 3]"),
    weight: float = typer.Option(None, help="How much the model counts where arcs are missing"),
    tree_weight: float = typer.Option(None, help="How much it counts where all arcs are given"),
) -> None:
    """Give a pipeline another language model.

    \b
    Examples:
      spacy linearize lm model new_model train.spacy more_text.txt
      spacy linearize lm model new_model news.arpa --backward news_reversed.arpa
    """
    from .atomic import check_pipeline_folder, save_pipeline
    from .core.ngrams.table import HIGHEST_ORDER
    from .language_model import import_arpa, learn_from_files

    is_arpa = any(path.suffix == ".arpa" for path in files)
    if is_arpa and len(files) > 1:
        raise error("SL022", key="files", value=f"{len(files)} files", expected="one .arpa file, or none")
    if is_arpa and order is not None:
        raise error("SL022", key="order", value=order, expected="left out: an .arpa file has its own")
    if order is not None and not 1 <= order <= HIGHEST_ORDER:
        raise error("SL022", key="order", value=order, expected=f"from 1 to {HIGHEST_ORDER}")
    if backward and not is_arpa:
        raise error("SL022", key="backward", value=str(backward), expected="left out unless the file is an .arpa file")
    check_pipeline_folder(output_path)
    nlp = load(model)
    check_places([nlp.path, *files, backward], [output_path, *output_path.rglob("*")])
    engine = linearizer_of(nlp).shim.engine
    if backward and not any(decoder.mirrored for decoder in engine.decoders):
        expected = "left out: this pipeline does not search from right to left"
        raise error("SL022", key="backward", value=str(backward), expected=expected)
    if is_arpa:
        import_arpa(engine, files[0], backward)
    else:
        learn_from_files(nlp, engine, files, 3 if order is None else order)
    weights = {"ngram_weight": weight, "tree_ngram_weight": tree_weight}
    engine.change(**{key: value for key, value in weights.items() if value is not None})
    if not any(len(decoder.ngrams) for decoder in engine.decoders):
        raise error("SL022", key="files", value=" ".join(map(str, files)), expected="files with sentences")
    # The config of a pipeline says what its model is made of.
    changed = {key: getattr(engine.settings, key) for key in ("ngram_order", *weights)}
    nlp.get_pipe_config(linearizer_name(nlp))["model"].update(changed)
    save_pipeline(nlp, output_path)
    sizes = ", ".join(f"{len(decoder.ngrams)} n-grams" for decoder in engine.decoders)
    say(f"✔ {sizes} to {output_path}")


@app.command("compact")
@one_line_errors
def compact_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    output_path: Path = typer.Argument(..., help="The folder to write the small pipeline to"),
    prune: float = typer.Option(0.5, help="Drop weights below this, and round the others to steps of at most this"),
    meta: Path = typer.Option(None, help="A JSON file with what meta.json should say of the pipeline", exists=True),
) -> None:
    """Make a trained pipeline small: drop light weights, and store the others as bytes.

    \b
    Example:
      spacy linearize compact training/ud-default/model-last en_linearizer_ewt --prune 0.5
    """
    import srsly

    from .atomic import check_pipeline_folder, save_pipeline

    if not 0 <= prune < float("inf"):
        raise error("SL022", key="prune", value=prune, expected="a number, 0 or more")
    check_pipeline_folder(output_path)
    nlp = load(model)
    check_places([nlp.path, meta], [output_path, *output_path.rglob("*")])
    name = linearizer_name(nlp)
    component = nlp.get_pipe(name)
    # How many threads it was trained with is no matter of its users.
    nlp.get_pipe_config(name)["n_threads"] = 1
    component.configure(n_threads=1)
    component.shim.engine.compact(prune)
    if meta is not None:
        more = srsly.read_json(meta)
        if not isinstance(more, dict):
            raise error("SL022", key="meta", value=str(meta), expected="a file with a JSON object")
        nlp.meta.update(more)
    # The linearizer brings its tags and labels along, and looks up no other strings of the vocabulary.
    is_alone = nlp.component_names == [name] and not nlp.vocab.vectors.size
    save_pipeline(nlp, output_path, exclude=["vocab"] if is_alone else [])
    size = sum(path.stat().st_size for path in output_path.rglob("*") if path.is_file())
    say(f"✔ {size / 1e6:.1f} MB to {output_path}")
