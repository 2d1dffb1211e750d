"""A jumbled-sentence exercise with more than one right answer.

The teacher gives sentences with their trees. Every good order of the same tree is accepted: those among the n best
whose score is not far below the best one, and the teacher's own.

    python examples/exercise.py
"""

import random
from dataclasses import dataclass

from spacy.language import Language
from spacy.tokens import Doc

import spacy_linearize

N_BEST = 10
MAX_GAP = 50.0  # for each word

# Words without a capital at the front, which would give the answer away; heads as positions.
SENTENCES = [
    {
        "words": ["we", "went", "to", "the", "beach", "yesterday", "."],
        "heads": [1, 1, 4, 4, 1, 1, 1],
        "deps": ["nsubj", "ROOT", "case", "det", "obl", "obl:unmarked", "punct"],
    },
    {
        "words": ["she", "usually", "sings", "in", "the", "kitchen", "."],
        "heads": [2, 2, 2, 5, 5, 2, 2],
        "deps": ["nsubj", "advmod", "ROOT", "case", "det", "obl", "punct"],
    },
]
ANSWERS = ["yesterday we went to the beach.", "we went to beach the yesterday.", "She usually sings in the kitchen."]


@dataclass(frozen=True)
class Exercise:
    """Words in no order, and the answers that are right, best first."""

    jumbled: list[str]
    accepted: list[list[str]]

    def is_right(self, nlp: Language, answer: str) -> bool:
        """Whether an answer is right. Capitals do not count."""
        words = [token.lower_ for token in nlp.make_doc(answer)]
        return words in [[word.lower() for word in right] for right in self.accepted]


def make_exercise(nlp: Language, sentence: Doc, *, max_gap: float = MAX_GAP, seed: int = 0) -> Exercise:
    """Jumble a sentence with its tree, and find all of its right orders.

    max_gap (float): Accept no order with a larger gap to the best one, for each word.
    """
    own = [token.text for token in sentence]
    accepted = [own]
    for order in nlp.get_pipe("linearizer").alternatives(sentence, N_BEST):
        gap = order._.linearization["gap"] / len(sentence)
        words = [token.text for token in order]
        if gap <= max_gap and words != own:
            accepted.append(words)
    return Exercise(random.Random(seed).sample(own, len(own)), accepted)


def main() -> None:
    nlp = spacy_linearize.load()
    for content in SENTENCES:
        exercise = make_exercise(nlp, Doc(nlp.vocab, **content))
        print(" / ".join(exercise.jumbled))
        for words in exercise.accepted:
            print(f"  accepted: {' '.join(words)}")
        for answer in ANSWERS:
            if sorted(token.lower_ for token in nlp.make_doc(answer)) == sorted(exercise.jumbled):
                print(f"  {'right' if exercise.is_right(nlp, answer) else 'wrong'}: {answer}")


if __name__ == "__main__":
    main()
