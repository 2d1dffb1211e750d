"""The table of `spacy linearize score`: how odd is the order of each sentence, and what would be better."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from .cli_util import BATCH, in_one_sentence, linearizer_of, say
from .files import Problem, one_line, standard_output

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from .files import Bag


def write_scores(nlp: "Language", sentences: Iterator["Bag"], *, jsonl: bool) -> int:
    """Print the scores of sentences, one line for each. Returns how many could not be scored."""
    component = linearizer_of(nlp)
    out = standard_output()
    n_failed = 0

    def write(text: str) -> None:
        out.write(f"{text}\n".encode())
        if not jsonl:
            out.flush()

    if not jsonl:
        write("number\tgap per word\tsentence\tbetter")
    while True:
        with nlp.memory_zone():
            batch = list(islice(sentences, BATCH))
            for bag in batch:
                result = _row(component, bag.number, bag.doc) if not isinstance(bag.doc, Problem) else bag.doc
                if isinstance(result, Problem):
                    n_failed += 1
                    say(f"✘ {bag.name}: {result.message}")
                    continue
                if jsonl:
                    write(json.dumps(result, ensure_ascii=False))
                else:
                    text, better = one_line(result["text"]), one_line(result["better"] or "")
                    write(f"{bag.number}\t{result['gap_per_word']:.2f}\t{text}\t{better}")
        if not batch:
            return n_failed


def _row(component: Any, number: int, doc: "Doc") -> dict[str, Any] | Problem:
    """One sentence as plain values. `better` is None where its own order is the best."""
    try:
        result = component.score_order(doc)
    except Exception as problem:
        return Problem(in_one_sentence(problem))
    words = [token.text for token in doc]
    better = [words[k] for k in result.best_order]
    return {
        "number": number,
        "text": " ".join(words),
        "score": result.score,
        "best_score": result.best_score,
        "gap": result.gap,
        "gap_per_word": result.gap_per_word,
        "best_order": list(result.best_order),
        "better": " ".join(better) if better != words else None,
    }
