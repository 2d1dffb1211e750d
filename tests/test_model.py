"""The model of a component: what it is made of, on disk, in bytes, and in other processes."""

import copy
import json
import multiprocessing
import os
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
import spacy
import srsly
from helpers.components import SMALL, TINY, make_nlp
from helpers.docs import bag, read_docs, rows
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import ConfigValidationError, Linear, Model

from spacy_linearize.core import store
from spacy_linearize.core.records import SearchOptions
from spacy_linearize.core.settings import Settings
from spacy_linearize.doc.read import read_bags
from spacy_linearize.errors import LinearizeError
from spacy_linearize.model import engine_of, shim_of
from spacy_linearize.options import Options
from spacy_linearize.registered import build_transition_linearizer
from spacy_linearize.training.corpus import give


@pytest.fixture(scope="module")
def bags(nlp):
    rng = random.Random(2)
    return [give(doc, 0.5, 0.5, rng=rng) for doc in read_docs(nlp.vocab)[:25]]


def outputs(nlp, bags):
    """Outputs of another pipeline, over the same bags in its own vocabulary."""
    moved = DocBin(docs=bags).get_docs(nlp.vocab)
    return [rows(nlp(doc)) for doc in moved]


def test_disk(nlp, bags, tmp_path):
    nlp.to_disk(tmp_path / "model")
    assert outputs(spacy.load(tmp_path / "model"), bags) == outputs(nlp, bags)


