"""Brackets to dependency trees: the mini treebank by hand, base NPs, all that a file may hold, and sections."""

from pathlib import Path

import pytest
from helpers.docs import read_docs
from spacy.vocab import Vocab

from spacy_linearize.files.brackets import in_section, read_brackets
from spacy_linearize.files.head_rules import head_child, relation, split_label

MINI = Path(__file__).parent.parent / "data" / "mini.mrg"
DOG = "( (S (NP-SBJ (DT The) (NN dog)) (VP (VBZ sleeps)) (. .)) )\n"
CAT = "( (S (NP-SBJ (DT A) (NN cat)) (VP (VBZ eats)) (. .)) )\n"

# By hand: word/position of the head (the root's is its own)/label
BY_HAND = """
The/1/NMOD dog/2/SBJ sleeps/2/ROOT in/2/VMOD the/5/NMOD garden/3/PMOD ./2/P
Did/0/ROOT Tom/0/SBJ read/0/VC the/4/NMOD letter/2/OBJ ?/0/P
Is/0/ROOT the/2/NMOD shop/0/SBJ open/0/PRD today/0/VMOD ?/0/P
What/1/VMOD did/1/ROOT the/3/NMOD cat/1/SBJ eat/1/VC ?/1/P
Anna/2/NMOD and/2/NMOD Tom/3/SBJ sold/3/ROOT the/5/NMOD house/3/OBJ ./3/P
Maria/1/SBJ reads/7/VMOD the/3/NMOD report/1/OBJ ,/7/P but/7/VMOD Tom/7/SBJ writes/7/ROOT letters/7/OBJ ./7/P
The/1/NMOD woman/6/SBJ who/1/NMOD bought/2/SUB the/5/NMOD house/3/OBJ is/6/ROOT a/8/NMOD teacher/6/PRD ./6/P
The/1/NMOD door/2/SBJ was/2/ROOT opened/2/VC by/3/VMOD the/6/NMOD teacher/4/PMOD ./2/P
The/1/NMOD students/2/SBJ want/2/ROOT to/4/VMOD read/2/VMOD the/6/NMOD letter/4/OBJ ./2/P
Maria/1/SBJ said/1/ROOT that/1/VMOD the/4/NMOD price/5/SBJ was/2/SUB too/7/AMOD high/5/PRD ./1/P
``/7/P The/2/NMOD train/3/SBJ is/7/VMOD late/3/PRD ,/7/P ''/7/P said/7/ROOT Tom/7/SBJ ./7/P
More/1/AMOD than/3/NMOD forty/1/AMOD students/4/SBJ answered/4/ROOT the/7/NMOD first/7/NMOD question/4/OBJ ./4/P
Anna/1/NMOD 's/2/NMOD brother/3/SBJ found/3/ROOT Tom/5/NMOD 's/6/NMOD book/3/OBJ ./3/P
""".strip().splitlines()


@pytest.fixture(scope="module")
def vocab():
    return Vocab()


def fail(path, line, what):
    pytest.fail(f"line {line}: {what}")


@pytest.fixture(scope="module")
def mini_docs(vocab):
    return list(read_brackets(MINI, vocab, report=fail))


@pytest.fixture
def read(tmp_path, vocab):
    """Read brackets from a string or bytes: the Docs, and the lines and messages of what was skipped."""

    def read(text, **settings):
        path = tmp_path / "trees.mrg"
        path.write_bytes(text.encode("utf8") if isinstance(text, str) else text)
        reports = []

        def report(where, line, what):
            assert where == path
            reports.append((line, what))

        return list(read_brackets(path, vocab, report=report, **settings)), reports

    return read


def words(doc):
    return [token.text for token in doc]


def texts(docs):
    return [" ".join(words(doc)) for doc in docs]


def arcs(doc):
    return [(token.text, token.head.i, token.dep_) for token in doc]


