"""Damaged models: an error of this package, and nothing else. benchmarks/faults.py does the same in larger numbers."""

import gc
import pickle
import re

import pytest
import spacy
import srsly
from helpers import core, damage
from helpers.processes import run_python
from spacy.tokens import Doc

from spacy_linearize.core import store
from spacy_linearize.errors import LinearizeError
from spacy_linearize.model import shim_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def nlp():
    return damage.make_pipeline()


@pytest.fixture(scope="module")
def model(nlp):
    return nlp.get_pipe("linearizer").model.to_bytes()


@pytest.mark.parametrize("kind", damage.MODELS)
def test_every_truncation_and_flipped_bytes(kind):
    sentences = damage.gold()
    model = damage.make_model(kind)
    assert damage.decodes(model, sentences)
    for length in range(len(model)):
        assert not damage.decodes(model[:length], sentences)
    for i in range(500):
        assert not damage.decodes(damage.flipped(model, damage.rng_for(kind, i)), sentences)
    found = {damage.decodes(damage.flipped_and_sealed(model, damage.rng_for(kind, i)), sentences) for i in range(300)}
    assert found == {True, False}


def test_every_byte_of_the_prefix():
    model = damage.make_model("plain")
    for i in range(store.PREFIX.size):
        for value in range(256):
            if value != model[i]:
                with pytest.raises(LinearizeError, match=r"SL03[012]"):
                    core.from_bytes(model[:i] + bytes([value]) + model[i + 1 :])


def test_damaged_in_many_places(nlp, model):
    """What is around the engine too: msgpack, and how words become text."""
    assert damage.pipeline_decodes(nlp, model)
    lengths = [*range(300), *range(300, len(model), 2000), *range(len(model) - 200, len(model))]
    for length in lengths:
        assert not damage.pipeline_decodes(nlp, model[:length])
    for i in range(200):
        rng = damage.rng_for(i)
        place = rng.choice(((0, 200), (len(model) - 2000, len(model)), (0, len(model))))
        damage.pipeline_decodes(nlp, damage.flipped(model, rng, *place))
    assert damage.pipeline_decodes(nlp, model)


