"""A jumbled-sentence exercise with more than one right answer.

The teacher gives sentences and nothing else. Every good order of the same words is accepted: the teacher's own, and
those among the n best that a reader may well prefer, as the probability of `score_order` says. A wrong answer comes
with a hint.

    python examples/exercise.py
"""

import random
from dataclasses import dataclass

from spacy.language import Language

import spacy_linearize
from spacy_linearize.insight.moves import find_moves

N_BEST = 10
LEAST = 0.6  # the probability of an order that is accepted beside the teacher's

# Without a capital at the front, which would give the answer away.
# Each with answers of learners.
SENTENCES = {
    "we went to the beach yesterday.": [
        "yesterday we went to the beach.",
        "we went to beach the yesterday.",
        "we went to beach yesterday.",
    ],
    "she usually sings in the kitchen.": ["She usually sings in the kitchen."],
    "my father gave me a book.": ["my father me gave a book."],
}


@dataclass(frozen=True)
class Exercise:
    """Words in no order, and the answers that are right, best first."""

    jumbled: list[str]
    accepted: list[list[str]]

    def is_right(self, nlp: Language, answer: str) -> bool:
        """Whether an answer is right. Capitals do not count."""
        words = [token.lower_ for token in nlp.make_doc(answer)]
        return words in [[word.lower() for word in right] for right in self.accepted]

    def hint(self, nlp: Language, answer: str) -> str:
        """What to do with a wrong answer, on the way to the teacher's sentence."""
        doc = nlp.make_doc(answer)
        words, goal = [token.lower_ for token in doc], [word.lower() for word in self.accepted[0]]
        if sorted(words) != sorted(goal):
            return "use each word once"
        places = {word: [k for k, own in enumerate(words) if own == word] for word in goal}
        return "move " + "; ".join(map(str, find_moves(doc, [places[word].pop(0) for word in goal])))


def make_exercise(nlp: Language, sentence: str, *, least: float = LEAST, seed: int = 0) -> Exercise:
    """Jumble a sentence, and find its right orders.

    least (float): Accept no order with a smaller probability, beside the sentence itself.
    """
    linearizer = nlp.get_pipe("linearizer")
    bag = nlp.make_doc(sentence)
    own = [token.text for token in bag]
    accepted = [own]
    for order in linearizer.alternatives(bag, N_BEST):
        words = [token.text for token in order]
        if words != own and linearizer.score_order(order).probability >= least:
            accepted.append(words)
    return Exercise(random.Random(seed).sample(own, len(own)), accepted)


def main() -> None:
    nlp = spacy_linearize.load()
    for sentence, answers in SENTENCES.items():
        exercise = make_exercise(nlp, sentence)
        print(" / ".join(exercise.jumbled))
        for words in exercise.accepted:
            print(f"  accepted: {' '.join(words)}")
        for answer in answers:
            if exercise.is_right(nlp, answer):
                print(f"  right: {answer}")
            else:
                print(f"  wrong: {answer} Hint: {exercise.hint(nlp, answer)}.")


if __name__ == "__main__":
    main()
