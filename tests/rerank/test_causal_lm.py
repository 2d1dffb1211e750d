"""A causal language model as a second opinion: a tiny one with random weights, made on the spot."""

import math
import pickle

import numpy as np
import pytest
import spacy
from helpers.docs import bag
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_linearize.errors import LinearizeError
from spacy_linearize.registered import make_causal_lm
from spacy_linearize.rerank.prefix_tree import PrefixTree, cut_tails, in_batches
from spacy_linearize.rerank.reranker import Question

SEQUENCES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple), min_size=1, max_size=8)
WORDS = "the dog sees the old cat ."


@given(SEQUENCES)
@settings(max_examples=50, deadline=None)
def test_a_tree_holds_its_sequences(sequences):
    tree = PrefixTree()
    paths = [tree.add(tokens) for tokens in sequences]
    mask = tree.attention()
    assert [tuple(tree.tokens[node] for node in path) for path in paths] == sequences
    assert len(tree) == len({tokens[:i] for tokens in sequences for i in range(1, len(tokens) + 1)})
    for path in paths:
        for i, node in enumerate(path):
            assert np.flatnonzero(mask[node]).tolist() == sorted(path[: i + 1])
            assert tree.depths[node] == i


@given(SEQUENCES, st.integers(1, 20))
@settings(max_examples=50, deadline=None)
def test_batches_are_bounded_and_have_everything_once(sequences, size):
    batches = list(in_batches(sequences, size))
    assert sorted(number for batch in batches for number in batch) == list(range(len(sequences)))
    for batch in batches:
        tree = PrefixTree()
        for number in batch:
            tree.add(sequences[number])
        assert len(tree) <= size or len(batch) == 1


def test_tails():
    assert cut_tails([(1, 2, 9, 8, 7), (2, 1, 9, 8, 7)], 1) == [(1, 2, 9), (2, 1, 9)]
    assert cut_tails([(1, 2, 9), (2, 1, 9)], 5) == [(1, 2, 9), (2, 1, 9)]
    assert cut_tails([(1, 2)], 0) == [(1, 2)]


def test_settings_are_checked():
    for key, value in (("model", ""), ("batch_size", 0), ("dtype", "int3"), ("context", -1), ("tail", 1.5)):
        with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
            make_causal_lm(**{"model": "x", key: value})


def test_a_model_that_is_not_there(nlp, component, tmp_path):
    component.beam_width = 16  # as wide as it is with candidates for the model
    for name in (tmp_path / "nothing", tmp_path / "nothing.gguf"):
        component.reranker = make_causal_lm(str(name), strict=True)
        with pytest.raises(LinearizeError, match=r"SL234.*nothing"):
            component(bag(nlp, WORDS))
        component.reranker = make_causal_lm(str(name))
        with pytest.warns(UserWarning, match=r"SL234.*The order is that of the search"):
            new = component(bag(nlp, WORDS))
        component.reranker = None
        assert new.text == component(bag(nlp, WORDS)).text


# From here on with a model.


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A model of 64 bytes as tokens."""
    torch = pytest.importorskip("torch", reason="needs the extra 'llm'")
    transformers = pytest.importorskip("transformers", reason="needs the extra 'llm'")
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra 'llm'")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("causal_lm")
    letters = ["<|endoftext|>", *(chr(code) for code in range(32, 127))]
    model = tokenizers.models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[])
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(model), bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )
    fast.save_pretrained(folder)
    config = transformers.LlamaConfig(
        vocab_size=len(letters),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=96,
        initializer_range=0.5,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


def question(*texts, context=""):
    return Question(texts, tuple(tuple(text.split()) for text in texts), context)


def by_hand(path, text, before=""):
    """The score of a text, one token at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(path), AutoModelForCausalLM.from_pretrained(path)
    start = [0, *tokenizer(before).input_ids]
    ids = [*start, *tokenizer(text).input_ids]
    total = 0.0
    for i in range(len(start), len(ids)):
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([ids[:i]])).logits[0, -1]
        total += float(torch.log_softmax(logits, -1)[ids[i]])
    return total


