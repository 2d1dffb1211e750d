"""The model of a component: what it is made of, on disk, in bytes, and in other processes."""

import copy
import multiprocessing
import os
import pickle
import random
import subprocess
import sys

import pytest
import spacy
from helpers.docs import bag, read_docs, rows
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_linearize.errors import LinearizeError
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
    assert self.outputs(spacy.load(tmp_path / "model"), bags) == self.outputs(nlp, bags)


def test_settings_can_be_changed_on_loading(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    changed = {"components.linearizer.beam_width": 3, "components.linearizer.sentences": "sents"}
    component = spacy.load(tmp_path / "model", config=changed).get_pipe("linearizer")
    assert (component.beam_width, component.sentences) == (3, "sents")
    assert component.labels == nlp.get_pipe("linearizer").labels


def test_bytes(nlp, bags):
    other = spacy.blank("en")
    other.add_pipe("linearizer", config=CONFIG)
    other.from_bytes(nlp.to_bytes())
    assert self.outputs(other, bags) == self.outputs(nlp, bags)


def test_pickle_and_deepcopy(nlp, bags):
    assert self.outputs(pickle.loads(pickle.dumps(nlp)), bags) == self.outputs(nlp, bags)
    model = nlp.get_pipe("linearizer").model
    assert copy.deepcopy(model).to_bytes() == model.to_bytes()
    assert model.copy().to_bytes() == model.to_bytes()


def test_sourced(nlp, bags):
    other = spacy.blank("en")
    other.add_pipe("linearizer", source=nlp)
    assert self.outputs(other, bags) == self.outputs(nlp, bags)


def test_a_folder_that_is_not_there(nlp, tmp_path):
    with pytest.raises(FileNotFoundError):
        nlp.get_pipe("linearizer").from_disk(tmp_path / "nothing")


def test_untrained(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer", config=CONFIG)
    nlp.to_disk(tmp_path / "model")
    with pytest.raises(LinearizeError, match="SL040"):
        spacy.load(tmp_path / "model")("a b")


def test_processes(nlp, bags):
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork here")
    expected = [rows(nlp(doc)) for doc in bags]
    assert [rows(doc) for doc in nlp.pipe(bags, n_process=2, batch_size=5)] == expected


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


def test_wrong_model_settings():
    with pytest.raises(LinearizeError, match=r"SL022.*'table_bits' is 99"):
        spacy.blank("en").add_pipe("linearizer", config={"model": {"table_bits": 99}})


def test_groups_of_experts_that_are_not_there():
    for experts, key in ((["tree"], "free_groups"), (["free"], "tree_groups"), (False, "tree_groups")):
        model = {"experts": experts, "tree_groups": None, "free_groups": None, key: ["words"]}
        with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is .*, but must be null, unless experts"):
            spacy.blank("en").add_pipe("linearizer", config={"model": model})
    model = {"experts": True, "tree_groups": ["words"]}
    assert spacy.blank("en").add_pipe("linearizer", config={"model": model})


def test_a_template_that_is_in_a_group():
    for templates, where in (
        (["L.p   SHIFT"], "the group 'open'"),
        (["W2.w L.w"] * 2, "the templates of your own"),
    ):
        with pytest.raises(LinearizeError, match=rf"SL023.*in {where}"):
            spacy.blank("en").add_pipe("linearizer", config={"model": {"templates": templates}})


def test_markers_are_labels_by_name():
    nlp = spacy.blank("en")
    component = nlp.add_pipe("linearizer", config={"model": {**CONFIG["model"], "markers": ["case", "cc"]}})
    keys = [nlp.vocab.strings.add(label) for label in ("case", "cc")]
    assert component.shim.cfg["markers"] == keys
    gold = read_docs(nlp.vocab)[0]
    nlp.initialize(lambda: [Example(gold.copy(), gold)])
    words = {"words": ["in", "In", "the", "house"], "deps": ["case", "det", "cc", "ROOT"], "heads": [3] * 4}
    given = read_words(Doc(nlp.vocab, **words), Use()).to_bag(component.shim.engine)
    marks = given.column(6).tolist()
    assert marks[:3] == [0, 0, 0]
    assert marks[3] != 0


def test_frozen_weights_survive_use_params(nlp):
    with nlp.use_params({(0, "W"): np.zeros(1)}):  # of another component
        assert nlp(bag(nlp, "dog The sleeps .")).text == "The dog sleeps."
