"""The components of a pipeline that are needed to assign some attributes, and whether they are the same as before."""

from collections.abc import Iterable
from hashlib import blake2b

from spacy.language import Language
from spacy.pipeline import AttributeRuler

from ..options import linearizer_names

ASSIGNED_FOR_OTHERS = {"doc.tensor", "doc._.trf_data"}  # what other components listen to
SENTENCES = {"token.is_sent_start", "doc.sents"}
MATCHED_BY_RULERS = {"token.pos", "token.morph", "token.tag"}


def components_for(nlp: Language, wanted: Iterable[str]) -> list[str]:
    """The components that must run, in their sequence: those that assign one of these attributes, those that others
    listen to, and those before them that do not say what they assign. An attribute ruler assigns what its patterns set.

    wanted (Iterable[str]): Attributes as components declare them, such as "token.dep".
    """
    wanted = set(wanted)
    if wanted & SENTENCES:
        wanted |= SENTENCES
    rulers = {name: _set_by_ruler(nlp.get_pipe(name)) for name in nlp.pipe_names}
    if any(rulers[name] & wanted for name in nlp.pipe_names):
        wanted |= MATCHED_BY_RULERS
    found: list[str] = []
    is_before_last = False
    linearizers = linearizer_names(nlp)  # which return other Docs
    for name in reversed(nlp.pipe_names):
        if name in linearizers:
            continue
        assigns = set(nlp.get_pipe_meta(name).assigns) | rulers[name]
        is_needed = bool(assigns & wanted)
        if is_needed or (is_before_last and (not assigns or assigns & ASSIGNED_FOR_OTHERS)):
            found.append(name)
        is_before_last = is_before_last or is_needed
    return found[::-1]


def _set_by_ruler(component: object) -> set[str]:
    """What an attribute ruler sets on words, such as tags that are derived from part of speech and morphology.

    Patterns for white space do not count. In spaCy's own English pipelines they are the only ones that set tags and
    labels, and matching all patterns takes a quarter of the time of parsing.
    """
    if not isinstance(component, AttributeRuler):
        return set()
    return {
        f"token.{str(key).lower()}"
        for pattern in component.patterns
        if not _is_for_space(pattern["patterns"])
        for key in pattern["attrs"]
    }


def _is_for_space(patterns: list[list[dict[str, object]]]) -> bool:
    """Whether patterns match a single token of white space and nothing else."""
    return all(len(tokens) == 1 and tokens[0].get("IS_SPACE") is True and "OP" not in tokens[0] for tokens in patterns)


def hash_of(nlp: Language, names: Iterable[str]) -> str:
    """Tells trained components from others of the same name: most pipelines have the version 0.0.0."""
    found = blake2b(digest_size=8)
    for name in names:
        component = nlp.get_pipe(name)
        if hasattr(component, "to_bytes"):
            found.update(component.to_bytes(exclude=["vocab"]))
    return found.hexdigest()
