"""Order a bag of words into a sentence with its dependency tree."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import LinearizeError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from .linearizer import Linearizer
    from .options import Options
    from .training.corpus import Corpus

__version__ = "0.1.0"
__all__ = ["Corpus", "LinearizeError", "Linearizer", "Options", "alternative", "configure", "load"]

# What is imported when it is first asked for: spaCy imports this package when it starts.
LAZY = {"Corpus": ".training.corpus", "Linearizer": ".linearizer", "Options": ".options"}


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return getattr(import_module(LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(name: str = "en_ud", **options: Any) -> "Language":
    """An English pipeline that comes with this package: a tokenizer and a trained linearizer.

    name (str): "en_ud" for trees of Universal Dependencies, "en_core_web" for those of spaCy's own English pipelines
        (en_core_web_sm, md, lg, trf). For words without trees, either will do.
    options (Any): As for `spacy.load`: vocab, disable, config, ...

    Example:

        nlp = spacy_linearize.load()
        nlp(Doc(nlp.vocab, words=["door", "the", "opened", "?", "Who"])).text
    """
    import spacy

    from .bundled import bundled_path

    return spacy.load(bundled_path(name), **options)


def alternative(doc: "Doc", rank: int) -> "Doc":
    """One of the orders that `doc._.linearization` holds, as a Doc of its own. Nothing is searched again.

    doc (Doc): As it came out of a linearizer with n_best above 1.
    rank (int): 0 for the best order, 1 for the next.

    Example:

        spacy_linearize.configure(nlp, n_best=3)
        second = spacy_linearize.alternative(nlp(doc), 1)
    """
    from .doc.write import alternative

    return alternative(doc, rank)


def configure(nlp: "Language", name: str | None = None, **settings: Any) -> None:
    """Change settings of a linearizer, and with them the config of its pipeline: what is changed is saved.

    nlp (Language): The pipeline.
    name (Optional[str]): Of the component, if there are several linearizers.
    settings (Any): Fields of `Options`, and `reranker`: a dict as a config has it, or None.

    Example:

        spacy_linearize.configure(nlp, beam_width=32, sentences="sents")
        nlp.to_disk("my_pipeline")
    """
    from .options import configure

    configure(nlp, name, **settings)
