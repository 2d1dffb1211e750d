"""spacy linearize score"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ._util import (
    BEAM,
    INPUT_FORMAT,
    MODEL,
    USE_HEADS,
    USE_TAGS,
    InputFormat,
    app,
    check_places,
    linearizer_name,
    linearizer_of,
    load,
    one_line_errors,
    stopped_politely,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..linearizer import Linearizer


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
    and that order if it is another one. What is given of tags and arcs, by the file or by the components before the
    linearizer, every order has to keep.

    \b
    Examples:
      spacy linearize score the door opened Who '?'
      spacy linearize score --input sentences.txt
      spacy linearize score --input parsed.conllu --no-use-heads --jsonl
    """
    from ..files.bags import standard_output
    from . import _stream

    kind = _stream.input_kind(words, input_path, input_format)
    check_places(_stream.bags_from(words, input_path))
    nlp = load(model, beam, use_tags=use_tags, use_heads=use_heads)
    component = linearizer_of(nlp)
    sentences = _stream.read_input(nlp, words, input_path, kind)
    out = standard_output()

    def write(number: int, row: dict[str, Any]) -> None:
        out.write(_line(number, row, jsonl=jsonl).encode("utf8"))
        if not jsonl:
            out.flush()

    if not jsonl:
        out.write(b"number\tgap per word\tsentence\tbetter\n")
    # The linearizer scores, and what comes after it has nothing to do.
    disable = nlp.pipe_names[nlp.pipe_names.index(linearizer_name(nlp)) :]
    size = 1 if _stream.is_typed(words, input_path) else _stream.BATCH
    with stopped_politely():
        results = _stream.through_pipeline(nlp, sentences, size=size, disable=disable)
        n_failed = _stream.write_each(results, lambda _, doc: _score(component, doc), write)
    if n_failed:
        raise typer.Exit(1)


def _score(component: "Linearizer", doc: "Doc") -> dict[str, Any]:
    """One sentence as plain values. `better` is None where its own order is the best."""
    found = component.score_order(doc)
    words = [token.text for token in doc]
    better = [words[k] for k in found.best_order]
    return {
        "text": " ".join(words),
        "score": found.score,
        "best_score": found.best_score,
        "gap": found.gap,
        "gap_per_word": found.gap_per_word,
        "best_order": list(found.best_order),
        "better": " ".join(better) if better != words else None,
    }


def _line(number: int, row: dict[str, Any], *, jsonl: bool) -> str:
    from ..files.conllu import one_line

    if jsonl:
        return json.dumps({"number": number, **row}, ensure_ascii=False) + "\n"
    return f"{number}\t{row['gap_per_word']:.2f}\t{one_line(row['text'])}\t{one_line(row['better'] or '')}\n"