class TestMini:
    def test_all_sentences_are_trees(self, mini_docs):
        assert len(mini_docs) == 30
        for doc in mini_docs:
            assert doc.has_unknown_spaces
            assert all(token.tag and token.dep and token.has_head() for token in doc)
            assert [token.dep_ == "ROOT" for token in doc] == [token.head.i == token.i for token in doc]
            assert sum(token.dep_ == "ROOT" for token in doc) == 1
            for token in doc:
                for _ in range(len(doc)):
                    token = token.head
                assert token.dep_ == "ROOT", "a cycle"

    def test_projective(self, mini_docs):
        for doc in mini_docs:
            for token in doc:
                subtree = [part.i for part in token.subtree]
                assert sorted(subtree) == list(range(min(subtree), max(subtree) + 1))

    def test_words_and_tags_as_in_the_dependency_treebank(self, mini_docs, vocab):
        def straight(text):
            return text.replace("“", "``").replace("”", "''")

        golds = {tuple(straight(word) for word in words(doc)): doc for doc in read_docs(vocab)}
        for doc in mini_docs:
            gold = golds[tuple(words(doc))]
            tags = [(token.tag_, other.tag_) for token, other in zip(doc, gold, strict=True)]
            # UD has IN for a "to" that is a preposition.
            assert {pair for pair in tags if pair[0] != pair[1]} <= {("TO", "IN")}

    @pytest.mark.parametrize("line", BY_HAND)
    def test_by_hand(self, mini_docs, line):
        rows = [part.split("/") for part in line.split()]
        doc = next(doc for doc in mini_docs if words(doc) == [word for word, _, _ in rows])
        assert arcs(doc) == [(word, int(head), label) for word, head, label in rows]

    def test_labels(self, mini_docs):
        labels = {token.dep_ for doc in mini_docs for token in doc}
        assert labels == {"ROOT", "SBJ", "OBJ", "PRD", "NMOD", "VMOD", "PMOD", "AMOD", "SUB", "VC", "P"}

    def test_brackets_are_unescaped(self, mini_docs):
        doc = next(doc for doc in mini_docs if "(" in words(doc))
        assert [(token.text, token.tag_, token.dep_, token.head.text) for token in doc if token.tag_[0] == "-"] == [
            ("(", "-LRB-", "P", "place"),
            (")", "-RRB-", "P", "place"),
        ]


class TestBaseNPs:
    def test_mini(self, mini_docs, vocab):
        merged = list(read_brackets(MINI, vocab, base_nps=True, report=fail))
        assert texts(merged) == texts(mini_docs)
        for doc in merged:
            assert all((token.tag_ == "NP") or " " not in token.text for token in doc)
            assert sum(token.dep_ == "ROOT" for token in doc) == 1

    def test_by_hand(self, vocab):
        docs = {texts([doc])[0]: doc for doc in read_brackets(MINI, vocab, base_nps=True, report=fail)}
        doc = docs["Tom bought a small house near the river ."]
        assert arcs(doc) == [
            ("Tom", 1, "SBJ"),
            ("bought", 1, "ROOT"),
            ("a small house", 1, "OBJ"),
            ("near", 2, "NMOD"),
            ("the river", 3, "PMOD"),
            (".", 1, "P"),
        ]
        assert [token.tag_ for token in doc] == ["NP", "VBD", "NP", "IN", "NP", "."]
        # An NP with a possessor inside is no base NP.
        assert words(docs["Anna 's brother found Tom 's book ."])[:2] == ["Anna 's", "brother"]
        # A trace is no NP, and leaves nothing behind.
        assert words(docs["The house cost $ 250,000 in 2019 ."]) == [
            "The house",
            "cost",
            "$ 250,000",
            "in",
            "2019",
            ".",
        ]

    def test_np_inside_another_constituent(self, read):
        # "(NP the man (SBAR that (S (NP I) saw)))" without an NP of its own for "the man"
        tree = "(NP (DT the) (NN man) (SBAR (WDT that) (S (NP-SBJ (PRP I)) (VP (VBD saw) (NP (-NONE- *T*))))))"
        docs, _ = read(tree, base_nps=True)
        assert words(docs[0]) == ["the", "man", "that", "I", "saw"]
        assert [token.tag_ for token in docs[0]] == ["DT", "NN", "WDT", "NP", "VBD"]

    def test_np_over_a_trace(self, read):
        docs, _ = read("(NP (NP (-NONE- *)) (ADJP (RB very) (JJ old)) (NN dog))", base_nps=True)
        assert arcs(docs[0]) == [("very old dog", 0, "ROOT")]