def test_settings_can_be_changed_on_loading(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    changed = {"components.linearizer.beam_width": 3, "components.linearizer.sentences": "sents"}
    component = spacy.load(tmp_path / "model", config=changed).get_pipe("linearizer")
    assert (component.beam_width, component.sentences) == (3, "sents")
    assert component.labels == nlp.get_pipe("linearizer").labels


def test_bytes(nlp, bags):
    other = make_nlp()
    other.from_bytes(nlp.to_bytes())
    assert outputs(other, bags) == outputs(nlp, bags)


def test_pickle_and_deepcopy(nlp, bags):
    assert outputs(pickle.loads(pickle.dumps(nlp)), bags) == outputs(nlp, bags)
    model = nlp.get_pipe("linearizer").model
    assert copy.deepcopy(model).to_bytes() == model.to_bytes()
    assert model.copy().to_bytes() == model.to_bytes()


def test_sourced(nlp, bags):
    other = spacy.blank("en")
    other.add_pipe("linearizer", source=nlp)
    assert outputs(other, bags) == outputs(nlp, bags)


def test_a_folder_that_is_not_there(nlp, tmp_path):
    with pytest.raises(FileNotFoundError):
        nlp.get_pipe("linearizer").from_disk(tmp_path / "nothing")


def test_untrained(tmp_path):
    nlp = make_nlp()
    nlp.to_disk(tmp_path / "model")
    with pytest.raises(LinearizeError, match="SL040"):
        spacy.load(tmp_path / "model")("a b")


def test_processes(nlp, bags):
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork here")
    expected = [rows(nlp(doc)) for doc in bags]
    assert [rows(doc) for doc in nlp.pipe(bags, n_process=2, batch_size=5)] == expected


@pytest.mark.slow
def test_spawned_processes(nlp, bags, tmp_path):
    nlp.to_disk(tmp_path / "model")
    DocBin(docs=bags).to_disk(tmp_path / "bags.spacy")
    code = (
        "import multiprocessing, spacy, sys\n"
        "from spacy.tokens import DocBin\n"
        "if __name__ == '__main__':\n"
        "    multiprocessing.set_start_method('spawn')\n"
        "    nlp = spacy.load(sys.argv[1] + '/model')\n"
        "    docs = list(DocBin().from_disk(sys.argv[1] + '/bags.spacy').get_docs(nlp.vocab))\n"
        "    for doc in nlp.pipe(docs, n_process=2, batch_size=5):\n"
        "        print(' '.join(token.text for token in doc))\n"
    )
    (tmp_path / "run.py").write_text(code)
    command = [sys.executable, str(tmp_path / "run.py"), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONIOENCODING": "utf8"})
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [" ".join(t.text for t in nlp(doc)) for doc in bags]


def test_memory_zone(nlp):
    before = nlp(bag(nlp, "dog The sleeps .")).text
    with nlp.memory_zone():
        for i in range(50):
            nlp(bag(nlp, f"dog The sleeps word{i} ."))
    assert nlp(bag(nlp, "dog The sleeps .")).text == before == "The dog sleeps."


def test_the_size_of_tables_is_chosen_from_the_corpus_and_stored():
    nlp = spacy.blank("en")
    component = nlp.add_pipe("linearizer", config={"model": {"table_bits": None, "attach_bits": 10}})
    docs = [Doc(nlp.vocab, words=["The", "dog", "sleeps", "."])] * 800
    nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
    n_words = sum(map(len, docs))
    wanted = Settings(table_bits=None).for_corpus(n_words).bits
    assert component.engine.settings.table_bits == wanted == 19
    copied = spacy.blank("en").add_pipe("linearizer", config={"model": {"table_bits": None, "attach_bits": 10}})
    assert copied.from_bytes(component.to_bytes()).engine.settings.table_bits == wanted


def test_wrong_model_settings():
    with pytest.raises(LinearizeError, match=r"SL022.*'table_bits' is 99"):
        spacy.blank("en").add_pipe("linearizer", config={"model": {"table_bits": 99}})


def test_wrong_experts():
    for experts in ({"tree": ["words"]}, {"partial": ["words"], "forest": ["words"]}, {"partial": "words"}):
        with pytest.raises((LinearizeError, ConfigValidationError), match="experts"):
            spacy.blank("en").add_pipe("linearizer", config={"model": {"experts": experts}})
        with pytest.raises(LinearizeError, match=r"SL022.*'experts' is"):
            Settings(experts=experts)
    model = {"experts": {"partial": ["next"], "tree": ["words"]}}
    component = spacy.blank("en").add_pipe("linearizer", config={"model": model})
    assert shim_of(component.model).cfg["experts"] == {"partial": ["next"], "tree": ["words"]}


@pytest.mark.parametrize("weight", [1e307, 1e308, -1.0])
def test_a_weight_of_the_language_model_that_is_too_large(weight):
    """Scores would be infinite, and no order better than another."""
    with pytest.raises(LinearizeError, match=r"SL022.*'ngram_weights' is .*numbers from 0 to 1,000"):
        spacy.blank("en").add_pipe("linearizer", config={"model": {"ngram_weights": {"free": weight}}})


class TestLoading:
    """What is loaded into a new component is refused, and nothing of it stays."""

    @pytest.fixture
    def trained(self):
        nlp = make_nlp(**TINY)
        golds = read_docs(nlp.vocab)[:5]
        nlp.initialize(lambda: [Example(gold.copy(), gold) for gold in golds])
        return nlp.get_pipe("linearizer")

    def refused(self, component, data, message):
        new = spacy.blank("en").add_pipe("linearizer", config=TINY)
        with pytest.raises(LinearizeError, match=rf"\[SL032\] The model of the linearizer is damaged: .*{message}"):
            new.from_bytes(data)
        with pytest.raises(LinearizeError, match="SL040"):
            new.engine  # noqa: B018
        assert new.label_data == {"tags": [], "labels": []}
        # One that is there already stays.
        before = component.to_bytes()
        with pytest.raises(LinearizeError, match="SL032"):
            component.from_bytes(data)
        assert component.to_bytes() == before

    def with_cfg(self, component, cfg):
        content = srsly.msgpack_loads(component.to_bytes(exclude=["vocab"]))
        return srsly.msgpack_dumps({**content, "cfg": json.dumps(cfg).encode("utf8")})

    def with_model(self, component, change):
        """The bytes of a component whose model has another header, or other arrays."""
        shim = shim_of(component.model)
        header, arrays = store.unpack(shim.to_bytes())
        change(header, arrays)
        model = component.model.copy()
        content = srsly.msgpack_loads(component.to_bytes(exclude=["vocab"]))
        inner = srsly.msgpack_loads(model.to_bytes())
        inner["shims"] = [[store.pack(header, arrays)]]
        return srsly.msgpack_dumps({**content, "model": srsly.msgpack_dumps(inner)})

    def test_what_is_whole_is_loaded(self, trained):
        data = self.with_model(trained, lambda header, arrays: None)
        new = spacy.blank("en").add_pipe("linearizer", config=TINY).from_bytes(data)
        assert new.to_bytes(exclude=["vocab"]) == trained.to_bytes(exclude=["vocab"])

    @pytest.mark.parametrize("kind", ["tags", "labels"])
    def test_a_lexicon_without_names(self, trained, kind):
        """A name that is not in the cfg would turn up in Docs as a number that nobody can read."""
        names = trained.label_data
        less = {**names, kind: [name for name in names[kind] if name not in ("NN", "nsubj")]}
        assert less != names
        self.refused(trained, self.with_cfg(trained, less), "1 of its tags and labels have no names, such as")
        self.refused(trained, self.with_cfg(trained, {**names, kind: []}), "of its tags and labels have no names")

    @pytest.mark.parametrize("label", [1, 2**64 - 1])
    def test_a_label_of_the_root_without_a_name(self, trained, label):
        data = self.with_model(trained, lambda header, arrays: header.update(root_label=label))
        self.refused(trained, data, "1 of its tags and labels have no names")

    @pytest.mark.parametrize("label", [-1, 2**64, "ROOT", None, 1.5, [1]])
    def test_a_label_of_the_root_that_is_no_key(self, trained, label):
        self.refused(trained, self.with_model(trained, lambda header, arrays: header.update(root_label=label)), "")

    @pytest.mark.parametrize("name", ["\ud800", "NN\udfff", 1, None])
    @pytest.mark.parametrize("kind", ["tags", "labels"])
    def test_names_that_are_no_texts(self, trained, kind, name):
        """Half of a character is a str to Python, but nothing that spaCy can store."""
        names = trained.label_data
        data = self.with_cfg(trained, {**names, kind: [*names[kind], name]})
        self.refused(trained, data, f"its cfg has no list of {kind}")

    @pytest.mark.parametrize(
        ("part", "key", "value"),
        [
            ("spacing", "any", {}),
            ("spacing", "shapes", {"x": {"X": "1"}}),
            ("spacing", "before: form", {"x": float("inf")}),
            ("spacing", "more", {}),
            ("contractions", "pairs", {"a b": {"DT NN": True}}),
            ("contractions", "pairs", {"a b": {"": [-1, "c"]}}),
            ("contractions", "clitics", {"b": {"": True}}),
            ("casing", "lower", 1),
            ("casing", "tags", None),
        ],
    )
    def test_a_damaged_surface(self, trained, part, key, value):
        content = srsly.msgpack_loads(trained.to_bytes())
        surface = srsly.json_loads(content["surface.json"])
        surface[part][key] = value
        content["surface.json"] = json.dumps(surface).encode()
        self.refused(trained, srsly.msgpack_dumps(content), "its part 'surface.json' cannot be read")

    def test_no_surface(self, trained):
        content = srsly.msgpack_loads(trained.to_bytes())
        del content["surface.json"]
        self.refused(trained, srsly.msgpack_dumps(content), "it has no part 'surface.json'")

    @pytest.mark.parametrize("weight", [1e307, "x", -1, None])
    def test_weights_of_the_language_model(self, trained, weight):
        def change(header, arrays):
            header["settings"]["ngram_weights"]["free"] = weight

        new = spacy.blank("en").add_pipe("linearizer", config=TINY)
        with pytest.raises(LinearizeError, match=r"SL022.*'ngram_weights'|SL032"):
            new.from_bytes(self.with_model(trained, change))
        with pytest.raises(LinearizeError, match="SL040"):
            new.engine  # noqa: B018


def test_the_model_is_one_of_thinc(nlp):
    model = nlp.get_pipe("linearizer").model
    assert isinstance(model, Model)
    words = [next(read_bags(bag(nlp, text), [(0, 2)], Options())) for text in ("dog The", "sleeps dog")]
    search = SearchOptions(beam_width=2, n_best=2)
    expected = engine_of(model).order(words, search)
    for found in (model.predict((words, search, None)), model((words, search, None), is_train=False)[0]):
        assert [[(o.order.tolist(), o.score) for o in own] for own in found] == [
            [(o.order.tolist(), o.score) for o in own] for own in expected
        ]
    _, backprop = model((words, search, None), is_train=True)
    assert backprop([]) == ([], SearchOptions(), None)  # no gradients
    model.finish_update(None)
    model.to_cpu()


def test_a_model_of_another_kind(nlp):
    with pytest.raises(LinearizeError, match=r"SL022.*'model' is 'linear', but must be spacy_linearize.Trans"):
        shim_of(Linear(2, 2))


def test_a_template_that_is_in_a_group():
    for templates, where in (
        (["L.p   SHIFT"], "the group 'open'"),
        (["W2.w L.w"] * 2, "the templates of your own"),
    ):
        with pytest.raises(LinearizeError, match=rf"SL023.*in {where}"):
            spacy.blank("en").add_pipe("linearizer", config={"model": {"templates": templates}})


def test_markers_are_labels_by_name():
    nlp = spacy.blank("en")
    component = nlp.add_pipe("linearizer", config={"model": {**SMALL["model"], "markers": ["case", "cc"]}})
    keys = [nlp.vocab.strings.add(label) for label in ("case", "cc")]
    assert shim_of(component.model).cfg["markers"] == keys
    gold = read_docs(nlp.vocab)[0]
    nlp.initialize(lambda: [Example(gold.copy(), gold)])
    words = {"words": ["in", "In", "the", "house"], "deps": ["case", "det", "cc", "ROOT"], "heads": [3] * 4}
    (given,) = component.reader.read(Doc(nlp.vocab, **words))
    marks = component.engine.pack(given).column(6).tolist()
    assert marks[:3] == [0, 0, 0]
    assert marks[3] != 0


def test_frozen_weights_survive_use_params(nlp):
    with nlp.use_params({(0, "W"): np.zeros(1)}):  # of another component
        assert nlp(bag(nlp, "dog The sleeps .")).text == "The dog sleeps."


def test_without_the_compiled_modules(monkeypatch):
    """As in the folder of the sources, before they are compiled."""
    monkeypatch.setitem(sys.modules, "spacy_linearize.core.settings", None)
    with pytest.raises(LinearizeError, match=r"SL046.*pip install -e"):
        build_transition_linearizer()
