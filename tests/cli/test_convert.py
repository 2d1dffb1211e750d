"""spacy linearize convert"""

import os
import shutil
from pathlib import Path

import spacy
from helpers.commands import run
from spacy.tokens import DocBin

DATA = Path(__file__).parent.parent / "data"


class TestConvert:
    def test_conllu(self, tmp_path):
        code, _, err = run("convert", DATA / "mini_en.conllu", tmp_path / "new" / "out.spacy", "--tag", "upos")
        assert code == 0
        assert "113 sentences from 1 files (2 not projective, 0 skipped, 5 multiword tokens)" in err
        docs = list(DocBin().from_disk(tmp_path / "new" / "out.spacy").get_docs(spacy.blank("en").vocab))
        assert docs[0][0].tag_ == "DET"
        assert docs[0].user_data["sent_id"] == "mini-en-001"
        umask = os.umask(0)
        os.umask(umask)
        assert (tmp_path / "new" / "out.spacy").stat().st_mode & 0o777 == 0o666 & ~umask

    def test_folder_in_order_of_names(self, tmp_path):
        for name in ("b.conllu", "a.conllu"):
            text = f"1\t{name}\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
            (tmp_path / name).write_text(text + text.replace(name, name + "2"))
        (tmp_path / "c.other").write_text("1\tc\t_\t_\t_\t_\t0\troot\t_\t_\n")
        assert run("convert", tmp_path, tmp_path / "out.spacy")[0] == 0
        docs = DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab)
        assert [doc[0].text for doc in docs] == ["a.conllu", "a.conllu2", "b.conllu", "b.conllu2"]
        assert run("convert", tmp_path / "c.other", tmp_path / "c.spacy", "--format", "conllu")[0] == 0
        assert "[SL053]" in run("convert", tmp_path / "c.other", tmp_path / "c.spacy")[2]
        (tmp_path / "d.conllu").write_text("no treebank\n")
        code, _, err = run("convert", tmp_path / "d.conllu", tmp_path / "d.spacy")
        assert code == 1
        assert "[SL053]" in err
        assert not (tmp_path / "d.spacy").exists()

    def test_brackets_and_splits(self, tmp_path):
        for name in ("wsj_0204.mrg", "wsj_2201.mrg", "wsj_2300.mrg"):
            (tmp_path / name).write_text((DATA / "mini.mrg").read_text(encoding="utf8"), encoding="utf8")
        for split, files in (("train", 1), ("dev", 1), ("test", 1), ("wsj_2*.mrg", 2), ("wsj_02*,wsj_23*", 2)):
            _, _, err = run("convert", tmp_path, tmp_path / "out.spacy", "--split", split, "--base-nps")
            assert f"{30 * files} sentences from {files} files" in err, split
        docs = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab))
        assert any(" " in token.text for doc in docs for token in doc)

    def test_capitals_of_a_suffix(self, tmp_path):
        path = Path(shutil.copy(DATA / "mini_en.conllu", tmp_path / "MINI.CONLLU"))
        assert run("convert", path, tmp_path / "out.spacy")[0] == 0

    def test_only_to_a_spacy_file(self, tmp_path):
        code, _, err = run("convert", DATA / "mini_en.conllu", tmp_path / "out.conllu")
        assert (code, err.count("\n"), list(tmp_path.iterdir())) == (1, 1, [])
        assert "[SL022] Setting 'output' is" in err

    def test_a_bad_sentence_is_reported_with_its_line(self, tmp_path):
        (tmp_path / "x.mrg").write_text("( (S (NN dog)) )\n( (S (NN cat)\n( (S (NN bird)) )\n")
        code, _, err = run("convert", tmp_path / "x.mrg", tmp_path / "out.spacy")
        assert code == 0
        assert "x.mrg:2:" in err
        assert "2 sentences from 1 files (0 not projective, 1 skipped, 0 multiword tokens)" in err


MULTIWORD = """\
1\tLes\tle\tDET\t_\t_\t2\tdet\t_\t_
2\tmembres\tmembre\tNOUN\t_\t_\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\tDET\t_\t5\tdet\t_\t_
5\tclub\tclub\tNOUN\t_\t_\t2\tnmod\t_\t_

"""


def test_multiword_tokens_and_tags(tmp_path):
    """Both are counted, and the first are in the Doc."""
    (tmp_path / "fr.conllu").write_text(MULTIWORD, encoding="utf8")
    code, _, err = run("convert", tmp_path / "fr.conllu", tmp_path / "fr.spacy")
    assert code == 0
    assert "⚠ 4 of 5 words have no XPOS: their tag is UPOS." in err
    assert "1 sentences from 1 files (0 not projective, 0 skipped, 1 multiword tokens)" in err
    (doc,) = DocBin().from_disk(tmp_path / "fr.spacy").get_docs(spacy.blank("fr").vocab)
    assert [token.tag_ for token in doc] == ["DET", "NOUN", "ADP", "DET", "NOUN"]
    assert doc.user_data["._.", "linearize_ranges", None, None] == ((2, 4, "du", "_"),)
    assert doc.text == "Les membres de le club"
    code, _, err = run("convert", tmp_path / "fr.conllu", tmp_path / "fr.spacy", "--tag", "upos")
    assert "XPOS" not in err
