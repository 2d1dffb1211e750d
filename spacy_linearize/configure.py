"""Settings of a linearizer that is in a pipeline."""

from typing import Any

from spacy.language import Language

from .errors import error


def linearizer_names(nlp: Language) -> list[str]:
    """The names of the linearizers in a pipeline, whatever these are called."""
    return [name for name in nlp.component_names if nlp.get_pipe_meta(name).factory == "linearizer"]


def configure(nlp: Language, name: str | None = None, **settings: Any) -> None:
    """Change settings of a linearizer and of the config of its pipeline: see `spacy_linearize.configure`."""
    names = linearizer_names(nlp)
    if name is None and len(names) != 1:
        raise error("SL196", n=len(names), names=", ".join(names) or "none")
    chosen = names[0] if name is None else name
    if chosen not in names:
        raise error("SL196", n=len(names), names=", ".join(names) or "none")
    component = nlp.get_pipe(chosen)
    component.options = component.options.change(**settings)
    nlp.get_pipe_config(chosen).update(settings)
