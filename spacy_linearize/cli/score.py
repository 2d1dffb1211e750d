"""spacy linearize score"""

import json
from pathlib import Path
from typing import Any

import typer

from ..files.bags import standard_output
from ..files.conllu_writer import one_line
from . import _util
from ._stream import Input, through_pipeline, write_each
from ._util import app, check_places, linearizer_name, linearizer_of, load, one_line_errors, stopped_politely


@app.command("score")
@one_line_errors
def score_command(
    words: list[str] = typer.Argument(
        None, help="One sentence in quotes, for the tokenizer of the pipeline; or its words, punctuation apart"
    ),
    model: str = _util.MODEL,
    input_path: Path = typer.Option(
        None,
        "--input",
        "-i",
        help="Sentences: .txt (one a line, for the tokenizer), .conllu, .jsonl, .spacy; - for standard input",
    ),
    input_format: _util.InputFormat = _util.INPUT_FORMAT,
    jsonl: bool = typer.Option(False, "--jsonl", help="Write one JSON object a line instead of a table"),
    beam: int = _util.BEAM,
    reranker: str = _util.RERANKER,
    use_tags: bool = _util.USE_TAGS,
    use_heads: bool = _util.USE_HEADS,
) -> None:
    """Score the order that sentences have, beside the best order of the same words.

    For each sentence: the probability that a reader prefers it to the best order (-: the pipeline is not calibrated),
    how much better that order scores, over the number of words (0: it is the sentence's own), and that order if it is
    another one. What is given of tags and arcs, by the file or by the components before the
    linearizer, every order has to keep.

    \b
    Examples:
      spacy linearize score 'He always is late.'
      spacy linearize score the door opened Who '?'
      spacy linearize score --input sentences.txt
      spacy linearize score --input parsed.conllu --no-use-heads --jsonl
    """
    source = Input(words, input_path, input_format, is_text=True)
    check_places(source.places)
    nlp = load(model, beam, reranker=reranker, use_tags=use_tags, use_heads=use_heads)
    component = linearizer_of(nlp)
    out, bags = standard_output(), source.read(nlp)

    def write(number: int, row: dict[str, Any]) -> None:
        if jsonl:
            line = json.dumps({"number": number, **row}, ensure_ascii=False)
        else:
            probability = "-" if row["probability"] is None else f"{row['probability']:.2f}"
            columns = (
                number,
                probability,
                f"{row['gap_per_word']:.2f}",
                one_line(row["text"]),
                one_line(row["better"] or ""),
            )
            line = "\t".join(map(str, columns))
        out.write(f"{line}\n".encode())
        if not jsonl:
            out.flush()

    if not jsonl:
        out.write(b"number\tprobability\tgap per word\tsentence\tbetter\n")
    # The linearizer scores; the components after it are not needed.
    disable = nlp.pipe_names[nlp.pipe_names.index(linearizer_name(nlp)) :]
    with stopped_politely():
        results = through_pipeline(nlp, bags, size=source.batch_size, disable=disable)
        n_failed = write_each(results, lambda _, doc: component.score_order(doc).to_dict(), write)
    if n_failed:
        raise typer.Exit(1)
