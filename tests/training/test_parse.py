"""From text to a treebank: shards, filters, duplicates; a run that is killed and goes on."""

import random
import subprocess
import sys

import numpy as np
import pytest
import spacy
import srsly
from helpers import brute
from helpers.docs import read_docs
from helpers.processes import ENVIRONMENT, run_python
from spacy.tokens import Doc, DocBin

from spacy_linearize.errors import LinearizeError
from spacy_linearize.training import parse
from spacy_linearize.training.parse import Filters, parse_text, sentence_hash
from spacy_linearize.trees import FREE, ROOT

pytestmark = pytest.mark.slow
TEXTS = [doc.text.strip() for doc in read_docs()]


@pytest.fixture(scope="module")
def nlp(parser_path):
    return spacy.load(parser_path)


@pytest.fixture
def text(tmp_path):
    """Lines of some sentences each, a few of which come up again."""
    rng = random.Random(0)
    path = tmp_path / "text.txt"
    lines = [" ".join(rng.sample(TEXTS, rng.randrange(1, 4))) for _ in range(120)]
    path.write_text("\n".join([*lines, "12 + 12 = 24 , 7 % 8 !", "Yes."]), encoding="utf8")
    return path


def shards(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.spacy"))}


def is_projective(rows):
    return brute.is_projective([ROOT if dep == "ROOT" else head for _, _, dep, head in rows])


def docs_of(folder):
    vocab = spacy.blank("en").vocab
    return [doc for path in sorted(folder.glob("*.spacy")) for doc in DocBin().from_disk(path).get_docs(vocab)]


def test_what_is_written_is_what_the_pipeline_says(nlp, text, tmp_path):
    counts = parse_text(nlp, text, tmp_path / "out", filters=Filters(min_letters=0.0, min_words=1, max_words=999))
    expected = {}
    for doc in nlp.pipe(text.read_text(encoding="utf8").splitlines()):
        for sent in doc.sents:
            rows = [(t.text, t.tag_, t.dep_, t.head.i - sent.start) for t in sent]
            expected.setdefault(sent.text, rows)
    found = docs_of(tmp_path / "out")
    projective = {text: rows for text, rows in expected.items() if is_projective(rows)}
    assert {doc.text: [(t.text, t.tag_, t.dep_, t.head.i) for t in doc] for doc in found} == projective
    assert len(found) == counts.kept == len(projective) > 100
    assert all(len(list(doc.sents)) == 1 and not doc.has_unknown_spaces for doc in found)
    left_out = counts.too_short + counts.too_long + counts.few_letters + counts.not_one_root + counts.not_projective
    assert counts.sentences == counts.kept + left_out + counts.duplicates
    assert counts.duplicates > 10
    assert counts.words == sum(map(len, found))
    assert counts.lines == 122


@pytest.mark.parametrize(
    ("filters", "text", "heads", "reason"),
    [
        ({}, "He left .", [1, ROOT, 1], "kept"),
        ({}, "He left", [1, ROOT], "too_short"),
        ({"min_words": 2}, "He left", [1, ROOT], "kept"),
        ({"max_words": 3}, "He has left .", [2, 2, ROOT, 2], "too_long"),
        ({}, "7 + 8", [1, ROOT, 1], "few_letters"),
        ({"min_letters": 0.0}, "7 + 8", [1, ROOT, 1], "kept"),
        ({}, "Er läuft .", [1, ROOT, ROOT], "not_one_root"),
        ({}, "Er läuft .", [1, ROOT, FREE], "not_one_root"),
        ({"one_root": False}, "Er läuft .", [1, ROOT, FREE], "kept"),
        ({}, "a b c d", [2, 3, ROOT, 2], "not_projective"),
        ({"projective": False}, "a b c d", [2, 3, ROOT, 2], "kept"),
    ],
)
def test_filters(filters, text, heads, reason):
    assert parse.REASONS[Filters(**filters).judge(text, heads)] == reason


def test_filters_that_cannot_be():
    for key, value in (("min_words", 0), ("max_words", 2), ("min_letters", 2)):
        with pytest.raises(LinearizeError, match=f"SL022.*{key}"):
            Filters(**{key: value})


def test_every_filter_counts(nlp, text, tmp_path):
    counts = parse_text(nlp, text, tmp_path / "out", filters=Filters(min_words=2, max_words=8, min_letters=0.9))
    assert min(counts.too_short, counts.too_long, counts.few_letters, counts.duplicates) > 0


@pytest.mark.parametrize(("shard_size", "batch_size"), [(20, 10), (7, 30), (1000, 10), (1, 1)])
def test_shards_are_of_bounded_size(nlp, text, tmp_path, shard_size, batch_size):
    parse_text(nlp, text, tmp_path / "all", batch_size=batch_size)
    parse_text(nlp, text, tmp_path / "some", shard_size=shard_size, batch_size=batch_size)
    sizes = [len(DocBin().from_disk(path)) for path in sorted((tmp_path / "some").glob("*.spacy"))]
    assert min(sizes) > 0
    assert max(sizes) <= shard_size
    assert [doc.text for doc in docs_of(tmp_path / "some")] == [doc.text for doc in docs_of(tmp_path / "all")]


def test_the_number_of_processes_does_not_matter(nlp, text, tmp_path):
    one, two = (parse_text(nlp, text, tmp_path / str(n), n_process=n, shard_size=40, batch_size=9) for n in (1, 2))
    assert one == two
    assert shards(tmp_path / "1") == shards(tmp_path / "2")
    assert len(shards(tmp_path / "1")) > 3


def test_limit(nlp, text, tmp_path):
    everything = parse_text(nlp, text, tmp_path / "all", batch_size=10)
    texts = [doc.text for doc in docs_of(tmp_path / "all")]
    for limit in (1, 40, len(texts), len(texts) + 10):
        counts = parse_text(nlp, text, tmp_path / str(limit), batch_size=10, shard_size=15, limit=limit)
        assert [doc.text for doc in docs_of(tmp_path / str(limit))] == texts[:limit]
        assert counts.kept == min(limit, len(texts))
        reasons = asdict_without(counts, "lines", "sentences", "words")
        assert counts.sentences == sum(reasons.values())
    assert counts == everything


def asdict_without(counts, *left_out):
    return {key: value for key, value in vars(counts).items() if key not in left_out}


def test_text_that_is_tokenised(nlp, tmp_path):
    (tmp_path / "text.txt").write_text("The dog , sleeps . The cat eats.\nWho  is it ?\n", encoding="utf8")
    parse_text(nlp, tmp_path / "text.txt", tmp_path / "out", keep_tokens=True, filters=Filters(projective=False))
    first, second = docs_of(tmp_path / "out")
    assert [t.text for t in first] == ["The", "dog", ",", "sleeps", ".", "The", "cat", "eats."]
    assert [t.text for t in second] == ["Who", "is", "it", "?"]
    assert first.has_unknown_spaces
    assert len(list(first.sents)) == 1  # one line, one sentence
    assert all(t.has_head() for t in first)


def test_what_the_pipeline_does_not_give_is_missing(nlp, text, tmp_path):
    parse_text(nlp, text, tmp_path / "out", disable=["tagger"], limit=20)
    for doc in docs_of(tmp_path / "out"):
        assert not doc.has_annotation("TAG")
        assert all(token.has_head() for token in doc)
    with pytest.raises(LinearizeError, match=r"SL217.*no component that gives arcs"):
        parse_text(nlp, text, tmp_path / "none", disable=["parser"])
    ruler = nlp.add_pipe("attribute_ruler")  # as in spaCy's English pipelines
    ruler.add([[{"IS_SPACE": True}]], {"DEP": "dep", "TAG": "_SP"})
    with pytest.raises(LinearizeError, match=r"SL217"):
        parse_text(nlp, text, tmp_path / "none", disable=["parser"])
    nlp.remove_pipe("attribute_ruler")
    with pytest.raises(LinearizeError, match=r"SL217"):
        parse_text(spacy.blank("en"), text, tmp_path / "none")
    with pytest.raises(LinearizeError, match=r"SL022.*'disable' is 'ner', but must be one of tagger, parser"):
        parse_text(nlp, text, tmp_path / "none", disable=["ner"])
    assert not (tmp_path / "none").exists()
    assert nlp.pipe_names == ["tagger", "parser"]


# Runs that were killed


@pytest.mark.parametrize("last", [1, 2, 5])
@pytest.mark.parametrize("shard_size", [30, 4])
def test_a_killed_run_goes_on(nlp, text, tmp_path, monkeypatch, last, shard_size):
    """Ends with the same files as one that was not. A shard may be there that the state does not name yet."""
    settings = {"shard_size": shard_size, "batch_size": 8, "n_process": 1}
    expected = parse_text(nlp, text, tmp_path / "whole", **settings)
    save, n_saved = parse.save, 0

    def save_and_die(path, data):
        nonlocal n_saved
        save(path, data)
        n_saved += path.suffix == ".spacy"
        if n_saved == last:
            raise KeyboardInterrupt

    monkeypatch.setattr(parse, "save", save_and_die)
    with pytest.raises(KeyboardInterrupt):
        parse_text(nlp, text, tmp_path / "killed", **settings)
    monkeypatch.setattr(parse, "save", save)
    assert 0 < len(shards(tmp_path / "killed")) < len(shards(tmp_path / "whole"))
    assert parse_text(nlp, text, tmp_path / "killed", **settings) == expected
    assert shards(tmp_path / "killed") == shards(tmp_path / "whole")


PROGRAM = """
import sys, spacy
from spacy_linearize.training import parse
if __name__ == "__main__":
    model, text, folder = sys.argv[1:]
    save = parse.save
    def tell(path, data):
        save(path, data)
        print(path, flush=True)
    parse.save = tell
    parse.parse_text(spacy.load(model), text, folder, shard_size=10, batch_size=4, n_process=2)
"""


def test_a_process_that_is_killed(parser_path, nlp, text, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py"), str(parser_path), str(text), str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True)
    for _ in range(7):
        assert process.stdout.readline()
    process.kill()
    process.communicate()
    parse_text(nlp, text, tmp_path / "whole", shard_size=10, batch_size=4)
    n_left = len(shards(tmp_path / "killed"))
    parse_text(nlp, text, tmp_path / "killed", shard_size=10, batch_size=4)
    assert 0 < n_left < len(shards(tmp_path / "whole"))
    assert shards(tmp_path / "killed") == shards(tmp_path / "whole")


def test_a_whole_run_is_not_run_again(nlp, text, tmp_path, monkeypatch):
    counts = parse_text(nlp, text, tmp_path / "out")
    monkeypatch.setattr(parse, "in_processes", None)
    assert parse_text(nlp, text, tmp_path / "out") == counts


def test_another_parser_or_text_is_not_mixed_in(parser_path, nlp, text, tmp_path):
    copy = tmp_path / "text.txt"
    copy.write_bytes(text.read_bytes())
    parse_text(nlp, copy, tmp_path / "out")
    other = spacy.load(parser_path)
    parse_text(other, copy, tmp_path / "out")  # loaded again, it is the same
    node = next(node for node in other.get_pipe("parser").model.walk() if node.has_param("b"))
    node.set_param("b", node.get_param("b") + 1)
    with pytest.raises(LinearizeError, match=r"SL220.*hash of the components"):
        parse_text(other, copy, tmp_path / "out")
    with copy.open("a") as file:
        file.write("A dog sleeps.\n")
    with pytest.raises(LinearizeError, match=r"SL220.*bytes of text"):
        parse_text(nlp, copy, tmp_path / "out")


def test_folders_that_do_not_fit(nlp, text, tmp_path):
    parse_text(nlp, text, tmp_path / "out", shard_size=20)
    with pytest.raises(LinearizeError, match=r"SL220.*'shard_size' was 20, and is 30 now"):
        parse_text(nlp, text, tmp_path / "out", shard_size=30)
    (tmp_path / "out" / "000001.spacy").unlink()
    with pytest.raises(LinearizeError, match=r"SL219.*parse\.json"):
        parse_text(nlp, text, tmp_path / "out", shard_size=20)
    for content in (b"", b"[]", b'{"settings": 1}'):
        (tmp_path / "out" / parse.STATE).write_bytes(content)
        with pytest.raises(LinearizeError, match=r"SL219"):
            parse_text(nlp, text, tmp_path / "out", shard_size=20)
    with pytest.raises(LinearizeError, match=r"SL218.*is not empty"):
        parse_text(nlp, text, tmp_path)
    assert not (tmp_path / parse.LOCK).exists()
    with pytest.raises(LinearizeError, match=r"SL022.*n_process"):
        parse_text(nlp, text, tmp_path / "new", n_process=0)


def test_a_hash_is_that_of_the_words():
    assert sentence_hash(np.array([1, 2], dtype=np.uint64)) != sentence_hash(np.array([2, 1], dtype=np.uint64))
    table = np.array([[1, 5], [2, 6]], dtype=np.uint64)
    assert sentence_hash(table[:, 0]) == sentence_hash(np.array([1, 2], dtype=np.uint64))


MEMORY = """
import resource, sys, spacy
from spacy_linearize.training.parse import Filters, parse_text
nlp = spacy.load(sys.argv[1])
peaks = []
for k, n in enumerate((1000, 1000, 6000)):
    with open(f"{sys.argv[2]}/{k}.txt", "w") as file:
        for i in range(n):
            file.write(f"word{k}x{i} sleeps near name{k}x{i} and other{k}x{i} .\\n")
    filters = Filters(projective=False, min_letters=0.0)
    parse_text(nlp, f"{sys.argv[2]}/{k}.txt", f"{sys.argv[2]}/{k}", filters=filters, shard_size=500)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(peaks[2] - peaks[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss in kilobytes")
def test_memory_is_flat(parser_path, tmp_path):
    """18,000 words that come up once: kept in a vocabulary, they would take some 20 MB."""
    assert int(run_python(MEMORY, parser_path, tmp_path)) < 8_000


def test_state_is_json(nlp, text, tmp_path):
    counts = parse_text(nlp, text, tmp_path / "out", limit=5)
    assert srsly.read_json(tmp_path / "out" / parse.STATE)["counts"] == vars(counts)


def test_duplicates_stay_if_they_should(nlp, tmp_path):
    (tmp_path / "text.txt").write_text("The dog barks .\nThe cat sleeps .\nThe dog barks .\n", encoding="utf8")
    for unique, n in ((True, 2), (False, 3)):
        filters = Filters(min_letters=0.0, one_root=False, projective=False, unique=unique)
        counts = parse_text(nlp, tmp_path / "text.txt", tmp_path / f"out{n}", filters=filters, keep_tokens=True)
        assert (counts.kept, counts.duplicates) == (n, 3 - n)
        assert len(docs_of(tmp_path / f"out{n}")) == n


def test_treebank_is_parsed_anew(nlp, corpus_path, tmp_path):
    """The tokens and sentences of a .spacy file stay as they are; its trees do not count."""
    filters = Filters(min_words=1, max_words=999, min_letters=0.0, one_root=False, projective=False, unique=False)
    counts = parse_text(nlp, corpus_path, tmp_path / "out", filters=filters, keep_tokens=True)
    gold = list(DocBin().from_disk(corpus_path).get_docs(spacy.blank("en").vocab))
    found = docs_of(tmp_path / "out")
    assert counts.kept == len(gold)
    assert [[t.text for t in doc] for doc in found] == [[t.text for t in doc] for doc in gold]
    for doc, own in zip(found, gold, strict=True):
        parsed = nlp(Doc(nlp.vocab, words=[t.text for t in own], sent_starts=[True, *[False] * (len(own) - 1)]))
        assert [(t.dep_, t.head.i) for t in doc] == [(t.dep_, t.head.i) for t in parsed]
    with pytest.raises(LinearizeError, match="SL212"):
        parse_text(nlp, corpus_path, tmp_path / "other")