class TestFiles:
    @pytest.mark.parametrize("wrapper", ["( {} )", "({})", "(TOP {})", "(ROOT {})", "{}", "  ( {} )", "(TOP\n  {}\n)"])
    def test_wrappers(self, read, wrapper):
        tree = "(S (NP-SBJ (NN rain))\n (VP (VBZ falls)))"
        docs, reports = read((wrapper.format(tree) + "\n") * 2)
        assert [arcs(doc) for doc in docs] == [[("rain", 1, "SBJ"), ("falls", 1, "ROOT")]] * 2
        assert reports == []

    @pytest.mark.parametrize("joint", ["", "\n", "\n\n\n", " ", "\r\n", "\n*x*x*\n", "\n# (S\n", "\n%% )\n"])
    def test_between_trees(self, read, joint):
        docs, reports = read(DOG.strip() + joint + CAT.strip())
        assert texts(docs) == ["The dog sleeps .", "A cat eats ."]
        assert reports == []

    def test_comments(self, read):
        header = "*x*x*x*x*\n*x*  (C) a notice with one bracket (\n*x*x*x*x*\n\n"
        inside = "(S (NN rain)\n# a remark )\n (VP (VBZ falls)))\n"
        docs, reports = read(header + DOG + "%% x ((\n" + inside + "#\n" + "(S (NN\n")
        assert texts(docs) == ["The dog sleeps .", "rain falls"]
        assert [line for line, _ in reports] == [11]  # comments are counted
        docs, reports = read("(S (NN rain)\n# a remark\n (VBZ falls)) (S (NN snow)\n")
        assert texts(docs) == ["rain falls"]
        assert [line for line, _ in reports] == [3]

    def test_traces_and_empty_constituents(self, read):
        docs, _ = read("(S (NP-SBJ (-NONE- *)) (VP (VB go) (SBAR (-NONE- 0) (S (-NONE- *T*-1))) (NP )) (X))")
        assert arcs(docs[0]) == [("go", 0, "ROOT")]
        assert docs[0][0].tag_ == "VB"

    @pytest.mark.parametrize("tree", ["( )", "()", "(())", "(TOP)", "( (S (NP (-NONE- *))) )", "(-NONE- *)"])
    def test_empty_trees_are_no_error(self, read, tree):
        docs, reports = read(f"{DOG}{tree}\n{CAT}")
        assert texts(docs) == ["The dog sleeps .", "A cat eats ."]
        assert reports == []

    @pytest.mark.parametrize("text", ["", "\n \n", "*x*\n"])
    def test_empty_files(self, read, text):
        assert read(text) == ([], [])

    def test_escapes(self, read):
        escaped = ["-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-", r"1\/2", r"\*\*", r"a\b", "--", "-", "/"]
        docs, _ = read("(X " + " ".join(f"(-LRB- {word})" for word in escaped) + ")")
        assert words(docs[0]) == ["(", ")", "[", "]", "{", "}", "1/2", "**", r"a\b", "--", "-", "/"]
        assert {token.tag_ for token in docs[0]} == {"-LRB-"}

    def test_letters_and_byte_order_mark(self, read):
        docs, reports = read("\ufeff(NP (NNP Zoë) (NN 1\u00a0000))\r\n")
        assert words(docs[0]) == ["Zoë", "1\u00a0000"]
        assert reports == []

    @pytest.mark.parametrize(
        ("broken", "what"),
        [
            ("( (S (NP (NN dog)\n   (VP (VBZ sleeps)))\n", "closing brackets are missing: 2"),
            ("( (S (NN dog)\n   (VBZ sleeps))))\n", "a closing bracket too many"),
            ("( (S (NN dog)\n   (VBZ sleeps)) )\n )\n", "a closing bracket too many"),
            ("( (S (NN dog)\n   (VBZ sleeps)) ) and\n", "'and' is outside of brackets"),
            ("( (S (NN dog)\n   (VBZ sleeps tonight)) )\n", "the word 'tonight' has no tag of its own"),
            ("( (S (NN dog)\n   sleeps) )\n", "the word 'sleeps' has no tag of its own"),
            ("( (S (NN dog (VBZ sleeps)\n ) ) )\n", "a constituent beside the word 'dog'"),
            ("The dog sleeps\n", "'The' is outside of brackets"),
            ("(\n", "closing brackets are missing: 1"),
        ],
    )
    def test_broken_trees_are_reported_and_the_rest_is_kept(self, read, broken, what):
        for start, end in [(DOG + "\n" + DOG, CAT + DOG), (DOG + "\n" + DOG, ""), ("\n# x\n\n", CAT)]:
            docs, reports = read(start + broken + end)
            assert reports == [(4, what)]
            assert texts(docs) == texts(read(start + end)[0])

    def test_closing_bracket_before_any_tree(self, read):
        docs, reports = read("\n) (NN dog)\n  (NN dog)\n" + CAT)
        assert texts(docs) == ["A cat eats ."]
        assert reports == [(2, "a closing bracket too many")]

    def test_many_broken_trees(self, read):
        docs, reports = read(("( (S (NN dog)\n" + "  (NN cat)))))\n" + DOG + "(S (S\n") * 3)
        assert texts(docs) == ["The dog sleeps ."] * 3
        assert [line for line, _ in reports] == [1, 4, 5, 8, 9, 12]

    def test_broken_tree_on_a_shared_line(self, read):
        docs, reports = read(f"{DOG.strip()} {CAT.strip()[:-1]}\n")
        assert texts(docs) == ["The dog sleeps ."]
        assert [line for line, _ in reports] == [1]

    def test_other_encodings(self, read):
        docs, reports = read(DOG.encode() + "(NP\n (NN café))\n".encode("latin-1") + CAT.encode())
        assert texts(docs) == ["The dog sleeps .", "A cat eats ."]
        assert reports == [(2, r"bytes that are not UTF-8: b'\xe9'")]

    def test_missing_file(self, tmp_path, vocab):
        with pytest.raises(FileNotFoundError):
            list(read_brackets(tmp_path / "none.mrg", vocab, report=fail))

    @pytest.mark.parametrize("base_nps", [False, True])
    def test_deep_trees(self, read, base_nps):
        depth = 20_000
        docs, reports = read("(S " * depth + "(NP (NN rain))" + ")" * depth, base_nps=base_nps)
        assert [arcs(doc) for doc in docs] == [[("rain", 0, "ROOT")]]
        assert reports == []
        docs, reports = read("(S " * depth)
        assert (docs, reports) == ([], [(1, f"closing brackets are missing: {depth}")])

    def test_several_children_of_a_wrapper_have_one_root(self, read):
        docs, _ = read("( (`` ``) (S (NP-SBJ (NN rain)) (VP (VBZ falls))) (NP (NN snow)) (. .) )")
        assert arcs(docs[0]) == [
            ("``", 3, "P"),
            ("rain", 2, "SBJ"),
            ("falls", 3, "DEP"),
            ("snow", 3, "ROOT"),
            (".", 3, "P"),
        ]


