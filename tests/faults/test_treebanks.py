"""Damaged treebanks: whatever is not touched is read, and nothing is ever raised."""

import pytest
from helpers import damage

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["conllu", "mrg"])
def test_damaged_in_one_place(kind, tmp_path):
    """Whatever is not touched is read, and nothing is ever raised."""
    bank = damage.Treebank(kind, tmp_path)
    n_reports = 0
    for i in range(80):
        n_docs, n_problems = bank.check(*bank.damage(damage.rng_for(kind, i)))
        assert n_docs + n_problems >= len(bank.good) - 2
        n_reports += n_problems > 0
    assert n_reports > 30
    for i in range(20):
        bank.check(damage.rng_for(kind, "cut", i).randrange(len(bank.data)), len(bank.data), b"")


@pytest.mark.parametrize("kind", ["conllu", "mrg"])
def test_garbage(kind, tmp_path):
    bank = damage.Treebank(kind, tmp_path)
    n_read = n_reported = 0
    for i in range(300):
        docs, problems = bank.read(damage.garbage(damage.rng_for(kind, i)))
        n_read += len(docs)
        n_reported += len(problems)
    assert n_read
    assert n_reported


@pytest.mark.parametrize("kind", ["conllu", "mrg"])
@pytest.mark.parametrize("new", [b"\x00", b"\xff", b"\xed\xa0\x80", b"x" * 1_000_000, b"\t" * 100_000, b"(" * 100_000])
def test_between_good_sentences(kind, new, tmp_path):
    bank = damage.Treebank(kind, tmp_path)
    first, last = bank.blocks[7]
    # In the middle of a line, and instead of a sentence.
    middle, last = (first + last) // 2, first + len(bank.data[first:last].rstrip())
    for start, end in ((middle, middle), (first, last)):
        n_docs, n_problems = bank.check(start, end, new)
        assert n_docs in (len(bank.good) - 1, len(bank.good))
        # A line of nothing but tabs is an empty one.
        assert n_docs + n_problems == len(bank.good) - (start == first and not new.strip())


def test_brackets_of_100000_levels(tmp_path):
    bank = damage.Treebank("mrg", tmp_path)
    depth = 100_000
    deep = b"(S " * depth + b"(NN rain)" + b")" * depth + b"\n"
    docs, problems = bank.read(bank.data + deep + bank.data)
    assert docs == [*bank.good, (("rain", "NN", "ROOT", 0),), *bank.good]
    assert not problems
    docs, problems = bank.read(bank.data + b"(S " * depth + b"\n" + bank.data)
    assert docs == bank.good * 2
    assert problems == [(bank.data.count(b"\n") + 1, f"closing brackets are missing: {depth}")]


@pytest.mark.parametrize("is_cycle", [False, True])
def test_a_long_chain_of_heads(tmp_path, is_cycle):
    """Looked through in one pass: 20,000 words that each hang on the next take no time."""
    bank = damage.Treebank("conllu", tmp_path)
    n = 20_000
    rows = [f"{i}\tw\tw\tX\tY\t_\t{i + 1 if i < n else n // 2 if is_cycle else 0}\td\t_\t_\n" for i in range(1, n + 1)]
    docs, problems = bank.read("".join(rows).encode())
    if is_cycle:
        assert docs == []
        assert problems == [(n // 2, "the heads form a cycle at 'w'")]
    else:
        assert [len(doc) for doc in docs] == [n]
        assert not problems