@pytest.mark.parametrize("how", ["cut", "empty", "text", "middle", "pickle", "newer"])
def test_from_disk_and_from_bytes(nlp, model, tmp_path, how):
    engine = model.index(store.SIGNATURE)
    broken = {
        "cut": model[: len(model) // 2],
        "empty": b"",
        "text": b"version https://git-lfs.github.com/spec/v1\n",
        "middle": model[:5000] + bytes([model[5000] ^ 1]) + model[5001:],
        "pickle": pickle.dumps({"nodes": []}),
        "newer": model[: engine + 8] + b"\x07" + model[engine + 9 :],
    }[how]
    message = r"\[SL031\].* has model format 7" if how == "newer" else r"\[SL032\] The model of the linearizer is dam"
    nlp.to_disk(tmp_path / "x")
    (tmp_path / "x" / "linearizer" / "model").write_bytes(broken)
    with pytest.raises(LinearizeError, match=message):
        spacy.load(tmp_path / "x")
    whole = nlp.get_pipe("linearizer").to_bytes(exclude=["vocab"])
    content = srsly.msgpack_loads(whole)
    data = srsly.msgpack_dumps({**content, "model": broken})
    fresh = spacy.blank("en")
    with pytest.raises(LinearizeError, match=message):
        fresh.add_pipe("linearizer").from_bytes(data)
    assert gc.isenabled()


def test_bytes_of_a_component(nlp):
    """What is around the model too: msgpack, tags and labels, and the vocabulary."""
    component = damage.make_pipeline().get_pipe("linearizer")
    data = component.to_bytes()
    at = data.index(b"model")  # what is before it is small, and so are its own first bytes and the last ones
    assert at < len(data) / 2
    near = (0, 200), (at - 100, at + 200), (len(data) - 100, len(data))
    found = set()
    for i in range(150):
        rng = damage.rng_for("component", i)
        place = rng.choice((*near, (0, at), (at, len(data))))
        found.add(damage.component_decodes(nlp, damage.flipped(data, rng, *place)))
    assert found == {True, False}
    for length in (*range(0, 400, 7), *range(at - 20, at + 60), *range(at, len(data), 5000), len(data) - 1):
        assert not damage.component_decodes(nlp, data[:length])
    assert gc.isenabled()


def test_parts_of_a_component(nlp, tmp_path):
    component = nlp.get_pipe("linearizer")
    text, cfg = nlp(Doc(nlp.vocab, words=["the", "Who"])).text, component.label_data
    content = srsly.msgpack_loads(component.to_bytes(exclude=["vocab"]))
    for change, message in (
        ({"cfg": b"{"}, "cannot be read"),
        ({"cfg": 1}, "cannot be read"),
        ({"cfg": b"[]"}, "no list of tags"),
        ({"cfg": b'{"tags": []}'}, "no list of labels"),
        ({"cfg": b'{"tags": [1], "labels": []}'}, "no list of tags"),
        ({"cfg": b'{"tags": [], "labels": "x"}'}, "no list of labels"),
        ({"model": 1}, "cannot be read"),
        ({"vocab": b"x"}, "cannot be read"),
    ):
        with pytest.raises(LinearizeError, match=rf"\[SL032\].*{message}"):
            component.from_bytes(srsly.msgpack_dumps({**content, **change}))
    for part in ("cfg", "model"):
        less = srsly.msgpack_dumps({key: value for key, value in content.items() if key != part})
        with pytest.raises(LinearizeError, match=rf"\[SL032\].*no part '{part}'"):
            component.from_bytes(less)
        component.from_bytes(less, exclude=[part])
    component.to_disk(tmp_path / "c")
    (tmp_path / "c" / "cfg").write_text("{")
    with pytest.raises(LinearizeError, match=r"\[SL032\].*cannot be read"):
        component.from_disk(tmp_path / "c")
    (tmp_path / "c" / "cfg").unlink()
    with pytest.raises(FileNotFoundError, match="cfg"):
        component.from_disk(tmp_path / "c")
    component.from_disk(tmp_path / "c", exclude=["cfg"])
    (tmp_path / "c" / "model").unlink()
    with pytest.raises(OSError, match="model"):
        component.from_disk(tmp_path / "c", exclude=["cfg"])
    assert component.label_data == cfg
    assert nlp(Doc(nlp.vocab, words=["the", "Who"])).text == text


def test_a_failed_load_changes_nothing(nlp):
    shim = shim_of(nlp.get_pipe("linearizer").model)
    engine, settings = shim.engine, dict(shim.cfg)
    header, arrays = store.unpack(shim.to_bytes())
    for content in (
        None,
        {"engine": None},
        "x",
        b"x",
        store.pack({**header, "fingerprint": 0}, arrays),
        store.pack({**header, "settings": {**header["settings"], "table_bits": 11}}, arrays),
    ):
        with pytest.raises(LinearizeError, match=r"SL03[023]"):
            shim.from_bytes(content)
        assert shim.engine is engine
        assert shim.cfg == settings


# Loads a model twice: all that has to be imported is, when the hook begins to look.
AUDIT = """
import sys
import spacy
nlp = spacy.blank("en")
component = nlp.add_pipe("linearizer")
data = open(sys.argv[1], "rb").read()
component.from_bytes(data)
seen = []
sys.addaudithook(lambda event, _: seen.append(event))
component.from_bytes(data)
import pickle
n = len(seen)
pickle.loads(pickle.dumps(spacy.blank))
print(sorted(set(seen[:n])), "pickle.find_class" in seen[n:])
"""


def test_nothing_is_unpickled_or_executed(nlp, tmp_path):
    (tmp_path / "component").write_bytes(nlp.get_pipe("linearizer").to_bytes())
    events, would_be_seen = run_python(AUDIT, tmp_path / "component").rsplit(maxsplit=1)
    assert would_be_seen == "True"
    assert not re.search(r"pickle|marshal|exec|compile|code\.|ctypes|subprocess|os\.system|socket", events)