class TestRules:
    @pytest.mark.parametrize(
        ("label", "category", "functions"),
        [
            ("NP-SBJ-1", "NP", {"SBJ"}),
            ("PP-LOC-PRD=2", "PP", {"LOC", "PRD"}),
            ("ADVP|PRT", "ADVP", set()),
            ("-LRB-", "-LRB-", set()),
            ("PRP$", "PRP$", set()),
            ("", "", set()),
        ],
    )
    def test_split_label(self, label, category, functions):
        assert split_label(label) == (category, functions)

    @pytest.mark.parametrize(
        ("parent", "children", "head"),
        [
            ("NP", "NP , NP", 2),
            ("NP", "NP , ADJP ,", 0),
            ("NP", "DT NN SBAR", 1),
            ("NP", "DT NN POS", 2),
            ("VP", "TO VP", 1),
            ("VP", "VBP VP", 0),
            ("VP", "MD RB VP", 0),
            ("VP", "VP CC VP", 0),
            ("S", "S , CC S .", 3),
            ("S", "NP VP .", 1),
            ("PP", "ADVP IN NP", 1),
            ("PP", "PP CC PP", 0),
            ("SBAR", "IN S", 0),
            ("QP", "RB $ CD", 1),
            ("PRN", "-LRB- NP -RRB-", 1),
            ("FRAG", ": NP ADVP", 1),
            ("UNKNOWN", "NN NN .", 1),
            ("NP", ", .", 1),
        ],
    )
    def test_head_child(self, parent, children, head):
        assert head_child(parent, children.split()) == head

    @pytest.mark.parametrize(
        ("child", "parent", "head", "label"),
        [
            ("NP", "VP", "VBD", "OBJ"),
            ("NP-1", "VP", "VBD", "OBJ"),
            ("NP-TMP", "VP", "VBD", "VMOD"),
            ("NP-PRD", "VP", "VBD", "PRD"),
            ("NP", "S", "VP", "VMOD"),
            ("VP", "VP", "MD", "VC"),
            ("VP", "VP", "VP", "VMOD"),
            ("SBAR-NOM-SBJ", "S", "VP", "SBJ"),
            ("S", "SBAR", "IN", "SUB"),
            ("SBAR", "SBAR", "SBAR", "VMOD"),
            ("NP-LGS", "PP", "IN", "PMOD"),
            ("RB", "ADJP", "JJ", "AMOD"),
            (",", "NP", "NN", "P"),
            ("$", "NP", "CD", "NMOD"),
            ("CC", "UCP", "NP", "DEP"),
        ],
    )
    def test_relation(self, child, parent, head, label):
        assert relation(child, parent, head) == label


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("wsj/02/wsj_0204.mrg", 2),
        ("wsj_0204.mrg", 2),
        ("wsj_2300.mrg", 23),
        ("WSJ_2300.MRG", 23),
        ("wsj/22/wsj_2201.parse", 22),
        ("wsj/22/trees.mrg", 22),
        ("wsj/00/trees.mrg", 0),
        ("all/wsj_0001.mrg", 0),
        ("5/wsj_2113.mrg", 21),
        ("wsj/trees.mrg", None),
        ("trees.mrg", None),
        ("2204/trees.mrg", None),
        ("wsj/wsj_22041.mrg", None),
        ("brown/cf/cf01.mrg", None),
    ],
)
def test_sections(path, section):
    assert [i for i in range(-1, 26) if in_section(Path(path), i, i)] == ([] if section is None else [section])
    assert in_section(Path(path), 2, 21) == (section is not None and 2 <= section <= 21)
    assert not in_section(Path(path), 21, 2)
