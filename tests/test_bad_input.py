"""What is wrong with Docs and settings is said in one sentence."""

import copy
import pickle
import random
import warnings

import pytest
import spacy
from docs import bag
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from spacy_linearize.bag import ATTRS, Use, _words, read_words
from spacy_linearize.names import KnownNames
from spacy_linearize.settings import SETTINGS

from spacy_linearize.errors import LinearizeError

CONFIG = {"model": {"table_bits": 16, "attach_bits": 14}, "beam_width": 8}


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


class TestBadInput:
    def test_untrained(self):
        nlp = spacy.blank("en")
        nlp.add_pipe("linearizer", config=CONFIG)
        with pytest.raises(LinearizeError, match=r"SL040.*not trained.*spacy train.*source="):
            nlp(bag(nlp, "a b"))
        with pytest.raises(LinearizeError, match="SL040"):
            nlp.get_pipe("linearizer").update([Example.from_dict(bag(nlp, "a b"), {})])

    def test_nothing_to_order(self, nlp):
        assert nlp(Doc(nlp.vocab)).text == ""
        assert nlp("").text == ""
        assert nlp(Doc(nlp.vocab, words=[" ", "\n"])).text.split() == []
        assert nlp("dog")[0].dep_ == "ROOT"

    def test_duplicate_words(self, nlp):
        out = nlp(bag(nlp, "the the the dog dog ."))
        assert sorted(t.text for t in out) == [".", "dog", "dog", "the", "the", "the"]

    def test_cycle(self, nlp):
        with pytest.raises(LinearizeError, match=r"SL001.*word 0 'a', word 1 'b'"):
            nlp(bag(nlp, "a b c", heads=[1, 0, None], deps=["x", "x", ""]))

    def test_another_vocabulary(self, nlp):
        """Tags and labels that are added have their texts there too."""
        out = nlp(Doc(Vocab(), words=["door", "the", "opened", "?", "Who"]))
        assert {t.dep_ for t in out} > {"ROOT"}
        assert all(t.tag_ for t in out)
        assert out.text == "Who opened the door?"  # though a bare vocabulary knows no shapes

    def test_words_are_named_as_the_doc_has_them(self, nlp):
        """Not as units, or sentences, number them."""
        component = nlp.get_pipe("linearizer")
        component.units = "names"
        doc = bag(
            nlp,
            "New York is big and old",
            heads=[None, None, None, 3, None, 5],
            deps=["", "", "", *["ROOT", "", "ROOT"]],
        )
        doc.spans["names"] = [doc[0:2]]
        twice = bag(nlp, "New York is big")
        twice.spans["names"] = [twice[0:2]]
        twice._.linearize_before = [(1, 3), (3, 0)]
        try:
            with pytest.raises(LinearizeError, match=r"SL002.*word 3 'big', word 5 'old'") as caught:
                nlp(doc)
            assert caught.value.words == (3, 5)
            with pytest.raises(LinearizeError, match=r"SL008.*word 0 'New York' before word 3 'big'"):
                nlp(twice)
        finally:
            component.units = None
        doc = Doc(nlp.vocab, words=["a", "b", "x", "y", "z"], sent_starts=[1, 0, 1, 0, 0])
        doc._.linearize_before = [(3, 4), (4, 3)]
        component.sentences = "sents"
        try:
            with pytest.raises(LinearizeError, match=r"SL008.*word 3 'y' before word 4 'z'") as caught:
                nlp(doc)
            assert caught.value.words == (3, 4)
        finally:
            component.sentences = "doc"

    def test_no_doc(self, nlp):
        component = nlp.get_pipe("linearizer")
        for call in (component, component.explain, component.score_order, lambda text: component.alternatives(text, 2)):
            for value in ("a b c", "", None):
                with pytest.raises(LinearizeError, match=rf"SL192.*given {value!r}"):
                    call(value)

    def test_too_many_alternatives(self, nlp):
        for n_best in (0, 10**12):
            with pytest.raises(LinearizeError, match=r"SL022.*'n_best' is"):
                nlp.get_pipe("linearizer").alternatives(bag(nlp, "a b"), n_best)

    def test_two_roots(self, nlp):
        with pytest.raises(LinearizeError, match=r"SL002.*word 0 'a', word 2 'c'"):
            nlp(bag(nlp, "a b c", heads=[0, 0, 2], deps=["ROOT", "x", "ROOT"]))

    def test_own_head_without_being_the_root(self, nlp):
        with pytest.raises(LinearizeError, match=r"SL004.*word 1 'b'"):
            nlp(bag(nlp, "a b", heads=[1, 1], deps=["x", "nsubj"]))

    def test_head_in_another_sentence(self, nlp):
        doc = bag(nlp, "a b c d", heads=[1, 1, 3, 3], deps=["x", "ROOT", "x", "ROOT"])
        with pytest.raises(LinearizeError, match=r"SL043.*word 0 'a'"):
            _words(doc, Use(), doc.to_array(ATTRS)[:1], 0)

    def test_unknown_tag_and_label_are_kept(self, nlp):
        out = nlp(bag(nlp, "dog the", tags=["TAGS", "TAGT"], heads=[0, 0], deps=["ROOT", "strange"]))
        assert {t.text: (t.tag_, t.dep_) for t in out} == {"dog": ("TAGS", "ROOT"), "the": ("TAGT", "strange")}

    def test_warnings_as_errors(self, trained_path):
        """Every Doc says it, alone or among others."""
        nlp = spacy.load(trained_path)
        docs = [bag(nlp, "dog the", tags=["TAGX", ""]), bag(nlp, "dog the")]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                with pytest.raises(UserWarning, match="SL058"):
                    list(nlp.pipe(docs))
        with pytest.warns(UserWarning, match="SL058"):
            nlp(docs[0])

    def test_a_tag_learned_later_is_known(self):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("linearizer", config={"model": {"table_bits": 10, "attach_bits": 8}})
        first, later = (Doc(nlp.vocab, words=["dogs", "bark"], tags=[tag, "VBP"]) for tag in ("NNS", "NEW"))
        nlp.initialize(lambda: [Example(first, first)])
        nlp.update([Example(later, later)])
        assert "NEW" in component.label_data["tags"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nlp(later)

    def test_a_thousand_tokens(self, nlp):
        rng = random.Random(0)
        words = [rng.choice(["dog", "the", "a", "house", "sees", f"w{i}"]) for i in range(1000)]
        component = nlp.get_pipe("linearizer")
        component.beam_width, width = 1, component.beam_width
        try:
            assert sorted(t.text for t in nlp(Doc(nlp.vocab, words=words))) == sorted(words)
        finally:
            component.beam_width = width

    def test_extension_of_another_package(self):
        nlp = spacy.blank("en")
        old = Doc.remove_extension("linearization")
        Doc.set_extension("linearization", getter=len)
        try:
            with pytest.raises(LinearizeError, match=r"SL041.*doc._.linearization"):
                nlp.add_pipe("linearizer")
        finally:
            Doc.remove_extension("linearization")
            Doc.set_extension("linearization", default=old[0])

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("beam_width", "8"),
            ("beam_width", 0),
            ("beam_width", True),
            ("n_threads", 1.5),
            ("use_tags", 1),
            ("use_heads", "yes"),
            ("use_deps", None),
            ("tree", "no"),
            ("overwrite", 2),
            ("sentences", "paragraphs"),
            ("units", ["ents"]),
            ("max_words", "x"),
            ("tree_beam_width", -3),
            ("n_best", 10**12),
            ("seed", "x"),
        ],
    )
    def test_wrong_types_name_the_key(self, key, value):
        with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
            spacy.blank("en").add_pipe("linearizer", config={key: value})
        component = spacy.blank("en").add_pipe("linearizer")
        if key != "seed":  # for a new component only
            with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
                setattr(component, key, value)

    def test_a_setting_of_another_name(self, nlp):
        component = nlp.get_pipe("linearizer")
        with pytest.raises(AttributeError, match="beamwidth"):
            component.beamwidth = 5
        assert not hasattr(component, "__dict__")
        for again in (pickle.loads(pickle.dumps(component)), copy.deepcopy(component)):
            for key in (*SETTINGS, "cfg", "name"):
                assert getattr(again, key) == getattr(component, key)
            doc = bag(nlp, "dog The sleeps .")
            assert again(doc).text == component(doc).text
            again.beam_width = 3
            assert again.cfg["changed"] == {"beam_width": [8, 3]}
            with pytest.raises(AttributeError, match="beamwidth"):
                again.beamwidth = 5

    def test_values_without_a_text(self, nlp):
        """Numbers that Python does not print, and lists that it cannot."""
        deep = []
        for _ in range(100_000):
            deep = [deep]
        for value, text in (
            (10**5000, "a value of type int"),
            (deep, "a value of type list"),
            ("x" * 999, "'xxx.*xxx[.]{3}"),
        ):
            with pytest.raises(LinearizeError, match=rf"SL022.*'beam_width' is {text}, but"):
                nlp.get_pipe("linearizer").beam_width = value

    @pytest.mark.parametrize("drop", [None, "0.1", 1.0, -0.5, float("nan")])
    def test_a_wrong_drop(self, nlp, drop):
        with pytest.raises(LinearizeError, match=r"SL022.*'drop' is .*from 0 to below 1"):
            nlp.get_pipe("linearizer").update([], drop=drop)

    def test_initialize_without_nlp(self, tmp_path):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("linearizer")
        examples = [Example(bag(nlp, "a dog"), bag(nlp, "a dog"))]
        with pytest.raises(LinearizeError, match=r"SL194.*was given corpus, but no nlp"):
            component.initialize(lambda: examples, corpus=lambda nlp: examples)
        with pytest.raises(LinearizeError, match=r"SL194.*was given text, but no nlp"):
            component.initialize(lambda: examples, text=tmp_path / "text.txt")
        assert not component.shim.is_trained
        component.initialize(lambda: examples)

    def test_several_sentences_in_one_bag(self, nlp):
        doc = bag(nlp, "dog barks cat sleeps", heads=[1, 1, 3, 3], deps=["nsubj", "ROOT", "nsubj", "ROOT"])
        with pytest.raises(LinearizeError, match=r"SL002.*word 1 'barks', word 3 'sleeps'.*sentences = 'sents'"):
            nlp(doc)

    def test_a_template_that_is_in_a_group(self):
        for templates, where in (
            (["L.p   SHIFT"], "the group 'open'"),
            (["W2.w L.w"] * 2, "the templates of your own"),
        ):
            with pytest.raises(LinearizeError, match=rf"SL023.*in {where}"):
                spacy.blank("en").add_pipe("linearizer", config={"model": {"templates": templates}})

    def test_labels_of_another_scheme_are_named_once(self, nlp):
        """Each Doc with further ones had a warning of its own."""
        names = KnownNames()
        names.know({"tags": ["NN"], "labels": ["nsubj", "det"]}, nlp.vocab.strings)

        def warned(*labels):
            doc = bag(nlp, "a " * len(labels), heads=[0] * len(labels), deps=labels)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                names.without_unknown(read_words(doc, Use()), "linearizer")
            return [str(one.message) for one in caught]

        assert "labels 'x': they are kept" in warned("ROOT", "x", "nsubj", "det")[0]
        assert warned("ROOT", "x") == []
        (message,) = warned("ROOT", "nsubj", "dobj", "pobj")
        assert "[SL058]" in message
        assert "'dobj', 'pobj'" in message
        assert "'Trees of another kind' in docs/constraints.md" in message
        assert warned("ROOT", "prep", "attr", "acomp", "pcomp") == []

    def test_wrong_model_settings(self):
        with pytest.raises(LinearizeError, match=r"SL022.*'table_bits' is 99"):
            spacy.blank("en").add_pipe("linearizer", config={"model": {"table_bits": 99}})

    def test_groups_of_experts_that_are_not_there(self):
        for experts, key in ((["tree"], "free_groups"), (["free"], "tree_groups"), (False, "tree_groups")):
            model = {"experts": experts, "tree_groups": None, "free_groups": None, key: ["words"]}
            with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is .*, but must be null, unless experts"):
                spacy.blank("en").add_pipe("linearizer", config={"model": model})
        model = {"experts": True, "tree_groups": ["words"]}
        assert spacy.blank("en").add_pipe("linearizer", config={"model": model})

    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_pipe_skips_a_bad_doc_and_loses_no_other(self, nlp, n_threads):
        good = [bag(nlp, "dog The sleeps .") for _ in range(5)]
        bad = bag(nlp, "a b", heads=[1, 0], deps=["x", "x"])
        caught = []

        def handler(name, component, docs, problem):
            caught.append((name, [doc.text for doc in docs], problem.code))

        component = nlp.get_pipe("linearizer")
        component.n_threads = n_threads
        component.set_error_handler(handler)
        try:
            out = list(nlp.pipe([*good[:2], bad, *good[2:]]))
        finally:
            component.set_error_handler(spacy.util.raise_error)
            component.n_threads = 1
        assert [doc.text for doc in out] == ["The dog sleeps."] * 5
        assert caught == [("linearizer", ["a b "], "SL001")]
