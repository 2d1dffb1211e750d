"""Random Docs with constraints, and what the tests of these share."""

from spacy.tokens import Doc, Span

from spacy_linearize.errors import LinearizeError

from . import brute

WORDS = ["the", "a", "dog", "cat", "sees", "old", "very", ".", ",", "and", "Maria", "who", "in", "house", "größer"]


def random_doc(vocab, rng, n=None, share=0.5):
    """Random words with a random forest of given arcs."""
    n = n or rng.randint(1, 9)
    heads = brute.random_forest(rng, n, rng.choice([0, share, 1.0]))
    return Doc(
        vocab,
        words=[rng.choice(WORDS) for _ in range(n)],
        tags=[rng.choice(["", "NN", "DT"]) for _ in range(n)],
        heads=[None if h == brute.FREE else k if h == brute.ROOT else h for k, h in enumerate(heads)],
        deps=["" if h == brute.FREE else "ROOT" if h == brute.ROOT else "dep" for h in heads],
    )


def random_pairs(rng, n):
    return [tuple(rng.sample(range(n), 2)) for _ in range(rng.randint(1, 3))] if n > 1 else []


def place_of(new):
    """Where each token of the input stands now."""
    return {old: i for i, old in enumerate(new._.linearization["order"])}


def try_order(component, doc, *codes):
    """The new Doc, or None where what is asked for cannot be."""
    try:
        return component(doc)
    except LinearizeError as problem:
        if problem.code not in (codes or ("SL008", "SL191")):
            raise
        return None


def random_units(doc, rng):
    spans, at = [], 0
    while at < len(doc):
        size = min(len(doc) - at, rng.choice([1, 1, 2, 3]))
        spans.append(Span(doc, at, at + size, label="U"))
        at += size
    return [span for span in spans if rng.random() < 0.7]


def permuted(doc, rng):
    """The same units and single words in another order, with all that tells them apart."""
    spans = {span.start: span.end for span in doc.spans["units"]}
    parts, at = [], 0
    while at < len(doc):
        parts.append(range(at, spans.get(at, at + 1)))
        at = parts[-1].stop
    rng.shuffle(parts)
    order = [k for part in parts for k in part]
    place = {k: i for i, k in enumerate(order)}
    new = Doc(doc.vocab, words=[doc[k].text for k in order], lemmas=[doc[k].lemma_ for k in order])
    for key, group in doc.spans.items():
        new.spans[key] = [Span(new, place[s.start], place[s.start] + len(s), label=s.label) for s in group]
    if doc.ents:  # without any, they would be missing before and known to be none after
        new.ents = [Span(new, place[s.start], place[s.start] + len(s), label=s.label) for s in doc.ents]
    return new


def units(doc, *ranges):
    doc.spans["units"] = [Span(doc, start, end) for start, end in ranges]
    return doc
