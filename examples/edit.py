"""Edit a parsed sentence as a tree, and let the linearizer write it again: drop a clause, swap two arguments, put a
modifier first.

    python examples/edit.py
    python examples/edit.py "The baker, who gets up at three, sells bread." --parser en_core_web_sm

An edit says nothing of word order: it takes words out, or hangs them elsewhere. The linearizer finds their places.
Without arguments, the sentences are those of parsed.conllu, which en_core_web_sm has parsed.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token

import spacy_linearize
from spacy_linearize.files.conllu import read_conllu

PARSED = Path(__file__).parent / "parsed.conllu"
CLAUSES = ("relcl", "advcl")
MODIFIERS = ("npadvmod", "advmod", "advcl", "prep")
PLURAL = ("NNS", "NNPS")


def rebuild(tokens: Iterable[Token], heads: dict[int, Token] | None = None, deps: dict[int, str] | None = None) -> Doc:
    """A Doc of some tokens with their tags and arcs.

    heads, deps (Optional[Dict[int, ...]]): By token.i, another head or label than it has.
    """
    tokens = list(tokens)
    place = {token.i: k for k, token in enumerate(tokens)}
    heads, deps = heads or {}, deps or {}
    return Doc(
        tokens[0].vocab,
        words=[written(token) for token in tokens],
        tags=[token.tag_ for token in tokens],
        heads=[place[heads.get(token.i, token.head).i] for token in tokens],
        deps=[deps.get(token.i, token.dep_) for token in tokens],
    )


def written(token: Token) -> str:
    """The form of a word within a sentence: without the capital that it has for being the first."""
    return token.lower_ if token.i == 0 and token.tag_ not in ("NNP", "NNPS") and token.text != "I" else token.text


def first(doc: Doc, labels: Iterable[str], head: Token | None = None) -> Token | None:
    """The first token with one of these labels, of this head if there is one."""
    return next((t for t in doc if t.dep_ in labels and head in (None, t.head)), None)


def root(doc: Doc) -> Token:
    return next(token for token in doc if token.dep_ == "ROOT")


def drop_clause(doc: Doc) -> Doc | None:
    """Without its first subordinate clause, and without the commas around that."""
    clause = first(doc, CLAUSES)
    if clause is None:
        return None
    gone = {token.i for token in clause.subtree}
    gone |= {token.i for token in clause.head.children if token.text == "," and {token.i - 1, token.i + 1} & gone}
    return rebuild(token for token in doc if token.i not in gone)


def swap_arguments(doc: Doc) -> Doc | None:
    """With subject and object in each other's place."""
    verb = root(doc)
    subject, thing = first(doc, ["nsubj"], verb), first(doc, ["dobj"], verb)
    if subject is None or thing is None or {"PRP"} & {subject.tag_, thing.tag_}:  # "she" would have to become "her"
        return None
    if (subject.tag_ in PLURAL) != (thing.tag_ in PLURAL):  # the verb would have another form
        return None
    deps = {subject.i: thing.dep_, thing.i: subject.dep_}
    commas = [token.i for token in subject.children if token.text == ","]
    # The second one closes a clause in the middle, and the object comes last.
    return rebuild((token for token in doc if token.i not in commas[1:]), deps=deps)


def put_first(doc: Doc) -> Doc | None:
    """With the last modifier of its verb before everything else."""
    verb = root(doc)
    found = [token for token in verb.children if token.dep_ in MODIFIERS and token.i > verb.i]
    if not found:
        return None
    new = rebuild(doc)
    moved = {token.i for token in found[-1].subtree}
    # Nothing says in which order the words of the modifier stand, or what follows them.
    new._.linearize_before = [(i, k) for i in moved for k in range(len(doc)) if k not in moved]
    return new


EDITS: list[Callable[[Doc], Doc | None]] = [drop_clause, swap_arguments, put_first]


def edits(nlp: Language, parsed: Doc) -> Iterator[tuple[str, str]]:
    """The name of each edit that a sentence allows, and what becomes of the sentence."""
    for edit in EDITS:
        new = edit(parsed)
        if new is not None:
            text = nlp(new).text
            yield edit.__name__, text[0].upper() + text[1:]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", nargs="*")
    parser.add_argument("--parser", default="en_core_web_sm", help="a pipeline that parses the sentences")
    options = parser.parse_args(arguments)
    nlp = spacy_linearize.load("en_core_web")
    if options.sentences:
        docs: Iterable[Doc] = spacy.load(options.parser).pipe(options.sentences)
    else:
        docs = read_conllu(PARSED, nlp.vocab)
    for doc in docs:
        print(doc.text)
        for name, text in edits(nlp, doc):
            print(f"  {name:14}  {text}")


if __name__ == "__main__":
    main()