def test_scores_are_those_of_one_text_after_the_other(path):
    texts = ("the dog sees a cat.", "the cat sees a dog.", "a dog sees the cat.")
    expected = [by_hand(path, text) for text in texts]
    for more in ({}, {"share_prefixes": False}, {"batch_size": 8}, {"batch_size": 30}):
        reranker = make_causal_lm(path, tail=None, **more)
        both = reranker.score([question(*texts), question(*texts[1:])])
        assert both[0] == pytest.approx(expected, abs=1e-3)
        assert both[1] == pytest.approx(expected[1:], abs=1e-3)
        assert reranker.network.shares == more.get("share_prefixes", True)


def test_prompt_context_tail_and_length(path):
    text, other = "dog a cat.", "cat a dog."
    prompted = make_causal_lm(path, prompt="He says:", tail=None)
    assert prompted.score([question(text)])[0] == pytest.approx([by_hand(path, " " + text, "He says:")], abs=1e-3)
    told = make_causal_lm(path, context=4, tail=None)
    assert told.options.context
    assert told.score([question(text, context="It rains.")])[0] == pytest.approx(
        [by_hand(path, " " + text, "ins.")], abs=1e-3
    )
    assert not make_causal_lm(path).options.context
    cut = make_causal_lm(path, tail=0).score([question(text, other)])[0]
    assert cut == pytest.approx([by_hand(path, text[:-1]), by_hand(path, other[:-1])], abs=1e-3)
    mean = make_causal_lm(path, normalise=True, tail=None).score([question(text)])[0]
    assert mean == pytest.approx([by_hand(path, text) / len(text)], abs=1e-3)


def test_in_a_pipeline(path, trained_path, tmp_path):
    config = {"@misc": "spacy_linearize.CausalLM.v1", "model": path, "strict": True}
    nlp = spacy.load(trained_path, config={"components": {"linearizer": {"reranker": config}}})
    new = nlp(bag(nlp, WORDS))
    assert math.isfinite(new._.linearization["second"])
    nlp.to_disk(tmp_path / "model")
    assert spacy.load(tmp_path / "model")(bag(nlp, WORDS)).text == new.text
    component = nlp.get_pipe("linearizer")
    copied = pickle.loads(pickle.dumps(component))
    assert copied.reranker._network is None
    assert copied(bag(nlp, WORDS)).text == new.text


def test_a_text_that_is_too_long(nlp, component, path):
    component.reranker = make_causal_lm(path)
    long = bag(nlp, " ".join(["dog", "sees", "cat"] * 10))
    with pytest.warns(UserWarning, match=r"SL236.*limit of the model, 96.*The order is that of the search"):
        found = list(component.pipe([bag(nlp, WORDS), long]))
    assert ["second" in doc._.linearization for doc in found] == [True, False]


def test_out_of_memory_not_a_number_and_no_tokens(path, monkeypatch):
    texts = ("a b.", "b a.", "a a.")
    reranker = make_causal_lm(path, tail=None)
    expected = reranker.score([question(*texts)])
    network, run = reranker.network, reranker.network.run

    def small(sequences):
        if len(sequences) > 1:
            raise RuntimeError("out of memory")
        return run(sequences)

    monkeypatch.setattr(network, "run", small)
    assert reranker.score([question(*texts)])[0] == pytest.approx(expected[0], abs=1e-4)

    def never(sequences):
        raise MemoryError

    monkeypatch.setattr(network, "run", never)
    with pytest.raises(LinearizeError, match="SL235"):
        reranker.score([question(*texts)])
    monkeypatch.setattr(network, "run", run)
    with pytest.raises(LinearizeError, match=r"SL237.*finds no tokens"):
        reranker.score([question("äö", "öä")])

    def broken(*_, **__):
        raise UnicodeError("no")

    monkeypatch.setattr(network, "tokenizer", broken)
    with pytest.raises(LinearizeError, match=r"SL237.*UnicodeError: no"):
        reranker.score([question(*texts)])


def test_a_model_of_nan(nlp, component, path):
    import torch

    component.reranker = make_causal_lm(path)
    with torch.inference_mode():
        component.reranker.network.model.lm_head.weight.fill_(math.nan)
    with pytest.warns(UserWarning, match=r"SL232.*nan"):
        component(bag(nlp, WORDS))
