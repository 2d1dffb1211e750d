"""Order a bag of words into a sentence with its dependency tree."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language

__version__ = "0.1.0"
__all__ = ["load"]


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
