"""Components to try something on, without a trace in the one that others use."""

import spacy

from spacy_linearize.linearizer import Linearizer

SMALL = {"model": {"table_bits": 16, "attach_bits": 14}, "beam_width": 8}
TINY = {"model": {"table_bits": 10, "attach_bits": 8}}


def with_options(component, **changed):
    """Another component with the same model and some other settings, which has warned of nothing yet."""
    new = Linearizer(
        component.vocab,
        component.model,
        component.name,
        options=component.options.change(**changed),
        reranker=component.reranker,
        scorer=component.scorer,
    )
    new.cfg = {kind: list(names) for kind, names in component.cfg.items()}
    new._known.know(new.cfg, new.vocab.strings)
    new.surface = component.surface
    return new


def make_nlp(**config):
    """A pipeline that is not trained, with a small model."""
    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer", config={**SMALL, **config})
    return nlp
