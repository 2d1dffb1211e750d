"""Order a bag of words into a sentence with its dependency tree."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

__version__ = "0.1.0"
__all__ = ["alternative", "load"]


def load(**options: Any) -> "Language":
    """The English pipeline that comes with this package: a tokenizer and a trained linearizer.

    options (Any): As for `spacy.load`: vocab, disable, config, ...

    Example:

        nlp = spacy_linearize.load()
        nlp(Doc(nlp.vocab, words=["door", "the", "opened", "?", "Who"])).text
    """
    from pathlib import Path

    import spacy

    return spacy.load(Path(__file__).parent / "pretrained" / "en_linearizer_ewt", **options)


def alternative(doc: "Doc", rank: int) -> "Doc":
    """One of the orders that `doc._.linearization` holds, as a Doc of its own. Nothing is searched again.

    doc (Doc): As it came out of a linearizer with n_best above 1.
    rank (int): 0 for the best order, 1 for the next.

    Example:

        nlp.get_pipe("linearizer").n_best = 3
        second = spacy_linearize.alternative(nlp(doc), 1)
    """
    from .build import alternative

    return alternative(doc, rank)
