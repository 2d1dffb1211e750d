"""Words that are written as one token."""

import json

import pytest

from spacy_linearize.doc.contraction import Contractions, Edit, Range, apply


def text(words, tags, *ranges):
    return words.split(), tags.split(), [Range(*one) for one in ranges]


FRENCH = [
    text("Les membres de le club", "DET NOUN ADP DET NOUN", (2, 4, "du")),
    text("Elle vient de le voir", "PRON VERB ADP PRON VERB"),
    text("De les amis parlent à le chat", "ADP DET NOUN VERB ADP DET NOUN", (0, 2, "Des"), (4, 6, "au")),
]
CLITICS = [
    text(f"{verb} lo", "VERB PRON", (0, 2, form))
    for verb, form in [("dar", "dá-lo"), ("falar", "falá-lo"), ("pagar", "pagá-lo"), ("ver", "vê-lo"), ("ler", "lê-lo")]
]


def find(contractions, words, tags, given=()):
    return [one.form for one in contractions.find(words.split(), tags.split(), given)]


def learned(texts):
    contractions = Contractions()
    contractions.learn(texts)
    return contractions


def test_known_words():
    french = learned(FRENCH)
    assert find(french, "Le chat de le club", "DET NOUN ADP DET NOUN") == ["du"]
    assert find(french, "chat de beau le", "NOUN ADP ADJ DET") == []
    assert find(french, "DE LE CLUB", "ADP DET NOUN") == ["DU"]
    assert find(french, "De le club", "ADP DET NOUN") == ["Du"]
    assert find(french, "à le à le", "ADP DET ADP DET") == ["au", "au"]


def test_tags_decide():
    """The pronoun is not contracted. Without tags, or with others, it goes by the majority."""
    french = learned([*FRENCH, FRENCH[0]])
    assert find(french, "de le voir", "ADP PRON VERB") == []
    assert find(french, "de le voir", "X Y Z") == ["du"]


def test_new_words_with_known_clitics():
    """By how they end."""
    portuguese = learned(CLITICS)
    assert find(portuguese, "cantar lo", "VERB PRON") == ["cantá-lo"]
    assert find(portuguese, "Comer lo", "VERB PRON") == ["Comê-lo"]
    assert find(portuguese, "casa lo", "NOUN PRON") == []


def test_a_clitic_has_exceptions():
    """A word that stood before it, and was not contracted."""
    portuguese = learned([*CLITICS, text("pode lo", "VERB PRON")])
    assert find(portuguese, "pode lo", "VERB PRON") == []
    assert find(portuguese, "amar lo", "VERB PRON") == ["amá-lo"]


def test_few_words_make_no_clitic():
    assert find(learned(CLITICS[:3]), "cantar lo", "VERB PRON") == []


def test_written_together():
    english = learned([text("I gon na", "PRP VBG TO", (1, 3, "gonna")), text("can not", "MD RB", (0, 2, "cannot"))])
    assert find(english, "Gon na Can NOT", "VBG TO MD RB") == ["Gonna", "CanNOT"]


def test_more_than_two_words():
    greek = learned([text("a b c d", "X X X X", (0, 3, "xyz")), text("a b", "X X", (0, 2, "q"))])
    assert find(greek, "a b c", "X X X") == ["xyz"]
    assert find(greek, "a b d", "X X X") == ["q"]


def test_what_is_given_stays():
    french = learned(FRENCH)
    assert find(french, "de le club", "ADP DET NOUN", [Range(1, 3, "lclub")]) == ["lclub"]
    assert find(Contractions(), "de le", "ADP DET", [Range(0, 2, "du")]) == ["du"]


@pytest.mark.parametrize(
    ("edit", "words", "form"),
    [
        (Edit(1, "u"), ["de", "le"], "du"),
        (Edit(1, "u"), ["DE", "LE"], "DU"),
        (Edit(1, "au"), ["à", "le"], "au"),
        (Edit(1, "au"), ["À", "le"], "Au"),
        (Edit(0, None), ["McDonald", "'s"], "McDonald's"),
    ],
)
def test_edits(edit, words, form):
    assert apply(edit, words) == form


def test_what_is_stored_comes_back():
    for texts in ([], FRENCH, CLITICS):
        first = learned(texts)
        again = Contractions.from_dict(json.loads(json.dumps(first.to_dict())))
        assert (again.pairs, again.clitics, again.edits) == (first.pairs, first.clitics, first.edits)
        words, tags = "cantar lo de le", "VERB PRON ADP DET"
        assert find(again, words, tags) == find(first, words, tags)
