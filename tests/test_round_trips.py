"""A trained pipeline on disk, in bytes, in other processes and in threads."""

import copy
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import spacy
import srsly
from docs import bag, read_docs, rows
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_linearize.errors import LinearizeError
from spacy_linearize.training.corpus import give

CONFIG = {"model": {"table_bits": 16, "attach_bits": 14}, "beam_width": 8}


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


@pytest.fixture(scope="module")
def bags(nlp):
    rng = random.Random(2)
    return [give(doc, 0.5, 0.5, rng=rng) for doc in read_docs(nlp.vocab)[:25]]


class TestRoundTrips:
    def outputs(self, nlp, bags):
        """Outputs of another pipeline, over the same bags in its own vocabulary."""
        moved = DocBin(docs=bags).get_docs(nlp.vocab)
        return [rows(nlp(doc)) for doc in moved]

    def test_disk(self, nlp, bags, tmp_path):
        nlp.to_disk(tmp_path / "model")
        assert self.outputs(spacy.load(tmp_path / "model"), bags) == self.outputs(nlp, bags)

    def test_settings_can_be_changed_on_loading(self, nlp, tmp_path):
        nlp.to_disk(tmp_path / "model")
        changed = {"components.linearizer.beam_width": 3, "components.linearizer.sentences": "sents"}
        component = spacy.load(tmp_path / "model", config=changed).get_pipe("linearizer")
        assert (component.beam_width, component.sentences) == (3, "sents")
        assert component.labels == nlp.get_pipe("linearizer").labels

    def test_settings_that_were_changed_are_kept(self, nlp, tmp_path):
        other = spacy.blank("en")
        other.add_pipe("linearizer", config=CONFIG)
        other.from_bytes(nlp.to_bytes())
        component = other.get_pipe("linearizer")
        component.beam_width, component.units = 3, "ents"
        other.to_disk(tmp_path / "model")
        loaded = spacy.load(tmp_path / "model").get_pipe("linearizer")
        assert (loaded.beam_width, loaded.units, loaded.n_best) == (3, "ents", 1)
        with_changes = loaded.to_bytes()
        component.beam_width, component.n_best = 5, 2
        component.from_bytes(with_changes, exclude=["cfg"])
        assert (component.beam_width, component.n_best) == (5, 2)
        component.from_bytes(with_changes)  # what is loaded depends on nothing that was there before
        assert (component.beam_width, component.n_best) == (3, 1)
        # A config that says something else than before speaks last.
        changed = {"components.linearizer.beam_width": 40}
        loaded = spacy.load(tmp_path / "model", config=changed).get_pipe("linearizer")
        assert (loaded.beam_width, loaded.units) == (40, "ents")
        # One that never had any takes back those that are there.
        assert "changed" in component.cfg
        component.from_bytes(nlp.get_pipe("linearizer").to_bytes())
        assert (component.beam_width, component.units) == (8, None)
        component.beam_width = 3
        component.initialize(lambda: [Example(Doc(other.vocab, words=["a"]), Doc(other.vocab, words=["a"]))])
        assert component.cfg["changed"] == {"beam_width": [8, 3]}
        component.beam_width, component.units = 8, None
        other.to_disk(tmp_path / "model")
        assert set(srsly.read_json(tmp_path / "model" / "linearizer" / "cfg")) == {"tags", "labels"}

    @pytest.mark.parametrize("changed", [{"beam_width": [8, 0]}, {"colour": [8, 3]}, {"beam_width": 3}, []])
    def test_damaged_settings(self, nlp, changed, tmp_path):
        nlp.to_disk(tmp_path / "model")
        path = tmp_path / "model" / "linearizer" / "cfg"
        srsly.write_json(path, {**srsly.read_json(path), "changed": changed})
        with pytest.raises(LinearizeError, match=r"SL032.*its cfg has"):
            spacy.load(tmp_path / "model")

    def test_bytes(self, nlp, bags):
        other = spacy.blank("en")
        other.add_pipe("linearizer", config=CONFIG)
        other.from_bytes(nlp.to_bytes())
        assert self.outputs(other, bags) == self.outputs(nlp, bags)

    def test_pickle_and_deepcopy(self, nlp, bags):
        assert self.outputs(pickle.loads(pickle.dumps(nlp)), bags) == self.outputs(nlp, bags)
        model = nlp.get_pipe("linearizer").model
        assert copy.deepcopy(model).to_bytes() == model.to_bytes()
        assert model.copy().to_bytes() == model.to_bytes()

    def test_sourced(self, nlp, bags):
        other = spacy.blank("en")
        other.add_pipe("linearizer", source=nlp)
        assert self.outputs(other, bags) == self.outputs(nlp, bags)

    def test_a_folder_that_is_not_there(self, nlp, tmp_path):
        with pytest.raises(FileNotFoundError):
            nlp.get_pipe("linearizer").from_disk(tmp_path / "nothing")

    def test_untrained(self, tmp_path):
        nlp = spacy.blank("en")
        nlp.add_pipe("linearizer", config=CONFIG)
        nlp.to_disk(tmp_path / "model")
        with pytest.raises(LinearizeError, match="SL040"):
            spacy.load(tmp_path / "model")("a b")

    def test_doc_bin_keeps_what_was_done(self, nlp, bags):
        out = [nlp(doc) for doc in bags]
        again = list(DocBin(docs=out, store_user_data=True).get_docs(nlp.vocab))
        assert [doc._.linearization for doc in again] == [doc._.linearization for doc in out]
        assert [rows(doc) for doc in again] == [rows(doc) for doc in out]

    def test_as_tuples(self, nlp, bags):
        pairs = list(nlp.pipe(((doc, i) for i, doc in enumerate(bags)), as_tuples=True))
        assert [context for _, context in pairs] == list(range(len(bags)))

    def test_processes(self, nlp, bags):
        if "fork" not in multiprocessing.get_all_start_methods():
            pytest.skip("no fork here")
        expected = [rows(nlp(doc)) for doc in bags]
        assert [rows(doc) for doc in nlp.pipe(bags, n_process=2, batch_size=5)] == expected

    def test_spawned_processes(self, nlp, bags, tmp_path):
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

    def test_threads(self, nlp, bags):
        expected = [rows(nlp(doc)) for doc in bags]
        with ThreadPoolExecutor(8) as pool:
            assert [rows(doc) for doc in pool.map(nlp, bags * 4)] == expected * 4
        component = nlp.get_pipe("linearizer")
        component.n_threads = 8
        try:
            assert [rows(doc) for doc in nlp.pipe(bags)] == expected
        finally:
            component.n_threads = 1

    def test_memory_zone(self, nlp):
        before = nlp(bag(nlp, "dog The sleeps .")).text
        with nlp.memory_zone():
            for i in range(50):
                nlp(bag(nlp, f"dog The sleeps word{i} ."))
        assert nlp(bag(nlp, "dog The sleeps .")).text == before == "The dog sleeps."
