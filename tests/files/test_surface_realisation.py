"""T1 files of the Surface Realisation shared tasks."""

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_linearize.errors import LinearizeError
from spacy_linearize.files.convert import convert
from spacy_linearize.files.surface_realisation import read_t1

# "The dogs slept .", and "Birds sing ."
T1 = """\
1\tsleep\t_\tVERB\tVBD\tTense=Past|original_id=3\t0\troot\t_\t_
2\t.\t_\tPUNCT\t.\tlin=+1|original_id=4\t1\tpunct\t_\t_
3\tthe\t_\tDET\tDT\toriginal_id=1\t4\tdet\t_\t_
4\tdog\t_\tNOUN\tNNS\tNumber=Plur|original_id=2\t1\tnsubj\t_\t_

1\t.\t_\tPUNCT\t.\t_\t3\tpunct\t_\tlin=+1|original_id=3
2\tbird\t_\tNOUN\tNNS\t_\t3\tnsubj\t_\toriginal_id=1
3\tsing\t_\tVERB\tVBP\t_\t0\troot\t_\toriginal_id=2

"""
TREEBANK = """\
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdogs\tdog\tNOUN\tNNS\t_\t3\tnsubj\t_\t_
3\tslept\tsleep\tVERB\tVBD\t_\t0\troot\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

1\tBirds\tbird\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tsing\tsing\tVERB\tVBP\t_\t0\troot\t_\t_
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "t1.conllu", tmp_path / "ud.conllu"
    for path, text in zip(paths, (T1, TREEBANK), strict=True):
        path.write_text(text, encoding="utf8")
    return paths


def read(path, **options):
    reports = []
    docs = list(read_t1(path, Vocab(), report=lambda *report: reports.append(report), **options))
    return docs, reports


def test_lemmas_in_order(files):
    (dogs, birds), reports = read(files[0])
    assert not reports
    assert [token.text for token in dogs] == ["the", "dog", "sleep", "."]
    assert [token.head.i for token in dogs] == [1, 2, 2, 2]
    assert [token.dep_ for token in dogs] == ["det", "nsubj", "ROOT", "punct"]
    assert [token.tag_ for token in dogs] == ["DT", "NNS", "VBD", "."]
    assert str(dogs[1].morph) == "Number=Plur"
    assert [token.text for token in birds] == ["bird", "sing", "."]
    assert birds.user_data["._.", "linearize_before", None, None] == ((1, 2),)


def test_forms_of_the_treebank(files):
    (dogs, birds), _ = read(files[0], treebank=files[1], tag="upos")
    assert [token.text for token in dogs] == ["The", "dogs", "slept", "."]
    assert [token.lemma_ for token in dogs] == ["the", "dog", "sleep", "."]
    assert [token.tag_ for token in birds] == ["NOUN", "VERB", "PUNCT"]
    assert dogs.user_data["._.", "linearize_before", None, None] == ((2, 3),)


def test_without_places_the_words_stay_as_they_are(files):
    files[0].write_text(T1.replace("original_id", "other_id"), encoding="utf8")
    (dogs, _), _ = read(files[0])
    assert [token.text for token in dogs] == ["sleep", ".", "the", "dog"]
    docs, reports = read(files[0], treebank=files[1])
    assert not docs
    assert [report[1] for report in reports] == [1, 6]


def test_what_does_not_fit_is_reported(files):
    files[0].write_text(
        T1.replace("original_id=4", "original_id=9").replace("\t3\tnsubj", "\t9\tnsubj"), encoding="utf8"
    )
    docs, reports = read(files[0], treebank=files[1])
    assert not docs
    assert "no word 9" in reports[0][2]
    assert "head of" in reports[1][2]
    files[1].write_text(TREEBANK.split("\n\n")[0] + "\n\n", encoding="utf8")
    with pytest.raises(LinearizeError, match="SL290"):
        read(files[0], treebank=files[1])


def test_convert(files, tmp_path):
    counts = convert(files[0], tmp_path / "dev.spacy", kind="t1", treebank=files[1])
    assert (counts.sentences, counts.skipped) == (2, 0)
    docs = list(DocBin().from_disk(tmp_path / "dev.spacy").get_docs(Vocab()))
    assert [token.text for token in docs[1]] == ["Birds", "sing", "."]
    with pytest.raises(LinearizeError, match="treebank"):
        convert(files[1], tmp_path / "dev.spacy", treebank=files[1])
